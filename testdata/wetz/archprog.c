/*
 * A program without libraries: branches that are hard to foresee, loads and stores in more memory
 * than a cache has, some across lines
 */
static unsigned a[8192];

void
_start(void)
{
	unsigned x = 1, s = 0;

	for (unsigned i = 0; i < 20000; i++) {
		x = x * 1103515245u + 12345u;
		if (x >> 16 & 1)
			s += a[x >> 8 & 8191];
		else
			a[x >> 10 & 8191] = s;
		if ((i & 7) == 3)
			a[i & 1023] += i;
		if ((i & 31) == 5)
			*(volatile unsigned long *)((char *)a + (x >> 9 & 16383)) += s;
	}
	__asm__ volatile("syscall" : : "a"(231), "D"(s & 63) : "rcx", "r11", "memory");
}
