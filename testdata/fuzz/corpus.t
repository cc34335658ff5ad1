# The fuzzers' targets on their first inputs, and what was once found: all *fuzz.c
# Some have first inputs in corpus/ only: aefuzz, asmfuzz, lackeyfuzz, numfuzz, packfuzz, schematextfuzz, tracefuzz
. "$SRC/testdata/tap.sh"
export TRACEMILL_CONFINE=no     # one process replays a file, and opens the next one then
mkdir seed
ok "first inputs are made" sh "$HERE/seeds.sh" seed
rm -rf seed/replay
for t in "$HERE"/corpus/*; do
	mkdir -p "seed/${t##*/}"
	cp "$t"/* "seed/${t##*/}/"
done
for t in seed/*; do
	t=${t#seed/}
	f=
	[ "$t" = laplacefuzz ] && f=-f
	# shellcheck disable=SC2086  # an option or none
	ok "$t: $(find "seed/$t" -type f | wc -l | tr -d ' ') files" "$BUILD/test/$t" $f seed/"$t"/*
done
tap_end
