/* The recorded threads: a block of memory and a stream of events each. */
#include "ae/runtime/call.h"

#include <sys/mman.h>

#ifdef AE_T_SELF
#define AT(field, offset) _Static_assert(offsetof(struct ae_thread, field) == (offset), "asm.S knows it")
AT(side_top, AE_T_TOP);
AT(fs, AE_T_FS);
AT(ptr, AE_T_PTR);
AT(side_end, AE_T_SEND);
AT(s, 32);
AT(cb, AE_T_CB);
AT(live, AE_T_LIVE);
AT(kept, AE_T_KEPT);
AT(pending, AE_T_PENDING);
AT(depth, AE_T_DEPTH);
AT(buf, AE_T_BUF);
AT(self, AE_T_SELF);
AT(start, AE_T_START);
AT(arg, AE_T_ARG);
AT(lent, AE_T_LENT);
AT(below, AE_T_BELOW);
AT(low, AE_T_LOW);
AT(span, AE_T_SPAN);
AT(next, AE_T_NEXT);
#endif

struct ae_thread *ae_threads;
uint32_t ae_nnumber;
uintptr_t ae_order;

#define MAXBLOCK 4096u          /* threads that run at a time */

static uint32_t nblock = 1;

/* The list of threads begins with t: a block that was mapped */
static void block_first(struct ae_thread *t)
{
	ae_threads = t;
#ifdef AE_NEWEST
	_Static_assert(AE_NEWEST == AE_SCRATCH + AE_SCRATCHLEN - sizeof t, "asm.S knows it");
	_Static_assert(sizeof *ae_scratch <= AE_SCRATCHLEN - sizeof t, "its place is free");
	*(struct ae_thread **)AE_NEWEST = t;
#endif
}

/* The thread is gone: no entry of its side stack is one that returns */
static void side_empty(struct ae_thread *t)
{
	t->side_top = AE_SIDE0(t) + 3 * sizeof(uintptr_t);
}

/* Makes the parts of a block accessible that is mapped; 0 or -1 */
static int block_open(uintptr_t base)
{
	return sys3(SYS_mprotect, (long)base, (long)AE_BUFLEN, PROT_READ | PROT_WRITE) != 0 ||
	    sys3(SYS_mprotect, (long)(base + AE_SIDE), (long)AE_SIDELEN, PROT_READ | PROT_WRITE) != 0 ||
	    sys3(SYS_mprotect, (long)(base + AE_ALT), (long)AE_ALTLEN, PROT_READ | PROT_WRITE) != 0 ? -1 : 0;
}

static struct ae_thread *block_map(void)
{
	uintptr_t base = AE_START + (uintptr_t)nblock * AE_STRIDE;
	struct ae_thread *t = (struct ae_thread *)(base + AE_SIDE);
	long r;

	if (nblock >= MAXBLOCK)
		return NULL;
	r = sys6(SYS_mmap, (long)base, (long)AE_BLOCKLEN, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (r != (long)base || block_open(base) != 0) {
		if (!sys_err(r))
			sys3(SYS_munmap, r, (long)AE_BLOCKLEN, 0);
		return NULL;
	}
	nblock++;
	t->next = ae_threads;
	block_first(t);
	return t;
}

int ae_thread_gone(const struct ae_thread *t)
{
	return t->tid && sys_err(sys_kill(t->tid, 0)) == ESRCH;
}

/* A block that nobody uses: of a thread that is gone, the end of whose stream is written now, or a new one */
static struct ae_thread *block_get(void)
{
	struct ae_thread *t;

	for (t = ae_threads; t; t = t->next)
		if (t->stage == AE_FREE)
			return t;
	for (t = ae_threads; t; t = t->next)
		if (t->stage == AE_BEGUN && ae_thread_gone(t)) {
			ae_rec_gone(t);
			t->stage = AE_FREE;
			t->fs = 0;
			return ae_rec ? t : NULL;
		}
	return block_map();
}

/* A thread's state before it has run */
static void thread_clear(struct ae_thread *t, uint32_t number)
{
	uintptr_t *s = (uintptr_t *)AE_SIDE0(t);        /* entries of three words */
	struct ae_thread *next = t->next;

	mem_zero(t, sizeof *t);
	t->next = next;
	t->self = t;
	t->number = number;
	s[1] = ~(uintptr_t)0;           /* the sentinel */
	side_empty(t);
	t->side_end = AE_BASE(t) + AE_SIDE + AE_SIDELEN - 6 * sizeof *s;
	t->buf = (uint8_t *)AE_BASE(t) + AE_HEAD(number);
	t->stage = AE_MADE;
}

static void thread_is_this(struct ae_thread *t)
{
	t->tid = (int)sys3(SYS_gettid, 0, 0, 0);
	t->ptr = t->buf;
	t->fs = sys_thread();
	t->stage = AE_BEGUN;
}

#define ORDER   0xfd                            /* ae.out(5): the item, */
#define POINT   (UINT64_C(1) << 63)             /* ... its word with the number, */
#define BIRTH   (UINT64_C(1) << 62)             /* ... and the one with which a stream begins */

/* The number of its making. Callers hold the lock, so that threads are numbered in this order. */
static void thread_made(struct ae_thread *t)
{
	if (ae_order == 0)
		ae_order = 1;
	t->birth = AE_ADD(&ae_order, 1);
}

/* Its stream begins with that. */
static void thread_born(struct ae_thread *t)
{
	uint64_t v = POINT | BIRTH | t->birth;

	*t->ptr = ORDER;
	mem_copy(t->ptr + 1, &v, sizeof v);
	t->ptr += 1 + sizeof v;
}

void ae_thread_first(void)
{
	struct ae_thread *t = AE_THREADS ? (struct ae_thread *)(AE_START + AE_SIDE) : machine_near();

	block_first(t);
	ae_nnumber = 1;
	thread_clear(t, 1);
	machine_set(t);
	thread_is_this(t);
}

void ae_thread_alone(struct ae_thread *t)
{
	struct ae_thread *o;

	for (o = ae_threads; o; o = o->next)
		if (o != t) {
			o->stage = AE_FREE;
			o->fs = 0;
			side_empty(o);
		}
	ae_nnumber = 1;
	ae_order = 0;
	if (!t)
		return;
	t->number = 1;
	t->total = 0;
	t->handler = NULL;
	t->tid = (int)sys3(SYS_gettid, 0, 0, 0);
	t->buf = (uint8_t *)AE_BASE(t) + AE_HEAD(1);
	t->ptr = t->buf;
}

struct ae_thread *ae_thread_new(void)
{
	struct ae_thread *t = NULL;
	struct ae_set mask;

	if (!AE_THREADS || !ae_rec || ae_kin() != AE_SELF)
		return NULL;
	mask = ae_block();
	if (ae_rec)
		t = block_get();
	if (t) {
		thread_clear(t, ++ae_nnumber);
		thread_made(t);
	}
	ae_unblock(mask);
	return t;
}

void ae_thread_unmake(struct ae_thread *t)
{
	struct ae_set mask = ae_block();

	if (t->number == ae_nnumber)
		ae_nnumber--;
	t->stage = AE_FREE;
	ae_unblock(mask);
}

void ae_thread_begin(struct ae_thread *t)
{
	struct ae_set mask = ae_block();
	struct ae_thread *o;
	int err = 0;

	if (machine_set(t)) {
		thread_is_this(t);
		/* who had this thread pointer is gone, and its stack may be ours */
		for (o = ae_threads; o; o = o->next)
			if (o != t && o->fs == t->fs)
				side_empty(o);
		t->live = ae_rec && ae_open;
		if (ae_rec)
			err = ae_file_begins(t);
		if (err)
			ae_rec_fail(err);
		if (t->live)
			thread_born(t);
		ae_sig_thread(t, &mask);
	}
	ae_unblock(mask);
}

void ae_thread_handler(struct ae_thread *s)
{
	struct ae_set mask = ae_block();
	struct ae_thread *h = NULL;
	int err = 0;

	if (ae_rec && !s->handler && s->level < AE_NLEVEL && ae_kin() == AE_SELF)
		h = block_get();
	if (h) {
		thread_clear(h, ++ae_nnumber);
		if (ae_order)
			thread_made(h);
		thread_is_this(h);
		if (ae_order)
			thread_born(h);
		h->below = s;
		h->level = s->level + 1;
		err = ae_file_begins(h);
		s->handler = h;
	}
	if (err)
		ae_rec_fail(err);
	ae_unblock(mask);
}

int ae_thread_enter(void)
{
	struct ae_thread *t = ae_thread_new();

	if (t)
		ae_thread_begin(t);
	return t && ae_me() == t;
}
