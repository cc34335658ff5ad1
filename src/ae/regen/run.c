/*
 * Library of compiled regenerators: ae_recreate() and the slow paths of the generated code. The
 * generated functions run on a stack of their own, because theirs is as deep as the traced
 * program's was.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "ae/regen/feed.h"
#include "ae/regen/msg.h"
#include "base/bytes.h"
#include "base/diag.h"
#include "base/search.h"
#include "format/ref/ref.h"

#define STACK_WANT   ((size_t)16 << 30) /* bytes of address space; memory is used as needed */
#define STACK_LEAST  ((size_t)1 << 20)
#define STACK_MARGIN ((size_t)256 << 10)        /* for the application's function and the library */
#define ROOT         (-2)               /* instead of a setjmp site: the outermost run sequence */
#define CALLED       (-1)               /* ... an unknown call */
#define UNWIND_LEN   (1 + ae_program.word)      /* bytes of a run item, also of EV_ENTER */
#define LAND_LEN     (3 + ae_program.word)

struct ae_state ae_;

static struct feed feed;
static const char *parent;
static unsigned task;
static uint64_t most = FEED_QUIET;
static char error[EV_HEADMAX + 256];
static char note[128];          /* remark about a complete trace */
static ucontext_t outside, inside;

static const char *const wrong[] = {
	[AE_BRANCH] = msg_branch, [AE_TARGET] = msg_target, [AE_MARK] = msg_mark, [AE_DEEP] = msg_deep,
	[AE_SWITCH] = msg_noswitch, [AE_NEVER] = msg_never, [AE_SHORT] = msg_short,
};

const uint8_t *
ae_more(uint64_t *p, const uint8_t *e, unsigned want)
{
	return feed_more(&feed, p, e, want, 0);
}

uint64_t *
ae_flush(uint64_t *p, const uint8_t *e)
{
	return feed_flush(&feed, p, e);
}

_Noreturn void
ae_fault(uint64_t *p, const uint8_t *e, enum ae_wrong what)
{
	if (what == AE_NEVER)
		feed_trap(&feed, p, e, wrong[what]);
	feed_fault(&feed, p, e, wrong[what]);
}

uint64_t
ae_rep(struct ae_pos *q, uint64_t inst, unsigned how, unsigned w, uint64_t n, uint64_t rsi, uint64_t rdi)
{
	return feed_rep(&feed, q, inst, how, w, n, rsi, rdi);
}

uint64_t *
ae_masked(struct ae_pos q, unsigned cc, unsigned w, unsigned n, uint64_t at, const uint64_t *mask, const uint64_t *index)
{
	return feed_masked(&feed, q.p, q.e, cc, w, n, at, mask, index);
}

static uint64_t
regen_run_rodata(struct ae_pos q, const struct ae_span *ro, size_t nro, uint64_t addr, unsigned n)
{
	const struct ae_span *s;
	size_t i;

	LOWER_BOUND(i, nro, ro[i].addr <= addr);
	s = ro + i - 1;
	if (i == 0 || addr - s->addr > s->size || s->size - (addr - s->addr) < n)
		feed_fault(&feed, q.p, q.e, msg_noimage);
	return get_order(s->bytes + (addr - s->addr), n, (int)ae_program.big);
}

uint64_t
ae_rodata(struct ae_pos q, uint64_t addr, unsigned n)
{
	return regen_run_rodata(q, ae_program.ro, ae_program.nro, addr - ae_.base, n);
}

uint64_t
ae_librodata(struct ae_pos q, unsigned lib, uint64_t addr, unsigned n)
{
	const struct ae_library *l = ae_program.lib + lib;

	return regen_run_rodata(q, l->ro, l->nro, addr - ae_program.libbase[lib], n);
}

static void
regen_run_relocate(const struct ae_reloc *r, unsigned n, uint64_t base)
{
	for (unsigned i = 0; i < n; i++)
		put_le64(r[i].bytes, r[i].value + base);
}

/* The functions of a library in the run, and where they are in ae_program; the last one that was searched */
static struct { uint32_t first, n, to; } library;

/* The place in ae_program of the function with number i, which is one of a library */
static unsigned
regen_run_library(struct ae_pos q, uint32_t i)
{
	const struct ev_module *m;
	unsigned k = 0;

	if (i - library.first < library.n)
		return library.to + (i - library.first);
	m = feed_module(&feed, i);
	if (!m)
		feed_fault(&feed, q.p, q.e, msg_nofunc);
	while (k < ae_program.nlib && (ae_program.lib[k].idlen != m->idlen || ae_program.lib[k].nfunc != m->n ||
		memcmp(ae_program.lib[k].id, m->id, m->idlen) != 0))
		k++;
	if (k == ae_program.nlib)
		feed_fault(&feed, q.p, q.e, msg_library);
	ae_program.libbase[k] = m->base;
	regen_run_relocate(ae_program.lib[k].reloc, ae_program.lib[k].nreloc, m->base);
	library.first = m->first;
	library.n = m->n;
	library.to = ae_program.lib[k].first;
	return library.to + (i - library.first);
}

/* Leaves the frames above the wanted one: each function returns at once. */
static struct ae_pos
regen_run_unwind(struct ae_pos q, int land, uint64_t rsp)
{
	ae_.land = land;
	ae_.landrsp = rsp;
	ae_.landpos = q;
	return (struct ae_pos){NULL, q.e};
}

static struct ae_pos
regen_run_enter(struct ae_pos q, int have, uint64_t rsp)
{
	unsigned i = q.e[1] * EV_NFUNC0 + q.e[0] - 1u;

	if (i >= ae_program.nown)
		i = regen_run_library(q, i);
	if (i >= ae_program.nfunc || !ae_program.func[i])
		feed_fault(&feed, q.p, q.e, msg_nofunc);
	if (!have)
		feed_fault(&feed, q.p, q.e, msg_norsp);
	q.e += 2;
	ae_.tail = 0;
	return ae_program.func[i](q, rsp);
}

/* A stack pointer in a run item. */
static uint64_t
regen_run_word(const uint8_t *e)
{
	return get_order(e, ae_program.word, (int)ae_program.big);
}

static struct ae_pos
regen_run_need(struct ae_pos q, unsigned n, int item)
{
	if ((size_t)(ae_.eend - q.e) < n)
		q.e = feed_more(&feed, q.p, q.e, n, item);
	return q;
}

/* A run sequence. have: the next function's rsp is known, 1 by rule, 2 by an event. */
static struct ae_pos
regen_run_items(struct ae_pos q, uint64_t rsp, int site, int have, uint64_t next)
{
	struct ae_pos r;

	for (;;) {
		q = regen_run_need(q, 1, have != 2);
		if (have == 2 && (*q.e == EV_RETURN || *q.e > EV_NFUNC0))
			feed_fault(&feed, q.p, q.e, msg_noentry);
		switch (*q.e) {
		case EV_RETURN:
			if (site != CALLED)
				feed_fault(&feed, q.p, q.e, site == ROOT ? msg_rootreturn : msg_jreturn);
			q.e++;
			return q;
		case EV_ENTER:
			q = regen_run_need(q, UNWIND_LEN, 0);
			q.e += UNWIND_LEN;
			next = regen_run_word(q.e - ae_program.word);
			have = 2;
			continue;
		case EV_UNWIND:
			q = regen_run_need(q, UNWIND_LEN, 0);
			q.e += UNWIND_LEN;
			if (ae_program.word == 8 && regen_run_word(q.e - 8) & EV_POINT)
				continue;
			r = regen_run_unwind(q, CALLED, regen_run_word(q.e - ae_program.word));
			break;
		case EV_LAND:
			q = regen_run_need(q, LAND_LEN, 0);
			q.e += LAND_LEN;
			r = regen_run_unwind(q, (int)get_order(q.e - 2, 2, (int)ae_program.big),
			    regen_run_word(q.e + 1 - LAND_LEN));
			break;
		default:
			q = regen_run_need(q, 2, 0);
			r = regen_run_enter(q, have, next);
			have = ae_.tail;
			next = ae_.tailrsp;
			ae_.tail = 0;
		}
		if (!r.p) {
			int all = ae_.land == CALLED && ae_.landrsp == 0;       /* a region ends */

			if (site == ROOT && !all)
				feed_fault(&feed, ae_.landpos.p,
				    ae_.landpos.e - (ae_.land == CALLED ? UNWIND_LEN : LAND_LEN),
				    msg_noframe);
			if (all ? site != ROOT : ae_.land != site || ae_.landrsp != rsp)
				return r;
			r = ae_.landpos;
			if (site >= 0)
				return r;
			have = 0;
		}
		q = r;
	}
}

struct ae_pos
ae_unknown(struct ae_pos q, uint64_t rsp)
{
	return regen_run_items(q, rsp, CALLED, 1, rsp - ae_program.push);
}

struct ae_pos
ae_after(struct ae_pos q, uint64_t rsp)
{
	int have = ae_.tail;

	ae_.tail = 0;
	if (!q.p) {
		if (ae_.land != CALLED || ae_.landrsp != rsp)
			return q;
		q = ae_.landpos;
		have = 0;
	}
	return regen_run_items(q, rsp, CALLED, have, ae_.tailrsp);
}

struct ae_pos
ae_setjmp(struct ae_pos q, uint64_t rsp, int site)
{
	return regen_run_items(q, rsp, site, 1, rsp - ae_program.push);
}

/* First function on the separate stack; feed_fault and the end of the events return here. */
static void
regen_run_root(void)
{
	if (setjmp(feed.out) == 0)
		regen_run_items((struct ae_pos){ae_.buf, ae_.eend}, 0, ROOT, 0, 0);
}

static int
on_own_stack(void)
{
	size_t n;

	for (n = STACK_WANT; n >= STACK_LEAST; n /= 2) {
		char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);

		if (p == MAP_FAILED)
			continue;
		ae_.stack = (uintptr_t)p + STACK_MARGIN;
		getcontext(&inside);
		inside.uc_stack.ss_sp = p;
		inside.uc_stack.ss_size = n;
		inside.uc_link = &outside;
		makecontext(&inside, regen_run_root, 0);
		swapcontext(&outside, &inside);
		munmap(p, n);
		return 0;
	}
	return -1;
}

static void
regen_run_explain(void)
{
	if (feed.errname && feed.erroff == DIAG_NOOFF)
		snprintf(error, sizeof error, "%s: %s", feed.errname, feed.err);
	else if (feed.errname)
		snprintf(error, sizeof error, "%s: byte %llu: %s", feed.errname,
		    (unsigned long long)feed.erroff, feed.err);
	else
		snprintf(error, sizeof error, "%s", feed.err);
}

static int
regen_run_task(void *arg, struct feed *f)
{
	(void)arg;
	ae_.tail = 0;
	library.n = 0;
	regen_run_relocate(ae_program.reloc, ae_program.nreloc, ae_.base);
	if (on_own_stack() != 0) {
		f->err = "no memory for a stack";
		f->status = -1;
	}
	return f->status;
}

int
ae_recreate_batch(const char *file, int (*func)(void *arg, const uint64_t *refs, size_t n), void *arg)
{
	const struct feed_job job = {
		.file = file, .parent = parent, .machine = ae_program.machine, .id = ae_program.id,
		.idlen = ae_program.idlen, .moves = (int)ae_program.moves, .task = task,
		.sink = func, .sinkarg = arg, .quietmax = most, .run = regen_run_task
	};
	char about[FEED_NOTE];
	const char *said;
	int status = feed_tasks(&feed, &ae_, &job);

	if (feed.err)
		regen_run_explain();
	note[0] = '\0';
	said = feed_note(&feed, about);
	if (said)
		snprintf(note, sizeof note, "%s", said);
	feed_close(&feed);
	return status;
}

static int
regen_run_each(void *arg, const uint64_t *refs, size_t n)
{
	void (*func)(int, uint64_t, unsigned) = *(void (**)(int, uint64_t, unsigned))arg;

	for (size_t i = 0; i < n; i++)
		func((int)AE_KIND(refs[i]), AE_ADDR(refs[i]), AE_SIZE(refs[i]));
	return 0;
}

int
ae_recreate(const char *file, void (*func)(int kind, uint64_t addr, unsigned aux))
{
	return ae_recreate_batch(file, regen_run_each, &func);
}

const char *
ae_error(void)
{
	return error;
}

const char *
ae_note(void)
{
	return note[0] ? note : NULL;
}

void
ae_parent(const char *file)
{
	parent = file;
}

void
ae_task(unsigned n)
{
	task = n;
}

void
ae_most(uint64_t n)
{
	most = n;
}

int
ae_format(const char *name)
{
	return ref_format(name);
}

size_t
ae_put(int format, void *dst, const uint64_t *refs, size_t n)
{
	_Static_assert(REF_PUT_MAX <= AE_PUT_MAX, "a line does not fit");
	return ref_put((enum ref_format)format, dst, refs, n);
}

size_t
ae_put_header(int format, void *dst)
{
	if (format != REF_ADDR)
		return 0;
	ref_put_header(dst);
	return REF_HEADER;
}
