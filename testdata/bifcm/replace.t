# Files are replaced as gzip and xz do it: names, modes, times, links, and nothing is lost whatever goes wrong
. "$SRC/testdata/tap.sh"
test=$BUILD/test/streamtest
top=$(pwd)

"$test" make 40000 5 >data
"$test" make 7003 6 >other
here() { ls -A | grep -v '^tap\.' | tr '\n' ' '; }
# fresh: an empty folder in which the files are a and b
fresh() {
	cd "$top" || exit 1
	chmod -R u+w work 2>/dev/null
	rm -rf work
	mkdir work
	cp data work/a
	cp other work/b
	cd work || exit 1
}

fresh
chmod 640 a
touch -d '2001-02-03 04:05:06.123456789 UTC' a
gives "several files" 0 "" bifcm a b
is "are replaced" "$(here)" "a.bif b.bif "
is "mode and times" "$(stat -c '%a %Y %y' a.bif | cut -c -44)" "640 981173106 2001-02-03 04:05:06.123456789 "
[ "$(id -u)" = 0 ] && { chown 1234:4321 b.bif; }
owner=$(stat -c %u:%g b.bif)
gives "back" 0 "" bifcm -d a.bif b.bif
is "the files" "$(here)" "a b "
same "the first" a ../data
same "the second" b ../other
is "mode and times of the first" "$(stat -c '%a %y' a | cut -c -34)" "640 2001-02-03 04:05:06.123456789 "
is "owner and group" "$(stat -c %u:%g b)" "$owner"

fresh
bifcm -k a b
is "-k" "$(here)" "a a.bif b b.bif "
gives "-t" 0 "" bifcm -t a.bif b.bif
is "-t -v" "$(bifcm -tv a.bif b.bif 2>&1 | sed 's/[0-9]* MiB/R/')" "bifcm: a.bif: at most R of memory, with 1 thread
bifcm: a.bif: OK
bifcm: b.bif: at most R of memory, with 1 thread
bifcm: b.bif: OK"
rm a b
bifcm -dc a.bif b.bif >both
cat ../data ../other | cmp -s - both && pass "-d -c of several" || fail "-d -c of several"
is "keeps them" "$(here)" "a.bif b.bif both "
bifcm -l a.bif b.bif >list
size() { wc -c <"$1" | tr -d ' '; }
is "-l" "$(tr -s ' ' <list | sed 's/^ //; s/ [0-9.]*% / R /')" "compressed uncompressed ratio name
$(size a.bif) 40000 R a.bif
$(size b.bif) 7003 R b.bif
$(($(size a.bif) + $(size b.bif))) 47003 R (totals)"
is "the ratio" "$(awk '$4 == "a.bif" { print $3 }' list)" "$(awk -v c="$(size a.bif)" 'BEGIN { printf "%.1f%%", 100 - c / 400 }')"
is "-l -q of a pipe" "$(bifcm -lq <a.bif | tr -s ' ' | cut -d ' ' -f 2,3,5)" "$(size a.bif) 40000 -"
is "-l -v of several" "$(bifcm -lv a.bif b.bif | grep -E '^(file|bytes) ' | tr '\n' ' ')" "file a.bif bytes 40000 file b.bif bytes 7003 "
is "-v" "$(bifcm -dv a.bif 2>&1 | sed 's/-*[0-9.]*%/R/;s/[0-9]* MiB/R/')" "bifcm: a.bif: at most R of memory, with 1 thread
bifcm: a.bif: R, replaced by a"
bifcm -c a >a.out
is "-c" "$(here) $(bifcm -dc a.out | cmp - a)" "a a.out b.bif both list  "
bifcm -d -n 10 b.bif | cmp -s - both && fail "a part"
is "a part replaces nothing" "$(here)" "a a.out b.bif both list "
bifcm -S .x a
is "-S" "$(here)" "a.out a.x b.bif both list "
bifcm -d -S .x a.x
same "-d -S" a ../data
cat ../other | bifcm - >c.bif && bifcm -d <c.bif | cmp -s - ../other && pass "standard input as an operand" || fail "standard input as an operand"

# what is left as it is: a warning and status 2
fresh
bifcm -k a
cp a.bif old
gives "an output that exists" 2 "bifcm: a.bif: exists (-f overwrites it); left as it is" bifcm a
gives "nor is it for -d" 2 "bifcm: a: exists (-f overwrites it); left as it is" bifcm -d a.bif
gives "-q" 2 "" bifcm -q a
echo old >a.bif
gives "-f" 0 "" bifcm -f a
same "overwrites it" a.bif old
gives "the suffix is there already" 2 "bifcm: a.bif: its name ends in .bif already; left as it is" bifcm -f a.bif
gives "it is not there" 2 "bifcm: b: its name does not end in .bif; left as it is" bifcm -d b
cp a.bif .bif
gives "nothing but the suffix" 2 "bifcm: .bif: its name does not end in .bif; left as it is" bifcm -d .bif
fresh
ln -s a link
gives "a symbolic link" 2 "bifcm: link: a symbolic link (-f follows it); left as it is" bifcm link
ln b hard
gives "a hard link" 2 "bifcm: b: it has other links (-f replaces this one); left as it is" bifcm b
mkfifo fifo
gives "a FIFO" 2 "bifcm: fifo: not a regular file; left as it is" timeout 60 bifcm -f fifo
mkdir folder
gives "a folder" 1 "bifcm: folder: Is a directory" bifcm -f folder
chmod 4755 a
gives "set-user-ID" 2 "bifcm: a: it is set-user-ID, set-group-ID or sticky (-f replaces it); left as it is" bifcm a
is "all of them are left" "$(here)" "a b fifo folder hard link "
gives "-f takes them" 0 "" bifcm -f a hard
is "without these bits" "$(here)$(stat -c %a a.bif)" "a.bif b fifo folder hard.bif link 755"
cp b a
gives "-f takes a link" 0 "" bifcm -f link
is "which is gone, not what it led to" "$(here)" "a a.bif b fifo folder hard.bif link.bif "
mkdir b.bif
gives "-f and a folder of that name" 1 "bifcm: b.bif: exists and is not a regular file" bifcm -f b
same "the file stays" b ../other

# an error in one file does not stop the others, and wins over a warning
fresh
bifcm -k a b
{ head -c 200 a.bif; printf 'xxxx'; tail -c +205 a.bif; } >bad.bif
rm a
bifcm -d none.bif bad.bif b.bif a.bif 2>err
is "an error, a warning, and one that is good" "$? $(grep -c . err) $(cut -d : -f 2 err | tr '\n' ' ')" "1 3  none.bif  bad.bif  b "
is "no part of what is damaged" "$(here)" "a b b.bif bad.bif err "
same "the good one" a ../data
bifcm -t b.bif bad.bif b.bif 2>err
is "-t of a damaged file" "$? $(grep -c . err) $(grep -c '^bifcm: bad.bif: byte .* is damaged' err)" "1 1 1"
bifcm -l b.bif b 2>err >list
is "-l of what is none: its heading" "$(awk 'NR == 1 { print $1 } END { print NR }' list | tr '\n' ' ')" "compressed 3 "
gives "-l of nothing else" 1 "bifcm: standard input: byte 0: not a value stream of bifcm(5)" sh -c 'cat b | bifcm -l'
is "-l of nothing else: no heading, and no totals" "$(cat tap.out; bifcm -l b b 2>&1)" "bifcm: b: byte 0: not a value stream of bifcm(5)
bifcm: b: byte 0: not a value stream of bifcm(5)"
bifcm -l b.bif b 2>err >list
is "-l of what is none" "$? $(cat err) $(tail -n 1 list | awk '{ print $2 }')" "1 bifcm: b: byte 0: not a value stream of bifcm(5) 7003"

# a limit, a full disk: the input stays, and nothing else
fresh
# shellcheck disable=SC3045
(ulimit -f 4; bifcm -0 a b) 2>err
is "a file that may not grow" "$? $(cat err) " "1 bifcm: a.bif: File too large
bifcm: b.bif: File too large "
rm err
is "both stay" "$(here)" "a b "
same "as they were" a ../data
if [ "$(id -u)" = 0 ] && mkdir ../disk && mount -t tmpfs -o size=64k tmpfs ../disk 2>/dev/null; then
	cp ../data ../disk/a
	gives "a full disk" 1 "bifcm: ../disk/a.bif: No space left on device" bifcm -0 ../disk/a
	is "the input stays" "$(ls -A ../disk) $(cmp ../disk/a ../data 2>&1)" "a "
	umount ../disk
else
	skip "no small disk"
fi
if [ "$(id -u)" != 0 ]; then
	mkdir closed
	mv a closed
	chmod 500 closed
	gives "a folder that may not be written to" 1 "bifcm: closed/a.bif: Permission denied" bifcm closed/a
	is "the input stays there" "$(ls -A closed)" a
	chmod 700 closed
fi

# a signal while it works
long_work() {
	fresh
	for i in 1 2 3 4 5 6 7 8; do cat ../data ../data ../data ../data ../data ../data ../data ../data; done >long
	cat long long long long >a
	rm long b
	bifcm -9 a 2>err &
	pid=$!
	# the event itself: the temporary file is there
	until ls a.bif.?????? >/dev/null 2>&1; do
		kill -0 $pid 2>/dev/null || break
	done
}
for signal in TERM HUP; do
	long_work
	kill -$signal $pid
	wait $pid 2>/dev/null
	status=$?
	is "$signal leaves the input and nothing else" "$(kill -l $status) $(here)$(size a)" "$signal a err 10240000"
done
long_work
child=
while [ -z "$child" ] && kill -0 $pid 2>/dev/null; do
	child=$(grep -l "^PPid:[[:space:]]*$pid\$" /proc/[0-9]*/status 2>/dev/null | cut -d / -f 3)
done
kill -KILL "$child"
wait $pid 2>/dev/null
status=$?
is "so does one that ends the process that reads" "$status $(here)$(size a) $(cat err)" \
	"1 a err 10240000 bifcm: a: the process that read it was ended by signal 9"
fresh
mkdir sub
cat a a a a a a a a >sub/a
cp sub/a long
is "the reader of the output goes away" "$( (bifcm -dc sub/none a 2>/dev/null; bifcm -0c sub/a; echo $? >status) | head -c 1 >/dev/null; cat status)" 141
same "and the input stays" sub/a long

# what decodes a file cannot open one: the process that reads it is confined, its parent is not
fresh
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	strace -f -e trace=seccomp,rename,unlink,link -o trace bifcm a
	is "the child is confined" "$(grep -c 'seccomp(SECCOMP_SET_MODE_FILTER.* = 0' trace)" 1
else
	skip "no strace"
fi
cd "$top" || exit 1
tap_end
