/* x86-64: who made a processor: Intel's and AMD's do some things differently. */
#include <cpuid.h>
#include <string.h>

#include "isa/x86/maker.h"

/* AMD's processors, and Hygon's, which derive from them. */
int
x86_amd(uint32_t ebx, uint32_t edx, uint32_t ecx)
{
	uint32_t name[3] = { ebx, edx, ecx };

	return !memcmp(name, "AuthenticAMD", 12) || !memcmp(name, "HygonGenuine", 12);
}

int
x86_amd_here(void)
{
	static int known, amd;          /* cpuid is slow in a virtual machine */
	unsigned a, b, c, d;

	if (!known)
		amd = __get_cpuid(0, &a, &b, &c, &d) && x86_amd(b, d, c);
	known = 1;
	return amd;
}
