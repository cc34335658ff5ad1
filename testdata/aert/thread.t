# Threads: what ae2addr regenerates of each is what a capture of the same program has, and ends as the thread did.
# shellcheck shell=sh source=/dev/null
. "$HERE/lib.sh"
. "$SRC/testdata/aec/lib.sh"

# The layout has to be the same in both runs.
noaslr=''
setarch -R true 2>/dev/null && noaslr='setarch -R'

# one PROG I: thread I of the capture, x1.ref, and of the events, a1.ref; are they the same?
one() {
	addrconv --task "$2" -o x1.ref x.ref
	ae2addr --task "$2" -o a1.ref "$1" ae.out
	addrdiff -qls -e "$1" a1.ref x1.ref
}

# exact NAME PROG N SIZE: each thread compared with the same thread of a capture, and with its part of the whole trace
exact() {
	name=$1
	shift
	# where threads end in another order, the next ones have other stacks and heaps: then both once more
	for try in 1 2 3; do
		AE_OUT=off $noaslr wscap -o x.ws "$@" >want.out || fail "$name: capture"
		$noaslr "$@" >got.out 2>got.err
		ws2addr -o x.ref x.ws
		i=1
		while [ $i -le "$expect" ] && one "$1" $i >diff 2>&1; do i=$((i + 1)); done
		[ $i -le "$expect" ] || break
		echo "# $name: try $try: thread $i differs"
	done
	same "$name: output" got.out want.out
	is "$name: nothing untraced" "$(cat got.err)" ''
	ae2addr -o all.ref "$1" ae.out || fail "$name: regenerates"
	count=$("$BUILD/test/taskcount" <all.ref)
	is "$name: threads" "$count" "$expect"
	i=0
	while [ $i -lt "$count" ]; do
		i=$((i + 1))
		ok "$name: thread $i is that of the capture" one "$1" $i
		addrconv --task $i all.ref | addrconv -f text | grep -v '^task' >part
		ok "$name: thread $i is that of the whole" sh -c 'addrconv -f text a1.ref | cmp - part'
	done
}

if wscap -o probe.ws true >/dev/null 2>&1; then
	for how in -O0 '-O3 -static'; do
		# shellcheck disable=SC2086
		aecc $how "$HERE/thread.c" -o thread -pthread || fail "aecc $how"
		expect=5
		exact "$how" ./thread 2 300 more
	done
	aecc -O2 "$HERE/thread.c" -o thread -pthread
	expect=4
	exact 'several buffers' ./thread 3 200000
else
	skip 'wscap does not work here'
	aecc -O2 "$HERE/thread.c" -o thread -pthread
	./thread 3 200000 >got.out
fi

# the readers
ae2addr -o all.ref thread ae.out
is 'counts are of all threads' "$(ae2addr -c thread ae.out | sed -n 1p)" "instructions $(addrconv -f text all.ref | grep -c '^inst')"
is 'sites: the bytes of the file' "$(ae2addr --sites thread ae.out | awk '{ n += $1 } END { print n }')" "$(wc -c <ae.out)"
ok 'a compiled regenerator' sh -c 'aec -b thread && ./thread.regen ae.out | cmp - all.ref'
ok 'of one thread' sh -c './thread.regen --task 3 ae.out >r3.ref; ae2addr --task 3 thread ae.out | cmp - r3.ref'
ok 'standard input' sh -c 'ae2addr thread <ae.out | cmp - all.ref'
ok 'compressed' sh -c 'gzip -1 <ae.out >ae.gz; ae2addr thread ae.gz | cmp - all.ref'
ok 'one thread from a pipe' sh -c 'ae2addr --task 3 -o a3.ref thread ae.out; cat ae.out | ae2addr --task 3 thread | cmp - a3.ref'
cat ae.out | ae2addr -o none thread 2>err
is 'all from a pipe: refused' "$? $(cat err)" '1 ae2addr: standard input: has several threads: name the file, or choose one of them'
head -c 4000 ae.out >cut
gives 'cut off in the events of another thread' 1 'ae2addr: cut: byte 4000: chunk ends early' ae2addr --task 4 -o none thread cut
gives 'no such thread' 1 "ae2addr: ae.out: byte $(($(wc -c <ae.out) - 80)): there is no thread of this number" ae2addr --task 9 thread ae.out
is 'a function that only threads call' "$(ae2addr -s deep thread ae.out | addrconv -f text | head -n 1)" 'task 0x2'
is 'a part: from another thread' "$(ae2addr -n "$(ae2addr -c --task 1 thread ae.out | sed -n 's/instructions //p'):" thread ae.out | addrconv -f text | grep -c '^task')" 3
tap_end
