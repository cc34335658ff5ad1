# The exactness matrix of MIPS: programs at -O3.
. "$HERE/mips.sh"
mips_matrix -O3 check_rows "stack signals alu"
tap_end
