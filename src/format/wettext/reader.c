/* Reader of wettext(5): a window of the input is parsed line by line; lists are returned in pieces. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/kind.h"
#include "format/wettext/wettext_internal.h"

struct wettext *
wettext_open(struct in *in, unsigned how)
{
	struct wettext *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->in = in;
	r->how = how;
	r->canonical = 1;
	r->nslot = 1024;
	r->stmt = calloc(r->nslot, sizeof *r->stmt);
	if (!r->stmt) {
		free(r);
		return NULL;
	}
	return r;
}

void
wettext_close(struct wettext *r)
{
	if (r)
		free(r->stmt);
	free(r);
}

uint64_t
wettext_count(const struct wettext *r)
{
	return r->nblock;
}

int
wettext_canonical(const struct wettext *r)
{
	return r->canonical;
}

const struct fault *
wettext_fault(const struct wettext *r)
{
	return &r->fault;
}

/* Brings a whole line, or all that is left, into the window; 0: the input has ended, -1: bad. */
static int
wettext_peek_line(struct wettext *r)
{
	size_t have;

	if (r->p < r->end &&
	    (r->whole || r->end - r->p >= (ptrdiff_t)WETTEXT_LINE ||
		memchr(r->p, '\n', (size_t)(r->end - r->p))))
		return 1;
	in_skip(r->in, (size_t)(r->p - r->start));
	r->start = r->p = in_peek(r->in, WETTEXT_LINE, &have);
	r->end = r->p + have;
	r->whole = have < WETTEXT_LINE;
	if (r->whole && in_error(r->in))
		return wettext_fail(r, r->line + 1, "%s", in_error(r->in));
	return have > 0;
}

static unsigned
wettext_digit(unsigned c)
{
	return c - '0';
}

static const uint8_t *
wettext_number(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t n;

	if (p == end || wettext_digit(*p) > 9)
		return NULL;
	n = wettext_digit(*p++);
	if (n == 0) {                   /* without leading zeros */
		*v = 0;
		return p < end && wettext_digit(*p) <= 9 ? NULL : p;
	}
	for (; p < end && wettext_digit(*p) <= 9; p++) {
		unsigned d = wettext_digit(*p);

		if (n > (UINT64_MAX - d) / 10)
			return NULL;
		n = n * 10 + d;
	}
	*v = n;
	return p;
}

static const uint8_t *
wettext_blanks(const uint8_t *p, const uint8_t *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* p is the end of a line's contents: returns the next line, or NULL if more follows in this one. */
static const uint8_t *
wettext_finish(struct wettext *r, const uint8_t *p)
{
	if (p && p < r->end && *p == '\n')
		return p + 1;
	if (!p)
		return NULL;
	p = wettext_blanks(p, r->end);
	if (p < r->end && *p == '\r')
		p++;
	r->canonical = 0;
	if (p == r->end)
		return r->whole ? p : NULL;
	return *p == '\n' ? p + 1 : NULL;
}

static int
line_is_bad(struct wettext *r, const char *want)
{
	const uint8_t *e = memchr(r->p, '\n', (size_t)(r->end - r->p));

	if (!e && !r->whole)
		return wettext_fail(r, r->line + 1, "a line of more than %u bytes", WETTEXT_LINE);
	if (!e && r->p == r->end)
		return wettext_fail(r, r->line + 1, "the text ends, %s is missing", want);
	return wettext_fail(r, r->line + 1, "no %s", want);
}

static const uint8_t *
wettext_blank(struct wettext *r, const uint8_t *p)
{
	const uint8_t *q;

	if (!p || p == r->end || (*p != ' ' && *p != '\t'))
		return NULL;
	q = wettext_blanks(p, r->end);
	if (q != p + 1 || *p != ' ')
		r->canonical = 0;
	return q;
}

/* The line after its blanks, usually n of them. */
static const uint8_t *
wettext_indent(struct wettext *r, ptrdiff_t n)
{
	const uint8_t *p = wettext_blanks(r->p, r->end);

	if (p - r->p != n)
		r->canonical = 0;
	return p;
}

/* p after word, or NULL if word is not there. */
static const uint8_t *
is_word(const struct wettext *r, const uint8_t *p, const char *word)
{
	size_t k = strlen(word);

	return p && (size_t)(r->end - p) >= k && memcmp(p, word, k) == 0 ? p + k : NULL;
}

/* A line `word N', or one without a word. */
static int
wettext_keyed(struct wettext *r, const char *word, uint64_t *n)
{
	const uint8_t *p = is_word(r, wettext_indent(r, 0), word);

	if (*word)
		p = wettext_blank(r, p);
	if (!p || (p = wettext_finish(r, wettext_number(p, r->end, n))) == NULL)
		return 0;
	r->p = p;
	r->line++;
	return 1;
}

static int
wettext_first(struct wettext *r)
{
	char text[160];

	if (wettext_peek_line(r) < 0)
		return WETTEXT_BAD;
	if (kind_foreign(text, sizeof text, r->start, (size_t)(r->end - r->start),
	    "text of an execution trace", "ws2wet makes that of it"))
		return wettext_fail(r, 1, "%s", text);
	if (!wettext_keyed(r, "", &r->nblock))
		return line_is_bad(r, "number of statements");
	r->state = r->nblock ? BLOCK : TRAILER;
	return 0;
}

/* Copies the next word of a line to *to, terminated by a zero byte. */
static const uint8_t *
wettext_name(const uint8_t *p, const uint8_t *end, char **to)
{
	const uint8_t *q = p;

	while (q < end && *q > ' ')
		q++;
	memcpy(*to, p, (size_t)(q - p));
	*to += q - p;
	*(*to)++ = '\0';
	return q == p ? NULL : q;
}

static const uint8_t *
wettext_hex(const uint8_t *p, const uint8_t *end, uint64_t *word, uint32_t *nword, int *canonical)
{
	const uint8_t *q = p;
	size_t n;

	for (; q < end && ((*q >= '0' && *q <= '9') || (*q >= 'a' && *q <= 'f') ||
	    (*q >= 'A' && *q <= 'F')); q++)
		*canonical &= *q < 'A' || *q >= 'a';
	while (p + 1 < q && *p == '0') {
		*canonical = 0;
		p++;
	}
	n = (size_t)(q - p);
	if (n == 0 || n > 16 * WETTEXT_WORDS)
		return NULL;
	*nword = (uint32_t)(n + 15) / 16;
	for (uint32_t i = 0; i < *nword; i++) {
		size_t hi = n - 16 * i, lo = hi > 16 ? hi - 16 : 0;

		word[i] = 0;
		for (; lo < hi; lo++)
			word[i] = word[i] << 4 | (p[lo] <= '9' ? wettext_digit(p[lo]) : (p[lo] & 15) + 9u);
	}
	return q;
}

static int
wettext_begin(struct wettext *r, struct wettext_rec *rec)
{
	struct wettext_block *b = &r->rec.block;
	char *to = r->name;
	uint64_t nport = 0;
	uint32_t nword;
	const uint8_t *p, *end;
	int ok = wettext_peek_line(r);

	if (ok < 0)
		return WETTEXT_BAD;
	if (!ok)
		return wettext_fail(r, r->line + 1,
		    "the text ends after %" PRIu64 " of %" PRIu64 " statements", r->blocks, r->nblock);
	end = memchr(r->p, '\n', (size_t)(r->end - r->p) < WETTEXT_LINE ? (size_t)(r->end - r->p) :
	    WETTEXT_LINE);
	if (!end && (!r->whole || r->end - r->p >= (ptrdiff_t)WETTEXT_LINE))
		return wettext_fail(r, r->line + 1, "a line of more than %u bytes", WETTEXT_LINE);
	if (!end)
		end = r->end;
	if ((p = wettext_blank(r, wettext_number(wettext_indent(r, 0), end, &b->id))) == NULL ||
	    (p = wettext_blank(r, wettext_number(p, end, &nport))) == NULL ||
	    (p = wettext_hex(p, end, &b->addr, &nword, &r->canonical)) == NULL || nword > 1 ||
	    (p = wettext_blank(r, p)) == NULL)
		return wettext_fail(r, r->line + 1,
		    "no statement: id, use ports, address, file, function, line");
	b->file = to;
	if ((p = wettext_blank(r, wettext_name(p, end, &to))) == NULL)
		return wettext_fail(r, r->line + 1, "a statement without a file name");
	b->func = to;
	if ((p = wettext_blank(r, wettext_name(p, end, &to))) == NULL ||
	    (p = wettext_finish(r, wettext_number(p, end, &b->line))) == NULL)
		return wettext_fail(r, r->line + 1, "a statement without a function and a line number");
	if (nport == 0 || nport > WETTEXT_PORTS)
		return wettext_fail(r, r->line + 1, "%" PRIu64 " use ports", nport);
	if ((r->cur = wettext_stmt(r, b->id)) == NULL)
		return wettext_fail(r, r->line + 1, "no memory");
	if (r->cur->known)
		return wettext_fail(r, r->line + 1, "statement %" PRIu64 " for the second time", b->id);
	r->cur->known = 1;
	b->nport = (uint32_t)nport;
	r->p = p;
	r->line++;
	r->blocks++;
	r->rec.port = 0;
	r->state = PORT;
	*rec = r->rec;
	return WETTEXT_BLOCK;
}

/* Begins a list of `total` entries; for 0, nothing. */
static int
wettext_list(struct wettext *r, enum state s)
{
	r->rec.left = r->rec.total;
	r->rec.none = 0;
	r->last = 0;
	r->state = s;
	return 0;
}

/* Parses x of an entry, at the beginning of a line; *p is after the colon. */
static int
wettext_entry(struct wettext *r, const uint8_t **p, uint64_t *x)
{
	const uint8_t *q = wettext_indent(r, 4);

	if ((q = wettext_number(q, r->end, x)) == NULL || q == r->end || *q != ':')
		return -1;
	*p = q + 1;
	return 0;
}

static int
wettext_deps(struct wettext *r, struct wettext_rec *rec)
{
	size_t n = 0;

	for (; n < PIECE && r->rec.left; n++, r->rec.left--) {
		struct wettext_dep *d = &r->u.dep[n];
		const uint8_t *p;
		int ok = wettext_peek_line(r);

		if (ok < 0)
			break;
		if (!ok || wettext_entry(r, &p, &d->x) != 0 ||
		    (p = wettext_blank(r, wettext_number(p, r->end, &d->id))) == NULL ||
		    (p = wettext_finish(r, wettext_number(p, r->end, &d->instance))) == NULL) {
			line_is_bad(r, "entry `X:id instance'");
			break;
		}
		r->p = p;
		r->line++;
		if (wettext_in_order(r, d->x, (r->how & WETTEXT_STRICT) != 0) != 0 ||
		    wettext_refer(r, d->id, d->instance) != 0)
			break;
	}
	if (r->state == FAILED && n == 0)
		return WETTEXT_BAD;
	r->rec.dep = r->u.dep;
	r->rec.n = n;
	*rec = r->rec;
	if (r->state != FAILED && r->rec.left == 0) {
		r->state = ++r->rec.port < r->rec.block.nport ? PORT : HEADER;
	}
	return WETTEXT_DEPS;
}

static int
wettext_values(struct wettext *r, struct wettext_rec *rec)
{
	size_t n = 0;

	for (; n < PIECE && r->rec.left; n++, r->rec.left--) {
		struct wettext_value *v = &r->u.value[n];
		const uint8_t *p;
		int ok = wettext_peek_line(r);

		if (ok < 0)
			break;
		v->word = r->word + n * WETTEXT_WORDS;
		if (!ok || wettext_entry(r, &p, &v->x) != 0 ||
		    (p = wettext_hex(p, r->end, r->word + n * WETTEXT_WORDS, &v->nword, &r->canonical)) ==
			NULL ||
		    (p = wettext_finish(r, p)) == NULL) {
			line_is_bad(r, "value `X:hexadecimal number'");
			break;
		}
		r->p = p;
		r->line++;
		if (wettext_in_order(r, v->x, 1) != 0)
			break;
		if (v->x >= r->rec.total) {
			wettext_fail(r, r->line, "value %" PRIu64 " of %" PRIu64, v->x, r->rec.total);
			break;
		}
	}
	if (r->state == FAILED && n == 0)
		return WETTEXT_BAD;
	r->rec.value = r->u.value;
	r->rec.n = n;
	*rec = r->rec;
	if (r->state != FAILED && r->rec.left == 0)
		r->state = r->blocks < r->nblock ? BLOCK : TRAILER;
	return WETTEXT_VALUES;
}

static int
no_values(struct wettext *r)
{
	const uint8_t *p = wettext_indent(r, 0);

	if ((p = wettext_finish(r, is_word(r, wettext_blank(r, is_word(r, p, "NO")), "VALUES"))) == NULL)
		return 0;
	r->p = p;
	r->line++;
	return 1;
}

static int
wettext_header(struct wettext *r)
{
	int ok = wettext_peek_line(r);

	if (ok < 0)
		return WETTEXT_BAD;
	r->rec.total = 0;
	if (ok && wettext_keyed(r, "VALUES", &r->rec.total)) {
		if (r->cur->count > r->rec.total)
			return wettext_fail(r, r->line,
			    "%" PRIu64 " values, but a dependence of instance %" PRIu64, r->rec.total,
			    r->cur->count - 1);
		r->cur->count = r->rec.total;
		r->cur->exact = 1;
		return wettext_list(r, VALUES);
	}
	if (ok && no_values(r)) {
		wettext_list(r, VALUES);
		r->rec.none = 1;
		return 0;
	}
	return line_is_bad(r, "VALUES or NO VALUES");
}

static int
wettext_trailer(struct wettext *r)
{
	int ok = wettext_peek_line(r);

	if (ok < 0)
		return WETTEXT_BAD;
	if (ok && !(r->how & WETTEXT_STRICT) && wettext_keyed(r, "ORDER", &r->rec.total))
		return wettext_list(r, STEPS);
	while (ok > 0 && (*r->p == '\n' || *r->p == ' ' || *r->p == '\r' || *r->p == '\t')) {
		r->line += *r->p++ == '\n';
		r->canonical = 0;
		ok = wettext_peek_line(r);
	}
	if (ok < 0)
		return WETTEXT_BAD;
	if (ok)
		return wettext_fail(r, r->line + 1, "something after all %" PRIu64 " statements", r->nblock);
	if (wettext_check(r, 0) != 0)
		return WETTEXT_BAD;
	r->state = OVER;
	return 0;
}

static int
wettext_steps(struct wettext *r, struct wettext_rec *rec)
{
	size_t n = 0;

	for (; n < PIECE && r->rec.left; n++, r->rec.left--) {
		struct wettext_step *s = &r->u.step[n];
		const uint8_t *p;
		int ok = wettext_peek_line(r);

		if (ok < 0)
			break;
		if (!ok ||
		    (p = wettext_blank(r, wettext_number(wettext_indent(r, 0), r->end, &s->id))) == NULL ||
		    (p = wettext_finish(r, wettext_number(p, r->end, &s->count))) == NULL) {
			line_is_bad(r, "`id count' of the order");
			break;
		}
		r->p = p;
		r->line++;
		if (s->count == 0 || s->count > r->nblock || s->id > UINT64_MAX - (s->count - 1)) {
			wettext_fail(r, r->line, "%" PRIu64 " statements from %" PRIu64, s->count, s->id);
			break;
		}
		if (wettext_stepped(r, s) != 0)
			break;
	}
	if (r->state == FAILED && n == 0)
		return WETTEXT_BAD;
	r->rec.step = r->u.step;
	r->rec.n = n;
	*rec = r->rec;
	if (r->state != FAILED && r->rec.left == 0) {
		if (wettext_peek_line(r) > 0)
			wettext_fail(r, r->line + 1, "something after the order");
		else if (r->state != FAILED && wettext_check(r, 1) == 0)
			r->state = OVER;
	}
	return WETTEXT_ORDER;
}

int
wettext_next(struct wettext *r, struct wettext_rec *rec)
{
	int e = 0;

	r->rec.n = 0;
	while (e == 0)
		switch (r->state) {
		case COUNT: e = wettext_first(r); break;
		case BLOCK: return wettext_begin(r, rec);
		case PORT:
			e = wettext_peek_line(r);
			if (e < 0)
				break;
			e = e > 0 && wettext_keyed(r, "SIZE", &r->rec.total) ? wettext_list(r, DEPS) :
			    line_is_bad(r, "SIZE");
			break;
		case DEPS: return wettext_deps(r, rec);
		case HEADER: e = wettext_header(r); break;
		case VALUES: return wettext_values(r, rec);
		case TRAILER: e = wettext_trailer(r); break;
		case STEPS: return wettext_steps(r, rec);
		case OVER: return WETTEXT_END;
		case FAILED: return WETTEXT_BAD;
		}
	return WETTEXT_BAD;
}
