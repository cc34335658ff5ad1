/*
 * Results of system calls that wait.  While a thread waits in the kernel, another runs; what the kernel writes
 * in the meantime would become visible at a time that nobody knows.  So it writes to memory that no thread
 * looks at, and the results are copied when the thread has the turn again.
 */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "gen/wscap/thread.h"

#define ROOM_LEAST (256u << 10)
#define ROOM_MOST  (64u << 20)
#define ROOM_AT    0x610000000000ull    /* where no kernel maps by itself, so that other addresses stay as they are */

enum { IOV_PIECES = 64 };               /* buffers of an iovec array at most */

void
aside_room(struct cap *c, struct thread *t)
{
	struct threads *th = c->th;
	long ret = -1;

	if (th->nspare) {
		t->room = th->spare[--th->nspare];
		return;
	}
	if (!tracee_call(&c->t, &ret, SYS_mmap, ROOM_AT + (uint64_t)t->number * ROOM_MOST, ROOM_LEAST,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (uint64_t)-1, 0) &&
	    (unsigned long)ret < -4095UL)
		t->room = (struct room){(uint64_t)ret, ROOM_LEAST};
}

/* The next call of this kind shall have enough room; the thread is after a call. */
static void
room_grow(struct cap *c, struct thread *t)
{
	long ret = -1;

	if (t->wanted > t->room.size && t->wanted <= ROOM_MOST && t->room.size &&
	    !tracee_call(&c->t, &ret, SYS_mremap, t->room.addr, t->room.size,
		(t->wanted + PAGE - 1) / PAGE * PAGE, MREMAP_MAYMOVE, 0, 0) &&
	    (unsigned long)ret < -4095UL)
		t->room = (struct room){(uint64_t)ret, (t->wanted + PAGE - 1) / PAGE * PAGE};
	t->wanted = 0;
}

struct builder {
	struct cap *c;
	struct thread *t;
	struct user_regs_struct g;      /* the registers for the kernel */
	uint64_t used;
	int full;
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

/* Room for n bytes that belong at addr: its address, or addr if there is none. */
static uint64_t
piece_add(struct builder *b, uint64_t addr, uint64_t n, int stream)
{
	struct aside *a = &b->t->aside;
	uint64_t to = b->t->room.addr + b->used;

	if (!addr || !n)
		return addr;
	if (n > ROOM_MOST || a->n == ASIDE_PIECES || b->used + n + 16 > b->t->room.size) {
		b->full = 1;
		b->used += n < ROOM_MOST ? n + 16 : ROOM_MOST;
		return addr;
	}
	a->piece[a->n++] = (struct piece){addr, to, n, (uint8_t)stream};
	if (!stream)
		aside_fill(b->c, addr, to, n);
	b->used += (n + 15) / 16 * 16;
	return to;
}

static void
aside_buffer(struct builder *b, unsigned arg, uint64_t n, int stream)
{
	unsigned long long *p = aside_arg(&b->g, arg);

	*p = piece_add(b, *p, n, stream);
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

	if (!iov || !count)
		return iov;
	if (count > IOV_PIECES || tracee_read(&b->c->t, iov, v, count * 16) != count * 16) {
		b->full = 1;
		return iov;
	}
	for (uint64_t i = 0; i < count; i++)
		put_le64(v + 16 * i, piece_add(b, get_le64(v + 16 * i), get_le64(v + 16 * i + 8), 1));
	to = b->t->room.addr + b->used;
	if (b->used + count * 16 > b->t->room.size || b->full) {
		b->full = 1;
		return iov;
	}
	tracee_write(&b->c->t, to, v, count * 16);
	b->used += count * 16;
	return to;
}

/* recvmsg: a struct msghdr with addresses in the room, whose own fields are copied back by msg_copy. */
static void
aside_msg(struct builder *b, uint64_t msg)
{
	uint8_t m[56];

	if (tracee_read(&b->c->t, msg, m, sizeof(m)) != sizeof(m)) {
		b->full = 1;
		return;
	}
	put_le64(m + 16, aside_iov(b, get_le64(m + 16), get_le64(m + 24)));
	put_le64(m, piece_add(b, get_le64(m), get_le32(m + 8), 0));
	put_le64(m + 32, piece_add(b, get_le64(m + 32), get_le64(m + 40), 0));
	b->g.rsi = piece_add(b, msg, sizeof(m), 0);
	if (b->full)
		return;
	tracee_write(&b->c->t, b->g.rsi, m, sizeof(m));
	b->t->aside.msg = 1;
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
		aside_buffer(b, 1, k->arg[2], 1);
		break;
	case SYS_readv:
		b->g.rsi = aside_iov(b, k->arg[1], k->arg[2]);
		break;
	case SYS_recvmsg:
		aside_msg(b, k->arg[1]);
		break;
	case SYS_recvfrom:
		aside_buffer(b, 1, k->arg[2], 1);
		aside_buffer(b, 4, aside_word(b->c, k->arg[5]), 0);
		aside_buffer(b, 5, 4, 0);
		break;
	case SYS_accept: case SYS_accept4:
		aside_buffer(b, 1, aside_word(b->c, k->arg[2]), 0);
		aside_buffer(b, 2, 4, 0);
		break;
	case SYS_ppoll:
		aside_buffer(b, 2, 16, 0);
		/* fall through */
	case SYS_poll:
		aside_buffer(b, 0, k->arg[1] < 65536 ? k->arg[1] * 8 : ROOM_MOST, 0);
		break;
	case SYS_select: case SYS_pselect6:
		aside_buffer(b, 1, aside_set(k), 0);
		aside_buffer(b, 2, aside_set(k), 0);
		aside_buffer(b, 3, aside_set(k), 0);
		aside_buffer(b, 4, 16, 0);
		break;
	case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_epoll_pwait2:
		aside_buffer(b, 1, k->arg[2] < 65536 ? k->arg[2] * 12 : ROOM_MOST, 0);
		break;
	case SYS_wait4:
		aside_buffer(b, 1, 4, 0);
		aside_buffer(b, 3, 144, 0);
		break;
	case SYS_waitid:
		aside_buffer(b, 2, 128, 0);
		aside_buffer(b, 4, 144, 0);
		break;
	case SYS_nanosleep:
		aside_buffer(b, 1, 16, 0);
		break;
	case SYS_clock_nanosleep:
		aside_buffer(b, 3, 16, 0);
		break;
	case SYS_rt_sigtimedwait:
		aside_buffer(b, 1, 128, 0);
		break;
	case SYS_sendfile:
		aside_buffer(b, 2, 8, 0);
		break;
	case SYS_msgrcv:
		aside_buffer(b, 1, k->arg[2] < ROOM_MOST ? k->arg[2] + 8 : ROOM_MOST, 0);
		break;
	case SYS_mq_timedreceive:
		aside_buffer(b, 1, k->arg[2], 1);
		aside_buffer(b, 3, 4, 0);
		break;
	}
}

void
aside_enter(struct cap *c, const struct call *k)
{
	struct thread *t = c->th->turn;
	struct builder b = {.c = c, .t = t, .g = c->in};

	memset(&t->aside, 0, offsetof(struct aside, piece));
	if (!t->room.size || c->denied || c->th->nalive < 2)
		return;
	aside_redirect(&b, k);
	if (b.full)
		t->wanted = b.used + PAGE;
	if (b.full || !t->aside.n) {
		t->aside.n = 0;
		return;
	}
	t->aside.on = t->aside.moved = !tracee_setregs(&c->t, &b.g);
}

/* Copies the bytes of p in the room that differ from `was`, the program's. */
static void
piece_copy(struct cap *c, const struct piece *p)
{
	uint8_t now[PAGE], was[PAGE];

	for (uint64_t i = 0, k; i < p->n; i += k) {
		k = p->n - i < PAGE ? p->n - i : PAGE;
		if (tracee_read(&c->t, p->to + i, now, k) != k || tracee_read(&c->t, p->from + i, was, k) != k)
			return;
		for (uint64_t j = 0, from; j < k; j++) {
			for (from = j; j < k && now[j] != was[j]; j++)
				;
			if (j > from)
				tracee_write(&c->t, p->from + i + from, now + from, j - from);
		}
	}
}

/* The fields of a struct msghdr that the kernel writes: lengths and flags; the others are addresses. */
static void
msg_copy(struct cap *c, const struct piece *p)
{
	uint8_t m[56];

	if (tracee_read(&c->t, p->to, m, sizeof(m)) != sizeof(m))
		return;
	tracee_write(&c->t, p->from + 8, m + 8, 4);
	tracee_write(&c->t, p->from + 40, m + 40, 16);
}

static void
aside_copy(struct cap *c, const struct aside *a)
{
	int64_t left = (int64_t)c->out.rax;

	for (unsigned i = 0; i < a->n; i++) {
		struct piece p = a->piece[i];

		if (p.stream) {
			p.n = left <= 0 ? 0 : (uint64_t)left < p.n ? (uint64_t)left : p.n;
			left -= (int64_t)p.n;
			aside_fill(c, p.to, p.from, p.n);
		} else if (a->msg && i + 1 == a->n) {
			if ((int64_t)c->out.rax >= 0)
				msg_copy(c, &p);
		} else {
			piece_copy(c, &p);
		}
	}
}

void
aside_leave(struct cap *c, int done)
{
	struct thread *t = c->th->turn;
	struct aside *a = &t->aside;

	if (a->on && a->moved) {
		for (unsigned i = 0; i < 6; i++)
			*aside_arg(&c->out, i) = *aside_arg(&c->in, i);
		tracee_setregs(&c->t, &c->out);
		a->moved = 0;
	}
	if (!done)
		return;
	if (a->on)
		aside_copy(c, a);
	a->on = 0;
	if (t->wanted)
		room_grow(c, t);
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
		if (!a->piece[i].stream)
			put_mem(c, a->piece[i].from, a->piece[i].n);
}
