# The exactness matrix of MIPS: every program at -O2; aec's regenerator gives the same bytes.
. "$HERE/mips.sh"
mips_matrix -O2 "-r" "calls tls real slots macros fork"
tap_end
