/* Reads traces: whole lines from the buffer of the input. */
#include <string.h>

#include "base/diag.h"
#include "format/ref/ref.h"
#include "format/trace/trace_internal.h"

int
trace_fail(struct trace_reader *r, uint64_t off, const char *err)
{
	const char *e = in_error(r->in);

	fault_set(&r->fault, off, DIAG_NOREC, "%s", e ? e : err);
	r->failed = 1;
	return -1;
}

int
trace_open(struct trace_reader *r, struct in *in, enum trace_format format, unsigned size)
{
	memset(r, 0, sizeof *r);
	r->in = in;
	r->format = format;
	r->size = size ? size : TRACE_SIZE;
	r->pc = UINT64_MAX;
	return format == TRACE_NPY ? trace_npy_open(r) : format == TRACE_DRMEM ? trace_drmem_open(r) : 0;
}

/* What is between the fields of lines that trace_plain can read; 0: it reads none of this format. */
static uint8_t
trace_separator(const struct trace_reader *r)
{
	if (r->format == TRACE_TEXT)
		return ' ';
	return r->format == TRACE_CSV && r->ncolumn == TRACE_NCOLUMNS && r->column[0] == TRACE_KIND &&
	    r->column[1] == TRACE_ADDRESS && r->column[2] == TRACE_BYTES ? ',' : 0;
}

/* Reads the lines from p to end, as long as there is room; *used is the number of their bytes. */
static size_t
trace_lines(struct trace_reader *r, const uint8_t *p, const uint8_t *end, uint64_t *w, size_t max, size_t *used)
{
	trace_line_fn *fn = trace_line_of(r->format);
	const uint8_t *from = p, *next;
	uint64_t *at = w, *most = w + max - TRACE_MARGIN, line = r->line;
	uint8_t separator = trace_separator(r);

	for (; p < end && at <= most; p = next) {
		uint64_t *before = at;
		size_t n = separator ? trace_plain(&p, end, separator, at, (size_t)(most - at)) : 0;

		if (n) {
			at += n;
			line += n;
			next = p;
			continue;
		}

		line++;
		if (*p == '\n') {
			next = p + 1;
			continue;
		}
		next = fn(r, p, &at);
		if (!next) {
			at = before;
			break;
		}
	}
	r->line = line;
	*used = (size_t)(p - from);
	return (size_t)(at - w);
}

static int
trace_bad_line(struct trace_reader *r, const char *err)
{
	trace_fail(r, DIAG_NOOFF, err);
	r->fault.line = r->line;
	return -1;
}

/* The last line, without its newline. */
static long
trace_tail(struct trace_reader *r, const uint8_t *p, size_t n, uint64_t *w)
{
	uint8_t copy[TRACE_LINE + 1];
	size_t used, k = 0;

	if (in_error(r->in))
		return trace_fail(r, in_off(r->in) + n, NULL);
	if (!n)
		return 0;
	memcpy(copy, p, n);
	copy[n] = '\n';
	in_skip(r->in, n);
	k = trace_lines(r, copy, copy + n + 1, w, TRACE_MARGIN, &used);
	if (r->err)
		return trace_bad_line(r, r->err);
	return (long)k;
}

long
trace_read(struct trace_reader *r, uint64_t *w, size_t max)
{
	const uint8_t *p, *nl;
	size_t have, used, n, want = 1;
	long k;

	if (r->format == TRACE_NPY)
		return trace_npy_read(r, w, max);
	if (r->format == TRACE_DRMEM)
		return trace_drmem_read(r, w, max);
	while (!r->failed) {
		if (r->err)
			return trace_bad_line(r, r->err);
		p = in_peek(r->in, want, &have);
		nl = have ? memrchr(p, '\n', have) : NULL;
		if (!nl && have >= TRACE_LINE) {
			r->line++;
			return trace_bad_line(r, "a line that is too long");
		}
		if (!nl && have >= want) {
			want = have + 1;
			continue;
		}
		if (!nl) {
			k = trace_tail(r, p, have, w);
			r->nrec += k > 0 ? (uint64_t)k : 0;
			if (k || !have)
				return k;
			want = 1;
			continue;
		}
		n = trace_lines(r, p, nl + 1, w, max, &used);
		in_skip(r->in, used);
		want = 1;
		r->nrec += n;
		if (n)
			return (long)n;
	}
	return -1;
}
