/* Captures: executable files that are kept. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "base/bytes.h"
#include "format/ws/kept_internal.h"

#define LEVEL 1         /* of zstd, as a program waits: level 3 takes twice as long for 3 per cent */

static void
kept_put_head(uint8_t h[WS_KEPT_HEAD], const struct ws_kept_at *a)
{
	memset(h, 0, WS_KEPT_HEAD);
	memcpy(h, ws_magic_kept, 4);
	put_le32(h + 4, (uint32_t)a->npath);
	put_le64(h + 8, a->kept.bytes);
	put_le64(h + 16, a->kept.packed);
	put_le64(h + 24, a->kept.dev);
	put_le64(h + 32, a->kept.ino);
	put_le32(h + 40, (uint32_t)a->zstd);
	put_le64(h + 48, a->crc);
	put_le64(h + 56, ws_crc(a->kept.path, a->npath, ws_crc(h, 56, 0)));
}

/* NULL, or what is wrong, but for the check sum, which is also of the path */
static const char *
kept_get_head(const uint8_t h[WS_KEPT_HEAD], struct ws_kept_at *a)
{
	struct ws_kept *k = &a->kept;

	*a = (struct ws_kept_at){{NULL, get_le64(h + 24), get_le64(h + 32), get_le64(h + 8), get_le64(h + 16)}, 0,
	    get_le64(h + 48), get_le32(h + 4), get_le32(h + 40) == 1};
	if (a->npath < 1 || a->npath > WS_STR_MAX || k->bytes < 1 || k->bytes > WS_KEPT_BYTES ||
	    get_le32(h + 40) > 1 || get_le32(h + 44) || k->packed < 1 ||
	    (a->zstd ? k->packed >= k->bytes : k->packed != k->bytes))
		return "a kept file with a wrong head";
	return NULL;
}

/* The path, which must have no zero byte; NULL: *bad says why */
static char *
kept_path(struct src *src, uint64_t off, const uint8_t h[WS_KEPT_HEAD], size_t n, const char **bad)
{
	char *path = malloc(n + 1);

	if (!path) {
		*bad = "out of memory";
		return NULL;
	}
	path[n] = '\0';
	if (src_read(src, off, path, n) == n && ws_crc(path, n, ws_crc(h, 56, 0)) == get_le64(h + 56) &&
	    !memchr(path, 0, n))
		return path;
	*bad = "the head of a kept file is damaged";
	free(path);
	return NULL;
}

uint64_t
ws_kept_read(struct ws_kept_list *t, struct src *src, uint64_t off, struct fault *f)
{
	uint8_t h[WS_KEPT_HEAD];
	size_t got = src_read(src, off, h, sizeof(h));
	struct ws_kept_at a = {.npath = 0};
	const char *bad = got < sizeof(h) ? NULL : kept_get_head(h, &a);
	uint64_t left = got < sizeof(h) ? 0 : src->size - off - WS_KEPT_HEAD;

	t->seen = 1;
	if (!bad && (got < sizeof(h) || a.npath > left || a.kept.packed > left - a.npath)) {
		fault_set(f, src->size, UINT64_MAX, "cut off in a kept file");
		return 0;
	}
	a.off = off + WS_KEPT_HEAD + a.npath;
	if (!bad && t->n == WS_KEPT_MAX)
		bad = "too many kept files";
	if (!bad && buf_grow(&t->v, &t->cap, t->n + 1, sizeof(*t->v)) < 0)
		bad = "out of memory";
	if (!bad)
		a.kept.path = kept_path(src, off + WS_KEPT_HEAD, h, a.npath, &bad);
	if (bad) {
		fault_set(f, off, UINT64_MAX, "%s", bad);
		return 0;
	}
	t->v[t->n++] = a;
	return WS_KEPT_HEAD + a.npath + a.kept.packed;
}

void
ws_kept_free(struct ws_kept_list *t)
{
	for (size_t i = 0; i < t->n; i++)
		free((char *)(uintptr_t)t->v[i].kept.path);
	free(t->v);
}

struct ws_runs *
ws_kept_open(const char *path, int *fd)
{
	struct ws_runs *t = NULL;
	struct fault f;
	size_t run;
	int whole;

	*fd = ws_keep_open_path(path, &run);
	if (*fd >= 0)
		t = ws_runs_read(*fd, &whole, &f);
	if (t && ws_kept_count(t))
		return t;
	ws_kept_close(t, *fd);
	return NULL;
}

void
ws_kept_close(struct ws_runs *t, int fd)
{
	ws_runs_free(t);
	if (fd > STDIN_FILENO)
		close(fd);
}

size_t
ws_kept_count(const struct ws_runs *t)
{
	return ws_runs_kept(t)->n;
}

struct ws_kept
ws_kept_get(const struct ws_runs *t, size_t i)
{
	return ws_runs_kept(t)->v[i].kept;
}

/* The packed bytes, for the caller to free; NULL: *why */
static uint8_t *
kept_packed(const struct ws_kept_at *a, int fd, const char **why)
{
	struct src src;
	uint8_t *p;
	int e = src_fd(&src, fd);

	if (e) {
		*why = strerror(e);
		return NULL;
	}
	p = malloc(a->kept.packed);
	if (!p)
		*why = "out of memory";
	else if (src_read(&src, a->off, p, a->kept.packed) < a->kept.packed)
		*why = "cannot be read";
	else if (ws_crc(p, a->kept.packed, 0) != a->crc)
		*why = "is damaged";
	else
		return p;
	free(p);
	return NULL;
}

uint8_t *
ws_kept_load(const struct ws_runs *t, int fd, size_t i, const char **why)
{
	const struct ws_kept_at *a = &ws_runs_kept(t)->v[i];
	uint8_t *p = kept_packed(a, fd, why), *to;

	if (!p || !a->zstd)
		return p;
	to = malloc(a->kept.bytes);
	*why = to ? ws_unpack(WS_ZSTD, p, a->kept.packed, to, a->kept.bytes) : "out of memory";
	free(p);
	if (!*why)
		return to;
	free(to);
	return NULL;
}

static int
kept_write(ws_write_fn *write, void *arg, struct ws_kept_at *a, const uint8_t *packed)
{
	uint8_t h[WS_KEPT_HEAD];
	int e;

	a->crc = ws_crc(packed, a->kept.packed, 0);
	kept_put_head(h, a);
	e = write(arg, h, sizeof(h));
	if (!e)
		e = write(arg, a->kept.path, a->npath);
	return e ? e : write(arg, packed, a->kept.packed);
}

int
ws_kept_write(ws_write_fn *write, void *arg, const struct ws_kept *k, const uint8_t *p)
{
	struct ws_kept_at a = {.kept = *k, .npath = strlen(k->path)};
	uint8_t *out = malloc(k->bytes);
	size_t n;
	int e;

	if (!out)
		return ENOMEM;
	n = ZSTD_compress(out, k->bytes - 1, p, k->bytes, LEVEL);
	a.zstd = !ZSTD_isError(n);
	a.kept.packed = a.zstd ? n : k->bytes;
	e = kept_write(write, arg, &a, a.zstd ? out : p);
	free(out);
	return e;
}

int
ws_kept_copy(const struct ws_runs *t, int fd, ws_write_fn *write, void *arg, struct fault *f)
{
	const struct ws_kept_list *list = ws_runs_kept(t);

	for (size_t i = 0; i < list->n; i++) {
		struct ws_kept_at a = list->v[i];
		const char *why;
		uint8_t *p = kept_packed(&a, fd, &why);
		int e = p ? kept_write(write, arg, &a, p) : 0;

		free(p);
		if (!p || e) {
			fault_set(f, p ? UINT64_MAX : a.off, UINT64_MAX, "%s%s", p ? "" : "a kept file ",
			    p ? strerror(e) : why);
			return -1;
		}
	}
	return 0;
}
