# What goes in comes out: all of it, parts, backward; files and pipes
. "$SRC/testdata/tap.sh"
test=$BUILD/test/streamtest

"$test" make 300007 1 >in
: >empty
printf 'abc' >few
head -c 16 in >one
# all layouts and levels with a part of it that is two blocks of the largest records and some more, all methods with a third of it
whole=in third=in block=5000
[ "${MATRIX-}" = full ] || { head -c 100007 in >third; head -c 48011 in >whole; whole=whole third=third block=2000; }
levels=$(for m in 0 1 6 9; do echo "-$m"; done)
for layout in "-w 1" "-w 2" "-w 4" "-w 8" "-r 4,8 -H 4" "-r addr -H 16" "-r 8,8,1:2 -H 1000"; do
	for level in $levels; do
		bad=
		for f in $whole empty few one; do
			[ $f = $whole ] || turn 5 || continue
			# shellcheck disable=SC2086
			bifcm $layout $level -b $block -T 2 <$f >$f.bif && bifcm -dc $f.bif | cmp -s - $f || bad="$bad $f"
			turn 3 || continue
			cat $f.bif | bifcm -d -T 3 | cmp -s - $f && bifcm -t $f.bif || bad="$bad $f, a pipe"
		done
		is "$layout $level: comes back" "$bad" ""
	done
done

# parts: RECORD HEAD, then `start count` in several ways
part() {
	for p in "0 100" "1 1" "4999 2" "5000 5000" "12345 13000" "20000 999999" "999999 5" "0 0"; do
		# shellcheck disable=SC2086
		set -- $1 $2 $p
		for back in 0 1; do
			turn 3 || continue
			r=$([ $back = 1 ] && echo -R)
			"$test" part "$1" "$2" "$3" "$4" $back <in >want
			# shellcheck disable=SC2086
			bifcm -d $r -s "$3" -n "$4" in.bif >got && cmp -s got want || echo "-s $3 -n $4 $r"
			# shellcheck disable=SC2086
			cat in.bif | bifcm -d $r -s "$3" -n "$4" -T 2 >got && cmp -s got want || echo "-s $3 -n $4 $r, a pipe"
		done
	done
}
bifcm -b 5000 -o in.bif in
is "parts of values" "$(part 8 0)" ""
bifcm -b 3000 -r 4,8 -H 4 -1 <in >in.bif
is "parts of records" "$(part 12 4)" ""
bifcm -b 4k -r addr -H 16 -9 <in >in.bif
is "parts of references" "$(part 8 16)" ""
"$test" part 8 16 0 99999999 1 <in >want
bifcm -d -R -o got in.bif
same "all of it backward" got want

bifcm -1 in -o a.bif
bifcm -1 -T 3 <in >b.bif
same "-T does not show" a.bif b.bif
bifcm -1 -b 512k,512k -w 8 <in >b.bif
same "the defaults" a.bif b.bif
bifcm -dk a.bif >/dev/null 2>&1
is "the file's mode" "$(stat -c %a a.bif)" "$(umask >/dev/null; : >new; stat -c %a new)"
bifcm <a.bif | bifcm -d | bifcm -d >got
same "compressed twice" got in
"$test" make 10000000 9 >long
bifcm -0 <long >long.bif
is "blocks unless told otherwise" "$(bifcm -lv long.bif | sed -n 's/^\(blocks\|.*block-records\) //p' | tr '\n' ' ')" "3 524288 524288 "
bifcm -1 -r addr -H 16 <long >long.bif
is "shorter ones of references" "$(bifcm -lv long.bif | sed -n 's/^\(blocks\|.*block-records\) //p' | tr '\n' ' ')" "5 262144 262144 "
# most of it is the same, but for MATRIX=full: the level takes its time
[ "${MATRIX-}" = full ] || { cat in; head -c 9000000 /dev/zero; cat in; } >long
bifcm -5 <long >long.bif
is "the first one is longer" "$(bifcm -lv long.bif | sed -n 's/^first-block-records //p')" 1048576
bifcm -d -R long.bif | cksum >got
"$test" part 8 0 0 9999999 1 <long | cksum >want
same "backward over it" got want
gzip -c <in | bifcm | bifcm -d | gzip -dc >got
same "what is compressed is taken as it is" got in

bifcm -r 4,8 -H 4 -0 -b 10000 in -o in.bif
is "-l -v" "$(bifcm -lv in.bif | sed '/^memory-bytes /d' | head -n 10; bifcm -lv in.bif | tr -s ' ' | sed 1,11d)" "layout 4,8
records 25000
blocks 3
block-records 10000
first-block-records 10000
head-bytes 4
tail-bytes 3
bytes 300007
file-bytes 300113
bits-a-record 96.0362
column values bytes bits blocks by method
1 25000 100000 32.0000 stored:3
2 25000 200000 64.0000 stored:3"
is "-l -v -v" "$(cat in.bif | bifcm -lvv | grep ^block' ')" "block 1 at 32 records 0+10000 bytes 120014 stored:40000 stored:80000
block 2 at 120046 records 10000+10000 bytes 120013 stored:40000 stored:80000
block 3 at 240059 records 20000+5000 bytes 60014 stored:20000 stored:40000"
is "-l of nothing" "$(bifcm <empty | bifcm -lv | head -n 3 | tail -n 2)" "records 0
blocks 0"

# each method by its name
for m in $(bifcm -m '?' <empty 2>&1 | sed 's/.*there are //; s/,//g'); do
	bifcm -m "$m" -b 3000 -T 2 <$third >m.bif && bifcm -dc m.bif | cmp -s - $third && bifcm -d -R m.bif >got &&
		"$test" part 8 0 0 99999999 1 <$third | cmp -s - got && pass "-m $m" || fail "-m $m"
done
tap_end
