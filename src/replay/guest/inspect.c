/* Queries of a replay's state, and registration of callbacks. */
#include <sys/mman.h>

#include "replay/guest/replay_internal.h"

const struct ws_header *
replay_header(const struct replay *r)
{
	return r->head;
}

const struct fault *
replay_fault(const struct replay *r)
{
	return &r->fault;
}

const struct ws_rec_end *
replay_end_record(const struct replay *r)
{
	return r->ended == REPLAY_END ? &r->end : NULL;
}

uint64_t
replay_icount(const struct replay *r)
{
	return r->x.icount;
}

uint64_t
replay_instances(const struct replay *r)
{
	return r->uncounted ? WS_UNKNOWN : drive_instances(r);
}

const struct ws_regs *
replay_regs(struct replay *r)
{
	drive_regs(r, &r->regs);
	return &r->regs;
}

size_t
replay_read(struct replay *r, uint64_t addr, void *p, size_t n)
{
	return mem_read(&r->mem, addr, p, n);
}

void
replay_set_output_fn(struct replay *r, replay_output_fn *fn, void *arg)
{
	r->output = fn;
	r->outputarg = arg;
}

void
replay_set_map_fn(struct replay *r, replay_map_fn *fn, void *arg)
{
	r->onmap = fn;
	r->maparg = arg;
	for (size_t i = 0; fn && i < r->mem.n; i++) {
		const struct ws_rec_map *m = &r->mem.area[i].m;

		if ((m->prot & PROT_EXEC) && m->name[0])
			fn(arg, m);
	}
}
