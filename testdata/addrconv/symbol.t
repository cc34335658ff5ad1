# -s: the references of functions, against awk with the ranges that nm prints
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"

# within NAME: of the references from standard input, those of the function, by its lines in `names`
within() {
	awk -v n=0 -v name="$1" 'function hex(s,  v, i) {
		for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	NR == FNR { if ($4 == name) { from[n] = hex($1); to[n] = hex($1) + hex($2); n++ } next }
	/^inst/ { at = hex(substr($2, 3)); here = 0; for (i = 0; i < n; i++) here = here || (at >= from[i] && at < to[i]) }
	here' names -
}

# function WHAT NAME: all of its references are there, which are some
function_() {
	within "$2" <all.text >want
	shift
	name=$1
	shift
	addrconv -f text -s "$name" "$@" >got
	same "$what: $name" got want
	ok "$what: $name: some" test -s want
}

# a program of aecc, with its events and as a stream
cp "$SRC/testdata/cachesim/walk.c" .
aecc -g -O1 -o walk walk.c && ./walk >/dev/null || fail "aecc makes a program"
nm -S walk >names
ae2addr -f text walk ae.out >all.text
ae2addr walk ae.out >g.ref
what="a program"
function_ "" compare walk
what="a stream"
function_ "" compare -e walk g.ref
addrconv -f lackey g.ref >g.log
function_ "" compare -e walk g.log
gives "a stream has no names" 1 "addrconv: g.ref: has no names of functions; -e names the executable that has them" \
	addrconv -s compare -o made g.ref
ok "and nothing is made" test ! -e made
${CC:-gcc} -pie -fPIE -o elsewhere walk.c
gives "-e of other addresses" 0 "addrconv: g.ref: no instruction that is wanted is in compare; a position-independent executable may have been loaded elsewhere" \
	addrconv -s compare -e elsewhere -o made g.ref
rm -f made
gives "no such function" 1 "addrconv: walk: no function comp" addrconv -s compare -s comp -o made walk
ok "and nothing is made of it" test ! -e made
gives "nor in a part" 1 "addrconv: walk: no function comp" addrconv -s comp -n :50 walk
gives "-e nosuch" 1 "addrconv: nosuch: No such file or directory" addrconv -e nosuch -s compare g.ref
gives "-e nosuch, without -s" 1 "addrconv: nosuch: No such file or directory" addrconv -e nosuch -o made g.ref
ok "and nothing is made of that" test ! -e made
gives "no name" 2 "addrconv: -s : not the name of a function; see addrconv --help" addrconv -s '' g.ref
gives "a format of instructions" 2 "addrconv: -f champsim takes no filters but --task; see addrconv --help" addrconv -f champsim -s main g.ref

why=$(able) || { skip "$why"; tap_end; exit; }
captured work "$HERE/work.c" -fno-ipa-cp -fno-ipa-sra -fno-partial-inlining || fail "a program"
nm -S work >names
ws2addr -f text work.ws >all.text
what="a capture"
function_ "" sift work.ws
function_ "" run work.ws
function_ "" sift --kinds inst,load,store,modify work.ws
addrconv -f text -s fib -s twice -i work.ws >got
{ sed 's/ fib$/ both/; s/ twice$/ both/' names >names2 && mv names2 names; }
within both <all.text | grep -v '^inst' >want
same "two functions, without fetches" got want
nm -S work >names
n=$(ws2addr -c work.ws | sed -n 's/instructions //p')
ws2addr -f text -n "$((n / 3)):$((n / 2))" work.ws | within sift >want
addrconv -f text -s sift -n "$((n / 3)):$((n / 2))" work.ws >got
same "in a range of instructions" got want
head -c $(($(bytes work.ws) * 2 / 3)) work.ws >cut.ws
addrconv -f text -s sift cut.ws >out 2>err
is "a capture that is cut off" "$? $(grep -c . err)" "1 1"

# a library's function, by each of its names; code that other code was at the address of before
for f in one two; do
	echo "int a_$f(int i) __attribute__((alias(\"$f\"))); int $f(int i) { int volatile r = 0; while (i--) r += 300; return r; }" >$f.c
	$GCC -O1 -shared -fPIC -s -o $f.so $f.c
done
$GCC -O1 -o plugins "$HERE/plugins.c" -ldl
ok "a program that loads libraries" wscap -o plugins.ws ./plugins
for f in one two a_two; do addrconv -f text -s $f plugins.ws >$f; done
is "each is as long" "$(grep -c ^inst one)" "$(grep -c ^inst two)"
ok "and not short" test "$(grep -c ^inst one)" -gt 20
same "an alias" a_two two
is "it begins where it is in the file" "$(head -n 1 two | sed 's/.*\(...\) [0-9]*$/\1/')" \
	"$(nm -D two.so | sed -n 's/.*\(...\) T two$/\1/p')"
n=$(ws2addr -c plugins.ws | sed -n 's/instructions //p')
for at in 1 2 3 4 5 6 7; do
	addrconv -f text -s one -s two -n "$((n * (at - 1) / 7)):$((n * at / 7))" plugins.ws || echo "status $?"
done >got 2>none
addrconv -f text -s one -s two plugins.ws >want
same "parts of the run are the whole" got want
gives "a part before a library is mapped" 0 "addrconv: plugins.ws: no function two up to there" \
	addrconv -f text -s two -n :100 plugins.ws
mv one.so two.so
gives "another file" 1 "addrconv: plugins.ws: $PWD/two.so: is not the file that was captured: its functions and lines are not known
addrconv: plugins.ws: $PWD/one.so: No such file or directory: its functions and lines are not known
addrconv: plugins.ws: no function two" addrconv -s two -o made plugins.ws
tap_end
