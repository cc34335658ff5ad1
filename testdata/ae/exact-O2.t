# The exactness matrix: every program at -O2, against qemu; aec's regenerator gives the same bytes, of a fourth.
. "$SRC/testdata/tap.sh"
. "$HERE/matrix.sh"
one_oracle
if [ "$SAN" ]; then rows=$(some "calls callback jumps copy" -O2); else rows=$(every -O2); fi
check_rows_regen
tap_end
