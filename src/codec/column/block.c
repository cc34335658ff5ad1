/* Blocks of values: methods by number, work space, primers. See block.h. */
#include "codec/column/block.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "codec/column/method.h"
#include "codec/column/scale.h"

struct method {
	const char *name;
	int (*enc)(struct vc_work *, const struct vc_prime *, const struct vc_col *, struct buf *);
	int (*dec)(struct vc_work *, const struct vc_prime *, const struct vc_col *, const uint8_t *, size_t,
		uint64_t *, const char **);
};

static const struct method methods[] = {
#define VC_METHOD(number, id, name, fn, what) [number] = { name, fn##_enc, fn##_dec },
#include "codec/column/method.def"
#undef VC_METHOD
};

#define NMETHOD (sizeof methods / sizeof methods[0])

const char *
vc_name(unsigned method)
{
	return method < NMETHOD ? methods[method].name : NULL;
}

int
vc_by_name(const char *name)
{
	for (size_t i = 0; i < NMETHOD; i++)
		if (methods[i].name && !strcmp(methods[i].name, name))
			return (int)i;
	return -1;
}

struct vc_work *
vc_work_new(unsigned columns)
{
	struct vc_work *w = calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->level = vc_zstd_level(1);
	w->columns = columns;
	/* one state more, for samples, which are tried between columns */
	w->held = columns < CM_HELD ? columns + 1 : CM_HELD;
	return w;
}

void
vc_work_extend(struct vc_work *w)
{
	w->extended = 1;
}

void
vc_work_alone(struct vc_work *w)
{
	w->alone = 1;
}

void
vc_work_trim(struct vc_work *w)
{
	buf_free(&w->tmp);
	buf_free(&w->bytes);
	ZSTD_freeCCtx(w->zc);
	w->zc = NULL;
	for (unsigned i = 0; i < w->held; i++) {
		free(w->past[i].v);
		free(w->past[i].key);
		cm_free(&w->past[i].cm);
	}
	memset(w->past, 0, sizeof w->past);
	w->now = NULL;
}

void
vc_work_free(struct vc_work *w)
{
	if (!w)
		return;
	vc_work_trim(w);
	buf_free(&w->best);
	buf_free(&w->dict);
	ZSTD_freeDCtx(w->zd);
	free(w->last);
	free(w->sample);
	free(w);
}

/* The primer of a first block's places on its grid. 0, or -1 without memory. */
static int
prime_places(struct vc_work *w, struct vc_prime *p, const struct vc_col *first)
{
	uint64_t *d = malloc((first->n + 1) * sizeof *d);

	if (!d)
		return -1;
	p->scale = *first->scale;
	scale_places(&p->scale, first, d, NULL);
	p->places = vc_prime_make(w, &(struct vc_col){ d, first->key, first->n, first->width, NULL });
	free(d);
	return p->places ? 0 : -1;
}

struct vc_prime *
vc_prime_make(struct vc_work *w, const struct vc_col *first)
{
	static atomic_uint_fast64_t ids;
	struct vc_prime *p = calloc(1, sizeof *p);
	size_t skip = first->n > VC_PRIME_MAX ? first->n - VC_PRIME_MAX : 0;

	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	p->id = ++ids;
	p->width = first->width;
	p->n = first->n - skip;
	p->v = malloc((p->n + 1) * sizeof *p->v);
	p->key = first->key ? malloc((p->n + 1) * sizeof *p->key) : NULL;
	if (!p->v || (first->key && !p->key)) {
		vc_prime_free(p);
		return NULL;
	}
	if (p->n)
		memcpy(p->v, first->v + skip, p->n * sizeof *p->v);
	if (p->n && p->key)
		memcpy(p->key, first->key + skip, p->n * sizeof *p->key);
	p->hint = w->chosen;
	cm_prime_adopt(w, p);
	if (first->scale && first->scale->kind != VC_SCALE_NONE && prime_places(w, p, first)) {
		vc_prime_free(p);
		return NULL;
	}
	return p;
}

void
vc_prime_free(struct vc_prime *p)
{
	if (!p)
		return;
	vc_prime_free(p->places);
	for (int k = 0; k < CM_KINDS; k++)
		cm_free(&p->cm[k]);
	pthread_mutex_destroy(&p->lock);
	free(p->v);
	free(p->key);
	free(p);
}

int
vc_encode_with(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	enum vc_method method, struct buf *out)
{
	size_t old = out->n;
	int r = (unsigned)method < NMETHOD && methods[method].enc ? methods[method].enc(w, prime, col, out) :
	    -1;

	if (r || out->nomem) {
		out->n = old;
		return -1;
	}
	return 0;
}

int
vc_decode(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	enum vc_method method, const uint8_t *p, size_t len, uint64_t *v, const char **err)
{
	if ((unsigned)method >= NMETHOD || !methods[method].dec ||
	    (!w->extended && method >= VC_CM_SIGNED && method <= VC_SCALED)) {
		*err = "method of this block unknown";
		return -1;
	}
	return methods[method].dec(w, prime, col, p, len, v, err);
}
