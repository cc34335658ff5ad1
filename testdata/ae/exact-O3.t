# The exactness matrix: programs at -O3, against qemu.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
one_oracle
if [ "$SAN" ]; then rows=$(some "calls callback jumps copy" -O3); else rows=$(every -O3); fi
check_rows
tap_end
