# The exactness matrix: programs at -Os, against qemu.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
one_oracle
if [ "$SAN" ]; then rows=$(some "calls callback jumps copy" -Os); else rows=$(every -Os); fi
check_rows
tap_end
