/* What cpuid says, on each processor that the process may use. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

static const unsigned leaf[][2] = {
	{0, 0}, {1, 0}, {2, 0}, {4, 0}, {4, 1}, {4, 9}, {7, 0}, {7, 1}, {7, 77}, {0xb, 0}, {0xb, 1}, {0xd, 0}, {0xd, 1},
	{0x16, 0}, {0x20, 0}, {0x77, 0}, {0x40000000, 0}, {0x40000001, 0}, {0x50000000, 0}, {0x80000000, 0},
	{0x80000001, 0}, {0x80000002, 0}, {0x80000008, 0}, {0x8000001d, 2}, {0x8000001e, 0}, {0x80000021, 0},
	{0x90000000, 0}, {0xc0000000, 0},
};

static void
features(void)
{
	unsigned a, b, c, d;

	__cpuid(1, a, b, c, d);
	printf("%s%s%s%s%s%s%s", d >> 26 & 1 ? " sse2" : "", c & 1 ? " sse3" : "", c >> 20 & 1 ? " sse4.2" : "",
	    c >> 25 & 1 ? " aes" : "", c >> 27 & 1 ? " xsave" : "", c >> 28 & 1 ? " avx" : "",
	    c >> 30 & 1 ? " rdrand" : "");
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
		printf("%s%s%s", b & 1 ? " fsgsbase" : "", b >> 5 & 1 ? " avx2" : "", b >> 16 & 1 ? " avx512f" : "");
	printf("%s\n", getauxval(AT_HWCAP2) ? " hwcap2" : "");
}

int
main(int argc, char **argv)
{
	cpu_set_t all, one;

	if (argc > 1 && !strcmp(argv[1], "features")) {
		features();
		return 0;
	}
	sched_getaffinity(0, sizeof all, &all);
	for (int k = 0; k < CPU_SETSIZE; k++) {
		if (!CPU_ISSET(k, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(k, &one);
		if (sched_setaffinity(0, sizeof one, &one))
			return 1;
		for (size_t i = 0; i < sizeof leaf / sizeof leaf[0]; i++) {
			unsigned r[4] = {0};

			__cpuid_count(leaf[i][0], leaf[i][1], r[0], r[1], r[2], r[3]);
			fwrite(r, sizeof r, 1, stdout);
		}
	}
	return 0;
}
