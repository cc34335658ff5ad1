/* Variables that another file declares, and what a compiler calls */
#include <stddef.h>

int elsewhere = 3;
long table[3] = { 1, 2, 3 };
static int total = 12;

int
shared(int x)
{
	total += x;
	return total;
}

void *
memcpy(void *to, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}

void *
memset(void *to, int c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = (char)c;
	return to;
}
