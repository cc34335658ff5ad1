/* Captures of several processes: finds the runs in a file. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/ws/kept_internal.h"
#include "format/ws/reader_internal.h"
#include "format/ws/runs_internal.h"
#include "format/ws/store_internal.h"

struct ws_runs {
	struct ws_run *run;             /* owned */
	struct ws_part *part;           /* owned; of the same runs */
	size_t n, caprun, cappart;
	uint64_t time;                  /* when the last one began */
	int listed, complete;           /* there is a list of runs; it has its end */
	int indexed;                    /* the first run's capture is complete */
	struct ws_pages pages;
	struct ws_kept_list kept;
	struct fault fault;             /* where reading stopped; err "": nowhere */
	struct stat file;               /* st_nlink 0: it is no file */
};

/*
 * What was found in a file, when it is no longer used.  Tools that go through all runs of a file open it for each of
 * them, and there may be thousands, in a hundred thousand pieces.
 */
static _Atomic(struct ws_runs *) runs_last;

static int
runs_bad(struct ws_runs *t, uint64_t off, const char *what)
{
	fault_set(&t->fault, off, UINT64_MAX, "%s", what);
	return -1;
}

/* Appends n bytes at off of the file to the capture of run i. */
static int
part_add(struct ws_runs *t, size_t i, uint64_t off, uint64_t n)
{
	struct ws_part *p = &t->part[i];
	struct src_piece *last = p->n ? &p->piece[p->n - 1] : NULL;

	if (last && last->off + last->n == off) {
		last->n += n;
	} else if (buf_grow(&p->piece, &p->cap, p->n + 1, sizeof(*p->piece)) < 0) {
		return runs_bad(t, off, "out of memory");
	} else {
		p->piece[p->n++] = (struct src_piece){p->bytes, off, n};
	}
	p->bytes += n;
	return 0;
}

static int
run_add(struct ws_runs *t, const struct ws_run *run)
{
	if (buf_grow(&t->run, &t->caprun, t->n + 1, sizeof(*t->run)) < 0 ||
	    buf_grow(&t->part, &t->cappart, t->n + 1, sizeof(*t->part)) < 0)
		return -1;
	t->part[t->n] = (struct ws_part){.piece = NULL};
	t->run[t->n++] = *run;
	return 0;
}

static const char *
runs_begins(struct ws_runs *t, struct ws_cur *c)
{
	struct ws_run run = {.end = WS_UNKNOWN};
	uint64_t number = ws_get(c);

	run.began = (uint32_t)ws_get_max(c, WS_NBEGANS - 1, "an unknown beginning of a run");
	run.parent = (uint32_t)ws_get_max(c, WS_RUNS_MAX, "a run with a wrong number");
	run.pid = ws_get(c);
	run.trigger = ws_get(c);
	run.start = ws_get(c);
	if (c->err)
		return c->err;
	if (number != (t->listed ? t->n + 1 : 1) || number > WS_RUNS_MAX)
		return "a run with a wrong number";
	if ((number == 1) != (run.began == WS_FIRST) || (number == 1 ? run.parent != 0 :
		run.parent < 1 || run.parent >= number))
		return "a run that no other began";
	if (run.began == WS_EXEC && run.pid != t->run[run.parent - 1].pid)
		return "a run of another process";
	if (number == 1 && (run.trigger || run.start))
		return "a first run that others precede";
	if (run.start < t->time)
		return "the list of runs goes back in time";
	t->time = run.start;
	if (number == 1) {
		t->listed = 1;
		t->run[0] = run;
		return NULL;
	}
	return run_add(t, &run) != 0 ? "out of memory" : NULL;
}

static const char *
runs_ends(struct ws_runs *t, struct ws_cur *c)
{
	uint64_t number = ws_get(c), when = ws_get(c);

	if (c->err)
		return c->err;
	if (!t->listed || number < 1 || number > t->n || t->run[number - 1].end != WS_UNKNOWN)
		return "the end of a run that is not there";
	if (when < t->run[number - 1].start || when == WS_UNKNOWN)
		return "a run that ends before it begins";
	t->run[number - 1].end = when;
	return NULL;
}

static const char *
runs_complete(struct ws_runs *t, struct ws_cur *c)
{
	uint64_t n = ws_get(c);

	if (c->err)
		return c->err;
	if (!t->listed || n != t->n || n < 2 || !t->indexed)
		return "the end of a list of runs that is another one";
	for (size_t i = 0; i < t->n; i++)
		if (t->run[i].end == WS_UNKNOWN)
			return "a run without an end";
	t->complete = 1;
	return NULL;
}

/* An entry of the list at off, of which h has the first 8 bytes.  Returns its bytes; 0: a fault. */
static uint64_t
runs_entry_read(struct ws_runs *t, struct src *src, uint64_t off, const uint8_t *h)
{
	uint8_t b[8 + WS_ENTRY_MAX + 8];
	size_t len = get_le32(h + 4), all = 8 + len + 8;
	struct ws_cur c = {b + 8, b + 8 + len, NULL};
	const char *bad;

	if (len > WS_ENTRY_MAX)
		return runs_bad(t, off + 4, "an entry of the list of runs that is too long"), 0;
	if (src_read(src, off, b, all) < all)
		return runs_bad(t, src->size, "cut off in the list of runs"), 0;
	if (ws_crc(b, 8 + len, 0) != get_le64(b + 8 + len))
		return runs_bad(t, off, "the list of runs is damaged"), 0;
	switch (ws_get(&c)) {
	case WS_RUN_BEGINS:
		bad = runs_begins(t, &c);
		break;
	case WS_RUN_ENDS:
		bad = runs_ends(t, &c);
		break;
	case WS_RUNS_END:
		bad = runs_complete(t, &c);
		break;
	default:
		bad = c.err ? c.err : "an unknown entry of the list of runs";
	}
	if (!bad && c.p != c.end)
		bad = "bytes after an entry of the list of runs";
	if (bad)
		return runs_bad(t, off, bad), 0;
	return all;
}

/* A piece of a run that is not the first; h has its head. */
static uint64_t
runs_piece_read(struct ws_runs *t, struct src *src, uint64_t off, const uint8_t *h)
{
	uint64_t number = get_le32(h + 4), n = get_le32(h + 8), left = src->size - off;

	if (left < WS_PIECE_HEAD)
		return runs_bad(t, src->size, "cut off in the head of a piece"), 0;
	if (ws_crc(h, 16, 0) != get_le64(h + 16))
		return runs_bad(t, off, "the head of a piece is damaged"), 0;
	if (get_le32(h + 12) || n < 1 || n > WS_PIECE_MAX)
		return runs_bad(t, off, "a piece with a wrong head"), 0;
	if (number < 2 || number > t->n || t->run[number - 1].end != WS_UNKNOWN)
		return runs_bad(t, off, "a piece of a run that is not there"), 0;
	left -= WS_PIECE_HEAD;
	if (left && part_add(t, number - 1, off + WS_PIECE_HEAD, n < left ? n : left) != 0)
		return 0;
	if (n > left)
		return runs_bad(t, src->size, "cut off in a piece of a run"), 0;
	return WS_PIECE_HEAD + n;
}

/* A part of the first run, of `size` bytes. */
static uint64_t
runs_first(struct ws_runs *t, struct src *src, uint64_t off, uint64_t size)
{
	uint64_t left = src->size - off;

	if (t->indexed)
		return runs_bad(t, off, "a group after the index"), 0;
	if (part_add(t, 0, off, size < left ? size : left) != 0)
		return 0;
	if (size > left)
		return runs_bad(t, src->size, "cut off"), 0;
	return size;
}

/* What is at off.  Returns its bytes; 0: a fault. */
static uint64_t
runs_next(struct ws_runs *t, struct src *src, uint64_t off)
{
	uint8_t h[WS_GROUP_HEAD] = { 0 };
	size_t got = src_read(src, off, h, sizeof(h));
	struct ws_ghead g;
	uint64_t n;

	if (got < 8)
		return runs_bad(t, off + got, "cut off: not all processes have their end "
		    "(the capture was interrupted)"), 0;
	if (!memcmp(h, ws_magic_pages, 4))
		return ws_pages_read(&t->pages, src, off, &t->fault);
	if (!memcmp(h, ws_magic_kept, 4))
		return ws_kept_read(&t->kept, src, off, &t->fault);
	if (!memcmp(h, ws_magic_run, 4))
		return runs_entry_read(t, src, off, h);
	if (!memcmp(h, ws_magic_piece, 4))
		return runs_piece_read(t, src, off, h);
	if (!memcmp(h, ws_magic_index, 4)) {
		n = runs_first(t, src, off, 8 + (uint64_t)get_le32(h + 4) + 8 + WS_MARK);
		t->indexed = 1;
		return n;
	}
	if (memcmp(h, ws_magic_group, 4))
		return runs_bad(t, off, "neither a group nor a piece of a run"), 0;
	if (got == sizeof(h) && ws_get_ghead(h, &g))
		return runs_bad(t, off, ws_get_ghead(h, &g)), 0;
	return runs_first(t, src, off, got == sizeof(h) ? g.g.size : sizeof(h));
}

int
ws_runs_single(struct src *src, uint64_t first)
{
	uint8_t m[WS_MARK], h[4];
	uint64_t off;

	if (src->seeks && src_read(src, first, h, 4) == 4 && !memcmp(h, ws_magic_pages, 4))
		return 0;
	if (!src->seeks || src->size < first + 16 + WS_MARK)
		return !src->seeks;
	if (src_read(src, src->size - WS_MARK, m, WS_MARK) < WS_MARK || memcmp(m + 8, ws_magic_end, 8))
		return 0;
	off = get_le64(m);
	return off >= first && off <= src->size - 16 - WS_MARK && src_read(src, off, h, 4) == 4 &&
	    !memcmp(h, ws_magic_index, 4);
}

/* Goes through a file that may have several runs. */
static void
runs_walk(struct ws_runs *t, struct src *src, uint64_t first)
{
	uint64_t off = first, n;

	if (part_add(t, 0, 0, first) != 0)
		return;
	do {
		n = runs_next(t, src, off);
		off += n;
	} while (n && !t->complete && !(t->indexed && !t->listed && off == src->size));
	if (t->complete && off != src->size)
		runs_bad(t, off, "bytes after the end of the list of runs");
}

/* The length of the header of the file, if it may be a capture; else 0. */
static uint64_t
runs_header(struct src *src)
{
	uint8_t h[WS_HEAD];

	if (src_read(src, 0, h, WS_HEAD) < WS_HEAD || !ws_is_capture(h, WS_HEAD) ||
	    get_le32(h + 12) > WS_BODY_MAX || WS_HEAD + (uint64_t)get_le32(h + 12) > src->size)
		return 0;
	return WS_HEAD + (uint64_t)get_le32(h + 12);
}

static void
runs_free(struct ws_runs *t)
{
	for (size_t i = 0; t && i < t->n; i++)
		free(t->part[i].piece);
	if (t) {
		ws_pages_free(&t->pages);
		ws_kept_free(&t->kept);
		free(t->run);
		free(t->part);
	}
	free(t);
}

/* Those of the file that was used last, if it is this one as it was; nobody else has them. */
static struct ws_runs *
runs_take(const struct stat *file)
{
	struct ws_runs *t = file->st_nlink ? atomic_exchange(&runs_last, NULL) : NULL;

	if (t && t->file.st_dev == file->st_dev && t->file.st_ino == file->st_ino && t->file.st_size == file->st_size &&
	    t->file.st_mtim.tv_sec == file->st_mtim.tv_sec && t->file.st_mtim.tv_nsec == file->st_mtim.tv_nsec &&
	    t->file.st_ctim.tv_sec == file->st_ctim.tv_sec && t->file.st_ctim.tv_nsec == file->st_ctim.tv_nsec)
		return t;
	runs_free(t);
	return NULL;
}

struct ws_runs *
ws_runs_scan(struct src *src, struct fault *f)
{
	struct stat file = {.st_nlink = 0};
	struct ws_runs *t = !src->mem && src->seeks && !fstat(src->fd, &file) ? runs_take(&file) : NULL;
	struct ws_run run = {.end = WS_UNKNOWN};
	uint64_t first;

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	first = src->seeks ? runs_header(src) : 0;
	if (!t || run_add(t, &run) != 0) {
		fault_set(f, 0, UINT64_MAX, "out of memory");
		ws_runs_free(t);
		return NULL;
	}
	if (first && !ws_runs_single(src, first))
		runs_walk(t, src, first);
	if (!src->error)
		t->file = file;
	if (t->listed || t->pages.n || t->kept.seen)
		return t;
	/* one run: its reader finds what is wrong with it */
	t->part[0].n = 0;
	t->part[0].bytes = src->size;
	t->fault.err[0] = '\0';
	return t;
}

static struct ws_runs *
runs_read(struct src *src, int *whole, struct fault *f)
{
	struct ws_runs *t = ws_runs_scan(src, f);

	if (t) {
		*whole = !t->fault.err[0];
		*f = t->fault;
	}
	return t;
}

struct ws_runs *
ws_runs_read(int fd, int *whole, struct fault *f)
{
	struct src src;
	int e = src_fd(&src, fd);

	if (!e)
		return runs_read(&src, whole, f);
	fault_set(f, 0, UINT64_MAX, "%s", strerror(e));
	return NULL;
}

struct ws_runs *
ws_runs_read_mem(const void *p, size_t n, int *whole, struct fault *f)
{
	struct src src;

	src_mem(&src, p, n);
	return runs_read(&src, whole, f);
}

void
ws_runs_free(struct ws_runs *t)
{
	if (t && t->listed && t->file.st_nlink)
		t = atomic_exchange(&runs_last, t);
	runs_free(t);
}

size_t
ws_runs_count(const struct ws_runs *t)
{
	return t->n;
}

const struct ws_run *
ws_runs_get(const struct ws_runs *t, size_t n)
{
	return &t->run[n - 1];
}

uint64_t
ws_runs_bytes(const struct ws_runs *t, size_t n)
{
	return t->part[n - 1].bytes;
}

const struct ws_part *
ws_runs_part(const struct ws_runs *t, size_t n)
{
	return &t->part[n - 1];
}

const struct fault *
ws_runs_fault(const struct ws_runs *t)
{
	return t->fault.err[0] ? &t->fault : NULL;
}

struct ws_pages *
ws_runs_pages(const struct ws_runs *t)
{
	return (struct ws_pages *)(uintptr_t)&t->pages;
}

const struct ws_kept_list *
ws_runs_kept(const struct ws_runs *t)
{
	return &t->kept;
}

size_t
ws_runs_main(const struct ws_runs *t)
{
	size_t n = 1;

	for (size_t i = 1; i < t->n; i++)
		if (t->run[i].began == WS_EXEC && t->run[i].parent == n)
			n = i + 1;
	return n;
}

int
ws_run_copy(int fd, size_t n, ws_write_fn *write, void *arg, struct fault *f)
{
	uint8_t b[1 << 16];
	struct src src;
	struct ws_runs *t;
	uint64_t off = 0;
	size_t k;
	int e = src_fd(&src, fd);

	t = e ? NULL : ws_runs_scan(&src, f);
	if (t && !n)
		n = ws_runs_main(t);
	if (t && t->pages.n) {
		ws_runs_free(t);
		return ws_run_copy_records(fd, n, NULL, write, arg, f);
	}
	if (t && n <= t->n && (t->n > 1 || t->part[n - 1].n))
		src_pieces(&src, t->part[n - 1].piece, t->part[n - 1].n);
	while (t && !e && (k = src_read(&src, off, b, sizeof(b))) > 0) {
		e = write(arg, b, k);
		off += k;
	}
	if (!e)
		e = src.error;
	if (e)
		fault_set(f, UINT64_MAX, UINT64_MAX, "%s", strerror(e));
	ws_runs_free(t);
	return t && !e ? 0 : -1;
}
