# Random programs with fixed seeds on MIPS, against the plugin.
. "$SRC/testdata/tap.sh"
ae=$HERE
. "$HERE/oracle.sh"
TMPDIR=$(pwd)
export TMPDIR
# seeds SEED COUNT MACHINE [option of fuzz]
seeds() {
	target "$3"
	if ! missing=$(can); then
		skip "$missing"
		return
	fi
	n=$2 last='' s=$1 t=$3
	[ "$SAN" ] && n=2
	shift 3
	sh "$HERE/fuzz" -t "$t" -s "$s" -n $n "$@" > said 2>&1
	while read -r line; do
		case $line in
		*': '*' references') pass "$t $line" ;;
		*programs*differ) last=$line ;;
		gen*': '*) fail "$t $line" "$(cat said)" ;;
		esac
	done < said
	is "$t: all of them" "$last" "$n programs, 0 differ"
}
if [ "${MATRIX-}" = full ]; then set -- 10 4 4; else set -- 2 1 1; fi
seeds 3000 $1 mipsel
seeds 3100 $2 mips
seeds 3200 $3 mipsel -p
tap_end
