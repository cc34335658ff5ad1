# Diagnostics, checked output and decompressing input, through the smallest filter
. "$SRC/testdata/tap.sh"
cat=$BUILD/test/incat
"$BUILD/test/basetest" || exit 1
tap_n=100       # the numbers of basetest come first

seq 100000 >x
: >empty
for z in gzip bzip2 xz zstd compress; do
	$z -c <x >x.$z
	"$cat" x.$z >y
	same "$z: a file" x y
	"$cat" <x.$z >y
	same "$z: standard input" x y
	$z -c <empty | "$cat" >y 2>err
	same "$z: nothing" empty y
done
"$cat" x >y
same "plain" x y
ok "plain, empty" "$cat" empty
for z in gzip bzip2 xz zstd; do
	cat x.$z x.$z | "$cat" >y
	cat x x | cmp -s - y && pass "$z: two members" || fail "$z: two members"
	size=$(wc -c <x.$z)
	head -c $((size - 1)) x.$z >cut
	gives "$z: the last byte is missing" 1 "incat: cut: byte 588895: truncated compressed data" "$cat" cut
	same "$z: and all that was before it is there" x tap.out
	{ cat x.$z; echo; } >long
	gives "$z: garbage at the end" 1 "incat: long: byte 588895: garbage after the compressed data" "$cat" long
done
# two thirds of a gzip file: at least what gzip itself would give, and nothing else
head -c $(($(wc -c <x.gzip) * 2 / 3)) x.gzip >cut
gzip -dc <cut >want 2>/dev/null
"$cat" cut >got 2>err
is "gzip: two thirds" "$?: $(cat err)" "1: incat: cut: byte $(wc -c <got): truncated compressed data"
[ "$(wc -c <got)" -ge "$(wc -c <want)" ] && cmp -s -n "$(wc -c <got)" got x && pass "gzip: not less than gzip -d gives" ||
	fail "gzip: not less than gzip -d gives"
# one bit of the check sum at the end: libarchive would not notice
size=$(wc -c <x.gzip)
{ head -c $((size - 6)) x.gzip; printf '\377'; tail -c 5 x.gzip; } >bad
gives "gzip: wrong check sum" 1 "incat: bad: byte 588895: damaged compressed data" "$cat" bad

mkdir d
cp x d/one
echo two >d/two
tar cf one.tar d/one
tar czf both.tgz d
"$cat" one.tar >y
same "tar with one file" x y
gives "tar with two files" 1 \
	"incat: both.tgz: byte $(tar xzOf both.tgz "$(tar tzf both.tgz | grep -v '/$' | head -n 1)" |
	wc -c): the archive holds more than one file: name one as archive//member" "$cat" both.tgz
"$cat" both.tgz//d/two >y
same "a member by name" d/two y
gives "a member that is not there" 1 "incat: both.tgz//d/three: byte 0: no such member in the archive" "$cat" both.tgz//d/three
gives "a member of what is no archive" 1 "incat: x//y: byte 0: not an archive" "$cat" x//y
head -c 300000 one.tar >cut.tar
gives "truncated tar" 1 "incat: cut.tar: byte 299488: Truncated tar archive" "$cat" cut.tar

head -c 589824 one.tar >cut.tar
gives "a tar file without its end" 1 "incat: cut.tar: byte 588895: truncated archive" "$cat" cut.tar
cat one.tar one.tar >long.tar
gives "garbage after a tar file" 1 "incat: long.tar: byte 588895: garbage after the archive" "$cat" long.tar
mkdir none
tar cf none.tar none
gives "a tar file of folders" 1 "incat: none.tar: byte 0: no file in the archive" "$cat" none.tar
rmdir none
cp one.tar twice.tar
tar rf twice.tar d/one
gives "a name that is there twice" 1 "incat: twice.tar//d/one: byte 588895: the archive holds more than one file of this name" \
	"$cat" twice.tar//d/one
truncate -s 1000000 hole
printf end >>hole
truncate -s 2000000 hole
tar cSf hole.tar hole
"$cat" hole.tar >y
same "holes, one at the end" hole y

gives "no such file" 1 "incat: none: No such file or directory" "$cat" none
gives "a folder" 1 "incat: d: Is a directory" "$cat" d
gives "too many operands" 2 "incat: wanted: [input [output]]; see incat --help" "$cat" 1 2 3

if [ -c /dev/full ]; then
	err=$("$cat" x 2>&1 >/dev/full)
	is "standard output full" "$?: $err" "1: incat: standard output: No space left on device"
	gives "device full" 1 "incat: /dev/full: No space left on device" "$cat" x /dev/full
	err=$("$cat" d/two 2>&1 >/dev/full)
	is "full, noticed at the end only" "$?: $err" "1: incat: standard output: No space left on device"
else
	skip "no /dev/full"
fi
err=$("$cat" x 2>&1 >&-)
is "closed standard output" "$?: $err" "1: incat: standard output: Bad file descriptor"

umask 027
ok "a new file" "$cat" x new
is "has the mode that creation gives" "$(stat -c %a new)" 640
chmod 604 new
ln -s new link
ok "through a symbolic link" "$cat" d/two link
is "mode is kept" "$(stat -c %a new)" 604
same "and the contents are there" d/two new
[ -L link ] && pass "the link stays" || fail "the link stays"
cp x.gzip cut
head -c 50000 x.gzip >cut
"$cat" cut new 2>/dev/null
is "bad input" $? 1
same "leaves the old output alone" d/two new
"$cat" cut never 2>/dev/null
[ -e never ] && fail "and makes no new one" || pass "and makes no new one"
is "no temporary file is left" "$(ls | grep -c 'n.*\.......$')" 0

mkfifo fifo
{ sleep 1; cat x; } >fifo &
"$cat" fifo >y
wait
same "a slow pipe" x y
( trap '' PIPE; "$cat" x 2>err; echo $? >status ) | head -n 1 >/dev/null
is "a reader that leaves is no news" "$(cat err)" ""

"$cat" fifo part 2>/dev/null &
pid=$!
exec 3>fifo
i=0
until ls part.* >/dev/null 2>&1 || [ $i = 100 ]; do
	head -c 1000 x >&3
	sleep 0.1
	i=$((i + 1))
done
ls part.* >/dev/null 2>&1 && pass "output grows under a temporary name" || fail "output grows under a temporary name"
kill $pid
exec 3>&-
wait $pid 2>/dev/null
is "a signal removes it" "$(ls | grep -c '^part')" 0
tap_end
