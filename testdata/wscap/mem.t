# Memory: mappings, what the kernel writes to places that pointers to pointers tell
. "$HERE/lib.sh"
gcc -O1 $static -o mem "$HERE/mem.c" || exit 1
for o in '' --first-touch --audit; do
	for i in file advice nested told proc calls; do captured "$i $o" $o -- ./mem $i; done
done
# it is known what they write: no memory is compared, so that also what they write once more is recorded
wscap -o c.ws ./mem calls >got.out
is "calls: what is recorded" "$(wsinfo c.ws | awk '$1 == "seccomp" && NF == 4 { print $2, $4 }')" "10 42"
# at addresses that are no numbers that a length may have
gcc -O1 -fPIE -pie -o apart "$HERE/mem.c" || exit 1
for o in "" --first-touch --audit; do captured "parts $o" $o -- ./apart parts; done
for o in "" --audit; do captured "thread $o" $o -- ./mem thread; done
# readers do not fill what was given away
for o in "" --first-touch; do
	captured "reserved $o" $o -- ./mem reserved
	ok "reserved $o: trimmed" env TRACEMILL_MEMORY=1000000000 wstrim -o t.ws c.ws
	ok "reserved $o: counted" env TRACEMILL_MEMORY=1000000000 ws2addr -c t.ws
done
captured pieces -- ./mem pieces
ok "pieces: counted" env TRACEMILL_MEMORY=1000000000 ws2addr -c c.ws
./mem sysv >want.out
wscap -o c.ws ./mem sysv >got.out 2>got.err
same "memory mapped twice: output" got.out want.out
is "memory mapped twice: nothing to say" "$(cat got.err)" ""
want=0
replayed "memory mapped twice" got.out
tap_end
