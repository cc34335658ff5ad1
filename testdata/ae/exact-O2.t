# The exactness matrix: every program at -O2, against lackey and qemu; aec's regenerator gives the same bytes.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
if [ "$SAN" ]; then all=$(some "calls callback jumps copy" -O2); else all=$(every -O2); fi
# the regenerator of every third one, or of all
rows=$(echo "$all" | awk -v full="${MATRIX-}" 'full == "full" || NR % 3 == 0')
check_rows -r
if [ "${MATRIX-}" != full ]; then
	rows=$(echo "$all" | awk 'NR % 3')
	check_rows
fi
tap_end
