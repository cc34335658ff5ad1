/*
 * Results of system calls that wait.  While a thread waits in the kernel, another runs; what the kernel writes
 * in the meantime would become visible at a time that nobody knows.  So it writes to memory that no thread
 * looks at, and the results are copied when the thread has the turn again.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/mem.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/thread.h"

#define ROOM_LEAST (256u << 10)
#define ROOM_MOST  (64u << 20)
#define ROOM_AT    0x610000000000ull    /* where no kernel maps by itself, so that other addresses stay as they are */

enum { ROOMS = 64 };                    /* rooms that are made before a filter of system calls */
enum { IOV_PIECES = 1024 };             /* buffers of an iovec array at most: UIO_MAXIOV of the kernel */

static uint64_t
room_map(struct cap *c, uint64_t addr, uint64_t size)
{
	long ret = -1;

	if (tracee_call(&c->t, &ret, SYS_mmap, addr, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, UINT64_MAX, 0) || (unsigned long)ret >= -4095UL)
		return 0;
	return (uint64_t)ret;
}

int
aside_before(struct cap *c, const struct call *k)
{
	struct rlimit r;

	if (c->rooms.tried || c->lender || c->all->touch ||
	    !((k->nr == SYS_seccomp && k->arg[0] == SECCOMP_SET_MODE_FILTER) ||
		(k->nr == SYS_prctl && k->arg[0] == PR_SET_SECCOMP && k->arg[1] == SECCOMP_MODE_FILTER)))
		return 0;
	c->rooms.tried = 1;
	/* of limited memory, there may be none left for it */
	if (fast_filtered(c) || prlimit(c->t.pid, RLIMIT_AS, NULL, &r) || r.rlim_cur != RLIM_INFINITY ||
	    tracee_cancel_call(&c->t, &c->in))
		return 0;
	c->rooms.at = room_map(c, ROOM_AT, ROOMS * ROOM_LEAST);
	c->rooms.n = c->rooms.at ? ROOMS : 0;
	return 1;
}

void
aside_room(struct cap *c, struct thread *t)
{
	struct threads *th = c->th;

	if (th->nspare) {
		t->room = th->spare[--th->nspare];
		return;
	}
	if (c->rooms.n) {
		t->room = (struct room){.addr = c->rooms.at + (uint64_t)--c->rooms.n * ROOM_LEAST, .size = ROOM_LEAST};
		return;
	}
	if (fast_filtered(c)) {         /* it may be killed for a call that we make for it */
		if (!th->unsaid++)
			warn("a thread begins under a seccomp filter: "
			    "what calls write while it waits in them may be seen too early in a replay");
		return;
	}
	t->room.addr = room_map(c, ROOM_AT + (uint64_t)t->number * ROOM_MOST, ROOM_LEAST);
	t->room.size = t->room.addr ? ROOM_LEAST : 0;
}

/* The call `in`, which the thread is about to make, needs so much room: 0, or -1: it cannot have it, and makes the call. */
static int
room_grow(struct cap *c, struct room *r, uint64_t need)
{
	uint64_t size = 2 * r->size > need ? 2 * r->size : (need + PAGE - 1) / PAGE * PAGE;
	long ret = -1;

	if (r->fixed || need > ROOM_MOST)
		return -1;
	size = size < ROOM_MOST ? size : ROOM_MOST;
	r->fixed = fast_filtered(c);
	if (r->fixed || tracee_cancel_call(&c->t, &c->in))
		return -1;
	if (!tracee_call(&c->t, &ret, SYS_mremap, r->addr, r->size, size, MREMAP_MAYMOVE, 0, 0) &&
	    (unsigned long)ret < -4095UL)
		*r = (struct room){.addr = (uint64_t)ret, .size = size};
	else
		r->fixed = 1;
	return 0;
}

struct builder {
	struct cap *c;
	struct thread *t;
	struct user_regs_struct g;      /* the registers for the kernel */
	uint64_t used;
	int full;                       /* there is too little room */
	int never;                      /* the call is not redirected */
};

static unsigned long long *
aside_arg(struct user_regs_struct *g, unsigned i)
{
	unsigned long long *const arg[6] = {&g->rdi, &g->rsi, &g->rdx, &g->r10, &g->r8, &g->r9};

	return arg[i];
}

/* Copies n bytes of the program to the room. */
static void
aside_fill(struct cap *c, uint64_t from, uint64_t to, uint64_t n)
{
	uint8_t b[PAGE];

	for (size_t k; n; n -= k, from += k, to += k) {
		k = n < sizeof(b) ? (size_t)n : sizeof(b);
		k = tracee_read(&c->t, from, b, k);
		if (!k || tracee_write(&c->t, to, b, k) != k)
			return;
	}
}

static void
piece_keep(struct aside *a, const struct piece *p)
{
	a->piece = mem_xgrow(a->piece, &a->cap, a->n + 1, sizeof(*p));
	a->piece[a->n++] = *p;
}

/*
 * Room for n bytes that belong at addr: its address; or addr if there is none, or if the program cannot write them: there
 * the kernel fails by itself.
 */
static uint64_t
piece_add(struct builder *b, uint64_t addr, uint64_t n, int kind)
{
	uint64_t to = b->t->room.addr + b->used;

	if (!addr || !n)
		return addr;
	if (region_writable(&b->c->reg, addr, n) < n) {
		if (kind == PIECE_STREAM)
			piece_keep(&b->t->aside, &(struct piece){addr, addr, n, PIECE_STREAM});
		return addr;
	}
	if (n > ROOM_MOST) {
		b->never = 1;
		return addr;
	}
	b->used += (n + 15) / 16 * 16;
	if (b->used > b->t->room.size) {
		b->full = 1;
		return addr;
	}
	piece_keep(&b->t->aside, &(struct piece){addr, to, n, kind});
	if (kind != PIECE_STREAM)
		aside_fill(b->c, addr, to, n);
	return to;
}

static void
aside_buffer(struct builder *b, unsigned arg, uint64_t n, int kind)
{
	unsigned long long *p = aside_arg(&b->g, arg);

	*p = piece_add(b, *p, n, kind);
}

static uint64_t
aside_word(struct cap *c, uint64_t addr)
{
	uint8_t b[4];

	return addr && tracee_read(&c->t, addr, b, 4) == 4 ? get_le32(b) : 0;
}

/* The buffers of an array, of which a copy with addresses in the room is made: its address. */
static uint64_t
aside_iov(struct builder *b, uint64_t iov, uint64_t count)
{
	uint8_t v[IOV_PIECES * 16];
	uint64_t to;

	if (!iov || !count || count > IOV_PIECES)
		return iov;
	if (tracee_read(&b->c->t, iov, v, count * 16) != count * 16) {
		b->never = 1;
		return iov;
	}
	for (uint64_t i = 0; i < count; i++)
		put_le64(v + 16 * i, piece_add(b, get_le64(v + 16 * i), get_le64(v + 16 * i + 8), PIECE_STREAM));
	to = b->t->room.addr + b->used;
	b->used += count * 16;
	if (b->used > b->t->room.size)
		b->full = 1;
	if (!b->full)
		tracee_write(&b->c->t, to, v, count * 16);
	return to;
}

/* recvmsg: a struct msghdr with addresses in the room, whose own fields are copied back by msg_copy. */
static void
aside_msg(struct builder *b, uint64_t msg)
{
	uint8_t m[56];

	if (tracee_read(&b->c->t, msg, m, sizeof(m)) != sizeof(m) || region_writable(&b->c->reg, msg, sizeof(m)) < sizeof(m)) {
		b->never = 1;
		return;
	}
	put_le64(m + 16, aside_iov(b, get_le64(m + 16), get_le64(m + 24)));
	put_le64(m, piece_add(b, get_le64(m), get_le32(m + 8), PIECE_FIXED));
	put_le64(m + 32, piece_add(b, get_le64(m + 32), get_le64(m + 40), PIECE_FIXED));
	b->g.rsi = piece_add(b, msg, sizeof(m), PIECE_MSG);
	if (!b->full && !b->never)
		tracee_write(&b->c->t, b->g.rsi, m, sizeof(m));
}

static uint64_t
aside_set(const struct call *k)
{
	return k->arg[0] < 1u << 20 ? (k->arg[0] + 63) / 64 * 8 : 0;
}

/* Calls that may wait and write memory. */
static void
aside_redirect(struct builder *b, const struct call *k)
{
	switch (k->nr) {
	case SYS_read:
		aside_buffer(b, 1, k->arg[2], PIECE_STREAM);
		break;
	case SYS_preadv2:
		if (k->arg[3] != UINT64_MAX)    /* it has an offset: it is not that of a pipe or a socket */
			break;
		/* fall through */
	case SYS_readv:
		b->g.rsi = aside_iov(b, k->arg[1], k->arg[2]);
		break;
	case SYS_recvmsg:
		aside_msg(b, k->arg[1]);
		break;
	case SYS_recvfrom:
		aside_buffer(b, 1, k->arg[2], PIECE_STREAM);
		aside_buffer(b, 4, aside_word(b->c, k->arg[5]), PIECE_FIXED);
		aside_buffer(b, 5, 4, PIECE_FIXED);
		break;
	case SYS_accept: case SYS_accept4:
		aside_buffer(b, 1, aside_word(b->c, k->arg[2]), PIECE_FIXED);
		aside_buffer(b, 2, 4, PIECE_FIXED);
		break;
	case SYS_ppoll:
		aside_buffer(b, 2, 16, PIECE_LEFT);
		/* fall through */
	case SYS_poll:
		aside_buffer(b, 0, k->arg[1] < 65536 ? k->arg[1] * 8 : ROOM_MOST, PIECE_FIXED);
		break;
	case SYS_select: case SYS_pselect6:
		aside_buffer(b, 1, aside_set(k), PIECE_FIXED);
		aside_buffer(b, 2, aside_set(k), PIECE_FIXED);
		aside_buffer(b, 3, aside_set(k), PIECE_FIXED);
		aside_buffer(b, 4, 16, PIECE_LEFT);
		break;
	case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_epoll_pwait2:
		aside_buffer(b, 1, k->arg[2] < 65536 ? k->arg[2] * 12 : ROOM_MOST, PIECE_FIXED);
		break;
	case SYS_wait4:
		aside_buffer(b, 1, 4, PIECE_FIXED);
		aside_buffer(b, 3, 144, PIECE_FIXED);
		break;
	case SYS_waitid:
		aside_buffer(b, 2, 128, PIECE_FIXED);
		aside_buffer(b, 4, 144, PIECE_FIXED);
		break;
	case SYS_nanosleep:
		aside_buffer(b, 1, 16, PIECE_FIXED);
		break;
	case SYS_clock_nanosleep:
		aside_buffer(b, 3, 16, PIECE_FIXED);
		break;
	case SYS_rt_sigtimedwait:
		aside_buffer(b, 1, 128, PIECE_FIXED);
		break;
	case SYS_sendfile:
		aside_buffer(b, 2, 8, PIECE_FIXED);
		break;
	case SYS_msgrcv:
		aside_buffer(b, 1, k->arg[2] < ROOM_MOST ? k->arg[2] + 8 : ROOM_MOST, PIECE_FIXED);
		break;
	case SYS_mq_timedreceive:
		aside_buffer(b, 1, k->arg[2], PIECE_STREAM);
		aside_buffer(b, 3, 4, PIECE_FIXED);
		break;
	}
}

int
aside_enter(struct cap *c, const struct call *k, int again)
{
	struct thread *t = c->th->turn;
	struct builder b = {.c = c, .t = t, .g = c->in};

	memset(&t->aside, 0, offsetof(struct aside, piece));
	if (!t->room.size || c->denied || c->th->nalive < 2)
		return 0;
	aside_redirect(&b, k);
	if (b.full || b.never || !t->aside.n) {
		t->aside.n = 0;
		return b.full && !b.never && !again && !room_grow(c, &t->room, b.used);
	}
	t->aside.on = t->aside.moved = !tracee_setregs(&c->t, &b.g);
	return 0;
}

/* Copies a piece of a stream as far as the program can write it now: how many bytes. */
static uint64_t
stream_copy(struct cap *c, const struct piece *p)
{
	uint64_t n = region_writable(&c->reg, p->from, p->n), done = 0;
	uint8_t b[PAGE];

	while (done < n) {
		size_t k = n - done < sizeof(b) ? (size_t)(n - done) : sizeof(b), wrote;

		if (tracee_read(&c->t, p->to + done, b, k) != k)
			break;
		wrote = tracee_write(&c->t, p->from + done, b, k);
		done += wrote;
		if (wrote < k)
			break;
	}
	return done;
}

/* Copies the bytes of p in the room that differ from `was`, the program's.  -1: they cannot be written any more. */
static int
piece_copy(struct cap *c, const struct piece *p)
{
	uint8_t now[PAGE], was[PAGE];

	for (uint64_t i = 0, k; i < p->n; i += k) {
		k = p->n - i < PAGE ? p->n - i : PAGE;
		if (tracee_read(&c->t, p->to + i, now, k) != k || tracee_read(&c->t, p->from + i, was, k) != k)
			return -1;
		for (uint64_t j = 0, from; j < k; j++) {
			for (from = j; j < k && now[j] != was[j]; j++)
				;
			if (j > from && (region_writable(&c->reg, p->from + i + from, j - from) < j - from ||
			    tracee_write(&c->t, p->from + i + from, now + from, j - from) != j - from))
				return -1;
		}
	}
	return 0;
}

/* The fields of a struct msghdr that the kernel writes: lengths and flags; the others are addresses. */
static int
msg_copy(struct cap *c, const struct piece *p)
{
	uint8_t m[56];

	if (tracee_read(&c->t, p->to, m, sizeof(m)) != sizeof(m) || region_writable(&c->reg, p->from, sizeof(m)) < sizeof(m))
		return -1;
	return tracee_write(&c->t, p->from + 8, m + 8, 4) == 4 && tracee_write(&c->t, p->from + 40, m + 40, 16) == 16 ? 0 : -1;
}

/* Another thread may have changed mappings in the meantime: then the result is what it is if the kernel meets that. */
static void
aside_copy(struct cap *c, const struct aside *a)
{
	int64_t ret = (int64_t)c->out.rax, left = ret, done = 0, fault = 0;

	for (unsigned i = 0; i < a->n; i++) {
		struct piece p = a->piece[i];

		if (p.kind == PIECE_STREAM) {
			p.n = left <= 0 ? 0 : (uint64_t)left < p.n ? (uint64_t)left : p.n;
			left -= (int64_t)p.n;
			if (!fault && p.n) {
				uint64_t k = p.to == p.from ? p.n : stream_copy(c, &p);

				done += (int64_t)k;
				fault = k < p.n;
			}
		} else if (p.kind == PIECE_MSG) {
			if (ret >= 0 && msg_copy(c, &p))
				c->out.rax = (uint64_t)-EFAULT;
		} else if (piece_copy(c, &p) && p.kind != PIECE_LEFT && ret >= 0) {
			c->out.rax = (uint64_t)-EFAULT;
		}
	}
	if (fault && (int64_t)c->out.rax >= 0)
		c->out.rax = done ? (uint64_t)done : (uint64_t)-EFAULT;
}

void
aside_leave(struct cap *c, int done)
{
	struct aside *a = &c->th->turn->aside;

	if (done && a->on)
		aside_copy(c, a);
	if (a->on && a->moved) {
		for (unsigned i = 0; i < 6; i++)
			*aside_arg(&c->out, i) = *aside_arg(&c->in, i);
		tracee_setregs(&c->t, &c->out);
		a->moved = 0;
	}
	if (done)
		a->on = 0;
}

void
aside_interrupted(struct cap *c, uint64_t ret)
{
	struct aside *a = &c->th->turn->aside;

	if (!a->on)
		return;
	c->out.rax = ret;
	aside_copy(c, a);
	a->on = 0;
	for (unsigned i = 0; i < a->n; i++)
		if (a->piece[i].kind != PIECE_STREAM)
			put_mem(c, a->piece[i].from, a->piece[i].n);
}
