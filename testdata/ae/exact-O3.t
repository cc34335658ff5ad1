# The exactness matrix: every program at -O3, against lackey and qemu.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
if [ "$SAN" ]; then rows=$(some "calls callback jumps copy" -O3); else rows=$(every -O3); fi
check_rows
tap_end
