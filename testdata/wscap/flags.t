#!/bin/sh
# The flags AC and ID, by which programs (java) find out what processor there is: a replay keeps them, and checks no alignment
. "$HERE/lib.sh"
cat >flags.c <<'END'
#include <stdio.h>
#include <unistd.h>
static unsigned long toggle(unsigned long bit)
{
	unsigned long before, after;

	__asm__ volatile("pushfq\n\tpop %0\n\tmov %0, %1\n\txor %2, %1\n\tpush %1\n\tpopfq\n\tcmp %1, %1\n\tpushfq\n\tpop %1"
	    : "=&r"(before), "=&r"(after) : "r"(bit) : "cc");
	return (before ^ after) & 0x240000;
}
static unsigned short word(void)
{
	unsigned short w;

	__asm__ volatile("pushfw\n\tpopfw\n\tpushfw\n\tpop %0" : "=r"(w) : : "cc");
	return w & 0x400;
}
int main(void)
{
	unsigned long r[5];

	getppid();                      /* the loader's work is done */
	r[0] = toggle(0x40000);
	getppid();                      /* they survive a call */
	r[1] = toggle(0);
	word();
	r[2] = toggle(0x40000);         /* cleared: the library's accesses are not aligned */
	r[3] = toggle(0x200000);
	r[4] = toggle(0x40000) | toggle(0x40000) << 8;
	for (int i = 0; i < 5; i++)
		printf("%lx\n", r[i]);
	/* the replay asks for the same calls only if it saw the same flags */
	for (int i = 0; i < 5; i++)
		if (r[i])
			getuid();
	return 3;
}
END
gcc -O1 -mno-red-zone -o flags flags.c || exit 1
captured "flags" -- ./flags
is "its status" "$want" 3
ws2addr -w 1 c.ws >written
same "the replay writes the same" written want.out
n=$(ws2addr -c c.ws | awk '$1 == "instructions" { print $2 }')
wsverify -n $((n - 8000)): c.ws >out 2>&1   # the program's own part is there
is "verified" "$?" 0
tap_end
