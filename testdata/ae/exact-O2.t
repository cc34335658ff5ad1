# The exactness matrix: every program at -O2, against lackey and qemu; aec's regenerator gives the same bytes, of a third.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
if [ "$SAN" ]; then rows=$(some "calls callback jumps copy" -O2); else rows=$(every -O2); fi
check_rows_regen
tap_end
