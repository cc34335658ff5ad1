/* Visits: decodes the blocks of an RP_VALUES stream, and finds the last writer of what they use. */
#include <string.h>

#include "base/buf.h"
#include "replay/itrace/itrace_internal.h"

int
visit_room(struct visit *v, size_t nwriter)
{
	if (v->nrun < v->caprun && v->nwriter + nwriter <= v->capwriter && v->capwriter)
		return 0;
	return buf_grow(&v->run, &v->caprun, v->nrun + 1, sizeof *v->run) < 0 ||
	    buf_grow(&v->writer, &v->capwriter, v->nwriter + nwriter, sizeof *v->writer) < 0 ? -1 : 0;
}

/* Writers of a use of a register that is split. */
static uint64_t
split_use(struct visit *v, const struct fact_use *u)
{
	static const uint8_t general[] = { 0, 1, 2, 8 }, flag[] = { 0, 1, 2, 3, 4, 5 };
	const uint8_t *from = u->reg < 16 ? general : u->reg == FACT_FLAGS ? flag : fact_lane_from;
	const uint64_t *last = v->last[u->reg];
	unsigned low = (unsigned)__builtin_ctz(u->lanes), rest = u->lanes & (u->lanes - 1u);
	size_t first = v->mem.npiece;

	while (rest && last[__builtin_ctz(rest)] == last[low])
		rest &= rest - 1;
	if (!rest)
		return last[low];
	for (unsigned l = 0; l < FACT_NLANE; l++)
		if (u->lanes >> l & 1)
			wshadow_piece(&v->mem, first, last[l], from[l], (unsigned)(from[l + 1] - from[l]));
	if (v->mem.npiece - first != 1)
		return VISIT_MANY | first;
	v->mem.npiece = first;
	return v->mem.piece[first].writer;
}

/* Writers of a use when the block has written some of its lanes; n: instance of its first instruction. */
static uint64_t
mixed_use(struct visit *v, const struct plan_mixed *m, uint64_t n)
{
	uint64_t *last = v->last[m->use.reg], keep[FACT_NLANE], split = v->split, w;

	memcpy(keep, last, sizeof keep);
	for (unsigned l = 0; l < FACT_NLANE; l++)
		last[l] = m->k[l] >= 0 ? n + (uint64_t)m->k[l] : split >> m->use.reg & 1 ? keep[l] : keep[0];
	w = split_use(v, &m->use);
	memcpy(last, keep, sizeof keep);
	return w;
}

/* Instance n wrote only some lanes of the register. */
static void
split_def(struct visit *v, unsigned reg, unsigned lanes, uint64_t n)
{
	uint64_t *last = v->last[reg];

	if (!(v->split >> reg & 1)) {
		v->split |= UINT64_C(1) << reg;
		for (unsigned l = 1; l < FACT_NLANE; l++)
			last[l] = last[0];
	}
	for (; lanes; lanes &= lanes - 1)
		last[__builtin_ctz(lanes)] = n;
}

/* Last writers of `size` bytes at addr, whose shadow begins at s. */
static inline uint64_t
mem_use(struct visit *v, uint64_t addr, uint64_t size, const uint64_t *s)
{
	uint64_t old = *s, off = addr & 7, i;

	if (off + size <= 8) {
		const uint64_t *b;

		if (old - 1 < VISIT_MANY - 1)
			return old;
		if (old & VISIT_MANY) {
			b = v->mem.bytes[old & ~VISIT_MANY] + off;
			for (i = 1; i < size && b[i] == b[0]; i++)
				;
			if (i >= size)
				return b[0];
		} else
			return wshadow_mapping_writer(&v->mem, addr);
	} else if (old - 1 < VISIT_MANY - 1) {
		for (i = 8 - off; i < size && s[(off + i) / 8] == old; i += 8)
			;
		if (i >= size)
			return old;
	}
	return wshadow_read(&v->mem, ref_addr(addr), size);
}

static inline void
mem_def(struct visit *v, uint64_t addr, uint64_t size, uint64_t *s, uint64_t n)
{
	uint64_t old = *s, off = addr & 7;

	if (off + size <= 8) {
		if (old & VISIT_MANY && size < 8) {
			uint64_t *b = v->mem.bytes[old & ~VISIT_MANY] + off;

			switch (size) {
			case 4: b[3] = b[2] = n; /* fallthrough */
			case 2: b[1] = n; /* fallthrough */
			case 1: b[0] = n; return;
			default: break;
			}
		} else if (size == 8 && !(old & VISIT_MANY)) {
			if (!old)
				wshadow_note(&v->mem, addr);
			*s = n;
			return;
		}
	}
	wshadow_write(&v->mem, ref_addr(addr), size, n);
}

/* Finds the writers of what is read, then notes instance n as the writer of what is written. */
static inline void
itrace_refs(struct visit *v, const uint64_t *ref, uint32_t nref, uint64_t *w, uint64_t n)
{
	for (uint32_t i = 0; i < nref; i++) {
		uint64_t addr = ref[i], size = ref_size(ref[i]), *s = wshadow_at(addr);

		if (visit_reads(ref[i]))
			*w++ = mem_use(v, addr, size, s);
		if (visit_writes(ref[i]))
			mem_def(v, addr, size, s, n);
	}
}

/* Stores the writers of a run at w; its words begin at `word`. */
static inline void
itrace_writers(struct visit *v, const struct plan *p, const struct visit_run *r,
    const uint64_t *word, uint64_t *w)
{
	uint64_t n = r->n;

	for (unsigned i = 0; i < p->nport; i++)
		w[i] = n + p->by[i];
	for (unsigned i = 0; i < p->nlive; i++) {
		const struct plan_live *l = &p->live[i];

		w[l->port] = v->split >> l->use.reg & 1 ? split_use(v, &l->use) : v->last[l->use.reg][0];
	}
	for (unsigned i = 0; i < p->nmixed; i++)
		w[p->mixed[i].port] = mixed_use(v, &p->mixed[i], n);
	for (unsigned i = 0; i < p->nrefs; i++)
		itrace_refs(v, word + p->refs[i].word, p->refs[i].n, w + p->refs[i].port, n + p->refs[i].k);
	if (r->nlast)
		itrace_refs(v, word + p->at[p->n - 1].ref, r->nlast, w + p->nport, n + p->n - 1);
	for (unsigned i = 0; i < p->nend; i++) {
		const struct plan_end *e = &p->end[i];

		if (e->whole) {
			v->last[e->reg][0] = n + e->k;
			v->split &= ~(UINT64_C(1) << e->reg);
		} else
			split_def(v, e->reg, e->lanes, n + e->k);
	}
}

/* Words of the last instruction beyond those of its plan; fills in their numbers in the run. */
static size_t
last_words(const struct visit *v, const struct plan *p, struct visit_run *r, const uint64_t *word, size_t end)
{
	uint64_t w;

	if (p->last->kind == FACT_STRING) {
		r->nlast = FACT_NREFS(word[end - FACT_RECORD]);
		return v->memory ? 2 * (size_t)r->nlast : r->nlast;
	}
	w = word[end - 1];
	r->nlast = (uint32_t)w;
	r->nmem = (uint16_t)(w >> 32);
	return (size_t)r->nlast + r->nmem + p->last->nval;
}

/* A block that has only some of its instructions reported. */
static size_t
itrace_picked(struct visit *v, struct fact_block *b, unsigned n, const uint64_t *word, size_t at)
{
	const struct plan *p = plan_of(b);
	uint64_t before = word[at++];
	size_t more = 0;
	unsigned i;

	if (p == NULL || visit_room(v, 0) != 0)
		return 0;
	for (i = 0; i < p->n && b->idx[i] < n; i++) {
		const struct fact_at *a = &p->at[i];
		struct visit_run r = { a, before + 1 + b->idx[i], 1, 0, (uint32_t)at, 0, 0 };

		if (a->fact == p->last) {
			more = last_words(v, p, &r, word, at + p->nword);
			if (a->fact->kind == FACT_STRING && !FACT_ITERS(word[at + p->nword - FACT_RECORD]) &&
			    !(word[at + p->nword - FACT_RECORD] & FACT_DONE))
				continue;
		}
		if (visit_room(v, 0) != 0)
			return 0;
		v->run[v->nrun++] = r;
		v->ninsn++;
	}
	if (i == p->n)
		return at + p->nword + more;
	return at + p->at[i].ref -
	    (p->at[i].fact->kind == FACT_STRING ? FACT_RECORD : p->at[i].fact->kind == FACT_COUNTED);
}

/*
 * Visits n instructions of block b, whose words begin at word[at].  Returns the index of the
 * next header, or 0: no memory.
 */
static inline size_t
itrace_block(struct visit *v, struct fact_block *b, unsigned n, const uint64_t *word, size_t at)
{
	const struct plan *p;
	struct visit_run *r;
	size_t end, skipped = 0;
	const struct fact *half = NULL;

	if (b->idx)
		return itrace_picked(v, b, n, word, at);
	if (n == 0)
		return at;
	if (n < b->n && (b = fact_block_get(rp_facts(drive_core(v->r)), b->f, NULL, n, b->bare)) == NULL)
		return 0;
	if ((p = plan_of(b)) == NULL)
		return 0;
	if (p->last && p->last->kind == FACT_STRING) {
		uint64_t state = word[at + p->nword - FACT_RECORD];

		/* it was interrupted before its first element */
		if (!FACT_ITERS(state) && !(state & FACT_DONE)) {
			if (n == 1)
				return at + FACT_RECORD;
			b = fact_block_get(rp_facts(drive_core(v->r)), b->f, NULL, n - 1, b->bare);
			if (b == NULL || (p = plan_of(b)) == NULL)
				return 0;
			skipped = FACT_RECORD;
		} else if (!(state & FACT_DONE))
			half = p->last;
	}
	if (visit_room(v, 0) != 0)
		return 0;
	r = &v->run[v->nrun++];
	*r = (struct visit_run){ p->at, v->n + 1, p->n, 0, (uint32_t)at, (uint32_t)v->nwriter, 0 };
	end = at + p->nword;
	if (p->last) {
		end += last_words(v, p, r, word, end) + skipped;
		if (p->last->kind == FACT_STRING && n == 1 && v->half == p->last)
			r->n--;         /* it continues in the next block */
	} else
		end += skipped;
	v->half = half;
	if (v->writers) {
		if (visit_room(v, p->nport + (size_t)r->nlast) != 0)
			return 0;
		r = &v->run[v->nrun - 1];
		itrace_writers(v, p, r, word + at, v->writer + v->nwriter);
		v->nwriter += p->nport + (size_t)r->nlast;
	}
	v->n = r->n + p->n - 1;
	v->ninsn += p->n;
	return end;
}

int
visit_blocks(struct visit *v, const uint64_t *word, size_t n)
{
	size_t at = v->done;

	while (at < n) {
		const struct fact_block *b = fact_block(word[at]);
		const struct plan *p = b->plan;

		/* the common case, inlined: as block() does it */
		if (p && !p->last && b->n == word[at] >> 48 && !b->idx && !v->writers &&
		    v->nrun < v->caprun) {
			v->run[v->nrun++] = (struct visit_run){ p->at, v->n + 1, p->n, 0, (uint32_t)at + 1,
		    (uint32_t)v->nwriter, 0 };
			v->half = NULL;
			v->n += p->n;
			v->ninsn += p->n;
			at += 1u + p->nword;
			continue;
		}
		at = itrace_block(v, fact_block(word[at]), (unsigned)(word[at] >> 48), word, at + 1);
		if (at == 0)
			return -1;
	}
	v->done = at;
	return v->mem.nomem ? -1 : 0;
}
