# The exactness matrix: every program at -Os, against lackey and qemu.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
if [ "$SAN" ]; then rows=$(some "calls callback jumps copy" -Os); else rows=$(every -Os); fi
check_rows
tap_end
