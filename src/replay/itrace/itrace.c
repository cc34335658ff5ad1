/* Visits: runs the replay, and follows its records as they take effect. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <asm/prctl.h>

#include "replay/itrace/itrace_internal.h"

#define WORDS 16384u            /* words of a batch */

/* Visits the words so far, before memory or registers change by other means. */
static int
catch_up(struct visit *v)
{
	const uint64_t *w;
	size_t n;

	if (v->r == NULL)
		return 0;
	w = drive_words_so_far(v->r, &n);
	return visit_blocks(v, w, n);
}

static int
signal_comes(struct visit *v, const struct ws_rec_sig *s)
{
	const struct fact_at *a = &v->signal[s->nxsave != 0];

	if (v->picks)
		return 0;
	if (visit_room(v, 0) != 0)
		return -1;
	v->run[v->nrun++] = (struct visit_run){ a, ++v->n, 1, 0, (uint32_t)v->done, (uint32_t)v->nwriter, 0 };
	if (drive_add(v->r, (uint64_t[FACT_NSIGNAL]){ s->sig, s->to.r[WS_RSP] }, FACT_NSIGNAL))
		v->done += FACT_NSIGNAL;
	v->ninsn++;
	v->half = NULL;
	for (unsigned i = 0; i < a->fact->ndef; i++) {
		v->last[a->fact->def[i].reg][0] = v->n;
		v->split &= ~(UINT64_C(1) << a->fact->def[i].reg);
	}
	if (s->sig == WS_SWITCH)
		v->last[FACT_FSBASE][0] = v->last[FACT_GSBASE][0] = v->n;
	return 0;
}

/* Registers and memory that a record changes count as written by the last instance. */
static void
itrace_effects(struct visit *v, const struct ws_rec *rec)
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

	if (v->muted)
		return 0;
	if (catch_up(v) == 0 && (rec->kind != WS_SIG || signal_comes(v, &rec->u.sig) == 0)) {
		if (v->onrecord)
			v->onrecord(v->onrecordarg, rec, v->nrun, v->n);
		itrace_effects(v, rec);
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
			v->sigdef[n++] = (struct fact_def){ .reg = (uint8_t)i,
			    .lanes = (uint8_t)fact_lanes(i), .whole = 1, .val = FACT_NOVALUE };
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
visit_open(const char *path, unsigned what, struct fault *f)
{
	return visit_open_mapped(path, what, NULL, NULL, f);
}

struct visit *
visit_open_mapped(const char *path, unsigned what, replay_map_fn *fn, void *arg, struct fault *f)
{
	struct visit *v = calloc(1, sizeof *v);
	struct drive_watch watch = { .record = on_record, .arg = v };

	*f = (struct fault){ .off = WS_UNKNOWN, .rec = WS_UNKNOWN };
	if (v == NULL) {
		snprintf(f->err, sizeof f->err, "no memory");
		return NULL;
	}
	v->pending = REPLAY_OK;
	v->due = UINT64_MAX;
	v->writers = (what & VISIT_WRITERS) != 0;
	v->memory = (what & VISIT_MEMORY) != 0;
	v->control = (what & VISIT_CONTROL) != 0;
	if (v->control && what != VISIT_CONTROL) {
		snprintf(f->err, sizeof f->err, "runs alone have no writers, flags or memory");
		visit_close(v);
		return NULL;
	}
	if (v->writers && wshadow_init(&v->mem) != 0) {
		snprintf(f->err, sizeof f->err, "no room for the writers of memory");
		visit_close(v);
		return NULL;
	}
	signal_facts(v);
	if ((v->r = drive_open(path, &watch, f)) == NULL) {
		visit_close(v);
		return NULL;
	}
	replay_set_map_fn(v->r, fn, arg);
	if (drive_start(v->r) != 0) {
		*f = *replay_fault(v->r);
		visit_close(v);
		return NULL;
	}
	if (rp_values_enable(drive_core(v->r), (what & VISIT_FLAGS ? RP_FLAGS : 0) |
	    (v->memory ? RP_MEMORY : 0)) != 0) {
		snprintf(f->err, sizeof f->err, "no memory");
		visit_close(v);
		return NULL;
	}
	v->fresh = 1;
	return v;
}

void
visit_set_control(struct visit *v, int on)
{
	v->control = on;
}

void
visit_close(struct visit *v)
{
	if (v == NULL)
		return;
	visit_snapshots_free(v->kept);
	replay_close(v->r);
	wshadow_free(&v->mem);
	free(v->run);
	free(v->writer);
	free(v->seg);
	free(v);
}

struct replay *
visit_replay(struct visit *v)
{
	return v->r;
}

void
visit_set_record_fn(struct visit *v, visit_record_fn *fn, void *arg)
{
	v->onrecord = fn;
	v->onrecordarg = arg;
}

int
visit_filter(struct visit *v, visit_pick_fn *pick, void *arg)
{
	if (v->writers || v->control || rp_values_filter(drive_core(v->r), pick, arg) != 0)
		return -1;
	v->picks = pick != NULL;
	v->n = drive_instances(v->r);   /* instances were not counted during the jump */
	v->half = NULL;
	return 0;
}

const uint8_t *
visit_mem_late(const struct visit_batch *b, const struct visit_insn *e, uint32_t i, int stored)
{
	const uint64_t *ref = b->word + e->ref, *w = ref + e->nref;

	if (!(stored ? visit_writes(ref[i]) : visit_reads(ref[i])))
		return NULL;
	if (e->fact->kind == FACT_STRING)
		return (const uint8_t *)(w + i);
	for (uint32_t k = 0; k < i; k++)
		w += (size_t)(visit_reads(ref[k]) + visit_writes(ref[k])) * ((ref_size(ref[k]) + 7) / 8);
	if (stored && visit_reads(ref[i]))
		w += (ref_size(ref[i]) + 7) / 8;
	return (const uint8_t *)w;
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
	if (e == REPLAY_OK && drive_instances(v->r) >= v->due)
		visit_snapshot_take(v);
	v->fresh = 0;
	while (e == REPLAY_OK && v->ninsn == 0) {
		v->done = 0;
		e = drive_words(v->r, v->control ? RP_CONTROL : RP_VALUES, WORDS, &n);
		if (catch_up(v) != 0)
			return drive_bad(v->r, "no memory");
	}
	*b = (struct visit_batch){ v->run, v->nrun, v->ninsn, drive_words_so_far(v->r, &n), v->writer,
	    v->mem.piece };
	v->batch = *b;
	if (v->ninsn == 0)
		return e;
	v->pending = e;
	return REPLAY_OK;
}

void
visit_writers(struct visit *v, visit_writer_fn *fn, void *arg)
{
	for (unsigned i = 0; i < FACT_NREG; i++)
		for (unsigned l = 0; l < (v->split >> i & 1 ? FACT_NLANE : 1u); l++)
			fn(arg, v->last[i][l]);
	fn(arg, v->n);
	wshadow_each(&v->mem, fn, arg);
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
