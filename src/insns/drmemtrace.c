/*
 * DynamoRIO's drmemtrace: each instruction with its kind, its bytes where they are new, and its references;
 * system calls and signals as markers.
 *
 * A repeated string instruction has a record for each iteration, of which only the first is a fetch. There
 * is none for the check that ends it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "format/ref/ref.h"
#include "format/trace/drmemtrace.h"
#include "insns/formats.h"

#define NS 1000u                /* instructions in a microsecond */

/* An instruction, kept for each fact by its id. */
struct code {
	uint32_t head;                  /* of its record; of a branch that is not taken */
	uint8_t kind;                   /* enum branch_kind */
	uint8_t known;
	uint8_t shared;                 /* there is another instruction at its address */
	uint8_t syscall, per, gathers;  /* as in struct insns_kind */
};

/* The instruction at an address whose bytes were written last. */
struct place { uint64_t pc; uint32_t id; };

struct drmem {
	struct out *out;
	uint8_t *p, *end;               /* the next record, in the output's buffer */
	struct drmem_file file;
	int begun;
	uint64_t ninsn;
	struct insns_kinds kinds;
	struct code *code;              /* by id of the fact; owned */
	size_t ncode;
	struct hash hash;               /* of places */
	struct place *place;            /* owned */
	size_t nplace, capplace;
	const struct fact *string;      /* the last instruction, if it may go on */
	uint64_t signal, rip;           /* a signal before the first instruction of its handler; or 0 */
};

static void
drmem_flush(struct drmem *c)
{
	if (c->p)
		out_commit(c->out, OUT_ROOM - (size_t)(c->end - c->p));
	c->p = out_reserve(c->out, OUT_ROOM);
	c->end = c->p + OUT_ROOM;
}

/* Room for n records */
static inline void
drmem_room(struct drmem *c, unsigned n)
{
	if ((size_t)(c->end - c->p) < n * DRMEM_RECORD)
		drmem_flush(c);
}

static void
drmem_start(struct drmem *c)
{
	drmem_room(c, DRMEM_MOST / DRMEM_RECORD);
	c->p = drmem_put_start(c->p, &c->file);
	c->begun = 1;
}

static void
drmem_begin(void *arg, struct replay *r)
{
	const struct ws_header *h = replay_header(r);
	struct drmem *c = arg;

	c->file.line = h->line;
	c->file.page = h->page;
	c->file.time = DRMEM_EPOCH + (uint64_t)(h->when / 1000);
}

static unsigned
drmem_type(enum branch_kind kind)
{
	static const uint8_t type[BRANCH_KINDS] = {
		[BRANCH_NONE] = DRMEM_INSTR, [BRANCH_COND] = DRMEM_UNTAKEN, [BRANCH_JUMP] = DRMEM_JUMP,
		[BRANCH_JUMP_IND] = DRMEM_JUMP_IND, [BRANCH_CALL] = DRMEM_CALL,
		[BRANCH_CALL_IND] = DRMEM_CALL_IND, [BRANCH_RETURN] = DRMEM_RETURN,
	};

	return type[kind];
}

/* The place of an instruction's address; a new one has its id. */
static struct place *
drmem_place(struct drmem *c, const struct fact *f)
{
	uint32_t h = hash_number(f->pc), from = h, i;

	while ((i = hash_find(&c->hash, h, &from)) != HASH_NONE && c->place[i].pc != f->pc)
		;
	if (i != HASH_NONE)
		return &c->place[i];
	c->place = mem_xgrow(c->place, &c->capplace, c->nplace + 1, sizeof *c->place);
	c->place[c->nplace] = (struct place){ f->pc, f->id };
	hash_xadd(&c->hash, h, (uint32_t)c->nplace);
	return &c->place[c->nplace++];
}

static void
drmem_encode(struct drmem *c, const struct fact *f)
{
	for (unsigned at = 0, n; at < f->len; at += n) {
		uint8_t b[DRMEM_CODE] = { 0 };

		n = f->len - at < DRMEM_CODE ? f->len - at : DRMEM_CODE;
		memcpy(b, f->b + at, n);
		c->p = drmem_put(c->p, drmem_head(DRMEM_ENCODING, n), get_le64(b));
	}
}

/* The first time, or among several instructions at the address: writes the bytes if others were there last. */
static void
drmem_learn(struct drmem *c, const struct fact *f)
{
	struct code *k;
	struct place *at;

	if (f->id >= c->ncode)
		c->code = insns_table(c->code, &c->ncode, f->id, sizeof *c->code);
	k = &c->code[f->id];
	at = drmem_place(c, f);
	if (k->known && at->id == f->id)
		return;
	if (at->id != f->id)
		k->shared = c->code[at->id].shared = 1;
	at->id = f->id;
	drmem_encode(c, f);
	if (!k->known) {
		const struct insns_kind *i = insns_kind(&c->kinds, f);

		k->kind = (uint8_t)(i->kind - 1);
		k->head = drmem_head(drmem_type(k->kind), f->len);
		k->syscall = i->syscall;
		k->per = i->per;
		k->gathers = i->gathers;
		k->known = 1;
	}
}

/* The bytes of an instruction, if they are new here, and where a branch goes. */
static inline const struct code *
drmem_code(struct drmem *c, const struct fact *f)
{
	drmem_room(c, 4);
	if (f->id >= c->ncode || !c->code[f->id].known || c->code[f->id].shared)
		drmem_learn(c, f);
	return &c->code[f->id];
}

static void
drmem_branch(struct drmem *c, const struct code *k, const struct fact *f, uint64_t next)
{
	uint32_t head = k->head;

	if (k->kind == BRANCH_COND && next != f->pc + f->len)
		head = drmem_head(DRMEM_TAKEN, f->len);
	else if (k->kind == BRANCH_JUMP_IND || k->kind == BRANCH_CALL_IND || k->kind == BRANCH_RETURN)
		c->p = drmem_marker(c->p, DRMEM_TARGET, next);
	c->p = drmem_put(c->p, head, f->pc);
}

/* Is `next` a piece of the same access as w, whose last piece is `last`? */
static inline int
drmem_joins(uint64_t w, uint64_t last, uint64_t next, int whole)
{
	return ref_kind(next) == ref_kind(w) &&
	    (whole || (ref_size(last) == REF_PIECE && ref_addr(next) == ref_addr(last) + REF_PIECE));
}

/*
 * An operand is one access, of which ref(5) has pieces if it is large or masked. whole: the instruction has
 * only one operand in memory, which may have gaps.
 */
static inline void
drmem_refs(struct drmem *c, const uint64_t *ref, uint32_t n, int whole)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t w = ref[i], addr = ref_addr(w), size;

		while (i + 1 < n && drmem_joins(w, ref[i], ref[i + 1], whole))
			i++;
		size = ref_addr(ref[i]) + ref_size(ref[i]) - addr;
		drmem_room(c, 2);
		if (visit_reads(w))
			c->p = drmem_put(c->p, drmem_head(DRMEM_READ, (unsigned)size), addr);
		if (visit_writes(w))
			c->p = drmem_put(c->p, drmem_head(DRMEM_WRITE, (unsigned)size), addr);
	}
}

/* again: it goes on with the string instruction before it. */
static void
drmem_string(struct drmem *c, const struct insns_span *s, uint32_t i, int again)
{
	struct visit_insn e = visit_insn(&s->run, i);
	const struct fact *f = e.fact;

	for (uint32_t k = s->from; k < s->to; k++) {
		const struct code *d = drmem_code(c, f);
		uint32_t at = k * d->per < e.nref ? k * d->per : e.nref, n = e.nref - at;

		/* it found that the count is 0 */
		if (again && !n)
			continue;
		c->p = drmem_put(c->p, again ? drmem_head(DRMEM_NO_FETCH, f->len) : d->head, f->pc);
		drmem_refs(c, s->word + e.ref + at, n < d->per ? n : d->per, 0);
		again = 1;
	}
	c->string = f;
}

static void
drmem_syscall(struct drmem *c, uint64_t number)
{
	drmem_room(c, 3);
	c->p = drmem_time(c->p, c->file.time + c->ninsn / NS);
	c->p = drmem_marker(c->p, DRMEM_SYSCALL, number);
}

/* A signal that kills the program has no handler, and no instruction comes after it. */
static void
drmem_arrived(struct drmem *c)
{
	drmem_room(c, 2);
	c->p = drmem_marker(c->p, DRMEM_KERNEL_EVENT, c->rip);
	c->p = drmem_marker(c->p, DRMEM_SIGNAL, c->signal);
	c->signal = 0;
}

static void
drmem_signal(struct drmem *c, const struct insns_span *s)
{
	uint64_t number = s->word[visit_insn(&s->run, 0).val];

	c->string = NULL;
	if (number == 0) {
		drmem_room(c, 1);
		c->p = drmem_marker(c->p, DRMEM_KERNEL_XFER, s->rip);
		return;
	}
	c->signal = number;
	c->rip = s->rip;
}

/* Other threads' records follow in the same file. */
static void
drmem_switch(struct drmem *c, uint32_t thread)
{
	c->string = NULL;
	c->file.thread = thread;
	drmem_room(c, 4);
	c->p = drmem_put_thread(c->p, thread);
	c->p = drmem_time(c->p, c->file.time + c->ninsn / NS);
}

static void
drmem_take(void *arg, const struct insns_span *s)
{
	struct drmem *c = arg;
	const struct fact *before = c->string;

	if (!c->begun) {
		c->file.thread = s->thread;
		drmem_start(c);
	}
	if (c->signal)
		drmem_arrived(c);
	if (s->switches) {
		drmem_switch(c, s->thread);
		return;
	}
	if (insns_signal(s)) {
		drmem_signal(c, s);
		return;
	}
	c->string = NULL;
	for (uint32_t i = 0; i < s->run.ninsn; i++) {
		const struct fact_at *a = &s->run.at[i];
		const struct fact *f = a->fact;
		const struct code *k;

		if (f->kind == FACT_STRING) {
			drmem_string(c, s, i, s->again && before == f);
			continue;
		}
		k = drmem_code(c, f);
		if (k->kind == BRANCH_NONE)
			c->p = drmem_put(c->p, k->head, f->pc);
		else
			drmem_branch(c, k, f, insns_next(s, i));
		if (f->kind == FACT_COUNTED)
			drmem_refs(c, s->word + s->run.word + a->ref, s->run.nlast, !k->gathers);
		else
			drmem_refs(c, s->word + s->run.word + a->ref, a->nref, 0);
		if (k->syscall)
			drmem_syscall(c, s->sys);
	}
	c->ninsn += insns_count(s);
}

int
drmemtrace_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f)
{
	struct drmem c = { .out = out, .file = { .version = DRMEM_HAS_BRANCHES,
	    .type = DRMEM_X86_64 | DRMEM_ENCODINGS | DRMEM_SYSCALLS } };
	struct insns mine = *q;
	int bad;

	mine.tells = 1;
	mine.values = 1;
	mine.begin = drmem_begin;
	mine.take = drmem_take;
	mine.arg = &c;
	out_binary(out, "a drmemtrace trace");
	drmem_flush(&c);
	bad = insns_run(&mine, early, f);
	if (!bad && !c.begun)
		drmem_start(&c);
	/* what is cut off has no end */
	if (!bad) {
		drmem_room(&c, DRMEM_MOST / DRMEM_RECORD);
		c.p = drmem_put_end(c.p, &c.file);
	}
	drmem_flush(&c);
	free(c.code);
	free(c.kinds.k);
	free(c.place);
	hash_free(&c.hash);
	return bad;
}
