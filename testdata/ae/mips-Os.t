# The exactness matrix of MIPS: programs at -Os.
. "$HERE/mips.sh"
mips_matrix -Os check_rows "recurse atomics moves"
tap_end
