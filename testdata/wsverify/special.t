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

# a file that is mapped shared, and of which a page may only be read: each window begins with all of it
cat >shared.c <<'P'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	int f = open("shared.file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	volatile char *p;
	if (ftruncate(f, 12288) || (p = mmap(0, 12288, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0)) == MAP_FAILED)
		return 1;
	p[0] = p[4096] = p[8192] = 1;
	mprotect((void *)(p + 4096), 4096, PROT_READ);
	for (int i = 0; i < 20000; i++) {
		p[i % 4096] += p[4096];
		p[8192 + i % 4096]++;
	}
	return p[0] == 0;
}
P
${CC:-gcc} -O1 -static -o shared shared.c && wscap -o shared.ws ./shared || exit 1
is "a page that may only be read" "$(wsverify -e 60000 -l 200 shared.ws | sed 's/^.*windows, //')" "0 differences"

# a system call that the replay does not come to is none natively, either
ok "a system call that the replay does not see" made hidden
at=$(nm hidden | sed -n 's/^0*\([0-9a-f]*\) T hidden$/\1/p')
is "is not made" "$("$BUILD/test/wsfault" hidden.ws memory $((0x$at + 1)) 8)" "instruction 1: syscall natively, and none in the replay"
tap_end
