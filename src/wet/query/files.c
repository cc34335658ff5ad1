/* Questions about .wet files: which kind it is, names, what can go wrong. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/temp.h"
#include "wet/query/full_internal.h"

int
query_store_bad(struct query *q, const struct fault *f)
{
	query_bad(q, "%s", f->err);
	q->fault.off = f->off;
	q->fault.rec = f->rec;
	return -1;
}

/* A word without its backslashes; in place */
static void
plain(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else
			*to++ = *s;
	}
	*to = '\0';
}

int
qnames_make(struct qnames *t, const struct store_code *c)
{
	if ((t->s = calloc(c->nstring + 1, sizeof *t->s)) == NULL)
		return -1;
	for (t->n = 0; t->n < c->nstring; t->n++) {
		if (strcmp(c->string[t->n], "?") == 0)
			continue;
		if ((t->s[t->n] = strdup(c->string[t->n])) == NULL)
			return -1;
		plain(t->s[t->n]);
	}
	return 0;
}

void
qnames_free(struct qnames *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->s[i]);
	free(t->s);
	*t = (struct qnames){ 0 };
}

void
qnames_find(const struct qnames *t, const struct store_stmt *s, const char **file, const char **func, int *line)
{
	*file = t->s[s->file];
	*func = t->s[s->func];
	*line = s->line <= INT32_MAX ? (int)s->line : 0;
}

void
query_store_close(struct query *q, struct wetfile *w, uint64_t nbit)
{
	if (nbit)
		munmap(q->member, (nbit / 64 + 2) * sizeof *q->member);
	if (w->section) {
		close(w->fd);
		wetfile_close(w);
	}
}

void
query_store_stmts(struct query *q, const struct store_code *c, uint32_t *id)
{
	for (size_t s = 0; s < c->nstmt; s++)
		q->stmt[s] = (struct query_stmt){ .pc = c->stmt[s].addr, .port.nval = c->stmt[s].nval, .port.nuse = (uint16_t)c->stmt[s].nuse,
			.port.nmem = (uint16_t)c->stmt[s].nmem };
	for (size_t i = 0; i < c->nseq; i++)
		id[i] = c->seq[i] + 1;
	q->nstmt = c->nstmt;
}

int
query_store_members(struct query *q, uint64_t instances, uint64_t *nbit)
{
	uint64_t n = (instances / 64 + 2) * sizeof *q->member;

	if (!*nbit) {
		void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			return query_nomem(q);
		q->member = p;
		*nbit = instances;
	} else
		(void)madvise(q->member, n, MADV_DONTNEED);
	return 0;
}

int
query_store_any(const struct query *q, uint64_t at, uint64_t end)
{
	for (; at < end && at % 64; at++)
		if (query_is_member(q, at))
			return 1;
	for (; at + 64 <= end; at += 64)
		if (q->member[at / 64])
			return 1;
	for (; at < end; at++)
		if (query_is_member(q, at))
			return 1;
	return 0;
}

uint32_t
query_store_whose(const struct query *q, const uint64_t *first, uint64_t number)
{
	size_t lo = 0, hi = q->nstmt;

	/* the last that begins there: those before it are never executed, and have no instances */
	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (first[mid] <= number)
			lo = mid;
		else
			hi = mid;
	}
	return (uint32_t)lo + 1;
}

struct once { query_insn_fn *fn; void *arg; int found; };

static int
found(void *arg, const struct query_insn *e)
{
	struct once *t = arg;

	t->found = 1;
	t->fn(t->arg, e);
	return 1;
}

int
query_store_insn_at(struct query *q, uint32_t id, uint64_t instance, unsigned want, query_insn_fn *fn, void *arg)
{
	struct once t = { fn, arg, 0 };

	return q->ops->insns(q, id, instance, instance, want, found, &t) != 0 ? -1 : t.found;
}

int
query_temporary(struct query *q)
{
	int fd = temp_nameless("query");

	return fd < 0 ? query_bad(q, "temporary file: %s", strerror(errno)) : fd;
}

int
query_store_open(struct query *q, int fd)
{
	struct wetfile w;
	struct fault f;
	int e;

	if (wetfile_open(&w, fd, &f) != 0) {
		close(fd);
		return query_store_bad(q, &f);
	}
	q->early = w.early;
	switch (w.kind) {
	case WETFILE_REPLAY: e = query_replay_open(q, &w); break;
	case WETFILE_TEXT: e = query_text_open(q, &w); break;
	case WETFILE_FULL: case WETFILE_LOADS: e = query_full_open(q, &w); break;
	default: e = query_paper_open(q, &w);
	}
	if (e) {
		wetfile_close(&w);
		close(fd);
	}
	return e;
}
