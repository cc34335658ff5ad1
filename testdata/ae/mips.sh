# shellcheck disable=SC2034,SC2154
# mips.sh: mips_matrix LEVEL CHECK PROGRAMS, the exactness matrix of MIPS at one level of optimisation; sourced by
# mips-*.t.  Both byte orders: programs as mipsel, and half of a few as mips, where what differs is the order of the bytes in
# events and constants.
. "$SRC/testdata/tap.sh"
mips_matrix() {
	machine=mipsel
	. "$HERE/matrix.sh"
	if [ "$SAN" ]; then rows=$(some "calls jumps slots" "$1"); else rows=$(every "$1"); fi
	$2
	machine=mips
	target mips
	rows=$(half "$3" "$1")
	no_plain
	$2
}
