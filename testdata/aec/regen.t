# prog.regen and ae2addr: the same references, whatever the events
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"

for o in -O0 -O1 -O2 -Os; do
	turn 3 || continue
	ok "deep.c $o" aecc $o "$SRC/testdata/aec/deep.c" -o deep
	AE_OUT=deep.ae ./deep >out 2>&1 || fail "runs" "$(cat out)"
	is "untraced and traced" "$(AE_OUT=off ./deep)" "$(cat out)"
	ok "aec -b" aec -b deep
	if both deep deep.ae && [ ! -s a.err ]; then pass "the same"; else fail "the same" "$(cat a.err b.err)"; fi
	n=$((($(wc -c <a.ref) - 16) / 8))
	is "-c counts them" "$(./deep.regen -c deep.ae 2>err)" $n
done

# -Os now: events changed at random, with right checksums
bad=''
times=$few
for seed in $(seq 1 $times 60); do
	"$BUILD/test/evmut" deep.ae "$seed" $((seed % 3 + 1)) >m.ae
	both deep m.ae || bad="$bad $seed"
done
is "changed events" "$bad" ""
bad=
size=$(wc -c <deep.ae)
for i in $(seq 1 $times 40); do
	"$BUILD/test/evmut" deep.ae "$([ $((i % 2)) = 0 ] && echo cut || echo stop)" $((i * i * i)) >m.ae
	both deep m.ae || bad="$bad $i"
	[ $((i % 2)) = 0 ] || grep -q 'recording stopped here' a.err || bad="$bad stop$i"
done
is "events that end early" "$bad" ""
bad=
for i in $(seq 0 $times 30); do
	head -c $((size * i / 31)) deep.ae >m.ae
	both deep m.ae
	[ -s a.err ] && cmp -s a.ref b.ref || bad="$bad $i"
done
is "files that end early" "$bad" ""

# Formats and options give the same, too
for o in "-f text" "-f din -l" "-f lackey" "-i" "-il" "-l -f text"; do
	# shellcheck disable=SC2086
	ae2addr $o deep deep.ae >a && ./deep.regen $o deep.ae >b 2>err
	same "$o" a b
done
./deep.regen -o c deep.ae 2>err && ae2addr -o d deep deep.ae
same "-o" c d
is "nothing else is left" "$(ls c* d*)" "$(printf 'c\nd\ndeep\ndeep.ae\ndeep.regen')"
xz -c deep.ae >deep.ae.xz && ./deep.regen deep.ae.xz >c 2>err
same "compressed" c d
./deep.regen <deep.ae >c 2>err
same "standard input" c d
tap_end
