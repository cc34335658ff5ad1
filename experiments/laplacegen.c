/*
 * laplacegen: Laplace traces of any length, of processes that are made up.
 *
 *   laplacegen references classic|wide|kernel
 *
 * The same number of references has the same kernel trace.  Processes run in
 * turns of 5000 references; they fetch along loops, touch some pages often
 * and others seldom, copy pages after forks, map and unmap buffers, and end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NPROC 64
#define TURN  5000
#define HEAP  0x10000000u
#define BUFS  0x40000000u
#define CODE  0x08048000u
#define LIBC  0xb7000000u
#define STACK 0xbff00000u

static struct proc {
	uint32_t pid, space, pc, loop, left, forked, buf;
} procs[NPROC];
static uint64_t now, rng = 88172645463325252u;
static uint32_t nextpid = 100, nextspace = 0x1000;
static enum { CLASSIC, WIDE, KERNEL } form;

static uint64_t
rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

static void
put(uint8_t *p, uint64_t v, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static void
out(const void *p, size_t n)
{
	if (fwrite(p, 1, n, stdout) != n)
		exit(1);
}

static void
ref(char type, unsigned len, uint32_t space, uint32_t addr)
{
	uint8_t b[26];

	if (form == KERNEL)
		return;
	b[0] = (uint8_t)type;
	put(b + 1, now, 8);
	b[9] = (uint8_t)len;
	put(b + 10, space, form == WIDE ? 8 : 4);
	put(b + (form == WIDE ? 18 : 14), addr, form == WIDE ? 8 : 4);
	out(b, form == WIDE ? 26 : 18);
}

#define EVENT(...) do { if (form == KERNEL && printf(__VA_ARGS__) < 0) exit(1); } while (0)

static void
begin(struct proc *p, uint32_t parent)
{
	p->pid = nextpid++;
	p->space = nextspace++;
	p->left = 5 + (uint32_t)(rnd() % 100);
	p->forked = parent != 0;
	p->buf = 0;
	p->pc = CODE;
	p->loop = 0;
	if (!parent) {
		EVENT("X %" PRIx64 " %x %x 8 1 /bin/prog%x\n", now, p->pid, 1000 + p->pid % 7, p->pid % 7);
		EVENT("A %" PRIx64 " %x %x\n", now, p->pid, p->space);
		EVENT("M %" PRIx64 " %x %x 40000 %x 8 1 0 /bin/prog%x\n", now, p->pid, CODE, 1000 + p->pid % 7, p->pid % 7);
		EVENT("M %" PRIx64 " %x %x 180000 30 8 1 0 /lib/libc.so\n", now, p->pid, LIBC);
		EVENT("m %" PRIx64 " %x %x 800000\n", now, p->pid, HEAP);
		EVENT("m %" PRIx64 " %x %x 100000\n", now, p->pid, STACK);
	}
}

static void
fork_of(struct proc *c, struct proc *p)
{
	uint32_t space = p->space, pid = p->pid;

	begin(c, pid);
	c->buf = p->buf;
	EVENT("F %" PRIx64 " %x %x\n", now, c->pid, pid);
	EVENT("D %" PRIx64 " %x %x 0 c0000000\n", now, space, c->space);
	EVENT("A %" PRIx64 " %x %x\n", now, c->pid, c->space);
}

/* What happens between two turns of a process */
static void
live(struct proc *p)
{
	if (--p->left == 0) {
		struct proc *q = &procs[rnd() % NPROC];

		EVENT("T %" PRIx64 " %x\n", now, p->pid);
		EVENT("u %" PRIx64 " %x\n", now, p->space);
		if (q != p && rnd() % 2)
			fork_of(p, q);
		else
			begin(p, 0);
	}
	if (rnd() % 4 == 0) {
		if (p->buf)
			EVENT("U %" PRIx64 " %x %x 100000\n", now, p->pid, BUFS);
		else
			EVENT("m %" PRIx64 " %x %x 100000\n", now, p->pid, BUFS);
		p->buf = !p->buf;
	}
	for (int i = 0; p->forked && i < 4; i++) {
		uint32_t page = (uint32_t)(rnd() % 0x800);

		EVENT("C %" PRIx64 " %x %x\n", now, p->pid, HEAP + page * 0x1000);
	}
	EVENT("S %" PRIx64 " %x\n", now, p->pid);
}

static uint32_t
data(const struct proc *p, uint64_t r)
{
	if (r % 8 < 3)
		return STACK + 0xfe000 + (uint32_t)(r >> 8) % 0xff8;
	if (r % 8 == 3 && p->buf)
		return BUFS + (uint32_t)(r >> 8) % 0xffff8;
	return HEAP + ((r >> 40) % 64 ? (uint32_t)(r >> 8) % 0x3fff8 : (uint32_t)(r >> 8) % 0x7ffff8);
}

int
main(int argc, char **argv)
{
	static const char *const forms[] = { "classic", "wide", "kernel" };
	uint64_t n = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	struct proc *p = procs;

	for (form = CLASSIC; argc == 3 && form <= KERNEL && strcmp(argv[2], forms[form]) != 0; form++)
		;
	if (argc != 3 || form > KERNEL)
		return 2;
	if (form == WIDE)
		out("\x89TMLAP\r\n\1\0\20\0\0\0\0", 16);  /* the header, whose last byte is the string's end */
	for (int i = 0; i < NPROC; i++)
		begin(&procs[i], 0);
	for (uint64_t i = 0; i < n;) {
		uint64_t r = rnd();

		if (i % TURN == 0) {
			p = &procs[rnd() % NPROC];
			now++;          /* a kernel record comes before a reference of the same time */
			live(p);
		}
		now += 1 + (r >> 60 == 0) * 30;
		ref('i', 4, p->space, p->pc);
		i++;
		p->pc += 4;
		if (++p->loop % 40 == 0)
			p->pc = r >> 50 & 1 ? p->pc - 160 : r >> 51 & 1 ? CODE + (uint32_t)(r >> 8) % 0x3f000 : LIBC + (uint32_t)(r >> 8) % 0x17f000;
		if ((r & 0x700000) == 0 && i % TURN) {
			ref(r >> 33 & 1 ? 'R' : 'W', 4, p->space, 0xc0100000u + (uint32_t)(r >> 8) % 0xffff8);
			i++;
		} else if (r & 0x100000 && i % TURN) {
			ref(r >> 32 & 3 ? 'r' : 'w', r >> 34 & 1 ? 4 : 8, p->space, data(p, r));
			i++;
		}
	}
	EVENT("e %" PRIx64 "\n", now);
	return fflush(stdout) != 0;
}
