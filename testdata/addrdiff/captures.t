# Captures: the same as the references that ws2addr makes of them
. "$SRC/testdata/tap.sh"
why=$(captures ws2addr) || { skip "$why"; tap_end; exit; }
cat >two.c <<'X'
#include <unistd.h>
static volatile int n[64];
int
main(int argc, char **argv)
{
	for (int i = 0; i < 20000; i++)
		n[i % 64] += argc;
	if (argc > 2)
		n[0]++;
	if (argc > 1 && fork() == 0)
		execv(argv[0], (char *[]){ argv[0], NULL });
	return 0;
}
X
${CC:-gcc} -O1 $static two.c -o two || exit 1
wscap -o a.ws ./two || fail "the capture"
wscap --first-touch -o b.ws ./two
ws2addr -o a.ref a.ws
n=$(ws2addr -c a.ws | awk '/^instructions/ { print $2 }')
refs=$((($(wc -c <a.ref) - 16) / 8))
for two in "a.ws a.ref" "a.ref a.ws" "a.ws b.ws" "- a.ws" "a.ws:1 -"; do
	# shellcheck disable=SC2086
	gives "$two" 0 "" addrdiff -v $two <a.ws
	is "$two: all of it" "$(sed 's/.*same/same/' tap.out)" "same: $refs references, $n instructions"
done
gzip -c a.ws >a.ws.gz
gives "compressed" 0 "" addrdiff a.ws.gz a.ref
cat a.ws.gz | gives "from a pipe" 0 "" addrdiff a.ref -
ws2addr -f lackey -o a.log a.ws
gives "a log" 0 "" addrdiff a.log a.ws
gives "a range" 0 "" addrdiff -v --range $((n - 5)): a.ws a.ref
is "a range: of it" "$(sed 's/.*, //' tap.out)" "5 instructions"
wscap -o c.ws ./two 1 2
ws2addr -o c.ref c.ws:1 2>err
addrdiff a.ref c.ref >want
is "another run differs" "$?" 1
gives "as captures, the same difference" 1 "" addrdiff a.ws c.ws:1
is "is shown" "$(sed 's/[ac][.]ws\(:1\)*/X/g' tap.out)" "$(sed 's/[ac][.]ref/X/g' want)"
gives "several runs" 1 "addrdiff: c.ws: run 1 of 3, of two; FILE:NUMBER is another one (wsinfo lists them)" addrdiff c.ws c.ws:3
gives "said, but not with -q" 1 "" addrdiff -q c.ws c.ws:3

head -c $(($(wc -c <a.ws) - 30)) a.ws >cut.ws
addrdiff a.ws cut.ws >got 2>err
is "a capture that is cut off" "$? $(wc -c <got | tr -d ' ') $(grep -c '^addrdiff: cut.ws: byte ' err) $(wc -l <err | tr -d ' ')" "2 0 1 1"
gives "no file" 2 "addrdiff: nothing.ws: No such file or directory" addrdiff a.ws nothing.ws
# ulimit -v leaves no room for a sanitizer itself
case $SAN in
*address* | *thread* | *memory*) ;;
*)	gives "no memory" 2 "addrdiff: a.ws: no address space for translated code, which needs 256 MB twice (ulimit -v)" \
		sh -c 'ulimit -v 400000; addrdiff a.ws a.ref' ;;
esac
tap_end
