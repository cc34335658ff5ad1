# The MIPS lifter: facts in words, then against gcc's programs, objdump and qemu
. "$SRC/testdata/tap.sh"
t=$BUILD/test/mipstest
bad=0

# The program's own TAP lines, prefixed with the machine
tell() {
	sed "s/^\(not ok\|ok\) [0-9]* - /\1 - $1: /" <tap >tap.new
	[ -s tap.new ] || bad=1
	grep -q '^not ok' tap.new && bad=1
	cat tap.new
}

"$t" >tap || bad=1
tell facts

for m in mipsel mips; do
	big=$([ $m = mips ] && echo 1 || echo 0)
	end=$([ $m = mips ] && echo -EB || echo -EL)
	if ! command -v $m-linux-gnu-gcc >/dev/null || ! command -v qemu-$m >/dev/null; then
		skip "no $m-linux-gnu-gcc or no qemu-$m"
		continue
	fi

	# what gcc makes of C, in both models of addresses
	n=0
	for f in "$SRC"/testdata/ae/prog/*.c; do
		# __builtin_setjmp saves register 23, although it is not to be used
		[ "${f##*/}" != odd.c ] || continue
		for o in '-O0 -fno-pic -mno-abicalls -mno-shared' '-O1' '-O2 -fno-pic -mplt' '-O3'; do
			turn 7 || continue
			# shellcheck disable=SC2086  # several options
			$m-linux-gnu-gcc $o -w -ffixed-23 -c "$f" -o "$n.o" 2>/dev/null && n=$((n + 1))
		done
	done
	[ $n -gt $((few == 1 ? 100 : 15)) ] && pass "$m: gcc compiled programs" || fail "$m: gcc compiled programs" "$n"
	for o in *.o; do
		$m-linux-gnu-objdump -d -z -M no-aliases "$o"
	done | "$t" names all $big >tap || bad=1
	tell "$m, gcc"

	# the table, at its borders
	"$t" words 3 100000 $big >words
	$m-linux-gnu-objdump -D -z -b binary -m mips:isa32r2 $end -M no-aliases words | "$t" names some $big >tap || bad=1
	tell "$m, words"

	# the effects
	"$t" gen 5 16000 $big >gen.s
	ok "$m: the random program assembles" \
	    $m-linux-gnu-gcc -nostdlib -static -march=mips32r2 -Wl,--section-start=.cases=0x20000000 -o gen gen.s
	qemu-$m ./gen >gen.out
	"$t" compare 5 16000 $big <gen.out >tap || bad=1
	tell "$m, qemu"
	rm -f ./*.o
done

tap_end && [ $bad = 0 ]
