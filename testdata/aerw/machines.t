# Other machines: which assembler aerw looks instructions up with, and what it makes of the paper's example
. "$SRC/testdata/tap.sh"
cd "$TMPDIR" || exit 1
example=$SRC/testdata/ae/paper/example.s
unset AERW_AS
for m in mipsel mips; do
	command -v $m-linux-gnu-as > /dev/null || { skip "no $m-linux-gnu-as"; exit 0; }
done

# an assembler that says its name, then does its work
for as in as mipsel-linux-gnu-as mips-linux-gnu-as; do
	printf '#!/bin/sh\necho %s >> "%s/ran"\nexec %s "$@"\n' $as "$PWD" "$(command -v $as)" > stub
	mkdir -p stubs
	mv stub stubs/$as
	chmod +x stubs/$as
done
PATH=$PWD/stubs:$PATH
ran() { sort -u ran | tr '\n' ' '; rm -f ran; }

for m in mipsel mips; do
	rm -f ran
	gives "$m: its own assembler" 0 "aerw: $example: 2 functions, 0 left untraced" aerw -v -m $m -o $m.s "$example"
	is "$m: after the usual one" "$(ran)" "as $m-linux-gnu-as "
	ok "$m: the result assembles" $m-linux-gnu-as -mno-fix-loongson3-llsc $m.s -o $m.o
	is "$m: sections" "$(readelf -SW $m.o | grep -o -w -E 'aetext|aeplain|aefn|\.aeschema' | sort -u | tr '\n' ' ')" ".aeschema aefn aeplain aetext "
	rm -f ran
	AERW_AS=$m-linux-gnu-as aerw -m $m -o named.s "$example"
	is "$m: the one of AERW_AS" "$(ran)" "$m-linux-gnu-as "
	same "$m: the same from it" named.s $m.s
	AERW_AS=$m-linux-gnu-as aerw -o named.s "$example"
	same "$m: the machine that it is for" named.s $m.s
	ok "$m: as the paper has it" aerw -p -m $m -o paper.s "$example"
	ok "$m: is something else" sh -c '! cmp -s "$1" paper.s' - $m.s
done
rm -f ran
AERW_AS=as aerw -m mipsel "$example" > out 2> err
is "AERW_AS of another machine: said" "$(cat err)" "aerw: $example: the assembler does not accept it: left untraced"
is "no other is tried" "$(ran)" "as "
is "passed through" "$(grep -c aetext out)" 0
printf 'int f(int x) { return x + 1; }\n' | $GCC -O2 -fno-pie -ffixed-r15 -x c -S - -o n.s
rm -f ran
aerw -m x86-64 -o n.ae.s n.s
is "the usual one is enough for its machine" "$(ran)" "as "
gives "no such machine" 1 "aerw: vax: no such machine" aerw -m vax n.s
tap_end
