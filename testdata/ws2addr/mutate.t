# Captures whose records are changed at random, with right checksums: an answer or one line about it, from every tool, soon
. "$SRC/testdata/tap.sh"
tiny=$SRC/testdata/golden/tiny.ws
n=12
[ "${MATRIX-}" = full ] && n=60
[ -z "$SAN" ] || n=20

# each TOOL OPTION...: on all of them
each() {
	good=0 refused=0 bad=
	for seed in $(seq $n); do
		timeout 60 "$@" $seed.ws >out 2>err
		status=$?
		[ ! -s err ] || { sed '/: its functions and lines are not known$/d' err >new; mv new err; }
		case $status in
		0) good=$((good + 1)) ;;
		1) refused=$((refused + 1)) ;;
		*) bad="$bad, $seed: status $status: $(head -n 3 err)" ;;
		esac
		[ ! -s err ] || [ "$(wc -l <err)" -le 1 ] || bad="$bad, $seed: $(head -n 3 err)"
		[ $status != 1 ] || [ -s err ] || bad="$bad, $seed: no word about it"
	done
	is "$*: $good taken, $refused refused" "$bad" ""
}

# what the writer refuses is no capture
made=0
for seed in $(seq $((2 * n))); do
	[ $made = $n ] || ! "$BUILD/test/wsmutate" "$tiny" new.ws $seed || { made=$((made + 1)); mv new.ws $made.ws; }
done
is "captures are changed" $made $n
each wsinfo
each ws2addr -c -n 0:1000000
each ws2wet
each ws2laplace -k kernel -o refs
each wetz -0 -o wet
tap_end
