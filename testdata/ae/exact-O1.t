# The exactness matrix: every program at -O1, against lackey and qemu.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
if [ "$SAN" ]; then rows=$(some "calls callback jumps copy" -O1); else rows=$(every -O1); fi
check_rows
tap_end
