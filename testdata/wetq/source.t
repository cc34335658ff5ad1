# What is not known of a run, or may be another than it was, is said in a line; points
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2wet/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

foo1
me=$(pwd)/foo1
at=$(wetq list foo1.ws | awk '/ foo1.c main 9$/ { print $1; exit }')
wetq list foo1.ws >list 2>err
is "nothing is wrong" "$(cat err)" ""
wetq annotate "$at#0" foo1.ws >want 2>err
is "nor with the source" "$(cat err)" ""
wetz -1 -o foo1.wet foo1.ws 2>err
is "nor for wetz" "$(cat err)" ""

# a point is an instance; a statement's number alone its last one, a place in the run has its own sign
often=$(awk '$2 > 3 { print $1, $2; exit }' list)
id=${often% *} last=$((${often#* } - 1))
for f in foo1.ws foo1.wet; do
	for q in "slice" "-b -n 3 cf -f" "-n 3 cf -f" "dot" "annotate"; do
		case $q in
		*-f) set -- ${q% cf -f} -f "$id" cf $f; wetq ${q% cf -f} -f "$id#$last" cf $f >want1 ;;
		*) set -- $q "$id" $f; wetq $q "$id#$last" $f >want1 2>/dev/null ;;
		esac
		wetq "$@" >got 2>err
		same "$f: $q of a statement: its last instance" want1 got
		is "$f: $q says so" "$(sed -n 1p err)" "wetq: $f: $id: its last instance, $id#$last"
	done
done
is "a place in the run" "$(wetq -n 1 slice @7 foo1.ws | cut -d'#' -f1)" "$(wetq -n 7 cf foo1.ws | tail -n 1)"
gives "none" 1 "wetq: foo1.ws: no instance @0" wetq slice @0 foo1.ws
gives "nor that" 1 "wetq: foo1.ws: no statement 100000000" wetq slice 100000000 foo1.ws
gives "a point is missing" 2 "wetq: slice foo1.ws: that is the file; which point?" wetq slice foo1.ws
gives "-w" 2 "wetq: -w 1: not a number of at least 16; see wetq --help" wetq -w 1 list foo1.ws
gives "-n" 2 "wetq: -n -1: not a number of at least 0; see wetq --help" wetq -n -1 cf foo1.ws
gives "nothing" 1 "wetq: standard input: byte 0: empty input" wetq list
gives "nothing, ws2wet" 1 "ws2wet: standard input: byte 0: empty input" ws2wet
gives "an executable" 1 "wetq: foo1: byte 0: an executable, not a capture: capture it with wscap first" wetq list foo1
gives "an executable, wetz" 1 "wetz: foo1: an executable: capture it with wscap first" wetz foo1
gives "an executable, ws2wet" 1 "ws2wet: foo1: byte 0: an executable, not a capture: capture it with wscap first" ws2wet foo1
gives "a .wet file" 1 "ws2wet: foo1.wet: byte 0: a compressed execution trace, not a capture: wetq and wetz -d read it" ws2wet foo1.wet
gives "a text" 1 "wetq: page.txt: not a capture: if it is text of an execution trace, compress it with wetz first" sh -c "cp $SRC/testdata/wetz/page.txt .; wetq list page.txt"
is "in a session" "$(printf 'list foo\n' | wetq -i foo1.ws 2>&1 | sed -n 1p)" "wetq: no question: list foo; see wetq --help"

# the source
wetq annotate "$at#0" foo1.ws >got 2>err
same "annotate" want got
sed 's/x \* 7/x * 8/' foo1.c >new.c
mv foo1.c old.c
wetq annotate "$at#0" foo1.ws >got 2>err
is "no source" "$(cat err)" "wetq: foo1.c: No such file or directory: -I says where sources are"
touch new.c
cp new.c foo1.c
wetq annotate "$at#0" foo1.ws >got 2>err
is "another source" "$(cat err)" "wetq: foo1.c: has been changed since the program was compiled: what it says here may not be what ran"
wetq annotate "$at#0" foo1.wet >got 2>err
is "another source, of a .wet file" "$(cat err)" "wetq: foo1.c: has been changed since the run: what it says here may not be what ran"

# the program
mv foo1 foo1.old
other="$me: is not the file that was captured: its functions and lines are not known"
gone="$me: No such file or directory: its functions and lines are not known"
for what in gone other; do
	[ $what = gone ] || ${CC:-gcc} -w -g -O0 $static foo1.c -o foo1
	say=$gone
	[ $what = gone ] || say=$other
	wetq list foo1.ws >got 2>err
	is "$what" "$(cat err)" "wetq: foo1.ws: $say"
	is "$what: nothing is known of it" "$(grep -c ' main ' got)" 0
	wetq annotate "$at#0" foo1.ws >got 2>err
	is "$what: annotate" "$(cat err got)" "wetq: foo1.ws: $say"
	ws2wet --main foo1.ws >got 2>err
	is "$what: ws2wet" "$(cat err; grep -c ' main ' got)" "ws2wet: foo1.ws: $say
0"
	for m in full replay; do
		wetz -1 -m $m -o got.wet foo1.ws 2>err
		is "$what: wetz -m $m" "$(cat err)" "wetz: foo1.ws: $say"
	done
	is "$what: in a session, once" "$(printf 'list\nlist\n' | wetq -i foo1.ws 2>&1 >out)" "wetq: foo1.ws: $say"
	wetq list foo1.wet >got 2>err
	same "$what: a .wet file has it all" list got
	is "$what: and complains of nothing" "$(cat err)" ""
done
mv foo1.old foo1

# lines do not hang on .debug_aranges, which gcc writes and clang does not
echo 'int twice(int); int main(int argc, char **argv) { (void)argv; return twice(argc) != 2; }' >one.c
echo 'int twice(int x) { return x + x; }' >two.c
gcc -g -O0 -c one.c two.c && objcopy --remove-section .debug_aranges two.o && gcc one.o two.o -o both && wscap -o both.ws ./both
is "units with and without .debug_aranges" "$(wetq list both.ws | awk '$4 ~ /^(one|two)[.]c$/ { print $4, $5, $6 }' | LC_ALL=C sort -u)" \
	"one.c main 1
two.c twice 1"

# functions of libraries: exported ones, those of split debugging information, inlined ones
cat >lib.c <<'X'
static inline __attribute__((always_inline)) int twice(int x) { volatile int y = x; return y + y; }
static __attribute__((noinline)) int hidden(int x) { return twice(x) + 1; }
int shown(int x);
int shown(int x) { return hidden(x) * 3; }
X
echo 'int shown(int); int main(void) { return shown(7) != 45; }' >use.c
${CC:-gcc} -g -O1 -fPIC -shared lib.c -o libname.so -Wl,--build-id=sha1 && ${CC:-gcc} -g use.c -o use -L. -lname -Wl,-rpath,"$(pwd)" && wscap --names no -o use.ws ./use
wetq list use.ws >list
is "a library with debugging information: a function that is inlined too" "$(awk '$4 == "lib.c" { print $5, $6 }' list | LC_ALL=C sort -u)" "hidden 2
shown 4
twice 1"
strip libname.so
is "a stripped one: those that it exports" "$(wetq list use.ws | awk '$4 == "lib.c" || $5 == "shown" || $5 == "hidden" || $5 == "twice" { print $4, $5 }' | sort -u)" "? shown"
libc=$(ldd use | awk '$1 ~ /^libc[.]so/ { print $3 }')
id=$(readelf -n "$libc" 2>/dev/null | awk '/Build ID/ { print substr($3, 1, 2) "/" substr($3, 3) }')
if [ "$id" ] && [ -r "/usr/lib/debug/.build-id/$id.debug" ]; then
	# local functions of it, which it does not export
	readelf -sW "/usr/lib/debug/.build-id/$id.debug" | awk '$4 == "FUNC" && $5 == "LOCAL" { print $8 }' | sort -u >local
	awk '$4 ~ /^[.]\// { print $5 }' list | sort -u | comm -12 - local >got
	ok "one whose debugging information was split off" test -s got
else
	skip "one whose debugging information was split off: that of the C library is not installed"
fi

strip -o bare foo1 && wscap -o bare.ws ./bare >out
gives "no line is known" 0 "wetq: bare.ws: no line of a source file is known: was the program compiled with -g?" wetq annotate @100 bare.ws
tap_end
