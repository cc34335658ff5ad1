# Handlers that interrupt traced code: their references, and those of what they interrupt, are what a capture of the same program
# has; programs that end, jump, fork in them; handlers that come at any time, of which the program itself counts the stores.
# handler-clang.t is the same for clang's programs.
# shellcheck shell=sh source=/dev/null
. "$HERE/lib.sh"
. "$SRC/testdata/aec/lib.sh"

aecc -O2 -Wno-pointer-bool-conversion "$HERE/handler.c" -o prog -pthread || fail aecc
nm -S prog >names

# of REGEX: addrconv's options for the functions with such names
of() {
	awk -v re="^($1)" 'NF == 4 && $3 ~ /^[tT]$/ && $4 ~ re { printf " -s %s", $4 }' names
}

# run ACT STATUS MESSAGE SAYS STREAMS HANDLERS: as untraced, and regenerates
run() {
	rm -f ae.out*
	AE_OUT=off sh -c '"$@"; exit $?' - ./prog "$1" >want.out 2>/dev/null
	sh -c '"$@"; exit $?' - ./prog "$1" >got.out 2>got.err
	is "$1: status" $? "$2"
	same "$1: output" got.out want.out
	is "$1: message" "$(grep '^ae:' got.err | sed 's/[0-9][0-9]*/N/g' | sort -u)" "$3"
	ae2addr -o all.ref prog ae.out 2>said
	is "$1: says" "$(sed 's/^ae2addr: ae.out: //; s/byte [0-9]*/byte N/' said)" "$4"
	is "$1: streams" "$("$BUILD/test/taskcount" <all.ref)" "$5"
	is "$1: of handlers" "$(ae2addr -c prog ae.out 2>/dev/null | sed -n 's/^handlers //p' | xargs)" "$6"
}

# part REGEX TASK: the functions of the capture, of its thread $thread if there are several, and those of one of our streams
thread=''
part() {
	# shellcheck disable=SC2046
	addrconv ${thread:+--task $thread} -e prog $(of "$1") -o x1.ref x.ref
	ae2addr --task "$2" -o a1.ref prog ae.out 2>/dev/null
	ok "$act: $1 of stream $2, some" [ "$(wc -c <a1.ref)" -gt 500 ]
	ok "$act: $1 of stream $2, as in a capture" addrdiff -ls -e prog a1.ref x1.ref
}
run fault 0 '' '' 2 '2 1'
run info 0 '' '' 2 '2 1'
run nest 0 '' '' 3 '2 1 3 2'
run busy 0 '' '' 2 '2 1'
run altstack 0 '' '' 2 '2 1'
run badexec 0 '' '' 2 '2 1'
run threads 0 '' '' 7 '3 2 5 4 7 6'
running='threads were running traced code when the process ended: their last references may be past that place'
run exit 11 '' "$running" 2 '2 1'
run _exit 11 '' "$running" 2 '2 1'
run abort 134 '' "$running" 2 '2 1'
run exec 13 '' "$running" 2 '2 1'
run threadexit 0 '' "$running" 3 '3 2'
run fatal 139 '' 'signal 11 ended the program in traced code, at the instruction after the last reference' 2 '2 1'
run fork 0 'ae: process N was forked by untraced code: not recorded' '' 2 '2 1'
stop='byte N: recording stopped here, before the run ended'
left='ae: recording stopped: a signal handler that interrupted traced code did not return'
run jump 0 "$left" "$stop" 2 '2 1'
run jumpalt 0 "$left" "$stop" 2 '2 1'
run jumpback 0 "$left" "$stop" 2 '2 1'
run registers 0 'ae: recording stopped: a signal handler changed registers of traced code' "$stop" 2 '2 1'
run recover 0 'ae: recording stopped: a signal handler changed registers of traced code' "$stop" 2 '2 1'
run inject 0 'ae: recording stopped: a signal handler changed registers of traced code' "$stop" 2 '2 1'
run large 0 '' '' 2 '2 1'
ok 'a compiled regenerator' sh -c 'aec -b prog && ./prog.regen ae.out | cmp - all.ref'
ok 'packed and unpacked' sh -c 'aepack -o p prog ae.out && aepack -d prog p | cmp - ae.out'
ok 'packed' sh -c 'ae2addr prog p | cmp - all.ref'
run deep 0 'ae: N signal handlers and N thread entries ran untraced' '' 9 '2 1 3 2 4 3 5 4 6 5 7 6 8 7 9 8'

if wscap -o x.ws ./prog info >/dev/null 2>&1; then
	for what in fault:open,mixed info:info nest:nest,mixed busy:less,raised,busy altstack:less,raised,busy threads:openmine \
	    exit:exit,mixed fatal:fatal,mixed; do
		act=${what%:*}
		one="one_($(echo "${what#*:}" | tr , '|'))"
		own="(work|faults|do_$act|pages|set|main)"
		rm -f ae.out
		AE_OUT=off setarch -R wscap -o x.ws ./prog $act >/dev/null 2>&1
		setarch -R ./prog $act >/dev/null 2>&1
		ws2addr -o x.ref x.ws
		case $act in
		threads)
			for thread in 2 3 4; do
				part "$one" $((thread * 2 - 1))
				part "$own" $((thread * 2 - 2))
			done
			thread=''
			continue ;;
		nest) part two_ 3 ;;
		esac
		part "$one" 2
		case $act in exit | fatal) ;; *) part "$own" 1 ;; esac
	done
else
	skip 'wscap does not work here'
fi

# stores FILE: how many there are to the mark
mark=$(awk '$4 == "mark" { print $1 }' names)
range=$mark:$(printf %x $((0x$mark + 8)))
stores() {
	ae2addr prog "$1" | addrconv --address="$range" -f text | grep -c '^[sm]'
}
# those that come in libc are in the thread's own stream
alone() {
	# shellcheck disable=SC2046
	ae2addr --task 1 prog "$1" | addrconv -e prog $(of '(work|do_timer|main)') -o "$2"
}
AE_OUT=quiet ./prog timer 0000 >quiet.out 2>/dev/null
alone quiet quiet.ref
for i in 1 2; do
	AE_OUT=timer ./prog timer 1000 >got.out 2>hits
	same "timer: output" got.out quiet.out
	is 'timer: all of the handlers' "$(stores timer)" "$(cat hits)"
	ok 'timer: some' [ "$(cat hits)" -gt 3 ]
	alone timer timer.ref
	ok 'timer: the thread as without them' addrdiff -ls -e prog timer.ref quiet.ref
done
AE_OUT=storm ./prog storm >/dev/null 2>hits
is 'storm: all of the handlers' "$(stores storm)" "$(cat hits)"
is 'storm: nothing untraced' "$(record storm)" '0 0 0 0'

aecc -O2 -Wno-pointer-bool-conversion -DREGION -I"$SRC/src" -I"$SRC/src/lib" "$HERE/handler.c" -o prog -pthread || fail aecc
run region 0 '' '' 2 '2 1'
is 'region: only its handlers' "$(ae2addr --task 2 prog ae.out | addrconv -e prog -s one_region -f text | grep -c '^inst')" \
	"$((10 * $(ae2addr --task 2 -n 0:100 prog ae.out | addrconv -e prog -s one_region -f text | grep '^inst' | sort -u | wc -l)))"

# exceptions that handlers throw, recorded or not
if command -v g++ >/dev/null; then
	ae++ -O2 -fnon-call-exceptions -I"$SRC/src" "$HERE/thrower.cc" -o thrower || fail ae++
	for args in '' ended; do
		# clang does not have the option, and leaves out the destructors
		want=555
		# shellcheck disable=SC2086
		if [ "${AE_CXX-}" ]; then want=$(AE_OUT=off ./thrower $args); fi
		# shellcheck disable=SC2086
		is "thrower $args: output" "$(./thrower $args 2>got.err)" "$want"
	done
fi
tap_end
