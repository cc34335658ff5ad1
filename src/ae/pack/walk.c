/* Walks through the events of a thread and codes them: see walk.h. */
#include "ae/pack/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define WALK_MORE 512   /* bytes that an item with its registers takes at most, and more */

const char walk_nomem[] = "out of memory";

/* What was provided last has been read. */
static void
walk_read(struct walk *w)
{
	w->at += w->pending;
	w->pending = 0;
}

static size_t
walk_hand(void *arg, const uint8_t **e)
{
	struct walk *w = arg;

	walk_read(w);
	if (w->code->dec)
		return w->at < w->want ? REGEN_ANY : 0;
	*e = w->buf + w->at;
	return w->end - w->at;
}

static const uint8_t *
walk_give(struct walk *w, const struct regen_ask *a, size_t n, const uint8_t **end)
{
	w->kept = a->keep;
	w->pending = a->keep ? 0 : n;
	*end = w->buf + w->at + n;
	return w->buf + w->at;
}

/* A short value is coded as the 8 bytes that it stands for. 0: it is damaged */
static unsigned
walk_short(struct walk *w, const struct regen_ask *ask, uint8_t *b)
{
	struct regen_ask a = *ask;
	uint64_t v = 0;

	if (!w->code->dec && !ev_short(b, &v))
		return 0;
	a.n = 8;
	a.how = 0;
	put_le64(b, v);
	coder_event(w->code, &w->follow, &a, b);
	return ev_putshort(b, get_le64(b));
}

static const uint8_t *
walk_event(void *arg, const struct regen_ask *a, const uint8_t *e, const uint8_t **end)
{
	struct walk *w = arg;
	uint8_t b[32];
	unsigned n;
	int isshort = (a->kind == RK_VALUE || a->kind == RK_NEED) && a->how == 4;

	(void)e;
	walk_read(w);
	if (w->kept) {
		w->kept = 0;
		return walk_give(w, a, a->n, end);
	}
	if (w->code->dec) {
		/* not between an item and its registers: that there are too many is found later */
		if ((w->at >= w->want && a->kind != RK_NEED) || w->over)
			return NULL;
		memset(b, 0, sizeof b);
		n = isshort ? walk_short(w, a, b) : coder_event(w->code, &w->follow, a, b);
		if (w->at + n > w->cap) {       /* more than there were: damaged, or another program */
			w->over = 1;
			return NULL;
		}
		memcpy(w->buf + w->at, b, n);
		return walk_give(w, a, n, end);
	}
	if (w->end - w->at < (size_t)a->n + a->more || (a->n == 0 && w->end == w->at))
		return NULL;
	if (a->kind == RK_BRANCH && w->buf[w->at] > 1) {
		w->over = 1;
		return NULL;
	}
	n = a->n;
	if (isshort)
		n = ev_shortlen(get_le32(w->buf + w->at));
	if (w->end - w->at < n)
		return NULL;
	memcpy(b, w->buf + w->at, n);
	if (!isshort)
		coder_event(w->code, &w->follow, a, b);
	else if (!walk_short(w, a, b)) {
		w->over = 1;
		return NULL;
	}
	return walk_give(w, a, n, end);
}

static int
walk_sink(void *arg, const uint64_t *refs, size_t n)
{
	(void)arg;
	(void)refs;
	(void)n;
	return 0;
}

static int
walk_open(struct walk *w, struct exe *x, struct recall *m, const uint8_t *head, size_t n, const char **err)
{
	const struct machine *machine = machine_byschema(x->machine, x->big);

	*err = machine ? walk_nomem : "unknown machine";
	if (!machine || follow_init(&w->follow, machine, m) != 0)
		return -1;
	if (prog_load_exe(&w->prog, x) != 0) {
		*err = w->prog.err;
		return -1;
	}
	w->r = regen_new(&w->prog, 1, NULL, err);
	if (!w->r)
		return -1;
	w->model = (struct regen_model){w, w->follow.var, follow_insn, follow_run, follow_string, walk_hand, walk_event,
	    &w->follow};
	regen_follow(w->r, &w->model);
	regen_libraries(w->r, libs_add, &w->libs);
	if (feed_blank(&w->feed, regen_state(w->r), head, n, w->task) != 0) {
		*err = w->feed.err;
		return -1;
	}
	w->feed.sink = walk_sink;
	w->feed.quietmax = WALK_QUIET;
	return 0;
}

struct walk *
walk_new(struct exe *x, struct coder *c, struct recall *m, const uint8_t *head, size_t n, uint32_t task, const char **err)
{
	struct walk *w = calloc(1, sizeof *w);

	*err = walk_nomem;
	if (!w)
		return NULL;
	w->code = c;
	w->task = task;
	if (walk_open(w, x, m, head, n, err) == 0)
		return w;
	walk_free(w);
	return NULL;
}

void
walk_learn(struct walk *w, const uint8_t *head, size_t n)
{
	if (feed_learn(&w->feed, head, n, w->task) != 0)
		w->over = 1;
}

void
walk_free(struct walk *w)
{
	if (!w)
		return;
	feed_close(&w->feed);
	regen_free(w->r);
	prog_free(&w->prog);
	libs_free(&w->libs);
	follow_free(&w->follow);
	free(w->buf);
	free(w);
}

static int
walk_reserve(struct walk *w, size_t n)
{
	uint8_t *p;

	if (n <= w->cap)
		return 0;
	p = realloc(w->buf, n);
	if (!p)
		return -1;
	w->buf = p;
	w->cap = n;
	return 0;
}

static void
walk_on(struct walk *w)
{
	if (w->over)
		return;
	if (regen_resume(w->r, &w->feed) != 0)
		w->over = 1;
	walk_read(w);
}

size_t
walk_encode(struct walk *w, const uint8_t *p, size_t n)
{
	size_t rest = w->end - w->at;

	if (walk_reserve(w, w->at + rest + n + WALK_MORE) != 0) {
		w->code->failed = 1;
		return 0;
	}
	memmove(w->buf, w->buf + w->at, rest);
	w->at = 0;
	w->end = rest;
	memcpy(w->buf + rest, p, n);
	w->end += n;
	walk_on(w);
	return w->at;
}

size_t
walk_left(const struct walk *w)
{
	return w->end - w->at;
}

int
walk_decode(struct walk *w, size_t n)
{
	if (walk_reserve(w, n + WALK_MORE) != 0) {
		w->code->failed = 1;
		return -1;
	}
	w->at = 0;
	w->want = n;
	walk_on(w);
	return w->at == n ? 0 : -1;
}
