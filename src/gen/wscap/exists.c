/*
 * Pages of shared memory that no process has used: to read them would make them, and take long.  The program
 * asks the kernel for us, as only a process that has mapped the memory can.
 */
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "gen/wscap/fast.h"
#include "gen/wscap/wscap.h"

#define BELOW 512u              /* bytes under the stack pointer, below which the answer is for a moment */
#define FEW 512u                /* pages to ask about where there is less stack */

/* Is anything swapped out? Such pages are not told from those that do not exist. */
static int
exists_swapped(void)
{
	struct sysinfo s;

	return sysinfo(&s) || s.totalswap != s.freeswap;
}

/* Asks about the pages from lo on: they are those of e then.  0, or -1: not known. */
static int
exists_ask(struct cap *c, struct exists *e, uint64_t lo, uint64_t n)
{
	uint8_t kept[EXISTS_PAGES];
	static const uint64_t all = UINT64_MAX;
	struct user_regs_struct g;
	long ret = -1;
	uint64_t spot, mask;
	int err;

	if (tracee_regs(&c->t, &g) || ptrace(PTRACE_GETSIGMASK, c->t.pid, sizeof(mask), &mask))
		return -1;
	spot = g.rsp - BELOW - n;
	if (tracee_read(&c->t, spot, kept, n) != n) {
		n = n < FEW ? n : FEW;
		spot = g.rsp - BELOW - n;
		if (tracee_read(&c->t, spot, kept, n) != n)
			return -1;
	}
	/* a signal that ended the call before is not to arrive in this one */
	ptrace(PTRACE_SETSIGMASK, c->t.pid, sizeof(all), &all);
	err = tracee_call(&c->t, &ret, SYS_mincore, lo, n * PAGE, spot, 0, 0, 0);
	ptrace(PTRACE_SETSIGMASK, c->t.pid, sizeof(mask), &mask);
	if (!err && !ret && tracee_read(&c->t, spot, e->page, n) != n)
		ret = -1;
	if (tracee_write(&c->t, spot, kept, n) != n || exists_swapped())
		return -1;
	e->lo = lo;
	e->hi = lo + n * PAGE;
	return err || ret ? -1 : 0;
}

uint64_t
exists_next(struct cap *c, struct exists *e, uint64_t lo, uint64_t hi)
{
	size_t i = region_at(&c->reg, lo);
	const struct region *r = &c->reg.p[i];

	if (i == c->reg.n || r->lo > lo || !r->shared || !r->zeros || c->inside || c->th)
		return lo;
	if (!e->asked) {
		e->asked = 1;
		e->unknown = exists_swapped() || fast_filtered(c);
	}
	if (hi > r->hi)
		hi = r->hi;
	for (; lo < hi && !e->unknown; lo += PAGE) {
		uint64_t n = (r->hi - lo) / PAGE;

		if (lo < e->lo || lo >= e->hi)
			e->unknown = exists_ask(c, e, lo, n < EXISTS_PAGES ? n : EXISTS_PAGES) != 0;
		if (e->unknown || e->page[(lo - e->lo) / PAGE] & 1)
			break;
	}
	return lo;
}

int
exists_hole(struct cap *c, uint64_t lo, uint64_t hi)
{
	size_t i = region_at(&c->reg, lo);
	const struct region *r = &c->reg.p[i];
	const struct hold_file *f = NULL;
	struct stat st;
	off_t from, to;

	if (i < c->reg.n && r->lo <= lo && hi <= r->hi && r->shared && r->ino)
		f = hold_find(c->all, r->dev, r->ino);
	if (!f || f->fd < 0 || !f->memory || fstat(f->fd, &st))
		return 0;
	from = (off_t)(r->offset + (lo - r->lo));
	to = from + (off_t)(hi - lo);
	if (to > st.st_size)            /* some may not be readable */
		return 0;
	from = lseek(f->fd, from, SEEK_DATA);
	return from < 0 ? errno == ENXIO : from >= to;
}

uint64_t
exists_own(struct cap *c, uint64_t lo, uint64_t hi)
{
	size_t i = region_at(&c->reg, lo);
	const struct region *r = &c->reg.p[i];

	if (i == c->reg.n || r->lo > lo || hi > r->hi || !r->shared || !r->zeros || c->hold.pagemap <= 0 || exists_swapped())
		return lo;
	return pagemap_next(c->hold.pagemap, lo, hi, 1);
}
