# Children of vfork, and of posix_spawn, that use the recorder of their parent
. "$HERE/lib.sh"
# shellcheck disable=SC2086     # options
gcc -O1 -fno-pie -no-pie $static -o lend "$HERE/lend.c" || exit 1
# what the children execute: three instructions, where /bin/true has its loader's 100,000
printf '.globl _start\n_start: xor %%edi, %%edi\n mov $60, %%eax\n syscall\n' >true.s
if [ "$static" ]; then gcc -nostdlib -static -o true true.s; else cp /bin/true true; fi || exit 1

for what in near small far spawn bad signals limits sigsys nested forks maps killed fault shows; do
	./lend "$what" >want.out
	for recorder in on off; do
		wscap --recorder "$recorder" -o c.ws ./lend "$what" >got.out 2>err
		is "$what, $recorder: status, and what is said" "$? $(cat err)" "3 "
		same "$what, $recorder: output" got.out want.out
		ok "$what, $recorder: replayed" ws2addr -o "$recorder.addr" c.ws
	done
	is "$what: replayed natively" "$("$native" c.ws:1 native.out)" "exited 3"
	same "$what: that output" native.out want.out
done

# a capture that ends in a call takes steps out of it; the program knows nothing of their SIGTRAP
./lend blocked >want.out
for t in 0.2 0.23 0.26 0.29; do
	wscap --time "$t" -o c.ws ./lend blocked >got.out 2>err
	is "ended after $t: status, and what is said" "$? $(cat err)" "3 "
	same "ended after $t: output" got.out want.out
	ok "ended after $t: replayed" ws2addr -o /dev/null c.ws
done
tap_end
