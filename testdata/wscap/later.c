/*
 * For store.t.  With -shared: a library that wscap is started with, for which files are ten minutes older.  Otherwise:
 * a program that does what a byte of its file says.
 */
#include <stddef.h>
#include <time.h>

#ifdef LATER
time_t
time(time_t *at)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (at)
		*at = t.tv_sec + 600;
	return t.tv_sec + 600;
}
#else
static const volatile char what[] = "what it does: 3";

int
main(void)
{
	volatile int n = 0;

	for (int i = 0; i < what[sizeof(what) - 2] - '0'; i++)
		n += 2;
	return n;
}
#endif
