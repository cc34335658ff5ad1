# Memory: mappings, what the kernel writes to places that pointers to pointers tell
. "$HERE/lib.sh"
gcc -O1 $static -o mem "$HERE/mem.c" || exit 1
for o in '' --first-touch --audit; do
	for i in file advice nested told proc; do captured "$i $o" $o -- ./mem $i; done
done
# at addresses that are no numbers that a length may have
gcc -O1 -fPIE -pie -o apart "$HERE/mem.c" || exit 1
for o in "" --first-touch --audit; do captured "parts $o" $o -- ./apart parts; done
for o in "" --audit; do captured "thread $o" $o -- ./mem thread; done
./mem sysv >want.out
wscap -o c.ws ./mem sysv >got.out 2>got.err
same "memory mapped twice: output" got.out want.out
is "memory mapped twice: nothing to say" "$(cat got.err)" ""
want=0
replayed "memory mapped twice" got.out
tap_end
