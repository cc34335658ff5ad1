# Programs that were once taken for wrong, that made the checking hang, or would have had it make a system call
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

clean() {
	is "$1" "$(timeout 60 wsverify "$2" 2>&1 | sed 's/^.*checked, //')" "0 differences"
}

ok "address-size prefixes" made addr32
clean "are no prefix of the stack's" addr32.ws
ok "mxcsr without xmm registers in use" made mxcsr
clean "is kept" mxcsr.ws
is "where a window begins" "$(wsverify -e 100 -l 20 mxcsr.ws | sed 's/^.*windows, //')" "0 differences"
ok "memory where the checking has a page of its own" made low
clean "is the program's" low.ws

echo 'int main(void) { return 0; }' >st.c
ok "a statically linked program" ${CC:-gcc} -static -o st st.c
wscap -o st.ws ./st
clean "is checked" st.ws

# a run of more than 200,000 instructions is checked in windows whose length does not depend on the machine's load
printf '\t.globl _start\n_start: mov $200000, %%ecx\n1: dec %%ecx\n jnz 1b\n xor %%edi, %%edi\n mov $231, %%eax\n syscall\n' >long.s
ok "a longer program" made long .
is "windows" "$(wsverify long.ws | sed 's/,.*in 16/ in 16/')" "160000 instructions in 16 windows, 0 differences"

# a system call that the replay does not come to is none natively, either
ok "a system call that the replay does not see" made hidden
at=$(nm hidden | sed -n 's/^0*\([0-9a-f]*\) T hidden$/\1/p')
is "is not made" "$("$BUILD/test/wsfault" hidden.ws memory $((0x$at + 1)) 8)" "instruction 1: syscall natively, and none in the replay"
tap_end
