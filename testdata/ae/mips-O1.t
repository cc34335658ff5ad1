# The exactness matrix of MIPS: programs at -O1.
. "$HERE/mips.sh"
mips_matrix -O1 check_rows "dispatch varargs callback likely"
tap_end
