/* Which pages of a process exist, by /proc/PID/pagemap. */
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gen/wscap/hold.h"
#include "gen/wscap/wscap.h"

#define FEW  512u               /* pages, where a look at each costs less than another question */
#define MANY 131072u            /* ... to look at at once: there may be terabytes that nobody has used, as with sanitizers */

/* PAGEMAP_SCAN of Linux 6.7, in no header of Debian 12: it passes over memory that nobody has used without a look at each page. */
struct scan_region { uint64_t lo, hi, categories; };
struct scan {
	uint64_t size, flags, lo, hi, at, region, nregion, most, inverted, all, any, told;
};
#define SCAN _IOWR('f', 16, struct scan)
#define SCAN_PRESENT (3ull << 3)        /* in memory, or swapped out or moving */

/* pagemap_next by that: 0; -1: the kernel does not have it. */
static int
pagemap_scan(int pagemap, uint64_t *lo, uint64_t hi, int has)
{
	static int none;
	struct scan_region r;
	struct scan s = {.size = sizeof(s), .lo = *lo, .hi = hi, .region = (uint64_t)(uintptr_t)&r, .nregion = 1, .most = 1,
	    .told = SCAN_PRESENT};
	int n;

	if (none)
		return -1;
	if (has)
		s.any = SCAN_PRESENT;
	else
		s.inverted = s.all = SCAN_PRESENT;
	n = ioctl(pagemap, SCAN, &s);
	if (n < 0) {
		none = errno == ENOTTY || errno == EINVAL;
		return -1;
	}
	*lo = n ? r.lo : hi;
	return 0;
}

uint64_t
pagemap_next(int pagemap, uint64_t lo, uint64_t hi, int has)
{
	static uint64_t e[MANY];

	while (lo < hi) {
		size_t most, all = (size_t)((hi - lo) / PAGE) * 8;
		ssize_t n;

		/* what is asked for is near as a rule, or very far */
		if (all > sizeof(e[0]) * FEW && !pagemap_scan(pagemap, &lo, hi, has))
			return lo;
		most = all < sizeof(e) ? all : sizeof(e);
		n = pread(pagemap, e, most, (off_t)(lo / PAGE * 8));

		if (n < 8)
			return has ? lo : hi;
		for (ssize_t k = 0; k < n / 8; k++, lo += PAGE)
			if (((e[k] & PAGEMAP_PRESENT) != 0) == has)
				return lo;
	}
	return lo;
}
