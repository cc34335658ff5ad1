/* Visits: walks the blocks of an RP_VALUES stream, and keeps who wrote each register last. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <asm/prctl.h>

#include "base/buf.h"
#include "engine/replay/drive.h"
#include "engine/replay/visitmem.h"
#include "engine/replay/visitplan.h"

#define WORDS 16384u            /* of a batch */

struct visit {
	struct replay *r;
	int writers;
	uint64_t n;                     /* the last instance */
	size_t done;                    /* words of this batch that are visited */
	const struct fact *half;        /* the last instance is a string instruction that is not over */
	uint64_t last[FACT_NREG][FACT_NLANE];   /* by lane; if the register is not split the first only */
	uint64_t split;
	struct visit_run *run;          /* owned */
	size_t nrun, caprun, ninsn;
	uint64_t *writer;               /* owned */
	size_t nwriter, capwriter;
	struct wshadow mem;
	int pending;                    /* what the next call returns, REPLAY_OK: what it finds */
	struct visit_batch batch;       /* of visit_next */
	size_t next;                    /* its run, and the instruction in it */
	uint32_t nextin;
	struct visit_at signal[2];      /* without and with vectors */
	struct fact sigfact[2];
	struct fact_def sigdef[FACT_NREG];
};

/* Room for a run and so many writers; 0, or -1 without memory */
static int
room(struct visit *v, size_t nwriter)
{
	return buf_grow(&v->run, &v->caprun, v->nrun + 1, sizeof *v->run) < 0 ||
	    buf_grow(&v->writer, &v->capwriter, v->nwriter + nwriter, sizeof *v->writer) < 0 ? -1 : 0;
}

/* Writers of a register that is split */
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

/* Writers of a use of which the block itself has written some lanes; n: instance of its first instruction */
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

/* Instance n wrote some lanes only */
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

/* Who wrote `size` bytes at addr, whose shadow begins at s */
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
			return wshadow_unwritten(&v->mem, addr);
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
			*s = n;
			return;
		}
	}
	wshadow_write(&v->mem, ref_addr(addr), size, n);
}

/* Who wrote what is read; then instance n has written what is written */
static inline void
refs(struct visit *v, const uint64_t *ref, uint32_t nref, uint64_t *w, uint64_t n)
{
	for (uint32_t i = 0; i < nref; i++) {
		uint64_t addr = ref[i], size = ref_size(ref[i]), *s = wshadow_at(addr);

		if (visit_reads(ref[i]))
			*w++ = mem_use(v, addr, size, s);
		if (visit_writes(ref[i]))
			mem_def(v, addr, size, s, n);
	}
}

/* The writers of a run, to w; its words begin at word */
static inline void
writers(struct visit *v, const struct plan *p, const struct visit_run *r, const uint64_t *word, uint64_t *w)
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
		refs(v, word + p->refs[i].word, p->refs[i].n, w + p->refs[i].port, n + p->refs[i].k);
	if (r->nlast)
		refs(v, word + p->at[p->n - 1].ref, r->nlast, w + p->nport, n + p->n - 1);
	for (unsigned i = 0; i < p->nend; i++) {
		const struct plan_end *e = &p->end[i];

		if (e->whole) {
			v->last[e->reg][0] = n + e->k;
			v->split &= ~(UINT64_C(1) << e->reg);
		} else
			split_def(v, e->reg, e->lanes, n + e->k);
	}
}

/*
 * Block b was run, n instructions of it; its words begin at word[at].  Where
 * the next header is, or 0: no memory.
 */
static size_t
block(struct visit *v, struct fact_block *b, unsigned n, const uint64_t *word, size_t at)
{
	const struct plan *p;
	struct visit_run *r;
	size_t end, skipped = 0;
	const struct fact *half = NULL;

	if (n == 0)
		return at;
	if (n < b->n && (b = fact_block_get(rp_facts(v->r->core), b->f, n)) == NULL)
		return 0;
	if ((p = plan_of(b)) == NULL)
		return 0;
	if (p->last && p->last->kind == FACT_STRING) {
		uint64_t state = word[at + p->nword - FACT_RECORD];

		if (!FACT_ITERS(state) && !(state & FACT_DONE)) {       /* nothing of it was run */
			if (n == 1)
				return at + FACT_RECORD;
			if ((b = fact_block_get(rp_facts(v->r->core), b->f, n - 1)) == NULL || (p = plan_of(b)) == NULL)
				return 0;
			skipped = FACT_RECORD;
		} else if (!(state & FACT_DONE))
			half = p->last;
	}
	if (room(v, 0) != 0)
		return 0;
	r = &v->run[v->nrun++];
	*r = (struct visit_run){ p->at, v->n + 1, p->n, (uint32_t)at, (uint32_t)v->nwriter, 0 };
	end = at + p->nword + skipped;
	if (p->last) {
		if (p->last->kind == FACT_STRING) {
			r->nlast = FACT_NREFS(word[at + p->nword - FACT_RECORD]);
			if (n == 1 && v->half == p->last)       /* it goes on */
				r->n--;
		} else
			r->nlast = (uint32_t)word[end - 1];
		end += r->nlast + (p->last->kind == FACT_COUNTED ? p->last->nval : 0u);
	}
	v->half = half;
	if (v->writers) {
		if (room(v, p->nport + (size_t)r->nlast) != 0)
			return 0;
		r = &v->run[v->nrun - 1];
		writers(v, p, r, word + at, v->writer + v->nwriter);
		v->nwriter += p->nport + (size_t)r->nlast;
	}
	v->n = r->n + p->n - 1;
	v->ninsn += p->n;
	return end;
}

/* What the processor has left so far: before anything else happens to memory and registers */
static int
catch_up(struct visit *v)
{
	const uint64_t *w;
	size_t n, at;

	if (v->r == NULL || v->r->x.out == NULL)
		return 0;
	w = v->r->words;
	n = (size_t)(v->r->x.out - w);
	for (at = v->done; at < n; ) {
		at = block(v, fact_block(w[at]), (unsigned)(w[at] >> 48), w, at + 1);
		if (at == 0)
			return -1;
	}
	v->done = at;
	return v->mem.nomem ? -1 : 0;
}

static int
signal_comes(struct visit *v, const struct ws_rec_sig *s)
{
	const struct visit_at *a = &v->signal[s->nxsave != 0];

	if (room(v, 0) != 0)
		return -1;
	v->run[v->nrun++] = (struct visit_run){ a, ++v->n, 1, (uint32_t)v->done, (uint32_t)v->nwriter, 0 };
	if (v->r->x.out) {                      /* there is room: what stops the processor leaves RP_SLACK */
		*v->r->x.out++ = s->sig;
		*v->r->x.out++ = s->to.r[WS_RSP];
		v->done += FACT_NSIGNAL;
	}
	v->ninsn++;
	v->half = NULL;
	for (unsigned i = 0; i < a->fact->ndef; i++) {
		v->last[a->fact->def[i].reg][0] = v->n;
		v->split &= ~(UINT64_C(1) << a->fact->def[i].reg);
	}
	return 0;
}

/* What a record does to registers and memory is the last instance's doing */
static void
effects(struct visit *v, const struct ws_rec *rec)
{
	if (rec->kind == WS_SYS && rec->u.sys.nr == SYS_arch_prctl && rec->u.sys.ret == 0) {
		if (rec->u.sys.arg[0] == ARCH_SET_FS)
			v->last[FACT_FSBASE][0] = v->n;
		else if (rec->u.sys.arg[0] == ARCH_SET_GS)
			v->last[FACT_GSBASE][0] = v->n;
	}
	if (!v->writers)
		return;
	switch (rec->kind) {
	case WS_MEM:
		if (v->n)
			wshadow_write(&v->mem, rec->u.mem.addr, rec->u.mem.n, v->n);
		break;
	case WS_MAP: wshadow_map(&v->mem, rec->u.map.addr, rec->u.map.len, v->n); break;
	case WS_UNMAP: wshadow_unmap(&v->mem, rec->u.range.addr, rec->u.range.len); break;
	case WS_MOVE: wshadow_move(&v->mem, &rec->u.move, v->n); break;
	default: break;
	}
}

static int
on_record(void *arg, const struct ws_rec *rec)
{
	struct visit *v = arg;

	if (catch_up(v) == 0 && (rec->kind != WS_SIG || signal_comes(v, &rec->u.sig) == 0)) {
		effects(v, rec);
		if (!v->mem.nomem)
			return 0;
	}
	drive_bad(v->r, "no memory");
	return -1;
}

static void
signal_facts(struct visit *v)
{
	struct fact *f = v->sigfact;
	unsigned n = 0, i;

	for (i = 0; i < FACT_NREG; i++) {
		if (i == FACT_X87)
			f[0].ndef = (uint8_t)n;
		if (i != FACT_FSBASE && i != FACT_GSBASE)
			v->sigdef[n++] = (struct fact_def){ .reg = (uint8_t)i, .lanes = (uint8_t)fact_lanes(i), .whole = 1, .val = FACT_NOVALUE };
	}
	f[1].ndef = (uint8_t)n;
	for (i = 0; i < 2; i++) {
		f[i].kind = FACT_SIGNAL;
		f[i].def = v->sigdef;
		f[i].nval = FACT_NSIGNAL;
		f[i].id = UINT32_MAX;
		v->signal[i].fact = &f[i];
	}
}

struct visit *
visit_open(const char *path, unsigned what, struct replay_fault *f)
{
	struct visit *v = calloc(1, sizeof *v);
	struct drive_watch watch = { .record = on_record, .arg = v };

	*f = (struct replay_fault){ .off = WS_UNKNOWN, .rec = WS_UNKNOWN, .icount = WS_UNKNOWN };
	if (v == NULL) {
		snprintf(f->err, sizeof f->err, "no memory");
		return NULL;
	}
	v->pending = REPLAY_OK;
	v->writers = (what & VISIT_WRITERS) != 0;
	if (v->writers && wshadow_init(&v->mem) != 0) {
		snprintf(f->err, sizeof f->err, "no room for the writers of memory (in a program that is linked to a fixed place?)");
		visit_close(v);
		return NULL;
	}
	signal_facts(v);
	if ((v->r = drive_open(path, &watch, f)) == NULL) {
		visit_close(v);
		return NULL;
	}
	if (drive_start(v->r) != 0) {
		*f = v->r->fault;
		visit_close(v);
		return NULL;
	}
	if (rp_wants(v->r->core, what & VISIT_FLAGS ? RP_FLAGS : 0) != 0) {
		snprintf(f->err, sizeof f->err, "no memory");
		visit_close(v);
		return NULL;
	}
	return v;
}

void
visit_close(struct visit *v)
{
	if (v == NULL)
		return;
	replay_close(v->r);
	wshadow_free(&v->mem);
	free(v->run);
	free(v->writer);
	free(v);
}

struct replay *
visit_replay(struct visit *v)
{
	return v->r;
}

int
visit_batch(struct visit *v, struct visit_batch *b)
{
	size_t n;
	int e = v->pending;

	v->nrun = v->ninsn = v->nwriter = v->mem.npiece = 0;
	v->batch.nrun = 0;
	v->next = v->nextin = 0;
	v->pending = REPLAY_OK;
	while (e == REPLAY_OK && v->ninsn == 0) {
		v->done = 0;
		e = drive_words(v->r, RP_VALUES, WORDS, &n);
		if (n && catch_up(v) != 0)              /* else they are those of the batch before */
			return drive_bad(v->r, "no memory");
	}
	*b = (struct visit_batch){ v->run, v->nrun, v->ninsn, v->r->words, v->writer, v->mem.piece };
	v->batch = *b;
	if (v->ninsn == 0)
		return e;
	v->pending = e;
	return REPLAY_OK;
}

int
visit_next(struct visit *v, struct visit_insn *e, const struct visit_batch **b)
{
	const struct visit_run *r;

	if (v->next == v->batch.nrun) {
		int got = visit_batch(v, &v->batch);

		if (got != REPLAY_OK)
			return got;
	}
	r = &v->batch.run[v->next];
	*e = visit_insn(r, v->nextin++);
	*b = &v->batch;
	if (v->nextin == r->ninsn) {
		v->next++;
		v->nextin = 0;
	}
	return REPLAY_OK;
}
