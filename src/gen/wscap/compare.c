/*
 * Finds what changed in the program's writable memory: for system calls that are not in the
 * table, for children that share memory, and for --audit.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "base/mem.h"
#include "gen/wscap/wscap.h"

static void
compare_save(struct shadow *s, struct cap *c, uint64_t addr, size_t n)
{
	struct range *r;

	s->p = mem_xgrow(s->p, &s->room, s->size + n, 1);
	s->range = mem_xgrow(s->range, &s->cap, s->n + 1, sizeof(*s->range));
	r = &s->range[s->n];
	r->addr = addr;
	r->at = s->size;
	r->n = tracee_read(&c->t, addr, s->p + s->size, n);
	s->size += r->n;
	s->n += r->n > 0;
}

/*
 * The stack's region has its maximal size: only the part that exists can be read, from its
 * upper end downward.
 */
static uint64_t
stack_low(const struct cap *c, const struct region *r)
{
	uint64_t lo = (c->in.rsp - (1u << 16)) / PAGE * PAGE;

	return lo > r->lo && lo < r->hi ? lo : r->lo;
}

static void
compare_save_all(struct cap *c, struct shadow *s, int all)
{
	s->n = s->size = 0;
	for (size_t i = 0; i < c->reg.n; i++) {
		const struct region *r = &c->reg.p[i];
		uint64_t at = r->stack ? stack_low(c, r) : r->lo;

		if (all ? !(r->prot & PROT_WRITE) : !(r->shared && (r->prot & PROT_WRITE || r->foreign)))
			continue;
		while (at < r->hi) {
			size_t n = r->hi - at < CHUNK ? (size_t)(r->hi - at) : CHUNK, had = s->n;

			compare_save(s, c, at, n);
			at += n;
			if (s->n > had && s->range[s->n - 1].n < n)
				at = (s->range[s->n - 1].addr + s->range[s->n - 1].n) / PAGE * PAGE + PAGE;
		}
	}
}

void
compare_before(struct cap *c)
{
	compare_save_all(c, &c->shadow, 1);
	c->compare = COMPARE_WRITES;
}

void
compare_known(struct cap *c, uint64_t addr, const uint8_t *p, size_t n)
{
	struct shadow *s = &c->shadow;

	for (size_t i = 0; i < s->n; i++) {
		const struct range *r = &s->range[i];
		uint64_t lo = addr > r->addr ? addr : r->addr;
		uint64_t hi = addr + n < r->addr + r->n ? addr + n : r->addr + r->n;

		if (lo < hi)
			memcpy(s->p + r->at + (lo - r->addr), p + (lo - addr), hi - lo);
	}
}

static size_t
compare_differing(struct cap *c, uint64_t addr, const uint8_t *old, size_t n, int tell)
{
	size_t i = 0, from, sum = 0;

	while (i < n) {
		struct ws_rec r = {.kind = WS_MEM};

		if (old[i] == c->all->scratch[i]) {
			i++;
			continue;
		}
		/* a gap of less than a line is not worth a new record */
		for (from = i; i < n; i++) {
			size_t gap = 0;

			while (i + gap < n && gap < WS_LINE && old[i + gap] == c->all->scratch[i + gap])
				gap++;
			if (gap == WS_LINE || i + gap == n)
				break;
			i += gap;
		}
		r.u.mem.addr = addr + from;
		r.u.mem.p = c->all->scratch + from;
		r.u.mem.n = i - from;
		wscap_put(c, &r);
		sum += i - from;
		if (tell)
			warn("audit: %s wrote %zu bytes at 0x%llx that the table does not know of",
			    ws_sys_name(c->in.orig_rax) ? ws_sys_name(c->in.orig_rax) :
			    "an unknown system call", i - from, (unsigned long long)addr + from);
	}
	return sum;
}

static size_t
compare_changes(struct cap *c, const struct shadow *s, int tell)
{
	size_t sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct range *r = &s->range[i];
		size_t n = tracee_read(&c->t, r->addr, c->all->scratch, r->n);

		if (n && memcmp(c->all->scratch, s->p + r->at, n))
			sum += compare_differing(c, r->addr, s->p + r->at, n, tell);
	}
	return sum;
}

size_t
compare_after(struct cap *c, int tell)
{
	c->compare = COMPARE_NOT;
	return compare_changes(c, &c->shadow, tell);
}

/*
 * What the program itself has written there since the last call is recorded once more, which is
 * harmless.
 */
void
compare_shared(struct cap *c)
{
	for (size_t i = 0; i < c->reg.n && c->fresh; i++)
		if (c->reg.p[i].shared && c->reg.p[i].foreign)
			put_mem(c, c->reg.p[i].lo, c->reg.p[i].hi - c->reg.p[i].lo);
	if (c->sharing)
		compare_changes(c, &c->common, 0);
	compare_save_all(c, &c->common, 0);
	c->fresh = 0;
	c->sharing = c->common.n > 0;
}
