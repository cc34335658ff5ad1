# The exactness matrix of MIPS: every program at -O2; aec's regenerator gives the same bytes, of a fourth.
. "$HERE/mips.sh"
mips_matrix -O2 check_rows_regen "calls tls real slots macros fork"
tap_end
