/*
 * Loop events of a capture: a first replay finds the code and its natural loops; the second one, which gives
 * the references, follows the calls and says which loop each instruction is in.
 *
 * A call is identified by the place of its return address.  A return, and a call from an outer function,
 * end the calls whose return addresses are below.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "cfg/code_loops.h"
#include "isa/x86/decode.h"
#include "refs/refs_internal.h"
#include "replay/guest/code_reader.h"
#include "replay/itrace/code_finder.h"

#define PAGE 4096u

/* What is known of the instruction at an address; zero where there is none. */
struct place {
	uint32_t loop;                  /* the innermost one, + 1 */
	uint32_t function;              /* + 1 */
	uint8_t kind;                   /* enum wcode_kind */
	uint8_t header;                 /* of that loop */
	uint8_t entry;                  /* of a function that was called */
	uint8_t repeated;               /* a string instruction that is fetched for each element */
};

struct place_page { uint64_t number; struct place at[PAGE]; };

struct call {
	uint64_t slot;                  /* where its return address is; UINT64_MAX: it has none */
	size_t active;                  /* loops of outer calls */
	uint32_t function;              /* + 1; 0: nothing was executed yet */
};

struct refs_loops {
	struct wcode code;
	struct code_loops loops;
	struct place_page **page;       /* owned */
	size_t npage, cappage;
	struct hash pages;
	const struct place_page *last;  /* or NULL */

	struct call *call;              /* owned; call[0] is the program */
	size_t ncall, capcall;
	uint32_t *active;               /* loops, the innermost last; owned */
	size_t nactive, capactive;
	struct place prev;              /* of the last instruction */
	uint64_t prevpc;
	uint64_t *out;                  /* words with events; owned */
	size_t nout, capout;
	int nomem;
};

static struct place_page *
loops_page(const struct refs_loops *l, uint64_t number)
{
	uint32_t h = hash_number(number), at = h, i;

	while ((i = hash_find(&l->pages, h, &at)) != HASH_NONE && l->page[i]->number != number)
		;
	return i == HASH_NONE ? NULL : l->page[i];
}

static int
loops_page_new(struct refs_loops *l, uint64_t number)
{
	struct place_page *g = calloc(1, sizeof *g);

	if (!g || buf_grow(&l->page, &l->cappage, l->npage + 1, sizeof *l->page) != 0 ||
	    hash_add(&l->pages, hash_number(number), (uint32_t)l->npage) != 0) {
		free(g);
		return -1;
	}
	g->number = number;
	l->page[l->npage++] = g;
	return 0;
}

/* Is it a string instruction of which each element is a fetch of its own? */
static int
loops_repeated(const struct wcode *c, const struct wcode_node *v)
{
	ZydisDecodedInstruction z;

	return x86_decode(&z, NULL, v->b, v->len, c->amd) == 0 && x86_repeated(&z);
}

/* Makes the table of instructions. */
static int
loops_places(struct refs_loops *l)
{
	for (size_t i = 0; i < l->code.n; i++) {
		const struct wcode_node *v = &l->code.node[i];
		uint32_t loop = l->loops.inner[i];
		struct place p = { .loop = loop + 1, .function = l->loops.function[i] + 1, .kind = v->kind,
			.header = loop != CODE_NO_LOOP && l->loops.loop[loop].pc == v->pc,
			.entry = (uint8_t)wcode_is_entry(&l->code, v->pc), .repeated = (uint8_t)loops_repeated(&l->code, v) };

		if (!loops_page(l, v->pc / PAGE) && loops_page_new(l, v->pc / PAGE) != 0)
			return -1;
		loops_page(l, v->pc / PAGE)->at[v->pc % PAGE] = p;
	}
	return 0;
}

/* Replays the capture, up to its end or to a fault, which the second replay meets again. */
static int
loops_find(struct refs_loops *l, const char *path)
{
	struct fault f;
	struct visit *v = visit_open(path, VISIT_CONTROL, &f);
	struct wcode_replay m = { .r = v ? visit_replay(v) : NULL };
	struct wcode_visit *t;
	int bad;

	if (!v)
		return 0;
	wcode_init(&l->code, wcode_read_replay, &m);
	t = wcode_visit_new(&l->code);
	bad = !t || wcode_visit_all(t, v, &m) == -2 || wcode_analyse(&l->code) != 0 ||
	    code_loops_find(&l->loops, &l->code) != 0 || loops_places(l) != 0;
	wcode_visit_free(t);
	visit_close(v);
	wcode_free(&l->code);
	return bad ? -1 : 0;
}

void
refs_loops_free(struct refs_loops *l)
{
	if (!l)
		return;
	wcode_free(&l->code);
	code_loops_free(&l->loops);
	for (size_t i = 0; i < l->npage; i++)
		free(l->page[i]);
	free(l->page);
	hash_free(&l->pages);
	free(l->call);
	free(l->active);
	free(l->out);
	free(l);
}

static int
loops_call(struct refs_loops *l, uint64_t slot)
{
	if (buf_grow(&l->call, &l->capcall, l->ncall + 1, sizeof *l->call) != 0)
		return -1;
	l->call[l->ncall++] = (struct call){ .slot = slot, .active = l->nactive };
	return 0;
}

struct refs_loops *
refs_loops_new(const char *path)
{
	struct refs_loops *l = calloc(1, sizeof *l);

	if (l && loops_find(l, path) == 0 && loops_call(l, UINT64_MAX) == 0)
		return l;
	refs_loops_free(l);
	return NULL;
}

static inline struct place
loops_place(struct refs_loops *l, uint64_t pc)
{
	if (!l->last || l->last->number != pc / PAGE)
		l->last = loops_page(l, pc / PAGE);
	return l->last ? l->last->at[pc % PAGE] : (struct place){ 0 };
}

static void
loops_put(struct refs_loops *l, uint64_t w)
{
	if (buf_grow(&l->out, &l->capout, l->nout + 1, sizeof *l->out) != 0)
		l->nomem = 1;
	else
		l->out[l->nout++] = w;
}

static void
loops_event(struct refs_loops *l, unsigned kind, uint32_t loop)
{
	loops_put(l, ref_make(kind, l->loops.loop[loop].pc, 0));
}

static void
loops_exit(struct refs_loops *l)
{
	loops_event(l, REF_EXIT, l->active[--l->nactive]);
}

/* Ends calls until only n are left. */
static void
loops_return(struct refs_loops *l, size_t n)
{
	while (l->ncall > n) {
		while (l->nactive > l->call[l->ncall - 1].active)
			loops_exit(l);
		l->ncall--;
	}
}

/* Ends the calls whose return addresses are not above addr. */
static void
loops_unwind(struct refs_loops *l, uint64_t addr)
{
	size_t n = l->ncall;

	while (n > 1 && l->call[n - 1].slot <= addr)
		n--;
	loops_return(l, n);
}

static int
loops_within(const struct refs_loops *l, uint32_t inner, uint32_t loop)
{
	while (inner != CODE_NO_LOOP && l->loops.loop[inner].depth > l->loops.loop[loop].depth)
		inner = l->loops.loop[inner].parent;
	return inner == loop;
}

/*
 * A jump went to another function: a tail call, or longjmp.  That goes back to a call of the function that
 * has not returned, and not to its entry.
 */
static void
loops_jump(struct refs_loops *l, const struct place *p)
{
	size_t n = l->ncall;

	if (l->prev.kind == CODE_INDIRECT && !p->entry)
		while (n > 1 && l->call[n - 1].function != p->function)
			n--;
	if (n > 1 && l->call[n - 1].function == p->function)
		loops_return(l, n);
}

/* An instruction is executed. */
static void
loops_instruction(struct refs_loops *l, uint64_t pc)
{
	struct place p = loops_place(l, pc);
	struct call *c;

	if (p.repeated && pc == l->prevpc)
		return;
	c = &l->call[l->ncall - 1];
	if (c->function != p.function && c->function && p.function) {
		loops_jump(l, &p);
		c = &l->call[l->ncall - 1];
	}
	c->function = p.function ? p.function : c->function;
	while (l->nactive > c->active && !loops_within(l, p.loop - 1, l->active[l->nactive - 1]))
		loops_exit(l);
	if (p.header && l->nactive > c->active && l->active[l->nactive - 1] == p.loop - 1) {
		loops_event(l, REF_BACK, p.loop - 1);
	} else if (p.header) {
		if (buf_grow(&l->active, &l->capactive, l->nactive + 1, sizeof *l->active) != 0) {
			l->nomem = 1;
			return;
		}
		l->active[l->nactive++] = p.loop - 1;
		loops_event(l, REF_ENTER, p.loop - 1);
	}
	l->prev = p;
	l->prevpc = pc;
}

int
refs_loops_add(struct refs_loops *l, const uint64_t *w, size_t n, const uint64_t **out, size_t *nout)
{
	l->nout = 0;
	for (size_t i = 0; i < n && !l->nomem; i++) {
		unsigned kind = ref_kind(w[i]);

		if (kind == REF_INST)
			loops_instruction(l, ref_addr(w[i]));
		loops_put(l, w[i]);
		if (l->prev.kind == CODE_CALL && kind == REF_STORE) {
			loops_unwind(l, ref_addr(w[i]));
			l->nomem |= loops_call(l, ref_addr(w[i])) != 0;
		} else if (l->prev.kind == CODE_RETURN && kind == REF_LOAD) {
			loops_unwind(l, ref_addr(w[i]));
		}
	}
	*out = l->out;
	*nout = l->nout;
	return l->nomem ? -1 : 0;
}

int
refs_loops_end(struct refs_loops *l, const uint64_t **out, size_t *nout)
{
	l->nout = 0;
	loops_return(l, 0);
	*out = l->out;
	*nout = l->nout;
	return l->nomem ? -1 : 0;
}
