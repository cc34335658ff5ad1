# A signal after each instruction, of traced code and of the runtime: all handlers are recorded, and what they interrupt is recorded
# as without them; of a compiler that reserves r15, and of one that does not.
# shellcheck shell=sh source=/dev/null
. "$HERE/lib.sh"
lent=$SRC/testdata/ae/prog-clang/lent.s
$GCC -O1 -c "$HERE/stepped.c" -o stepped.o || fail gcc

# part FILE: the main thread's references in functions of the program
part() {
	# shellcheck disable=SC2046
	ae2addr --task 1 prog "$1" | addrconv -e prog $(nm prog | awk '$2 ~ /[tT]/ && $3 ~ /^(work|outside|down|order|sorted|moves|memory|full|calls|jumps|gotos|pic|base|leaf|tail)$/ { print "-s", $3 }') -o "$1.ref"
}

# step NAME aecc-option ...: with gcc, and clang if that is $AE_CC
step() {
	what=$1
	shift
	aecc -O2 "$HERE/step.c" stepped.o "$@" -o prog 2>err || fail "$what: aecc" "$(cat err)"
	AE_OUT=off ./prog step >off.out 2>off.err
	AE_OUT=quiet ./prog >quiet.out 2>/dev/null
	AE_OUT=step ./prog step >got.out 2>hits
	same "$what: the same output" got.out off.out
	same "$what: without signals" quiet.out off.out
	ok "$what: many" [ "$(cat hits)" -gt 2000 ]
	is "$what: all are recorded" "$(record step)" '0 0 0 0'
	address=$(nm prog | awk '$3 == "mark" { print $1 }')
	range=$address:$(printf %x $((0x$address + 8)))
	# those that interrupt libc and the like are in the thread's own stream
	is "$what: each handler's store" "$(ae2addr prog step | addrconv --address="$range" -f text | grep -c '^[sm]')" "$(cat hits)"
	ok "$what: some in a stream of their own" [ "$(ae2addr --task 2 prog step | addrconv --address="$range" -f text | grep -c '^[sm]')" -gt 2000 ]
	part quiet
	part step
	ok "$what: there is what they interrupt" [ "$(wc -c <quiet.ref)" -gt 5000 ]
	ok "$what: it is as without them" addrdiff -ls -e prog step.ref quiet.ref
}
step gcc
if command -v clang >/dev/null; then
	AE_CC=clang
	export AE_CC
	step clang
	aerw -u -o lent.ae.s "$lent" && $GCC -c lent.ae.s -o lent.o || fail aerw
	step 'clang, r15 in use' -DLENT lent.o
else
	skip 'clang is not here'
fi
tap_end
