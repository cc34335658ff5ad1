/* Queries of a run: what all backends have in common. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/search.h"
#include "wet/query/query_internal.h"

int
query_fail(struct query *q, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	q->fault = (struct fault){ .off = UINT64_MAX, .rec = UINT64_MAX };
	vsnprintf(q->fault.err, sizeof q->fault.err, fmt, ap);
	va_end(ap);
	return -1;
}

#define LARGE ((size_t)64 << 20)        /* up to so many bytes, pages cost more time than memory */

/* The memory is not reserved before it is touched, because most slices have few of the instances. */
int
query_clear_slice(struct query *q, uint64_t n)
{
	size_t size = (n / 64 + 2) * sizeof *q->in_slice;
	void *p;

	if (q->slice_bytes) {
		(void)madvise(q->in_slice, size, MADV_DONTNEED);
		return 0;
	}
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -1;
	if (size <= LARGE)
		(void)madvise(p, size, MADV_HUGEPAGE);
	q->in_slice = p;
	q->slice_bytes = size;
	return 0;
}

/* Do these bytes look like the beginning of a text, wettext(5): a line with a number? */
static int
query_is_text(const uint8_t *p, size_t n)
{
	size_t k = 0;

	while (k < n && p[k] >= '0' && p[k] <= '9')
		k++;
	return k && (k == n || p[k] == '\n' || p[k] == '\r' || p[k] == ' ');
}

/* Opens a .wet file; everything else is taken for a capture. */
static int
open_it(struct query *q)
{
	uint8_t head[8];
	int fd = helper_keep_open(q->file);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);

	if (n > 0 && query_is_text(head, (size_t)n)) {
		close(fd);
		return query_fail(q,
		    "not a capture: if it is text of an execution trace, compress it with wetz first");
	}
	if (n < 0 || !wetfile_is(head, (size_t)n)) {
		if (fd >= 0)
			close(fd);
		return query_open_capture(q);   /* reports what is wrong with the file */
	}
	return query_open_wet(q, fd);
}

struct query *
query_open(const char *path, struct fault *f)
{
	struct query *q = calloc(1, sizeof *q);

	*f = (struct fault){ .off = UINT64_MAX, .rec = UINT64_MAX };
	if (q && (q->file = strdup(path))) {
		if (open_it(q) == 0)
			return q;
		*f = q->fault;
	}
	fault_nomem(f);
	query_close(q);
	return NULL;
}

void
query_close(struct query *q)
{
	if (!q)
		return;
	if (q->ops)
		q->ops->close(q);
	if (q->slice_bytes)
		munmap(q->in_slice, q->slice_bytes);
	free(q->stmt);
	free(q->names);
	free(q->file);
	free(q);
}

void
query_set_window(struct query *q, uint64_t n)
{
	if (q->ops->set_window)
		q->ops->set_window(q, n);
}

const struct fault *
query_fault(const struct query *q)
{
	static const struct fault nomem = { .off = UINT64_MAX, .rec = UINT64_MAX, .err = "no memory" };

	return q->fault.err[0] ? &q->fault : &nomem;
}

const struct ws_early *
query_early(struct query *q)
{
	const struct ws_early *e = !q->early.is && q->ops->early ? q->ops->early(q) : NULL;

	if (e)
		q->early = *e;
	return q->early.is ? &q->early : NULL;
}

uint32_t
query_nstmt(const struct query *q)
{
	return (uint32_t)q->nstmt;
}

const struct query_stmt *
query_stmt(const struct query *q, uint32_t id)
{
	return &q->stmt[id - 1];
}

uint64_t
query_stmt_name(const struct query *q, uint32_t id)
{
	return q->names ? q->names[id - 1] : id;
}

uint32_t
query_find_stmt(const struct query *q, uint64_t name)
{
	size_t i;

	if (!q->names)
		return name <= UINT32_MAX ? (uint32_t)name : 0;
	LOWER_BOUND(i, q->nstmt, q->names[i] < name);
	return i < q->nstmt && q->names[i] == name ? (uint32_t)i + 1 : 0;
}

uint64_t
query_length(const struct query *q)
{
	return q->length;
}

/* A new question: what went wrong with the last one is forgotten, and how far that was */
static const struct query_ops *
query_ask(struct query *q)
{
	q->fault.err[0] = '\0';
	progress_stage(NULL);
	return q->ops;
}

int
query_survey(struct query *q, int slices)
{
	return query_ask(q)->survey(q, slices);
}

int
query_has_stmt(struct query *q, uint32_t id)
{
	return query_ask(q)->has_stmt(q, id);
}

void
query_source(struct query *q, uint32_t id, const char **file, const char **func, int *line)
{
	q->ops->source(q, id, file, func, line);
}

int
query_may_have_source(struct query *q, uint32_t id, const char *name)
{
	return q->ops->may_have_source ? q->ops->may_have_source(q, id, name) : 1;
}

const char *
query_source_warning(struct query *q)
{
	return q->ops->source_warning ? q->ops->source_warning(q) : NULL;
}

struct timespec
query_source_mtime(struct query *q, uint32_t id)
{
	return q->ops->source_mtime ? q->ops->source_mtime(q, id) : (struct timespec){ 0 };
}

int
query_position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n)
{
	return query_ask(q)->position(q, id, instance, n);
}

int
query_flow(struct query *q, uint64_t from, uint64_t count, int backward, query_path_fn *fn, void *arg)
{
	return query_ask(q)->flow(q, from, count, backward, fn, arg);
}

int
query_insns(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned fields, query_insn_fn *fn,
    void *arg)
{
	return query_ask(q)->insns(q, id, from, to, fields, fn, arg);
}

int
query_insn_at(struct query *q, uint32_t id, uint64_t instance, unsigned fields, query_insn_fn *fn, void *arg)
{
	return query_ask(q)->insn_at(q, id, instance, fields, fn, arg);
}

int
query_slice(struct query *q, struct query_slice *s)
{
	return query_ask(q)->slice(q, s);
}

static int
query_captures_only(struct query *q, const char *what)
{
	return query_fail(q, "only captures and files of kind replay tell %s", what);
}

int
query_writer(struct query *q, uint64_t n, uint64_t addr, uint64_t len, struct query_edge *e)
{
	const struct query_ops *ops = query_ask(q);

	return ops->writer ? ops->writer(q, n, addr, len, e) :
	    query_captures_only(q, "who wrote an address");
}

int
query_output(struct query *q, int fd, uint64_t byte, uint64_t *n, uint64_t *addr)
{
	const struct query_ops *ops = query_ask(q);

	return ops->output ? ops->output(q, fd, byte, n, addr) : query_captures_only(q, "what was written");
}

int
query_variable(struct query *q, const char *name, struct wsource_at *at, uint64_t *addr, uint64_t *size)
{
	const struct query_ops *ops = query_ask(q);

	return ops->variable ? ops->variable(q, name, at, addr, size) :
	    query_captures_only(q, "where a variable is");
}

int
query_address(struct query *q, const char *module, uint64_t addr, size_t *at, uint64_t *pc)
{
	const struct query_ops *ops = query_ask(q);

	return ops->address ? ops->address(q, module, addr, at, pc) :
	    query_captures_only(q, "where a file was mapped");
}

int
query_states(struct query *q, const uint64_t *n, size_t count, query_state_fn *fn, void *arg)
{
	const struct query_ops *ops = query_ask(q);

	return ops->states ? ops->states(q, n, count, fn, arg) : query_captures_only(q, "registers and memory");
}

int
query_state(struct query *q, uint64_t n, query_state_fn *fn, void *arg)
{
	return query_states(q, &n, 1, fn, arg);
}

int
query_has_state(const struct query *q)
{
	return q->ops->states != NULL;
}

int
query_whynot(struct query *q, const uint64_t *pc, size_t n, struct query_branch *b, size_t most)
{
	const struct query_ops *ops = query_ask(q);

	return ops->whynot ? ops->whynot(q, pc, n, b, most) : query_captures_only(q, "what was not executed");
}

int
query_line(struct query *q, const char *name, int line, query_line_fn *fn, void *arg)
{
	const struct query_ops *ops = query_ask(q);

	return ops->line ? ops->line(q, name, line, fn, arg) : query_captures_only(q, "what was not executed");
}

int
query_place(struct query *q, uint64_t pc, struct debug_frame *f)
{
	return q->ops->place ? q->ops->place(q, pc, f) : -1;
}

int
query_killed(struct query *q)
{
	const struct query_ops *ops = query_ask(q);

	return ops->killed ? ops->killed(q) : query_captures_only(q, "how the program ended");
}

int
query_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg)
{
	return query_ask(q)->deps(q, s, fn, arg);
}
