/* wetq: prints source files, each line with its instances in a slice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "convert/wetq/wetq.h"

/* A line of a source file that has statements. */
struct line {
	const char *file;
	uint64_t in;                    /* instances in the slice */
	uint32_t id;                    /* the id of one of them */
	int line;
};

static int
by_line(const void *a, const void *b)
{
	const struct line *p = a, *q = b;
	int e = strcmp(p->file, q->file);

	return e ? e : p->line < q->line ? -1 : p->line > q->line;
}

/* Prints a line, with its text if that is available, if *left allows one more. */
static void
annotate_put(struct job *j, uint64_t *left, const struct line *l, int number, const char *text, size_t n)
{
	if (!*left)
		return;
	--*left;
	if (!l)
		out_str(j->out, "         -");
	else
		out_printf(j->out, "%10llu", (unsigned long long)l->in);
	out_printf(j->out, ":%6d:", number);
	put_text(j, text, n);
	out_str(j->out, "\n");
}

/*
 * Prints the n lines of the file l->file; with its other lines, if the file is available.  0: it is not, and
 * nothing is printed, because it is one of a library of the system (exe_short_line), whose sources few have.
 */
static int
annotate_file(struct job *j, uint64_t *left, const struct line *l, size_t n)
{
	FILE *f = texts_open(j, l->file, l->id);
	char *text = NULL;
	size_t room = 0, k = 0;
	ssize_t len;

	if (!f && strncmp(l->file, "./", 2) == 0)
		return 0;
	if (*left) {
		put_str(j, l->file);
		out_str(j->out, "\n");
		--*left;
	}
	for (int number = 1; f && *left && (len = getline(&text, &room, f)) >= 0; number++) {
		int has = k < n && l[k].line == number;

		annotate_put(j, left, has ? &l[k] : NULL, number, text,
		    (size_t)len - (len > 0 && text[len - 1] == '\n'));
		k += (size_t)has;
	}
	for (; k < n; k++)
		annotate_put(j, left, &l[k], l[k].line, "", 0);
	if (f)
		fclose(f);
	free(text);
	return 1;
}

/* The same as JSON, without the lines that have no statement: an element of the list of files. */
static int
annotate_json(struct job *j, uint64_t *left, const struct line *l, size_t n, struct fields *files)
{
	struct texts *t;
	struct json *o = &files->o;

	if (strncmp(l->file, "./", 2) == 0) {
		FILE *f = texts_open(j, l->file, l->id);

		if (!f)
			return 0;
		fclose(f);
	}
	t = texts_new(j);
	fields_begin(files, j, "files", 0);
	json_object(o, NULL);
	json_string(o, "file", l->file);
	json_array(o, "lines");
	for (size_t k = 0; k < n && *left; k++, --*left) {
		size_t len = 0;
		const char *s = texts_line_of(t, l[k].id, l[k].line, &len);

		json_object(o, NULL);
		json_u64(o, "line", (uint64_t)l[k].line);
		json_u64(o, "instances", l[k].in);
		fields_source(o, s, len);
		json_end(o);
	}
	json_end(o);
	json_end(o);
	texts_free(t);
	return 1;
}

/* Lines of all statements, with those of the same line added up; returns their number. */
static size_t
annotate_lines(struct job *j, const uint64_t *count, struct line **l)
{
	size_t n = 0, cap = 0, k = 0;

	for (uint32_t id = 1; id <= query_nstmt(j->q); id++) {
		struct line one = { .in = count[id - 1], .id = id };
		const char *func;

		query_source(j->q, id, &one.file, &func, &one.line);
		if (!one.file)
			continue;
		*l = mem_xgrow(*l, &cap, n + 1, sizeof **l);
		(*l)[n++] = one;
	}
	if (n)
		qsort(*l, n, sizeof **l, by_line);
	for (size_t i = 0; i < n; i++)
		if (k && by_line(&(*l)[k - 1], &(*l)[i]) == 0)
			(*l)[k - 1].in += (*l)[i].in;
		else
			(*l)[k++] = (*l)[i];
	return k;
}

int
job_annotate(struct job *j, const char *point)
{
	struct query_slice s = { .flags = j->flags };
	struct line *l = NULL;
	struct fields f = { .begun = 0 };
	uint64_t left = j->most;
	size_t n, end, put = 0;
	int known = 0;

	if (job_point(j, point, 1, &s.n) != 0)
		return -1;
	s.count = xcalloc(query_nstmt(j->q) + 1u, sizeof *s.count);
	if (query_slice(j->q, &s) != 0) {
		free(s.count);
		return job_bad(j);
	}
	n = annotate_lines(j, s.count, &l);
	for (size_t i = 0; i < n; i = end) {
		uint64_t in = 0;

		for (end = i; end < n && strcmp(l[end].file, l[i].file) == 0; end++)
			in += l[end].in;
		known |= strncmp(l[i].file, "./", 2) != 0;
		if (in)
			put += (size_t)(j->json ? annotate_json(j, &left, l + i, end - i, &f) :
			    annotate_file(j, &left, l + i, end - i));
	}
	fields_end(&f, j, "files", 0, 0);
	if (job_warn_sources(j) == 0 && !put)
		warn("%s: %s", j->path, known ? "no statement of the slice has a line of a source file" :
		    "no line of a source file is known: was the program compiled with -g?");
	free(l);
	free(s.count);
	return 0;
}
