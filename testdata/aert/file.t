# Where the event file goes, and what happens when it cannot be written.
# shellcheck shell=sh source=/dev/null
. "$HERE/lib.sh"

prog=$PWD/acts
aecc -O2 "$HERE/acts.c" -o "$prog" -lpthread || fail aecc
AE_OUT=off "$prog" plain 20 >small.out
status=$?
AE_OUT=off "$prog" plain 900000 >big.out
bigstatus=$?
big='plain 900000'

# AE_OUT
mkdir cwd && cd cwd || exit 1
is 'AE_OUT=off: no file' "$(AE_OUT=off "$prog" plain 20 | cmp - ../small.out; ls)" ''
"$prog" plain 20 >/dev/null
is 'unset: ae.out' "$(ls) $(record ae.out)" 'ae.out 0 0 0 0'
cp ae.out first
AE_OUT='' "$prog" plain 1 >/dev/null
ok 'empty: ae.out, truncated' [ "$(wc -c <ae.out)" -lt "$(wc -c <first)" ]
rm ae.out
AE_OUT=x.ev "$prog" plain 20 >/dev/null
is 'relative name' "$(ls) $(record x.ev)" 'first
x.ev 0 0 0 0'
rm x.ev
AE_OUT=$PWD/../y.ev "$prog" plain 20 >/dev/null
is 'absolute name' "$(ls) $(record ../y.ev)" 'first 0 0 0 0'
rm first
AE_OUT=/dev/null "$prog" plain 20 >out
is '/dev/null: status' $? $status
same '/dev/null: output' out ../small.out
rm out
AE_OUT=/dev/stdout "$prog" _exit 20 | tail -c 80 >end
is '/dev/stdout, a pipe' "$(record end)" '0 0 0 0'
cd ..

# no file
gives 'no such folder' $status "ae: none/x: No such file or directory: untraced" env AE_OUT=none/x "$prog" plain 20
same 'no such folder: output' tap.out small.out
gives 'a folder' $status "ae: cwd: Is a directory: untraced" env AE_OUT=cwd "$prog" plain 20
gives '/dev/full' $status "ae: /dev/full: No space left on device: untraced" env AE_OUT=/dev/full "$prog" plain 20
same '/dev/full: output' tap.out small.out

# the limit of file sizes: it would be SIGXFSZ for us
(ulimit -f 6000; exec "$prog" $big) >got.out 2>got.err
is 'file too large: status' $? $bigstatus
is 'file too large: message' "$(cat got.err)" "ae: $PWD/ae.out: File too large: recording stopped"
same 'file too large: output' got.out big.out
is 'file too large: end record' "$(record ae.out)" '3 0 0 0'
ok 'file too large: regenerates to there' part "$prog" ae.out

# a reader that leaves: it would be SIGPIPE
mkfifo pipe
head -c 100000 <pipe >/dev/null &
AE_OUT=pipe "$prog" $big >got.out 2>got.err
is 'broken pipe: status' $? $bigstatus
is 'broken pipe: message' "$(cat got.err)" "ae: $PWD/pipe: Broken pipe: recording stopped"
same 'broken pipe: output' got.out big.out
wait
cat <pipe >copy &
AE_OUT=pipe "$prog" $big >got.out 2>got.err
wait
is 'FIFO: end record' "$(cat got.err; record copy)" '0 0 0 0'
ok 'FIFO: regenerates' whole "$prog" copy

# through a pipe an end record cannot be taken back
cat <pipe >copy &
AE_OUT=pipe "$prog" badexec 20 >got.out 2>got.err
wait
is 'FIFO, exec that fails' "$(cat got.err; record copy)" "ae: $PWD/pipe: recording ended at an exec or daemon call that failed
2 0 0 0"
cat <pipe >copy &
AE_OUT=pipe "$prog" fork 20 >got.out 2>got.err
wait
is 'FIFO, fork' "$(sed 's/[0-9][0-9]*/N/' got.err; record copy)" "ae: process N: its parent records into a pipe: not recorded
0 0 0 0"

# a full disk
if mkdir full && mount -t tmpfs -o size=4m tmpfs full 2>/dev/null; then
	AE_OUT=full/ae "$prog" $big >got.out 2>got.err
	is 'full disk: status' $? $bigstatus
	is 'full disk: message' "$(cat got.err)" "ae: $PWD/full/ae: No space left on device: recording stopped"
	same 'full disk: output' got.out big.out
	is 'full disk: end record' "$(record full/ae)" '3 0 0 0'
	ok 'full disk: regenerates to there' part "$prog" full/ae
	umount full
else
	skip 'full disk: cannot mount a small one here'
fi

# two processes that record into one name
rm -f got.out
"$prog" wait 20 >got.out 2>/dev/null &
pid=$!
while ! grep -q ready got.out 2>/dev/null; do sleep 0.01; done
"$prog" plain 20 >/dev/null
set -- ae.out.*
is 'a second process leaves the file of the first alone' "$# $(record "$1")" '1 0 0 0 0'
kill $pid
wait $pid
is 'and the first one ends well' "$(record ae.out)" '1 15 0 0'

# no messages into a closed standard error, no file in its place
AE_OUT=none/x "$prog" plain 20 >got.out 2>&-
is 'standard error closed' $? $status
"$prog" fds 20 >got.out 2>&-
is 'descriptors with 2 closed' "$(tail -n 1 got.out)" '2 3'
# shellcheck disable=SC3045    # not in POSIX, but in every sh here
(exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 10; exec "$prog" fds 20) >got.out
is 'few descriptors' "$? $(tail -n 1 got.out)" '0 3 4'
tap_end
