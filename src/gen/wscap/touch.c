/* --first-touch. */
#include "wscap.h"

void
touch_hide(struct cap *c, uint64_t lo, uint64_t hi)
{
	(void)c;
	(void)lo;
	(void)hi;
}

int
touch_fault(struct cap *c, uint64_t addr)
{
	(void)c;
	(void)addr;
	return 0;
}

void
touch_all(struct cap *c)
{
	(void)c;
}

void
touch_call(struct cap *c, const struct call *k)
{
	(void)c;
	(void)k;
}
