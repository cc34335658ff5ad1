# Programs made by hand, compiled: what regentest checks of the interpreter, said by both
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"
"$BUILD/test/regentest" dump || exit 1
for e in u*.1.ae; do
	u=${e%.1.ae}
	ok "$u: compiles" aec -b "$u"
	for e in "$u".*.ae; do
		if both "$u" "$e"; then pass "$e: $(cat a.err)"; else fail "$e" "$(cat a.err b.err)"; fi
	done
done
tap_end
