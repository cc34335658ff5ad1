/* What the program's registers are while its process is in the recorder. */
#include <string.h>

#include "gen/wscap/fast.h"
#include "gen/wscap/thread.h"

int
fast_busy(const struct fast *f, const struct user_regs_struct *g)
{
	return g->rip - f->core < FAST_CODE || g->rsp - f->core <= FAST_STACK;
}

int
fast_inside(const struct fast *f, const struct user_regs_struct *g)
{
	const struct fast_site *s;

	if (fast_busy(f, g))
		return 1;
	s = fast_site_in(f, g->rip);
	return s && g->rip - s->stub < s->to[0];
}

void
fast_view(const struct fast *f, struct user_regs_struct *g)
{
	const struct fast_area *a = f->a;
	struct ws_regs w = {.rip = a->r[1], .rflags = a->flags, .fsbase = g->fs_base, .gsbase = g->gs_base};

	memcpy(w.r, a->r, sizeof(w.r));
	tracee_to_user(g, &w);
}

uint64_t
fast_outside(const struct fast *f, uint64_t rip)
{
	const struct fast_site *s = fast_site_in(f, rip);

	for (unsigned i = 0; s && i < s->nmoved; i++)
		if (rip == s->stub + s->to[i])
			return s->addr + s->from[i];
	return s ? s->addr + s->n : 0;          /* the jump back */
}

/* The same after a rdtsc, but for rax. */
static void
fast_tsc_view(const struct fast *f, struct user_regs_struct *g)
{
	const struct fast_area *a = f->a;

	g->rcx = a->r[1];
	g->rsp = a->r[4];
	g->rdi = a->r[7];
	g->r11 = a->r[11];
	g->rdx = a->ret >> 32;
	g->eflags = a->flags;
	g->rip = fast_outside(f, a->back);
}

/* Is the process in the recorder for a cpuid? *back: where its stub continues. */
static int
fast_in_cpuid(const struct fast *f, const struct user_regs_struct *g, uint64_t *back)
{
	const struct fast_site *s = fast_site_in(f, g->rip);

	*back = f->a->back;
	if (s && s->tsc == FAST_CPUID && g->rip - s->stub < s->to[0])
		*back = s->stub + s->to[0];
	else if (g->rip == fast_place(f, fast_cpuid))
		*back = g->rbx;
	else if ((g->rip < fast_place(f, fast_cpuid) || g->rip >= fast_place(f, fast_cpuid_end)) &&
	    (g->rip - f->core >= FAST_CODE || f->a->tsc != FAST_CPUID))
		return 0;
	return 1;
}

/* The same after that cpuid: who is killed before it has made it. */
static void
fast_cpuid_view(const struct cap *c, struct user_regs_struct *g, uint64_t back)
{
	const struct fast *f = c->fast;
	const struct fast_area *a = f->a;
	int early = fast_site_in(f, g->rip) || g->rip - fast_place(f, fast_cpuid) <
	    (uint64_t)(fast_cpuid_started - fast_cpuid);
	struct ws_cpuid d;

	if (g->rsp - f->core <= FAST_STACK)
		g->rsp = a->r[4];
	if (!early) {
		fast_view(f, g);
		g->eflags = a->flags;
	}
	d = ws_cpuid_find(c->all->cpuid, c->all->ncpuid, (uint32_t)g->rax, (uint32_t)g->rcx);
	g->rax = d.eax;
	g->rbx = d.ebx;
	g->rcx = d.ecx;
	g->rdx = d.edx;
	g->rip = fast_outside(f, back);
}

/* Has it just entered the recorder, so that the shared memory still tells of the call before? */
static int
fast_enters(const struct fast *f, uint64_t rip)
{
	return (rip >= fast_place(f, fast_entry) && rip < fast_place(f, fast_started)) ||
	    (rip >= fast_place(f, fast_tscp) && rip < fast_place(f, fast_tsc_started));
}

int
fast_dead(struct cap *c, struct user_regs_struct *g)
{
	struct fast *f = c->fast;
	uint64_t rip;

	if (!f || !f->on)
		return 0;
	if (f->calling || ((int64_t)g->orig_rax >= 0 && g->rax == g->orig_rax && g->rip != fast_place(f, fast_noted)))
		return 1;               /* it waits for us to make a call */
	if (fast_in_cpuid(f, g, &rip)) {
		fast_cpuid_view(c, g, rip);
	} else if (fast_inside(f, g)) {
		if (f->a->head == f->a->begun || g->rip - f->core >= FAST_CODE || fast_enters(f, g->rip))
			return 1;
		if (f->a->tsc)
			fast_tsc_view(f, g);
		else
			fast_view(f, g);
		g->rax = f->a->tsc ? (uint32_t)f->a->ret : f->a->ret;
	} else if ((rip = fast_outside(f, g->rip)) != 0) {
		g->rip = rip;
	}
	return 0;
}
