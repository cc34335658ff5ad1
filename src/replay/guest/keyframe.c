/* Keyframes: lists them and continues the replay from one. */
#include <stdlib.h>
#include <unistd.h>

#include "format/ws/runs.h"
#include "replay/guest/replay_internal.h"

#define WORTH 20000000u         /* running this many instructions costs more than going to a keyframe */

/* A pipe has no groups to seek to, and asking for them would be a fault of the reader. */
static int
is_pipe(const struct replay *r)
{
	return lseek(r->fd, 0, SEEK_CUR) < 0;
}

static int
find_keys(struct replay *r)
{
	size_t n;
	int whole;

	if (r->have_keys)
		return 0;
	r->have_keys = 1;
	if (!(r->head->flags & WS_KEYFRAMES) || is_pipe(r))
		return 0;
	r->group = ws_groups(r->in, &n, &whole);
	if (!r->group)
		return 0;
	r->key = malloc((n + 1) * sizeof *r->key);
	if (!r->key)
		return -1;
	for (size_t i = 0; i < n; i++)
		if ((r->group[i].flags & WS_GROUP_KEY) && r->group[i].icount != WS_UNKNOWN)
			r->key[r->nkey++] = i;
	return 0;
}

size_t
replay_nkeys(struct replay *r)
{
	return find_keys(r) == 0 ? r->nkey : 0;
}

uint64_t
replay_key_icount(struct replay *r, size_t k)
{
	return r->group[r->key[k]].icount;
}

uint64_t
replay_key_instances(struct replay *r, size_t k)
{
	struct fault f;
	/* a second reader: the first one is at the replay's position */
	struct ws_reader *in = ws_open_run(r->fd, ws_run_number(r->in), &f);
	struct ws_rec rec;
	uint64_t n = WS_UNKNOWN;

	if (in && ws_seek_group(in, r->key[k]) == 0 && ws_next(in, &rec) == 1 && rec.kind == WS_KEY)
		n = rec.u.state.instances;
	if (in)
		ws_close(in);
	return n;
}

/* Clears the present state. */
static int
keyframe_forget(struct replay *r)
{
	while (r->mem.n) {
		const struct ws_rec_map *m = &r->mem.area[r->mem.n - 1].m;

		if (mem_unmap(&r->mem, m->addr, m->len) != 0)
			return drive_bad_mem(r);
	}
	r->cut = r->after_sig = 0;
	r->broke = WS_UNKNOWN;
	r->pending = REPLAY_OK;
	return 0;
}

int
drive_rewind(struct replay *r)
{
	if (r->ended == REPLAY_BAD || keyframe_forget(r) != 0)
		return REPLAY_BAD;
	r->ended = REPLAY_OK;
	r->keyed = r->after_sig = r->exits = 0;
	r->triggers = 0;
	drive_parked_drop(&r->parked);
	if (ws_seek_group(r->in, 0) != 0)
		return drive_bad_file(r);
	return drive_start(r);
}

int
replay_seek(struct replay *r, size_t k)
{
	struct ws_rec rec;

	if (r->ended == REPLAY_BAD)
		return REPLAY_BAD;
	r->ended = REPLAY_OK;
	if (keyframe_forget(r) != 0)
		return REPLAY_BAD;
	if (ws_seek_group(r->in, r->key[k]) != 0 || ws_next(r->in, &rec) != 1)
		return drive_bad_file(r);
	if (rec.kind != WS_KEY || rec.u.state.icount != replay_key_icount(r, k))
		return drive_bad(r, "the index names a keyframe where none is");
	if (drive_state(r, &rec.u.state) != 0)
		return REPLAY_BAD;
	r->triggers = rec.u.state.trigger;
	r->keyed = 1;
	r->latest = WS_UNKNOWN;         /* TIME records before the keyframe were not read */
	return drive_key_body(r, 1) != 0 || drive_next(r) != 0 ? REPLAY_BAD : REPLAY_OK;
}

int
replay_skip(struct replay *r, uint64_t icount)
{
	size_t n = replay_nkeys(r), k = n;

	if (r->ended != REPLAY_OK)
		return r->ended;
	while (k && replay_key_icount(r, k - 1) > icount)
		k--;
	/* do not skip a breakpoint, a mapping or output that a callback waits for */
	if (k && !r->nbrk && !r->onmap && !r->output && replay_key_icount(r, k - 1) > r->x.icount &&
	    replay_key_icount(r, k - 1) - r->x.icount > WORTH && replay_seek(r, k - 1) != REPLAY_OK)
		return REPLAY_BAD;
	return drive_run(r, icount);
}

/* Finds END with a second reader of the same file: 0, or -1. */
static int
find_end(struct replay *r, struct ws_rec_end *end)
{
	struct fault f;
	struct ws_reader *in = ws_open_run(r->fd, ws_run_number(r->in), &f);
	struct ws_rec rec;
	size_t n = 0;
	int whole, e = -1;

	if (in && ws_groups(in, &n, &whole) && whole && n && ws_seek_group(in, n - 1) == 0)
		while (ws_next(in, &rec) == 1) {
			ws_early_rec(&r->told, &rec);
			if (rec.kind == WS_END) {
				*end = rec.u.end;
				e = 0;
			}
		}
	if (in)
		ws_close(in);
	return e;
}

uint64_t
replay_length(struct replay *r)
{
	struct ws_rec_end end;
	size_t n;
	int whole;

	if (r->ended == REPLAY_END)
		return r->end.icount;
	if (is_pipe(r) || !ws_groups(r->in, &n, &whole) || !whole || !n)
		return WS_UNKNOWN;
	return find_end(r, &end) == 0 ? end.icount : WS_UNKNOWN;
}

uint64_t
replay_known(struct replay *r, struct fault *f)
{
	struct ws_reader *in = is_pipe(r) ? NULL : ws_open_run(r->fd, ws_run_number(r->in), f);
	const struct ws_group *g;
	uint64_t known = WS_UNKNOWN;
	struct ws_rec rec;
	size_t n = 0;
	int whole, got = 0;

	f->err[0] = '\0';
	if (!in)
		return known;
	g = ws_groups(in, &n, &whole);
	for (size_t i = 0; g && i < n; i++)
		if (g[i].icount && g[i].icount != WS_UNKNOWN)
			known = g[i].icount;
	/* where it is cut off is behind the last group that is whole; without one, at the beginning */
	if (g && (!n || ws_seek_group(in, n - 1) == 0))
		while ((got = ws_next(in, &rec)) == 1)
			if (rec.kind == WS_END)
				known = rec.u.end.icount;
	if (!g || got < 0)
		*f = *ws_fault(in);
	ws_close(in);
	return known;
}

/* Asks a reader of its own only, so that a fault of the index is found where it is without that. */
uint64_t
drive_length(struct replay *r)
{
	struct ws_early told = r->told;
	struct ws_rec_end end;

	if (!r->asked)
		r->length = !is_pipe(r) && find_end(r, &end) == 0 ? end.icount : WS_UNKNOWN;
	r->asked = 1;
	r->told = told;
	return r->length;
}

const struct ws_early *
replay_early(struct replay *r)
{
	if (!r->told.is && r->ended == REPLAY_OK)
		(void)replay_length(r);
	return r->told.is ? &r->told : NULL;
}
