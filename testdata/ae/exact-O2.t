# The exactness matrix: every program at -O2, against lackey and qemu; aec's regenerator gives the same bytes.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
if [ "$SAN" ]; then rows=$(some "calls callback jumps copy" -O2); else rows=$(every -O2); fi
check_rows -r
tap_end
