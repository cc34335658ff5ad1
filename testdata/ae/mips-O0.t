# The exactness matrix of MIPS: every program at -O0.
. "$HERE/mips.sh"
mips_matrix -O0 check_rows "calls jumps data moves"
tap_end
