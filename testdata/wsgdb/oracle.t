# The same steps of a live process and of the replay, in gdb: all registers are equal after each, forward and backward
. "$SRC/testdata/tap.sh"
wide=
grep -q -w avx /proc/cpuinfo && wide=-mavx
grep -q -w avx512f /proc/cpuinfo && wide=-mavx512f
# shellcheck disable=SC2086
$GCC -O1 -g $wide -nostdlib -static -ffreestanding -fno-stack-protector -no-pie -o oracle "$HERE/oracle.c"
wscap -o oracle.ws ./oracle
n=$(ws2addr -c oracle.ws | awk '$1 == "instructions" { print $2 }')
# the last instructions end the program, and repeated instructions have a fetch more than steps
STEPS=$((n - 16)) OUT=live timeout 600 gdb -q -nx -batch -ex 'set startup-with-shell off' -ex starti -x "$HERE/oracle.py" ./oracle >log 2>&1
if ! [ -s live ]; then
	if grep -q -i 'ptrace\|Operation not permitted' log; then
		skip "a process cannot be traced here"
		exit 0
	fi
	fail "the live process" "$(tail -n 5 log)"
fi
STEPS=$((n - 16)) OUT=replay BACK=back timeout 600 gdb -q -nx -batch -ex 'file ./oracle' -ex 'set remotetimeout 600' -ex 'target remote | wsgdb oracle.ws' \
	-x "$HERE/oracle.py" >log 2>&1
is "steps" "$(wc -l <live | tr -d ' ')" $((n - 15))
[ "$n" -gt 1000 ] && pass "more than a thousand" || fail "more than a thousand" "$n"
is "registers in each line" "$(head -n 1 replay | wc -w | tr -d ' ')" "$(head -n 1 live | wc -w | tr -d ' ')"
same "forward as the processor" live replay
same "backward the same" replay back
tap_end
