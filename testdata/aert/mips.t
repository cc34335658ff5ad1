# The runtime for MIPS, both byte orders, under qemu: functions that are traced by hand (mips_twin.S), untraced code around them.
# shellcheck shell=sh source=/dev/null
. "$HERE/lib.sh"
command -v qemu-mips >/dev/null && command -v qemu-mipsel >/dev/null || { skip "no qemu-user"; exit 0; }
gcc -O2 "$HERE/evcat.c" -o evcat || exit 1

# use CASE N STATUS REASON SIGNAL HANDLERS OUTPUT [MESSAGE]: status, output and messages as untraced; the events are those wanted
use() {
	rm -f ae.out* want*
	AE_OUT=off $qemu "$prog" "$1" "$2" >off.out 2>off.err
	is "$kind $1 $2: untraced: status" $? "$3"
	is "$kind $1 $2: untraced: output" "$(cat off.out)" "$7"
	rm -f want*
	$qemu "$prog" "$1" "$2" >on.out 2>on.err
	is "$kind $1 $2: status" $? "$3"
	is "$kind $1 $2: output" "$(cat on.out)" "$7"
	is "$kind $1 $2: message" "$(sed -n 's/^ae: //p' on.err)" "${8-}"
	./evcat ae.out 8 2>frame >got
	if [ "$5" = 11 ]; then
		# an access to memory ended it: a tail follows, of which not all need be events
		set -- "$1" "$2" "$3" "$4" "$5" "$6" $(($(wc -c <got) - $(wc -c <want)))
		is "$kind $1 $2: a tail" $(($7 >= 0 && $7 <= 1024)) 1
		head -c "$(wc -c <want)" got >whole && mv whole got
	fi
	cmp got want >differ 2>&1
	is "$kind $1 $2: frame" "$(cat frame)" 'flags 0 parent '
	is "$kind $1 $2: events" "$(cat differ)" ''
	is "$kind $1 $2: end record" "$(record ae.out)" "$4 $5 0 $6"
}

# like ACT STATUS: an untraced program that only has the runtime
like() {
	rm -f ae.out* mine data
	(AE_OUT=off $qemu "$acts" "$1" 20) >off.out 2>off.err
	is "$kind $1: untraced: status" $? "$2"
	rm -f mine data
	($qemu "$acts" "$1" 20) >on.out 2>on.err
	is "$kind $1: status" $? "$2"
	same "$kind $1: output" on.out off.out
	ok "$kind $1: frame" ./evcat ae.out 8
}

ran='1 signal handlers and 0 thread entries ran untraced'
for machine in mipsel mips; do
	triple=$machine-linux-gnu
	[ -f "$BUILD/lib/tracemill/$machine/aert.o" ] || { skip "no runtime for $machine"; continue; }
	qemu="qemu-$machine -L /usr/$triple"
	$triple-gcc -O1 -fno-pie -c "$HERE/mips_use.c" -o use.o && $triple-gcc -fno-pie -c "$HERE/mips_twin.S" -o twin.o &&
		$triple-gcc -O2 -fno-pie -c "$HERE/acts.c" -o acts.o || fail "$triple-gcc"
	echo 'unsigned sps[1024], nsps, kept;' | $triple-gcc -fno-pie -c -x c - -o sps.o

	for kind in "$machine dynamic" "$machine static"; do
		# the order of the bytes and the way to link do not depend on each other
		case ${MATRIX-}$kind in "mipsel static" | "mips dynamic") continue ;; esac
		case $kind in *static) flag=-static ;; *) flag='' ;; esac
		prog=$PWD/use acts=$PWD/acts
		aecc --target=$machine $flag use.o twin.o -o "$prog" -lpthread || fail "$kind: link"
		aecc --target=$machine $flag acts.o twin.o sps.o -o "$acts" -lpthread || fail "$kind: link"

		use basics 0 3 0 0 0 '8 2 -2 17 8 12 12 5 6 12 16 6 480 9'
		use regs 0 3 0 0 0 '16 17 18 19 20 21 22 23 28 30 54321 15 21 16 17 18 19 20 21 22 23 28 30 54321 15 21 '
		use jumps 0 3 0 0 0 '11 9 105 106 107 '
		use lost 0 3 0 0 0 '7 79 82 16 80 77 10 2'
		for n in 0 20 40 60; do
			# 40 MB of events each
			case ${MATRIX-}$machine$n in full* | mipsel20 | mips60) use full $n 3 0 0 0 $((20 * 185 + 190 + n * 20)) ;; esac
		done
		use outside 0 3 0 0 0 '2 3'
		use inside 0 3 0 0 1 '1 2' "$ran"
		use escape 0 3 3 0 1 2 "$ran"
		use escapeland 0 3 3 0 1 '114 480 3' 'recording stopped: a signal handler that interrupted traced code did not return'
		use segv 0 3 0 0 1 '0 1' "$ran"
		use fault 0 139 1 11 0 ''
		use fork 0 3 0 0 0 '5 2'
		set -- ae.out.*
		./evcat "$1" 8 2>frame | cmp - want.child >differ 2>&1
		is "$kind fork: the child's frame" "$(cat frame)" "flags 1 parent $PWD/ae.out"
		is "$kind fork: the child's events" "$(cat differ)" ''
		use exec 0 0 2 0 0 exec
		use badexec 0 3 0 0 0 '-1 2'
		use _exit 0 9 0 0 0 2
		rm -f ae.out
		is "$kind threads: output" "$($qemu "$prog" threads 2>on.err)" '42 2'
		is "$kind threads: message" "$(cat on.err)" 'ae: 0 signal handlers and 9 thread entries ran untraced'
		ok "$kind threads: events" sh -c './evcat ae.out 8 | cmp - want'
		rm -f ae.out
		is "$kind storm: output" "$($qemu "$prog" storm 300 2>on.err)" calm
		ok "$kind storm: message" grep -q '^ae: [1-9][0-9]* signal handlers and 0 thread entries ran untraced$' on.err
		ok "$kind storm: events" sh -c './evcat ae.out 8 | cmp - want'

		for act in plain:3 atexit:7 _exit:9 _Exit:10 quick:11 abort:134 raise:143 fault:139 fpe:133 outside:0 inside:0 old:0 reset:138 \
			query:0 segv:0 faultjump:0 faultfix:0 altstack:0 suspend:0 vfork:0 system:0 exec:13 badexec:0 chdir:0 fds:0 \
			closeall:0 stderr:0 threads:0 threadexit:12 threadexit2:14 fork:0; do
			# the machine, and the order of the bytes, have little to do with these
			if [ $machine = mipsel ]; then turn 2; else turn 4; fi || continue
			like "${act%:*}" "${act#*:}"
		done
	done

	# where the events go
	export AE_OUT
	AE_OUT=/dev/null
	is "$machine /dev/null" "$($qemu "$prog" many 3; echo $?)" 3
	AE_OUT=none/x
	is "$machine no such folder" "$($qemu "$prog" many 1 2>&1; echo $?)" 'ae: none/x: No such file or directory: untraced
3'
	AE_OUT=/dev/full
	is "$machine full device" "$($qemu "$prog" many 1 2>&1; echo $?)" 'ae: /dev/full: No space left on device: untraced
3'
	if mkdir full && mount -t tmpfs -o size=3m tmpfs full 2>/dev/null; then
		AE_OUT=full/ae
		is "$machine full disk" "$($qemu "$prog" many 8 2>&1; echo $?)" "ae: $PWD/full/ae: No space left on device: recording stopped
3"
		./evcat full/ae 8 2>/dev/null >got
		ok "$machine full disk: what there is" [ "$(wc -c <got)" -gt 2000000 ]
		ok "$machine full disk: is right" cmp -n "$(wc -c <got)" got want
		is "$machine full disk: end record" "$(record full/ae)" '3 0 0 0'
		umount full
	else
		skip 'full disk: cannot mount a small one here'
	fi
	rmdir full
	unset AE_OUT
done
tap_end
