# The exactness matrix: every program at -O0, against lackey and qemu.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
if [ "$SAN" ]; then rows=$(some "calls callback jumps copy" -O0); else rows=$(every -O0); fi
check_rows
tap_end
