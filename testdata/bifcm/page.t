# The page says enough: the decoder that was written from it agrees, whatever the layout and the method
. "$SRC/testdata/tap.sh"
test=$BUILD/test/streamtest
plain=$BUILD/test/plain

"$test" make $((few == 1 ? 200005 : 40005)) 3 >in
: >empty
bifcm <empty | "$plain" >out
same "nothing" empty out
methods=$(bifcm -m '?' <empty 2>&1 | sed 's/.*there are //; s/,//g')
for layout in "-w 1" "-w 2" "-w 4" "-w 8" "-r 4,8 -H 4" "-r addr -H 16" "-r 2,8,1:2 -H 1000" "-r 8,8:0"; do
	bad=
	for m in $methods; do
		turn 5 || continue
		# shellcheck disable=SC2086
		bifcm $layout -m "$m" -b 3000 <in | "$plain" >out && cmp -s out in || bad="$bad $m"
	done
	for level in 0 1 6 9; do
		turn 3 || [ $level = 9 ] || continue
		# shellcheck disable=SC2086
		bifcm $layout -$level -b 4000 <in | "$plain" >out && cmp -s out in || bad="$bad -$level"
	done
	is "$layout" "$bad" ""
done

# each method alone on what it is best at would not be seen above if it never made anything smaller
for m in $methods; do
	[ "$m" = stored ] && continue
	seen=
	for seed in 1 2 3 4 5; do
		[ $seen ] && break
		"$test" make 30000 $seed >some
		[ "$m" = scaled ] && "$BUILD/test/hard" grids >some
		for layout in 8 "4,8" addr; do
			[ $seen ] || bifcm -r $layout -m "$m" -b 2000 <some | bifcm -lv | grep -q " $m:" && seen=1
		done
	done
	is "$m is in the files" "$seen" 1
done

"$plain" <in >/dev/null 2>err
is "what is no such file" "$? $(cat err)" "1 plain: byte 0: magic"

# the hex dump of the page
grep -E '^[0-9a-f]{8}  ' "$SRC/man/bifcm.5" | sed 's/^[0-9a-f]*//' | tr -s ' \n' '\n\n' | sed '/^$/d' >page.hex
sed -n 's/^\$ \(printf .*\) | bifcm .*/\1/p' "$SRC/man/bifcm.5" | sed 's/\\e/\\/g' >make
sh make >values
args=$(sed -n 's/^\$ printf .* | bifcm \(.*\) | od .*/\1/p' "$SRC/man/bifcm.5")
# shellcheck disable=SC2086
bifcm $args <values | od -An -v -tx1 | tr -s ' \n' '\n\n' | sed '/^$/d' >real.hex
[ -s page.hex ] && same "the dump of the page" page.hex real.hex

# files of version 2, which have no whole blocks, are still read: that of the page, as it was then
printf '\211TMBIF\r\n\2\0\0\0\10\0\0\0\0\0\0\0\0\1\1\105\245\016\303\4\0\6\141\152\174\327\1\0\2\0\1\1\0\1\3\15\1\170\4\1\0\0\10\1\0\0\320\162\325\362\22\0\0\0BIFe' >old.bif
bifcm -dc old.bif >out
same "a file of version 2" values out
"$plain" <old.bif >out
same "by the plain decoder" values out

# and of version 3
printf '\211TMBIF\r\n\3\0\0\0\10\0\0\0\0\0\0\0\0\1\1\255\176\365\172\5\0\6\42\176\7\300\1\0\2\0\1\1\0\1\3\15\1\170\4\1\0\0\10\1\0\0\320\162\325\362\22\0\0\0BIFe' >old.bif
bifcm -dc old.bif >out
same "a file of version 3" values out
"$plain" <old.bif >out
same "by the plain decoder, too" values out

# and of version 4
printf '\211TMBIF\r\n\4\0\0\0\10\0\0\0\0\0\0\0\0\1\1\267\161\364\341\5\0\6\42\176\7\300\1\0\2\0\1\1\0\1\3\15\1\170\4\1\0\0\10\1\0\0\320\162\325\362\22\0\0\0BIFe' >old.bif
bifcm -dc old.bif >out
same "a file of version 4" values out
"$plain" <old.bif >out
same "by the plain decoder, also" values out

# values on grids, with primers and without; many fields
for kind in decimals grids; do
	"$BUILD/test/hard" $kind >in
	for options in "-9" "-6 -b 3000" "-1 -b 3000" "-9 -b 100,2000 -w 4" "-9 -b 3000 -r 8,4,4" \
	    "-6 -b 1000,200 -r 1,2,4:0,8:3,2,2,2,1:5,1,1,1,1,1:12,1:0,1,8"; do
		# shellcheck disable=SC2086
		bifcm $options -c in >in.bif
		"$plain" <in.bif >out
		same "$kind $options" in out
		bifcm -dc -T 2 in.bif >out
		same "$kind $options: comes back" in out
	done
	bifcm -9 -b 3000 in -o in.bif
	bifcm -d -R in.bif | bifcm -6 -b 700 | bifcm -d -R >out
	same "$kind: backward" in out
	is "$kind: scaled" "$(bifcm -lv in.bif | sed -n 's/^1 .* scaled:/scaled:/p')" "scaled:$([ $kind = decimals ] && echo 7 || echo 5)"
done

# whole blocks, by each method
whole() { bifcm -lv in.bif | sed -n 's/^whole .* //p'; }
"$BUILD/test/hard" far >in
bifcm -9 -r 2,4 -c in >in.bif
is "what repeats from far away is one" "$(whole)" lzma:1
bifcm -9 -r 2,4 -T 2 -c in | cmp -s - in.bif && pass "by two threads, too" || fail "by two threads, too"
"$plain" <in.bif >out
same "which the plain decoder knows" in out
"$BUILD/test/hard" noise | head -c 3001 >few
cat few few few few few >in
bifcm -9 -c in >in.bif
is "another one" "$(whole)" zstd:1
"$plain" <in.bif >out
same "as well" in out
for options in "picture -w 1" "story -w 2" "story -w 1"; do
	"$BUILD/test/hard" "${options%% *}" >in
	# shellcheck disable=SC2086
	bifcm -9 ${options#* } -c in >in.bif
	is "$options: context mixing of bytes" "$(whole)" bytes:1
	bifcm -9 ${options#* } -T 2 -c in | cmp -s - in.bif && pass "$options: by two threads, too" || fail "$options: by two threads, too"
	"$plain" <in.bif >out
	same "$options: which the plain decoder knows" in out
	bifcm -dc in.bif >out
	same "$options: comes back" in out
	bifcm -d -R in.bif | bifcm -9 ${options#* } | bifcm -d -R >out
	same "$options: backward" in out
done
tap_end
