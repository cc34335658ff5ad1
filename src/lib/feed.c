/* The reading process of a handle: recognizes the file, and gives all that it holds. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/diag.h"
#include "base/src.h"
#include "codec/stream/stream.h"
#include "format/ref/ref.h"
#include "format/wetfile/wetfile.h"
#include "lib/lib_internal.h"
#include "refs/refs.h"
#include "wet/query/query.h"

struct feed {
	const struct feed_plan *plan;
	struct feed_slot *slots;
	int fd;
	unsigned at, empty;             /* the slot that is filled; empty ones, that included */
	int headed;                     /* the first message was sent */
	struct query *q;
};

/* Hands over the current slot and waits for an empty one. Without a reader this process ends. */
static void
feed_send(struct feed *f, enum feed_kind kind)
{
	char token = 0;
	ssize_t got;

	f->slots[f->at].kind = kind;
	while ((got = write(f->fd, &token, 1)) < 0 && errno == EINTR)
		;
	if (got != 1)
		confine_exit();
	f->at = (f->at + 1) % FEED_SLOTS;
	if (--f->empty == 0) {
		while ((got = read(f->fd, &token, 1)) < 0 && errno == EINTR)
			;
		if (got != 1)
			confine_exit();
		f->empty++;
	}
	f->slots[f->at].n = 0;
}

static void
feed_flush(struct feed *f, enum feed_kind kind)
{
	if (f->slots[f->at].n)
		feed_send(f, kind);
}

static void
feed_words(struct feed *f, const uint64_t *w, size_t n)
{
	while (n) {
		struct feed_slot *s = &f->slots[f->at];
		size_t k = n < FEED_WORDS - s->n ? n : FEED_WORDS - s->n;

		memcpy(s->word + s->n, w, k * sizeof *w);
		s->n += (uint32_t)k;
		w += k;
		n -= k;
		if (s->n == FEED_WORDS)
			feed_send(f, FEED_DATA);
	}
}

static void
feed_text(struct feed *f, enum feed_kind kind, const char *text)
{
	struct feed_slot *s = &f->slots[f->at];
	size_t n = strlen(text) + 1;

	if (n > 2048)
		n = 2048;
	memcpy(s->word, text, n);
	((char *)s->word)[n - 1] = '\0';
	s->n = (uint32_t)((n + 7) / 8);
	feed_send(f, kind);
}

static void
feed_fault(struct feed *f, const char *path, const struct fault *fault)
{
	char text[2048];

	if (fault->line)
		snprintf(text, sizeof text, "%s: line %" PRIu64 ": %s", path, fault->line, fault->err);
	else if (fault->off == DIAG_NOOFF)
		snprintf(text, sizeof text, "%s: %s", path, fault->err);
	else if (fault->rec == DIAG_NOREC)
		snprintf(text, sizeof text, "%s: byte %" PRIu64 ": %s", path, fault->off, fault->err);
	else
		snprintf(text, sizeof text, "%s: byte %" PRIu64 " (record %" PRIu64 "): %s", path, fault->off,
		    fault->rec, fault->err);
	feed_text(f, FEED_ERROR, text);
}

static void
feed_head(struct feed *f, enum tracemill_type type, unsigned fields, uint64_t length)
{
	struct feed_slot *s = &f->slots[f->at];

	s->word[0] = type;
	s->word[1] = fields;
	s->word[2] = length;
	s->n = 3;
	feed_send(f, FEED_HEAD);
	f->headed = 1;
}

static int
feed_refs_take(void *arg, const uint64_t *w, size_t n)
{
	struct feed *f = arg;

	if (!f->headed)
		feed_head(f, TRACEMILL_REFS, 1, TRACEMILL_UNKNOWN);
	feed_words(f, w, n);
	return 0;
}

static void
feed_refs(struct feed *f)
{
	const struct refs_source q = {
		.path = f->plan->path, .events = f->plan->events, .from = f->plan->from, .to = REFS_END
	};
	struct refs *s = refs_open(&q);
	struct fault fault;
	int got;

	got = refs_run(s, feed_refs_take, f, &fault);
	if (!f->headed && got != REFS_BAD)
		feed_head(f, TRACEMILL_REFS, 1, TRACEMILL_UNKNOWN);
	feed_flush(f, FEED_DATA);
	if (got == REFS_BAD)
		feed_fault(f, refs_path(s), &fault);
	else if (refs_warning(s)) {
		char text[2048];

		snprintf(text, sizeof text, "%s: %s", refs_path(s), refs_warning(s));
		feed_text(f, FEED_WARNING, text);
	}
}

/* The index of the record that is the fetch of instruction `from`; the length if there is none. */
static int
feed_skip_insns(struct vs_cursor *c, uint64_t from)
{
	uint64_t v[1024];
	long k;

	while (from != UINT64_MAX && (k = vs_next(c, v, sizeof v / sizeof *v)) > 0)
		for (long i = 0; i < k; i++)
			if (ref_kind(v[i]) == REF_INST && from-- == 0)
				return vs_seek(c, vs_tell(c) - (uint64_t)(k - i));
	return 0;
}

/* Gives k records. -1: one of them, which should be a reference, is none */
static int
feed_records(struct feed *f, struct vs_cursor *c, const uint64_t *v, size_t k, unsigned nfield, int ref)
{
	size_t good = ref ? ref_valid_words(v, k) : k;
	struct fault fault;

	feed_words(f, v, good * nfield);
	if (good == k)
		return 0;
	feed_flush(f, FEED_DATA);
	fault_set(&fault, DIAG_NOOFF, DIAG_NOREC, "record %" PRIu64 " is no reference", vs_tell(c) - (k - good));
	feed_fault(f, f->plan->path, &fault);
	return -1;
}

static void
feed_stream(struct feed *f, int fd)
{
	struct fault fault;
	struct vs_reader *r = vs_open(fd, &fault);
	struct vs_cursor *c = r ? vs_cursor(r, &fault) : NULL;
	unsigned nfield;
	uint64_t v[1024];
	int bad;
	long k;

	if (!c) {
		feed_fault(f, f->plan->path, &fault);
		return;
	}
	nfield = vs_info(r)->layout.nfield;
	if (vs_info(r)->layout.ref) {
		feed_head(f, TRACEMILL_REFS, 1, TRACEMILL_UNKNOWN);
		bad = f->plan->from ? feed_skip_insns(c, f->plan->from) : 0;
	} else {
		feed_head(f, TRACEMILL_RECORDS, nfield, vs_count(c));
		bad = vs_seek(c, f->plan->from < vs_count(c) ? f->plan->from : vs_count(c));
	}
	while (!bad && (k = vs_next(c, v, sizeof v / sizeof *v / nfield)) != 0)
		if ((bad = k < 0) == 0 &&
		    feed_records(f, c, v, (size_t)k, nfield, vs_info(r)->layout.ref) != 0)
			return;
	feed_flush(f, FEED_DATA);
	if (bad)
		feed_fault(f, f->plan->path, vs_cursor_fault(c));
	else if (!vs_index(r, &fault)->whole)
		feed_fault(f, f->plan->path, &vs_index(r, &fault)->fault);
}

static int
feed_path(void *arg, const struct query_path *p)
{
	struct feed *f = arg;

	for (uint32_t i = p->from; i < p->to; i++) {
		struct feed_slot *s = &f->slots[f->at];

		s->word[s->n++] = query_stmt_name(f->q, p->id[i]);
		s->word[s->n++] = query_stmt(f->q, p->id[i])->pc;
		if (s->n == FEED_WORDS)
			feed_send(f, FEED_FLOW);
	}
	return 0;
}

static int
feed_insn(void *arg, const struct query_insn *e)
{
	struct feed *f = arg;
	struct feed_slot *s = &f->slots[f->at];
	size_t nval = e->nval, nref = e->nref, n = INSN_HEAD + nval + nref;

	if (n > FEED_WORDS) {   /* a string instruction of very many iterations */
		feed_flush(f, FEED_INSNS);
		feed_fault(f, f->plan->path,
		    &(struct fault){ .off = DIAG_NOOFF, .err = "an instruction has too many references" });
		return 1;
	}
	if (s->n + n > FEED_WORDS) {
		feed_send(f, FEED_INSNS);
		s = &f->slots[f->at];
	}
	memcpy(s->word + s->n, (const uint64_t[]){ query_stmt_name(f->q, e->id), query_stmt(f->q, e->id)->pc,
	    e->instance, nval, nref }, INSN_HEAD * sizeof *s->word);
	if (nval)
		memcpy(s->word + s->n + INSN_HEAD, e->val, nval * sizeof *s->word);
	if (nref)
		memcpy(s->word + s->n + INSN_HEAD + nval, e->ref, nref * sizeof *s->word);
	s->n += (uint32_t)n;
	return 0;
}

static int
feed_run_insns(struct feed *f)
{
	uint32_t id = f->plan->statement, known;
	uint64_t from = f->plan->from;

	if (!id) {
		int bad = from < query_length(f->q) &&
		    query_flow(f->q, from + 1, query_length(f->q) - from, 0, feed_path, f) != 0;

		feed_flush(f, FEED_FLOW);
		return bad ? -1 : 0;
	}
	known = query_find_stmt(f->q, id);
	if (!known || known > query_nstmt(f->q)) {
		feed_fault(f, f->plan->path,
		    &(struct fault){ .off = DIAG_NOOFF, .err = "no statement has that number" });
		return 0;
	}
	if (query_insns(f->q, known, from, UINT64_MAX, QUERY_VALUES | QUERY_REFS, feed_insn, f) != 0)
		return -1;
	feed_flush(f, FEED_INSNS);
	return 0;
}

static void
feed_trace(struct feed *f)
{
	struct fault fault;
	const struct ws_early *early;
	char text[WS_EARLY_TEXT + 1024];

	f->q = query_open(f->plan->path, &fault);
	if (!f->q) {
		feed_fault(f, f->plan->path, &fault);
		return;
	}
	if (query_survey(f->q, 0) != 0) {
		feed_fault(f, f->plan->path, query_fault(f->q));
		return;
	}
	feed_head(f, TRACEMILL_INSNS, 1, query_length(f->q));
	if (feed_run_insns(f) != 0)
		feed_fault(f, f->plan->path, query_fault(f->q));
	else if ((early = query_early(f->q)) != NULL) {
		char reason[WS_EARLY_TEXT];

		snprintf(text, sizeof text, "%.1000s: %s", f->plan->path, ws_early_text(early, reason));
		feed_text(f, FEED_WARNING, text);
	}
}

void
feed_run(const struct feed_plan *plan, struct feed_slot *slots, int fd)
{
	struct feed f = { .plan = plan, .slots = slots, .fd = fd, .empty = FEED_SLOTS };
	uint8_t head[8];
	int in = src_is_stdin(plan->path) ? -1 : src_open(plan->path);
	ssize_t n = in < 0 ? 0 : pread(in, head, sizeof head, 0);

	diag_init("libtracemill", 1);
	slots[0].n = 0;
	if (n > 0 && wetfile_is(head, (size_t)n))
		feed_trace(&f);
	else if (n > 0 && vs_is_stream(head, (size_t)n))
		feed_stream(&f, in);
	else
		feed_refs(&f);
	feed_send(&f, FEED_END);
	confine_exit();
}
