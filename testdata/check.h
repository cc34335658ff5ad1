/* For test programs: CHECK prints one TAP line; check_end() is main's status. */
#ifndef TESTDATA_CHECK_H
#define TESTDATA_CHECK_H

#include <stdio.h>

static int check_n, check_bad;

#define CHECK(what, cond) check_((cond) != 0, what, #cond, __LINE__)

static void
check_(int good, const char *what, const char *cond, int line)
{
	check_n++;
	check_bad += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", check_n, what);
	if (!good)
		printf("# line %d: %s\n", line, cond);
}

static int
check_end(void)
{
	return check_bad != 0 || check_n == 0 || fflush(stdout) != 0;
}

#endif
