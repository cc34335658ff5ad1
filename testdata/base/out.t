# The one rule for outputs: temporary and rename, links, devices and pipes, limits and signals
. "$SRC/testdata/tap.sh"
t=$BUILD/test/outtest

none_left() {
	is "$1" "$(ls -A | grep -v -x -F -e tap.err -e tap.out -e "$2" | tr '\n' ' ')" ""
}

mkdir w
cd w || exit 1
umask 027
ok "a new file" "$t" new text close
is "has its text" "$(cat new)" text
is "and the mode that creation gives" "$(stat -c %a new)" 750
none_left "and nothing else is left" new

for how in drop die 15 1 2 3 13 14 10 12 24 26 27 29 30; do
	rm -f new
	"$t" new text $how 2>/dev/null
	status=$?
	case $how in
	drop) want=0 ;;
	die) want=1 ;;
	*) want=$((128 + how)) ;;
	esac
	is "ends by $how: the status" $status $want
	none_left "ends by $how: nothing is left" none
done
echo old >new
for how in drop die 15; do
	"$t" new text $how 2>/dev/null
	is "ends by $how: the old file stays" "$(cat new)" old
done
(trap '' USR1; "$t" new text 10)
is "a signal that is ignored stays so" "$?: $(cat new)" "0: text"
echo old >new
ok "a child's end removes nothing" "$t" new text fork
is "and the output is there" "$(cat new)" text

# symbolic links
mkdir d
rm -f new
ln -s d/there one
ln -s one two
ok "a link to where nothing is" "$t" two text close
is "is followed" "$(cat d/there)" text
[ -L one ] && [ -L two ] && pass "and stays" || fail "and stays"
chmod 604 d/there
ok "a link to a file" "$t" two more close
is "is followed, the mode is kept" "$(cat two) $(stat -c %a d/there)" "more 604"
ln -s loop loop
gives "a loop of links" 1 "outtest: loop: Too many levels of symbolic links" "$t" loop text close
rm -rf ./*

# what is no regular file is written through
mkfifo fifo
cat fifo >got &
ok "a pipe with a name" "$t" fifo text close
wait
is "is written to" "$(cat got)" text
[ -p fifo ] && pass "and stays one" || fail "and stays one"
ok "/dev/null" "$t" /dev/null text close
[ -c /dev/null ] && pass "stays a device" || fail "stays a device"
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1 -; do
	(echo before; "$t" $name text close; echo after) >got
	is "$name is standard output" "$(tr '\n' ' ' <got)" "before textafter "
done
"$t" /dev/fd/5 text close 5>got
is "another descriptor" "$(cat got)" text
gives "one that is not open" 1 "outtest: /dev/fd/7: Bad file descriptor" "$t" /dev/fd/7 text close
mkdir full
gives "a folder" 1 "outtest: full: Is a directory" "$t" full text close
gives "in a folder that is not there" 1 "outtest: no/file: No such file or directory" "$t" no/file text close
rm -rf ./*

long=$(printf '%0250d' 0)
ok "a name as long as can be" "$t" "$long" text close
is "is there" "$(cat "$long")" text
rm -rf ./*

# a limit of files' sizes is an error of this program, and of the ones it runs what it was before
big=$(printf '%030000d' 0)
gives "a file that may not grow" 1 "outtest: new: File too large" sh -c 'ulimit -f 16; "$0" new "$1" close' "$t" "$big"
none_left "leaves nothing" none
(ulimit -f 16; "$t" x 'kill -s XFSZ $$; echo alive' run >got 2>/dev/null)
is "a program that is run has the signal" "$?: $(cat got)" "153: "
(trap '' XFSZ; "$t" x 'kill -s XFSZ $$; echo alive' run >got)
is "or has it ignored, as it was given" "$(cat got)" alive
rm -f got

if [ "$(id -u)" = 0 ]; then
	echo old >new
	chown 1234:1235 new
	chmod 640 new
	ok "root writes another's file" "$t" new text close
	is "which stays the other's" "$(stat -c '%u:%g %a' new) $(cat new)" "1234:1235 640 text"
else
	skip "not root: no file of another's"
fi
tap_end
