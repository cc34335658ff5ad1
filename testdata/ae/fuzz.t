# Random programs with fixed seeds against the oracles; each seed has its own compiler options.
. "$SRC/testdata/tap.sh"
for tool in valgrind qemu-x86_64; do
	command -v $tool > /dev/null || { skip "$tool is not here"; exit 0; }
done
n=4
[ "${MATRIX-}" = full ] && n=100
[ "$SAN" ] && n=4
TMPDIR=$(pwd)
export TMPDIR
sh "$HERE/fuzz" -s 1000 -n $n > said 2>&1
while read -r line; do
	case $line in
	*': '*' references') pass "$line" ;;
	*programs*differ) last=$line ;;
	gen*': '*) fail "$line" "$(cat said)" ;;
	esac
done < said
is "all of them" "${last-}" "$n programs, 0 differ"
tap_end
