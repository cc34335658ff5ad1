# The exactness matrix of MIPS: every program at -Os.
. "$HERE/mips.sh"
mips_matrix -Os "" "recurse atomics moves"
tap_end
