/* Visits: walks the blocks of an RP_VALUES stream, and keeps who wrote each register last. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <asm/prctl.h>

#include "engine/replay/drive.h"
#include "engine/replay/visitmem.h"

#define WORDS 16384u            /* of a batch */

struct visit {
	struct replay *r;
	int writers;
	uint64_t n;                     /* the last instance */
	size_t done;                    /* words of this batch that are visited */
	const struct fact *half;        /* the last instance is a string instruction that is not over */
	uint64_t last[FACT_NREG][FACT_NLANE];   /* by lane; if the register is not split the first only */
	uint64_t split;
	struct visit_insn *insn;        /* owned */
	size_t ninsn, capinsn;
	uint64_t *writer;               /* owned */
	size_t nwriter, capwriter;
	struct wshadow mem;
	int pending;                    /* what the next call returns, REPLAY_OK: what it finds */
	struct visit_batch batch;       /* of visit_next */
	size_t next;
	struct fact signal, signalx;    /* without and with vectors */
	struct fact_def sigdef[FACT_NREG];
};

/* Room for that many more; 0, or -1 without memory */
static int
room(struct visit *v, size_t ninsn, size_t nwriter)
{
	if (v->capinsn - v->ninsn < ninsn) {
		size_t cap = 2 * (v->ninsn + ninsn);
		struct visit_insn *p = realloc(v->insn, cap * sizeof *p);

		if (p == NULL)
			return -1;
		v->insn = p;
		v->capinsn = cap;
	}
	if (v->capwriter - v->nwriter < nwriter) {
		size_t cap = 2 * (v->nwriter + nwriter);
		uint64_t *p = realloc(v->writer, cap * sizeof *p);

		if (p == NULL)
			return -1;
		v->writer = p;
		v->capwriter = cap;
	}
	return 0;
}

/* Writers of a register that is split */
static uint64_t
split_use(struct visit *v, const struct fact_use *u)
{
	static const uint8_t general[] = { 0, 1, 2, 8 }, flag[] = { 0, 1, 2, 3, 4, 5 };
	const uint8_t *from = u->reg < 16 ? general : u->reg == FACT_FLAGS ? flag : fact_lane_from;
	size_t first = v->mem.npiece;

	for (unsigned l = 0; l < FACT_NLANE; l++)
		if (u->lanes >> l & 1)
			wshadow_piece(&v->mem, first, v->last[u->reg][l], from[l], (unsigned)(from[l + 1] - from[l]));
	if (v->mem.npiece - first != 1)
		return VISIT_MANY | first;
	v->mem.npiece = first;
	return v->mem.piece[first].writer;
}

/* Some lanes only */
static void
split_def(struct visit *v, const struct fact_def *d)
{
	uint64_t *last = v->last[d->reg], old = last[0];
	int split = v->split >> d->reg & 1;

	for (unsigned l = 0; l < FACT_NLANE; l++)
		if (d->lanes >> l & 1)
			last[l] = v->n;
		else if (!split)
			last[l] = old;
	v->split |= UINT64_C(1) << d->reg;
}

static inline uint64_t *
uses(struct visit *v, const struct fact *f, uint64_t *w)
{
	for (unsigned i = 0; i < f->nuse; i++)
		*w++ = v->split >> f->use[i].reg & 1 ? split_use(v, &f->use[i]) : v->last[f->use[i].reg][0];
	return w;
}

static inline void
defs(struct visit *v, const struct fact *f)
{
	for (unsigned i = 0; i < f->ndef; i++) {
		const struct fact_def *d = &f->def[i];

		if (d->whole) {
			v->last[d->reg][0] = v->n;
			v->split &= ~(UINT64_C(1) << d->reg);
		} else
			split_def(v, d);
	}
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
		}
	} else if (old - 1 < VISIT_MANY - 1) {
		for (i = 8 - off; i < size && s[(off + i) / 8] == old; i += 8)
			;
		if (i >= size)
			return old;
	}
	return wshadow_read(&v->mem, ref_addr(addr), size);
}

static inline void
mem_def(struct visit *v, uint64_t addr, uint64_t size, uint64_t *s)
{
	uint64_t old = *s, off = addr & 7, n = v->n;

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

/* Who wrote what is read; then this instance has written what is written */
static inline uint64_t *
refs(struct visit *v, const uint64_t *ref, uint32_t n, uint64_t *w)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t addr = ref[i], size = ref_size(ref[i]), *s = wshadow_at(addr);

		if (visit_reads(ref[i]))
			*w++ = mem_use(v, addr, size, s);
		if (visit_writes(ref[i]))
			mem_def(v, addr, size, s);
	}
	return w;
}

/* A string instruction's record; 0: nothing of it was run */
static int
string(struct visit *v, const struct fact *f, struct visit_insn *e, const uint64_t *word)
{
	e->nref = FACT_NREFS(word[0]);
	e->val++;
	e->ref = e->val + FACT_RECORD - 1;
	if (!FACT_ITERS(word[0]) && !(word[0] & FACT_DONE))
		return 0;
	if (v->half == f)
		v->n--;
	v->half = word[0] & FACT_DONE ? NULL : f;
	return 1;
}

/* n instructions of block b, whose words begin at w[at]; where the next block's begin, or 0: no memory */
static size_t
block(struct visit *v, const struct fact_block *b, unsigned n, const uint64_t *w, size_t at)
{
	struct visit_insn *e;
	uint64_t *u;

	if (room(v, n, b->nport + (size_t)n) != 0)
		return 0;
	e = v->insn + v->ninsn;
	u = v->writer + v->nwriter;
	for (unsigned i = 0; i < n; i++, e++) {
		const struct fact *f = b->f[i];

		e->fact = f;
		e->n = ++v->n;
		e->use = (uint32_t)(u - v->writer);
		e->ref = e->val = (uint32_t)at;
		e->nref = f->nref;
		if (f->kind == FACT_PLAIN) {
			e->val += f->nref;
			at = e->val + f->nval;
		} else {
			if (f->kind == FACT_STRING) {
				at += FACT_RECORD + FACT_NREFS(w[at]);
				if (!string(v, f, e, w + e->val)) {
					v->n--;
					break;
				}
				e->n = v->n;
			} else if (f->kind == FACT_COUNTED) {
				e->nref = (uint32_t)w[at];
				e->ref++;
				e->val += 1 + e->nref;
				at = e->val + f->nval;
			} else
				at += f->nval;
			if (v->writers) {
				v->ninsn = (size_t)(e - v->insn);
				v->nwriter = (size_t)(u - v->writer);
				if (room(v, n - i, b->nport + (size_t)n + e->nref) != 0)
					return 0;
				e = v->insn + v->ninsn;
				u = v->writer + v->nwriter;
			}
		}
		if (v->writers) {
			u = uses(v, f, u);
			u = refs(v, w + e->ref, e->nref, u);
			defs(v, f);
		}
		if (f->kind != FACT_STRING)
			v->half = NULL;
	}
	v->ninsn = (size_t)(e - v->insn);
	v->nwriter = (size_t)(u - v->writer);
	return at;
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
	struct visit_insn *e;

	if (room(v, 1, 0) != 0)
		return -1;
	e = &v->insn[v->ninsn++];
	e->fact = s->nxsave ? &v->signalx : &v->signal;
	e->n = ++v->n;
	e->ref = e->val = e->nref = 0;
	e->use = (uint32_t)v->nwriter;
	v->half = NULL;
	defs(v, e->fact);
	return 0;
}

static int
on_record(void *arg, const struct ws_rec *rec)
{
	struct visit *v = arg;

	if (catch_up(v) != 0)
		return -1;
	if (rec->kind == WS_SIG && signal_comes(v, &rec->u.sig) != 0)
		return -1;
	if (rec->kind == WS_SYS && rec->u.sys.nr == SYS_arch_prctl && rec->u.sys.ret == 0) {
		if (rec->u.sys.arg[0] == ARCH_SET_FS)
			v->last[FACT_FSBASE][0] = v->n;
		else if (rec->u.sys.arg[0] == ARCH_SET_GS)
			v->last[FACT_GSBASE][0] = v->n;
	}
	if (!v->writers)
		return 0;
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
	return v->mem.nomem ? -1 : 0;
}

static void
signal_facts(struct visit *v)
{
	unsigned n = 0, i;

	for (i = 0; i < FACT_NREG; i++) {
		if (i == FACT_X87)
			v->signal.ndef = (uint8_t)n;
		if (i != FACT_FSBASE && i != FACT_GSBASE)
			v->sigdef[n++] = (struct fact_def){ .reg = (uint8_t)i, .lanes = (uint8_t)fact_lanes(i), .whole = 1, .val = FACT_NOVALUE };
	}
	v->signal.kind = FACT_SIGNAL;
	v->signal.def = v->sigdef;
	v->signal.id = UINT32_MAX;
	v->signalx = v->signal;
	v->signalx.ndef = (uint8_t)n;
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
	free(v->insn);
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

	v->ninsn = v->nwriter = v->mem.npiece = v->next = 0;
	v->batch.ninsn = 0;
	v->pending = REPLAY_OK;
	while (e == REPLAY_OK && v->ninsn == 0) {
		v->done = 0;
		e = drive_words(v->r, RP_VALUES, WORDS, &n);
		if (catch_up(v) != 0)
			return drive_bad(v->r, "no memory");
	}
	*b = (struct visit_batch){ v->insn, v->ninsn, v->r->words, v->writer, v->mem.piece };
	v->batch = *b;
	if (v->ninsn == 0)
		return e;
	v->pending = e;
	return REPLAY_OK;
}

int
visit_next(struct visit *v, const struct visit_insn **insn, const struct visit_batch **b)
{
	if (v->next == v->batch.ninsn) {
		int e = visit_batch(v, &v->batch);

		if (e != REPLAY_OK)
			return e;
	}
	*insn = &v->batch.insn[v->next++];
	*b = &v->batch;
	return REPLAY_OK;
}
