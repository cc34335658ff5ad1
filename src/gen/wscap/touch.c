/*
 * --first-touch, as in the seed: memory that exists before the program runs is made
 * inaccessible, and returned page by page when the program accesses it.  Only those pages are
 * recorded.  What a system call reads or writes is returned before the call, as the kernel
 * would only fail.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/touch.h"
#include "gen/wscap/wscap.h"

#define STRINGS_MOST 65536u     /* arguments of a program whose strings are looked for */
#define IOV_MOST 1024u          /* buffers of an array at most, and messages: UIO_MAXIOV of the kernel */
#define RW_MOST 0x7ffff000u     /* bytes that a call transfers at most: MAX_RW_COUNT */
#define USER_END (1ull << 56)   /* the end of what a program can map */

static long
touch_protect(struct cap *c, uint64_t lo, uint64_t hi, int prot)
{
	long ret = -1;

	if (tracee_call(&c->t, &ret, SYS_mprotect, lo, hi - lo, (uint64_t)prot, 0, 0, 0))
		return -1;
	return ret;
}

void
touch_protects_make(struct cap *c, struct protects *t)
{
	if (t->n == 1 || !t->n || fast_protect(c, t->p, t->n))
		for (size_t i = 0; i < t->n; i++)
			t->p[i].ret = touch_protect(c, t->p[i].lo, t->p[i].lo + t->p[i].n, (int)t->p[i].prot);
	t->n = 0;
}

void
touch_protects_add(struct cap *c, struct protects *t, uint64_t lo, uint64_t hi, int prot)
{
	if (t->n == TOUCH_PROTECTS)
		touch_protects_make(c, t);
	t->p[t->n++] = (struct fast_protect){.lo = lo, .n = hi - lo, .prot = (uint64_t)prot, .ret = -1};
}

/*
 * Is the region left alone? The stack grows by itself only where it is accessible; the vdso has
 * the `syscall` instruction that wscap uses.
 */
static int
may_hide(const struct cap *c, const struct region *r)
{
	return r->prot && !r->stack && !(c->t.site >= r->lo && c->t.site < r->hi);
}

void
touch_hide(struct cap *c, uint64_t lo, uint64_t hi)
{
	int filtered = fast_filtered(c);

	for (size_t i = region_at(&c->reg, lo); i < c->reg.n && c->reg.p[i].lo < hi; i++) {
		struct region r = c->reg.p[i];

		if (!may_hide(c, &r))
			continue;
		r.lo = r.lo > lo ? r.lo : lo;
		r.hi = r.hi < hi ? r.hi : hi;
		if (filtered || touch_protect(c, r.lo, r.hi, PROT_NONE))
			put_pages(c, r.lo, r.hi);
		else
			region_set(&c->hidden, &r);
	}
}

void
touch_show(struct cap *c, struct protects *t, uint64_t lo, uint64_t hi)
{
	for (size_t i = region_at(&c->reg, lo); i < c->reg.n && c->reg.p[i].lo < hi; i++) {
		const struct region *r = &c->reg.p[i];

		touch_protects_add(c, t, r->lo > lo ? r->lo : lo, r->hi < hi ? r->hi : hi, r->prot);
	}
}

/* Records hidden pages from lo to hi, which are to be accessible. */
static void
touch_pages(struct cap *c, struct protects *t, uint64_t lo, uint64_t hi)
{
	size_t i;

	while ((i = region_at(&c->hidden, lo)) < c->hidden.n && c->hidden.p[i].lo < hi) {
		uint64_t a = c->hidden.p[i].lo > lo ? c->hidden.p[i].lo : lo;
		uint64_t b = c->hidden.p[i].hi < hi ? c->hidden.p[i].hi : hi;

		put_pages(c, a, b);
		borrow_save(c, a, b);
		region_cut(&c->hidden, a, b);
		touch_show(c, t, a, b);
		lo = b;
	}
}

static int
is_hidden(const struct cap *c, uint64_t lo, uint64_t hi)
{
	size_t i = region_at(&c->hidden, lo);

	return i < c->hidden.n && c->hidden.p[i].lo < hi;
}

int
touch_fault(struct cap *c, uint64_t addr)
{
	/* a child of vfork gets its neighbours, too: each fault takes as long as to copy many pages */
	uint64_t n = c->all->touch ? PAGE : CHUNK;
	struct protects t;

	if (!is_hidden(c, addr, addr + 1))
		return 0;
	addr -= addr % n;
	t.n = 0;
	touch_pages(c, &t, addr, addr + n);
	touch_protects_make(c, &t);
	c->behind = 0;
	return 1;
}

void
touch_all(struct cap *c)
{
	struct protects t;

	t.n = 0;
	touch_pages(c, &t, 0, UINT64_MAX);
	touch_protects_make(c, &t);
}

/* Ranges that a call is about to use; hidden ones stay hidden until all are known. */
struct wanted {
	struct { uint64_t lo, hi; } at[128];
	size_t n;
};

static void
touch_add_range(struct cap *c, struct wanted *w, uint64_t addr, uint64_t len)
{
	uint64_t lo = addr / PAGE * PAGE, hi = len < USER_END ? addr + len : USER_END;

	for (size_t i = 0; i < w->n; i++)
		if (w->at[i].lo <= lo && w->at[i].hi >= hi)
			return;
	if (hi < addr || w->n == sizeof(w->at) / sizeof(w->at[0]) || !is_hidden(c, lo, hi))
		return;
	w->at[w->n].lo = lo;
	w->at[w->n].hi = (hi + PAGE - 1) / PAGE * PAGE;
	w->n++;
}

static void
want_iov(struct cap *c, struct wanted *w, uint64_t iov, uint64_t count)
{
	uint8_t v[16];

	count = count < IOV_MOST ? count : IOV_MOST;
	touch_add_range(c, w, iov, count * 16);
	for (uint64_t i = 0; i < count; i++) {
		if (tracee_read(&c->t, iov + 16 * i, v, 16) != 16)
			return;
		touch_add_range(c, w, get_le64(v), get_le64(v + 8));
	}
}

static void
want_msg(struct cap *c, struct wanted *w, uint64_t msg)
{
	uint8_t m[56];

	if (tracee_read(&c->t, msg, m, sizeof(m)) != sizeof(m))
		return;
	touch_add_range(c, w, get_le64(m), get_le32(m + 8));
	want_iov(c, w, get_le64(m + 16), get_le64(m + 24));
	touch_add_range(c, w, get_le64(m + 32), get_le64(m + 40));
}

/* An array of struct mmsghdr. */
static void
want_msgs(struct cap *c, struct wanted *w, uint64_t msg, uint64_t count)
{
	count = count < IOV_MOST ? count : IOV_MOST;
	touch_add_range(c, w, msg, count * 64);
	for (uint64_t i = 0; i < count; i++)
		want_msg(c, w, msg + 64 * i);
}

/* n pieces of that many bytes, if n is a number that the kernel takes */
static void
want_array(struct cap *c, struct wanted *w, uint64_t addr, uint64_t n, unsigned each)
{
	touch_add_range(c, w, addr, (n < 1u << 20 ? n : 1u << 20) * each);
}

static void
want_sets(struct cap *c, struct wanted *w, const struct call *k)
{
	uint64_t n = (uint32_t)k->arg[0];
	uint8_t set[16];

	for (unsigned i = 1; i <= 3; i++)
		want_array(c, w, k->arg[i], (n + 63) / 64, 8);
	if (k->nr == SYS_pselect6 && k->arg[5] && tracee_read(&c->t, k->arg[5], set, 16) == 16)
		touch_add_range(c, w, get_le64(set), 8);
}

/*
 * Pointers of which other arguments tell more: where the kernel would do a part of the call, or do it before it fails.
 * touch_again is for the others.
 */
static void
want_more(struct cap *c, struct wanted *w, const struct call *k)
{
	const uint64_t *a = k->arg;

	switch (k->nr) {
	case SYS_readv: case SYS_writev: case SYS_preadv: case SYS_pwritev: case SYS_preadv2:
	case SYS_pwritev2: case SYS_vmsplice:
		want_iov(c, w, a[1], a[2]);
		break;
	case SYS_process_vm_readv: case SYS_process_vm_writev:  /* its own memory, perhaps */
		want_iov(c, w, a[1], a[2]);
		want_iov(c, w, a[3], a[4]);
		break;
	case SYS_sendmsg: case SYS_recvmsg:
		want_msg(c, w, a[1]);
		break;
	case SYS_sendmmsg: case SYS_recvmmsg:
		want_msgs(c, w, a[1], (uint32_t)a[2]);
		break;
	case SYS_read: case SYS_write: case SYS_pread64: case SYS_pwrite64: case SYS_sendto: case SYS_recvfrom:
		touch_add_range(c, w, a[1], a[2] < RW_MOST ? a[2] : RW_MOST);
		break;
	case SYS_getrandom:
		touch_add_range(c, w, a[0], a[1] < RW_MOST ? a[1] : RW_MOST);
		break;
	case SYS_poll: case SYS_ppoll:
		want_array(c, w, a[0], (uint32_t)a[1], 8);
		break;
	case SYS_select: case SYS_pselect6:
		want_sets(c, w, k);
		break;
	case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_epoll_pwait2:
		want_array(c, w, a[1], (uint32_t)a[2], 12);
		break;
	case SYS_msgsnd: case SYS_msgrcv:
		want_array(c, w, a[1], a[2] + 8, 1);
		break;
	}
}

/*
 * Any argument may be a pointer, and the next one its length.  A string or structure is assumed
 * to be shorter than a page.
 */
static void
want_args(struct cap *c, struct wanted *w, const struct call *k)
{
	for (int i = 0; i < 6; i++) {
		uint64_t len = i < 5 && k->arg[i + 1] < (1ull << 31) ? k->arg[i + 1] : 0;

		if (!is_hidden(c, k->arg[i] / PAGE * PAGE, k->arg[i] + (len > PAGE ? len : PAGE)))
			continue;
		touch_add_range(c, w, k->arg[i], len > PAGE ? len : PAGE);
	}
}

/* The strings of an array, and the array. */
static void
want_strings(struct cap *c, struct wanted *w, uint64_t at)
{
	uint64_t s;

	for (unsigned i = 0; at && i < STRINGS_MOST; i++, at += 8) {
		touch_add_range(c, w, at, 8);
		if (tracee_read(&c->t, at, &s, 8) != 8 || !s)
			return;
		touch_add_range(c, w, s, PAGE);
	}
}

static void
want_exec(struct cap *c, struct wanted *w, const struct call *k)
{
	unsigned first = k->nr == SYS_execveat;

	touch_add_range(c, w, k->arg[first], PAGE);
	want_strings(c, w, k->arg[first + 1]);
	want_strings(c, w, k->arg[first + 2]);
}

static void
want_all(struct wanted *w)
{
	w->n = 1;
	w->at[0].lo = 0;
	w->at[0].hi = UINT64_MAX;
}

int
touch_call(struct cap *c, const struct call *k)
{
	struct protects t;
	struct wanted w;
	uint8_t ss[24];

	if (!c->hidden.n)
		return 0;
	borrow_call(c, k);
	w.n = 0;
	switch (k->nr) {
	case SYS_mmap: case SYS_munmap: case SYS_mprotect: case SYS_brk: case SYS_madvise:
	case SYS_exit_group:
		return 0;
	case SYS_execve: case SYS_execveat:
		if (c->all->touch)
			want_all(&w);        /* there are pointers to pointers */
		else
			want_exec(c, &w, k);
		break;
	case SYS_fork: case SYS_vfork: case SYS_clone: case SYS_clone3: case SYS_shmdt:
		want_all(&w);        /* another process will access it */
		break;
	case SYS_seccomp: case SYS_prctl:
		/* after that, it may be killed for a call that we make for it */
		if (k->nr == SYS_seccomp || k->arg[0] == PR_SET_SECCOMP)
			want_all(&w);
		want_args(c, &w, k);
		break;
	case SYS_ioctl:
		if (!call_known(k))             /* there may be pointers to pointers */
			want_all(&w);
		want_args(c, &w, k);
		break;
	case SYS_mremap:
		touch_add_range(c, &w, k->arg[0], k->arg[1]);
		break;
	case SYS_sigaltstack:           /* the kernel will write there at any time */
		if (k->arg[0] && tracee_read(&c->t, k->arg[0], ss, 24) == 24)
			touch_add_range(c, &w, get_le64(ss), get_le64(ss + 16));
		want_args(c, &w, k);
		break;
	default:
		if (file_memory(c, k))
			want_all(&w);
		want_more(c, &w, k);
		want_args(c, &w, k);
	}
	if (!w.n)
		return 0;
	if (tracee_cancel_call(&c->t, &c->in))
		return 1;
	t.n = 0;
	for (size_t i = 0; i < w.n; i++)
		touch_pages(c, &t, w.at[i].lo, w.at[i].hi);
	touch_protects_make(c, &t);
	return 1;
}

int
touch_again(struct cap *c, const struct call *k)
{
	struct user_regs_struct g = c->in;

	if (k->ret != -EFAULT || !c->hidden.n)
		return 0;
	touch_all(c);
	g.rax = g.orig_rax;
	g.orig_rax = UINT64_MAX;
	g.rip -= 2;
	return !tracee_setregs(&c->t, &g);
}

void
touch_protected(struct cap *c, uint64_t lo, uint64_t hi)
{
	for (size_t i = region_at(&c->hidden, lo); i < c->hidden.n && c->hidden.p[i].lo < hi; i++) {
		const struct region *r = &c->hidden.p[i];

		touch_protect(c, r->lo > lo ? r->lo : lo, r->hi < hi ? r->hi : hi, PROT_NONE);
	}
}
