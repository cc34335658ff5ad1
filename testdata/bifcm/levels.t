# A higher level makes no larger file, nor is -9 larger than xz and zstd, whatever the input is
. "$SRC/testdata/tap.sh"
size() { wc -c | tr -d ' '; }

# every second kind, and one that -9 once coded larger than -8; and of these levels of one in four
kinds=0
for kind in repeats ticks words far log noise zeros one none decimals grids ids table rare mix picture story; do
	kinds=$((kinds + 1))
	[ "${MATRIX-}" = full ] || [ $((kinds % 2)) = 1 ] || [ $kind = decimals ] || continue
	"$BUILD/test/hard" $kind >in
	least=
	bad=
	levels=9
	turn 4 && levels="1 2 3 6 9"
	for level in $levels; do
		bifcm -c -$level in >in.bif
		bifcm -dc in.bif | cmp -s - in || bad="$bad -$level does not come back"
		n=$(size <in.bif)
		[ -z "$least" ] || [ $((100 * n)) -le $((101 * least)) ] || bad="$bad -$level: $n, another level $least"
		[ -n "$least" ] && [ "$least" -lt "$n" ] || least=$n
	done
	is "$kind: levels" "$bad" ""
	if command -v xz >/dev/null && command -v zstd >/dev/null; then
		for other in "xz -9e -c" "zstd -19 -cq"; do
			m=$($other in | size)
			[ "$n" -le $((m + 64)) ] && pass "$kind: $other" || fail "$kind: $other" "$n bytes, the other $m"
		done
	else
		skip "no xz or no zstd"
	fi
done
tap_end
