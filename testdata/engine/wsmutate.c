/* wsmutate in out seed: changes records of a capture at random, and corrects its check sums. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../random.h"
#include "format/ws/ws.h"


/* Another number: near it, another bit, another page, anything */
static uint64_t
other(uint64_t v)
{
	switch (rnd() % 6) {
	case 0: return v + rnd() % 16 - 8;
	case 1: return v ^ UINT64_C(1) << rnd() % 64;
	case 2: return v + (rnd() % 64 - 32) * 4096;
	case 3: return 0;
	case 4: return rnd() & ~UINT64_C(4095);
	default: return rnd();
	}
}

static void
change_regs(struct ws_regs *g)
{
	uint64_t *v = (uint64_t *)(void *)g;

	v += rnd() % (sizeof *g / 8);
	*v = other(*v);
}

static void
change(struct ws_rec *r)
{
	static uint8_t copy[WS_MEM_MAX];

	switch (r->kind) {
	case WS_START:
	case WS_KEY:
		if (rnd() % 2 || !r->u.state.nxsave) {
			change_regs(&r->u.state.regs);
			break;
		}
		memcpy(copy, r->u.state.xsave, r->u.state.nxsave);
		copy[rnd() % r->u.state.nxsave] ^= (uint8_t)(1u << rnd() % 8);
		r->u.state.xsave = copy;
		break;
	case WS_MAP:
		*(rnd() % 2 ? &r->u.map.addr : &r->u.map.len) = rnd() % 4 ?
		    other(r->u.map.addr) & ~UINT64_C(4095) : rnd() % 64 * 4096;
		break;
	case WS_UNMAP:
	case WS_PROT:
		r->u.range.addr = other(r->u.range.addr);
		break;
	case WS_MOVE:
		r->u.move.to = other(r->u.move.to);
		break;
	case WS_MEM:
		if (rnd() % 4 == 0) {
			r->u.mem.addr = other(r->u.mem.addr);
			break;
		}
		if (r->u.mem.p)
			memcpy(copy, r->u.mem.p, r->u.mem.n);
		else
			memset(copy, 0, r->u.mem.n);
		for (unsigned k = rnd() % 64 + 1; k--;)
			copy[rnd() % r->u.mem.n] = (uint8_t)rnd();
		r->u.mem.p = copy;
		break;
	case WS_SYS:
		*(rnd() % 2 ? &r->u.sys.ret : &r->u.sys.arg[rnd() % 6]) = rnd();
		break;
	case WS_SIG:
		change_regs(rnd() % 2 ? &r->u.sig.at : &r->u.sig.to);
		break;
	case WS_RAND:
		r->u.rand.insn = rnd() % WS_NRANDOMS;
		r->u.rand.failed = 0;
		r->u.rand.value = other(r->u.rand.value);
		break;
	case WS_TIME:
		r->u.time = WS_TIME_LEAST + rnd() % WS_TIME_LEAST;
		break;
	case WS_END:
		r->u.end.icount = other(r->u.end.icount);
		break;
	default:
		break;
	}
}

int
main(int argc, char **argv)
{
	struct fault f;
	struct ws_reader *r;
	struct ws_writer *w;
	struct ws_rec rec;
	uint64_t n = 0;
	int in, out;

	if (argc != 4)
		return 2;
	in = open(argv[1], O_RDONLY);
	out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	rnd_state = strtoull(argv[3], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
	r = ws_open(in, &f);
	w = r ? ws_create(ws_write_fd, &out, ws_head(r), WS_QUICK, &f) : NULL;
	if (!w)
		return 2;
	while (ws_next(r, &rec) == 1)
		n++;
	ws_close(r);
	lseek(in, 0, SEEK_SET);
	r = ws_open(in, &f);
	for (rnd(); ws_next(r, &rec) == 1;) {
		if (rnd() % n < 2)
			change(&rec);
		if (rnd() % (4 * n) == 0)
			continue;
		if (ws_put(w, &rec) != 0)
			return 3;
	}
	if (ws_finish(w) != 0)
		return 3;
	ws_free(w);
	ws_close(r);
	return 0;
}
