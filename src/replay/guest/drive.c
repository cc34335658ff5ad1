/* Drives a replay: reports its position and runs it to a given instance. */
#include <string.h>

#include "format/ws/store.h"
#include "replay/guest/replay_internal.h"

struct rp_core *
drive_core(struct replay *r)
{
	return r->core;
}

int
drive_run_to(struct replay *r, uint64_t icount, uint64_t n)
{
	uint64_t most = r->most;
	int e;

	r->most = n;
	e = drive_run(r, icount);
	r->most = most;
	return e;
}

void
drive_until(struct replay *r, uint64_t n)
{
	r->most = n;
}

void
drive_fetches_again(struct replay *r)
{
	rp_fetches_again(r->core);
}

const uint64_t *
drive_words_so_far(const struct replay *r, size_t *n)
{
	*n = r->x.out ? (size_t)(r->x.out - r->words) : 0;
	return r->words;
}

int
drive_add(struct replay *r, const uint64_t *w, size_t n)
{
	if (!r->x.out)
		return 0;
	/* there is room: whatever stops the processor leaves RP_SLACK words */
	memcpy(r->x.out, w, n * sizeof *w);
	r->x.out += n;
	return 1;
}

void
drive_set_instances(struct replay *r, uint64_t n)
{
	if (!r->uncounted)
		return;
	r->x.again = r->x.icount - n;
	r->uncounted = 0;
}

int
drive_is_partial(const struct replay *r)
{
	return r->keyed;
}

int
drive_is_amid(const struct replay *r)
{
	return r->x.half != 0;
}

int
drive_ended(const struct replay *r)
{
	return r->ended;
}

int
drive_resume(struct replay *r)
{
	r->x.out = r->words;
	return r->pending = r->ended;
}

int
drive_is_cut(const struct replay *r)
{
	return r->cut;
}

int
drive_mem_stored(const struct replay *r, struct ws_stored *s)
{
	return ws_rec_stored(r->in, s);
}

const struct mem *
drive_mem(const struct replay *r)
{
	return &r->mem;
}
