# Code that a program's loader maps: it gets the right to be executed when all is mapped, and whatever it does before, it does not notice
. "$HERE/lib.sh"
gcc -O1 -nostdlib -static-pie -fpie -ffreestanding -fno-stack-protector -o loader "$HERE/loader.c" || exit 1
printf '.globl _start\n_start: hlt\n' >late.s
gcc -nostdlib -pie -Wl,--dynamic-linker="$PWD/loader" -o late late.s || exit 1
printf '#include <sys/prctl.h>\n#include <unistd.h>\nint main(int n, char **a) { prctl(65, 1, 0, 0, 0); execv(a[1], a + 1); return n; }\n' >deny.c
gcc -o deny deny.c || exit 1
# it is only done with files that are older than a minute, and there is one such file on every system
libc=$(ldd /bin/sh | awk '$1 ~ /^libc\.so/ { print $3 }')

for i in execute fork vfork list data maps protect unmap signal blocked writable; do
	for recorder in on off; do captured "$i, recorder $recorder" --recorder "$recorder" -- ./late "$libc" "$i"; done
	wscap --store store -o c.ws ./late "$libc" "$i" >got.out
	same "$i, in a store: output" got.out want.out
	ok "$i, in a store: replayed" env TRACEMILL_STORE=store ws2addr -o /dev/null c.ws
done
# who may not make memory executable: PR_SET_MDWE, Linux 6.3
captured "executable at once or never" --recorder on -- ./deny ./late "$libc" execute
./deny "$(command -v wscap)" -o c.ws ./late "$libc" execute >got.out
./late "$libc" execute >want.out
same "wscap may not make memory executable: output" got.out want.out
cp "$libc" young.so
captured "a file of now" --recorder on -- ./late "$PWD/young.so" data
cp "$libc" young.so
./late "$PWD/young.so" change >want.out
cp "$libc" young.so
wscap -o c.ws ./late "$PWD/young.so" change >got.out
same "a file of now is changed: output" got.out want.out
is "a file of now is changed: replayed natively" "$("$native" c.ws native.out)" "exited 3"
same "a file of now is changed: its output" native.out want.out
cp -p "$libc" old.so
touch -d '1 hour ago' old.so
captured "a file whose time was set" --recorder on -- ./late "$PWD/old.so" data
tap_end
