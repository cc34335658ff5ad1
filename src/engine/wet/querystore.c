/* Questions about .wet files: which kind it is, names, what can go wrong. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/wet/querystore.h"

int
query_store_bad(struct query *q, const struct wetfile_fault *f)
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

int
query_temporary(struct query *q)
{
	const char *dir = getenv("TMPDIR");
	char name[4096];
	int fd;

	if (snprintf(name, sizeof name, "%s/query.XXXXXX", dir && *dir ? dir : "/tmp") >= (int)sizeof name)
		return query_bad(q, "TMPDIR is too long");
	if ((fd = mkstemp(name)) < 0)
		return query_bad(q, "temporary file: %s", strerror(errno));
	unlink(name);
	return fd;
}

int
query_store_open(struct query *q, int fd)
{
	struct wetfile w;
	struct wetfile_fault f;
	int e;

	if (wetfile_open(&w, fd, &f) != 0) {
		close(fd);
		return query_store_bad(q, &f);
	}
	switch (w.kind) {
	case WETFILE_REPLAY: e = query_replay_open(q, &w); break;
	case WETFILE_TEXT: e = query_text_open(q, &w); break;
	case WETFILE_FULL: case WETFILE_LOADS: e = query_full_open(q, &w); break;
	default: e = query_bad(q, "a .wet file of kind paper: not for questions");
	}
	if (e) {
		wetfile_close(&w);
		close(fd);
	}
	return e;
}
