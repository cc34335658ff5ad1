# The exactness matrix: programs at -O1, against qemu.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
one_oracle
if [ "$SAN" ]; then rows=$(some "calls callback jumps copy" -O1); else rows=$(every -O1); fi
check_rows
tap_end
