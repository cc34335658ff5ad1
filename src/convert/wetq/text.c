/* wetq: lines of source files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/helper.h"
#include "base/mem.h"
#include "convert/wetq/wetq.h"

#define LONGEST ((size_t)1 << 26)       /* bytes of a source file that are read */

static int
text_later(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/*
 * Is the source available and unchanged? Warns if it is newer than the program or the captured
 * version of it.
 */
static void
text_check(struct job *j, FILE *f, const char *path, uint32_t id)
{
	struct timespec built = query_source_mtime(j->q, id);
	struct stat source, run;

	if (!f)
		warn("%s: %s: -I says where sources are", path, strerror(errno));
	else if (fstat(fileno(f), &source) != 0)
		;
	else if (built.tv_sec && text_later(source.st_mtim, built))
		warn("%s: has been changed since the program was compiled: "
		    "what it says here may not be what ran", path);
	else if (stat(j->file, &run) == 0 && S_ISREG(run.st_mode) &&
	    text_later(source.st_mtim, run.st_mtim))
		warn("%s: has been changed since the run: what it says here may not be what ran", path);
}

FILE *
texts_open(struct job *j, const char *file, uint32_t id)
{
	char *path = j->folder && file[0] != '/' ? xasprintf("%s/%s", j->folder, file) : xstrdup(file);
	int fd = helper_open(path, HELPER_TEXT);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (f || strncmp(file, "./", 2) != 0)
		text_check(j, f, path, id);
	free(path);
	return f;
}

/* A source file, as a whole */
struct text {
	const char *file;
	char *p;                        /* owned; NULL: it is not there */
	size_t *line;                   /* where each line begins, and the last one ends; owned */
	size_t n;                       /* lines */
};

struct texts { struct job *j; struct text *text; size_t n, cap; };

struct texts *
texts_new(struct job *j)
{
	struct texts *t = xcalloc(1, sizeof *t);

	t->j = j;
	return t;
}

void
texts_free(struct texts *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->text[i].p);
		free(t->text[i].line);
	}
	free(t->text);
	free(t);
}

static void
text_read(struct text *x, FILE *f)
{
	size_t cap = 0, n = 0, capline = 0, got;

	do {
		x->p = mem_xgrow(x->p, &cap, n + 4096, 1);
		got = fread(x->p + n, 1, 4096, f);
		n += got;
	} while (got && n < LONGEST);
	for (size_t i = 0; i <= n; i++)
		if (i == 0 || i == n || x->p[i - 1] == '\n') {
			x->line = mem_xgrow(x->line, &capline, x->n + 2, sizeof *x->line);
			x->line[x->n++] = i;
		}
	x->n--;
}

const char *
texts_line(struct texts *t, uint32_t id, size_t *n)
{
	return texts_line_of(t, id, job_place(t->j, id)->line, n);
}

const char *
texts_line_of(struct texts *t, uint32_t id, int line, size_t *n)
{
	const struct place *p = job_place(t->j, id);
	struct text *x;
	size_t i = 0;

	if (!p->file || line < 1)
		return NULL;
	while (i < t->n && strcmp(t->text[i].file, p->file) != 0)
		i++;
	if (i == t->n) {
		FILE *f = texts_open(t->j, p->file, id);

		t->text = mem_xgrow(t->text, &t->cap, t->n + 1, sizeof *t->text);
		t->text[t->n++] = (struct text){ .file = p->file };
		if (f) {
			text_read(&t->text[i], f);
			fclose(f);
		}
	}
	x = &t->text[i];
	if (!x->p || (size_t)line > x->n)
		return NULL;
	*n = x->line[line] - x->line[line - 1];
	while (*n && (x->p[x->line[line - 1] + *n - 1] == '\n' || x->p[x->line[line - 1] + *n - 1] ==
	    '\r'))
		--*n;
	return x->p + x->line[line - 1];
}
