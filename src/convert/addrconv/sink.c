/*
 * addrconv: the output of references. An array's header has the number of its elements, and a record of
 * oracleGeneral has the number of the next one of its line, which both are known only in the end: the header of a
 * regular file is written again then; else, everything goes through a temporary file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/spool.h"
#include "convert/addrconv/addrconv.h"

#define BLOCK (1u << 13)        /* records of a temporary file that are in memory */

/* The offset at which the output begins, if what is written there can be written again; else -1. */
static int64_t
sink_offset(const struct out *o)
{
	struct stat st;
	int fd = out_fd(o), flags = fcntl(fd, F_GETFL);

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || flags < 0 || flags & O_APPEND)
		return -1;
	return lseek(fd, 0, SEEK_CUR);
}

void
sink_open(struct conv *c)
{
	enum trace_format f = c->to->trace;

	c->out = out_open(c->words.outname);
	c->spool = c->patch = -1;
	if (f == TRACE_ANY)
		return;
	if (trace_info[f].binary)
		out_binary(c->out, trace_info[f].binary);
	c->room = OUT_ROOM / trace_info[f].most;
	if (f == TRACE_NPY)
		c->patch = sink_offset(c->out);
	if (f == TRACE_ORACLE || (f == TRACE_NPY && c->patch < 0))
		c->spool = spool_open();
}

static void
sink_begin(struct conv *c)
{
	if (!c->begun && c->spool < 0)
		out_commit(c->out, trace_put_head(c->to->trace, out_reserve(c->out, OUT_ROOM)));
	c->begun = 1;
}

void
sink_put(struct conv *c, const uint64_t *w, size_t n)
{
	size_t k, bytes;
	uint8_t *p;

	sink_begin(c);
	for (; n; w += k, n -= k) {
		k = n < c->room ? n : c->room;
		p = out_reserve(c->out, OUT_ROOM);
		bytes = trace_put(&c->writer, c->to->trace, p, w, k);
		c->nbyte += bytes;
		if (c->spool >= 0)
			spool_write(c->spool, p, bytes);
		else
			out_commit(c->out, bytes);
	}
}

/* Reads or writes all n bytes at off of the temporary file. */
static void
sink_spool_at(struct conv *c, uint8_t *p, size_t n, uint64_t off, int write)
{
	for (size_t at = 0; at < n;) {
		ssize_t k = write ? pwrite(c->spool, p + at, n - at, (off_t)(off + at)) :
		    pread(c->spool, p + at, n - at, (off_t)(off + at));

		if (k == 0 || (k < 0 && errno != EINTR))
			die_sys("temporary file");
		at += k < 0 ? 0 : (size_t)k;
	}
}

/* The numbers of lines, and the record that each was in last, from the end. */
struct lines {
	struct hash hash;
	struct line { uint64_t number, at; } *v;        /* owned */
	size_t n, cap;
};

/* The record of the line after this one, which takes its place. */
static uint64_t
sink_next(struct lines *l, uint64_t number, uint64_t at)
{
	uint32_t h = hash_number(number), from = h, i;
	uint64_t next;

	while ((i = hash_find(&l->hash, h, &from)) != HASH_NONE && l->v[i].number != number)
		;
	if (i != HASH_NONE) {
		next = l->v[i].at;
		l->v[i].at = at;
		return next;
	}
	l->v = mem_xgrow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	l->v[l->n].number = number;
	l->v[l->n].at = at;
	hash_xadd(&l->hash, h, (uint32_t)l->n++);
	return TRACE_NEVER;
}

/* Goes through oracleGeneral's records from the last to the first, and says in each which is the next. */
static void
sink_link(struct conv *c)
{
	uint64_t n = c->nbyte / TRACE_RECORD, from;
	uint8_t *p = xmalloc(BLOCK * TRACE_RECORD);
	struct lines l = { .n = 0 };

	for (; n; n = from) {
		from = n > BLOCK ? n - BLOCK : 0;
		sink_spool_at(c, p, (size_t)(n - from) * TRACE_RECORD, from * TRACE_RECORD, 0);
		for (uint64_t i = n; i-- > from;) {
			uint8_t *r = p + (i - from) * TRACE_RECORD;

			put_le64(r + 16, sink_next(&l, get_le64(r + 4), i));
		}
		sink_spool_at(c, p, (size_t)(n - from) * TRACE_RECORD, from * TRACE_RECORD, 1);
	}
	free(p);
	free(l.v);
	hash_free(&l.hash);
}

static void
sink_copy(struct conv *c)
{
	for (uint64_t off = 0, k; off < c->nbyte; off += k) {
		k = c->nbyte - off < OUT_ROOM ? c->nbyte - off : OUT_ROOM;
		sink_spool_at(c, out_reserve(c->out, (size_t)k), (size_t)k, off, 0);
		out_commit(c->out, (size_t)k);
	}
}

/* What is known only in the end. */
static void
sink_finish(struct conv *c)
{
	uint8_t head[TRACE_NPY_HEADER];

	if (c->to->trace == TRACE_NPY) {
		trace_put_npy_header(head, c->nbyte / TRACE_NPY_ITEM);
		if (c->spool >= 0)
			out_write(c->out, head, sizeof head);
		else {
			out_flush(c->out);
			if (pwrite(out_fd(c->out), head, sizeof head, c->patch) != sizeof head)
				die_sys("%s", out_name(c->out));
		}
	}
	if (c->to->trace == TRACE_ORACLE)
		sink_link(c);
	if (c->spool >= 0)
		sink_copy(c);
}

void
sink_end(struct conv *c, int bad)
{
	if (!bad) {
		sink_begin(c);
		out_commit(c->out, trace_put_tail(c->to->trace, out_reserve(c->out, OUT_ROOM)));
	}
	if (c->begun)
		sink_finish(c);
}
