/*
 * Reader of wettext(5): a window of the input is gone through line by line;
 * lists are handed over in pieces.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "format/wettext.h"

#define PIECE 4096u                     /* entries handed over at once */

enum state { COUNT, BLOCK, PORT, DEPS, HEADER, VALUES, TRAILER, STEPS, OVER, FAILED };

/* A statement, or an id that was referred to */
struct stmt {
	uint64_t id;                    /* plus 1; 0: nothing here */
	uint64_t count;                 /* executions: exactly, or as many at least */
	uint64_t steps;                 /* by the trailer */
	uint64_t most, at;              /* the highest instance plus 1 that was referred to, and in which line */
	uint8_t known, exact;           /* there is a block; count is exact */
};

struct wettext {
	struct in *in;
	unsigned how;
	enum state state;
	uint64_t line, nblock, blocks;  /* lines consumed; as the first line says, and so far */
	uint64_t last;                  /* x of the last entry of the list, plus 1 */
	int canonical;
	const uint8_t *p, *end, *start; /* the window: what is left of it */
	int whole;                      /* nothing follows it */
	struct wettext_rec rec;
	char name[WETTEXT_LINE];        /* file and function */
	struct stmt *stmt;              /* hash table; owned */
	size_t nstmt, nslot;
	struct stmt *cur, *cached;      /* the block's; of the last reference */
	union {
		struct wettext_dep dep[PIECE];
		struct wettext_value value[PIECE];
		struct wettext_step step[PIECE];
	} u;
	uint64_t word[PIECE * WETTEXT_WORDS];
	struct wettext_fault fault;
};

static int bad(struct wettext *r, uint64_t line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static int
bad(struct wettext *r, uint64_t line, const char *fmt, ...)
{
	va_list ap;

	if (r->state == FAILED)
		return WETTEXT_BAD;
	va_start(ap, fmt);
	vsnprintf(r->fault.err, sizeof r->fault.err, fmt, ap);
	va_end(ap);
	r->fault.line = line;
	r->state = FAILED;
	return WETTEXT_BAD;
}

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

const struct wettext_fault *
wettext_fault(const struct wettext *r)
{
	return &r->fault;
}

static struct stmt *
slot(const struct wettext *r, uint64_t id)
{
	size_t i = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	while (r->stmt[i & (r->nslot - 1)].id && r->stmt[i & (r->nslot - 1)].id != id + 1)
		i++;
	return &r->stmt[i & (r->nslot - 1)];
}

/* The statement, new or not; NULL: no memory */
static struct stmt *
stmt(struct wettext *r, uint64_t id)
{
	struct stmt *s = slot(r, id), *old = r->stmt;
	uint64_t cur = r->cur ? r->cur->id : 0;

	if (s->id)
		return s;
	if (r->nstmt * 2 >= r->nslot) {
		size_t n = r->nslot;

		if ((r->stmt = calloc(n * 2, sizeof *old)) == NULL) {
			r->stmt = old;
			return NULL;
		}
		r->nslot = n * 2;
		for (size_t i = 0; i < n; i++)
			if (old[i].id)
				*slot(r, old[i].id - 1) = old[i];
		free(old);
		r->cached = NULL;
		r->cur = cur ? slot(r, cur - 1) : NULL;
		s = slot(r, id);
	}
	s->id = id + 1;
	r->nstmt++;
	return s;
}

/* A whole line is in the window, or all there is; 0: the input is over, -1: bad */
static int
look(struct wettext *r)
{
	size_t have;

	if (r->p < r->end && (r->whole || r->end - r->p >= (ptrdiff_t)WETTEXT_LINE || memchr(r->p, '\n', (size_t)(r->end - r->p))))
		return 1;
	in_skip(r->in, (size_t)(r->p - r->start));
	r->start = r->p = in_peek(r->in, WETTEXT_LINE, &have);
	r->end = r->p + have;
	r->whole = have < WETTEXT_LINE;
	if (r->whole && in_error(r->in))
		return bad(r, r->line + 1, "%s", in_error(r->in));
	return have > 0;
}

static unsigned
digit(unsigned c)
{
	return c - '0';
}

static const uint8_t *
number(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t n;

	if (p == end || digit(*p) > 9)
		return NULL;
	n = digit(*p++);
	if (n == 0) {                   /* without leading zeros */
		*v = 0;
		return p < end && digit(*p) <= 9 ? NULL : p;
	}
	for (; p < end && digit(*p) <= 9; p++) {
		unsigned d = digit(*p);

		if (n > (UINT64_MAX - d) / 10)
			return NULL;
		n = n * 10 + d;
	}
	*v = n;
	return p;
}

static const uint8_t *
blanks(const uint8_t *p, const uint8_t *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* p is behind what a line says: the next line, or NULL: there is something else */
static const uint8_t *
finish(struct wettext *r, const uint8_t *p)
{
	if (p && p < r->end && *p == '\n')
		return p + 1;
	if (!p)
		return NULL;
	p = blanks(p, r->end);
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
		return bad(r, r->line + 1, "a line of more than %u bytes", WETTEXT_LINE);
	if (!e && r->p == r->end)
		return bad(r, r->line + 1, "the text ends, %s is missing", want);
	return bad(r, r->line + 1, "no %s", want);
}

/* A line `word N` */
static int
keyed(struct wettext *r, const char *word, uint64_t *n)
{
	size_t k = strlen(word);
	const uint8_t *p = blanks(r->p, r->end);

	if (p != r->p)
		r->canonical = 0;
	if ((size_t)(r->end - p) < k || memcmp(p, word, k) != 0 || (p = finish(r, number(p + k, r->end, n))) == NULL)
		return 0;
	r->p = p;
	r->line++;
	return 1;
}

static int
first(struct wettext *r)
{
	if (look(r) < 0)
		return WETTEXT_BAD;
	if (!keyed(r, "", &r->nblock))
		return line_is_bad(r, "number of statements");
	r->state = r->nblock ? BLOCK : TRAILER;
	return 0;
}

/* The next word of a line, to *to, ended by a zero byte */
static const uint8_t *
name(const uint8_t *p, const uint8_t *end, char **to)
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
blank(struct wettext *r, const uint8_t *p)
{
	const uint8_t *q;

	if (!p || p == r->end || (*p != ' ' && *p != '\t'))
		return NULL;
	q = blanks(p, r->end);
	if (q != p + 1 || *p != ' ')
		r->canonical = 0;
	return q;
}

static const uint8_t *
hex(const uint8_t *p, const uint8_t *end, uint64_t *word, uint32_t *nword, int *canonical)
{
	const uint8_t *q = p;
	size_t n;

	for (; q < end && ((*q >= '0' && *q <= '9') || (*q >= 'a' && *q <= 'f') || (*q >= 'A' && *q <= 'F')); q++)
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
			word[i] = word[i] << 4 | (p[lo] <= '9' ? digit(p[lo]) : (p[lo] & 15) + 9u);
	}
	return q;
}

static int
begin(struct wettext *r, struct wettext_rec *rec)
{
	struct wettext_block *b = &r->rec.block;
	char *to = r->name;
	uint64_t nport = 0;
	uint32_t nword;
	const uint8_t *p, *end;
	int ok = look(r);

	if (ok < 0)
		return WETTEXT_BAD;
	if (!ok)
		return bad(r, r->line + 1, "the text ends behind %" PRIu64 " of %" PRIu64 " statements", r->blocks, r->nblock);
	end = memchr(r->p, '\n', (size_t)(r->end - r->p) < WETTEXT_LINE ? (size_t)(r->end - r->p) : WETTEXT_LINE);
	if (!end && (!r->whole || r->end - r->p >= (ptrdiff_t)WETTEXT_LINE))
		return bad(r, r->line + 1, "a line of more than %u bytes", WETTEXT_LINE);
	if (!end)
		end = r->end;
	if ((p = blank(r, number(r->p, end, &b->id))) == NULL || (p = blank(r, number(p, end, &nport))) == NULL ||
	    (p = hex(p, end, &b->addr, &nword, &r->canonical)) == NULL || nword > 1 || (p = blank(r, p)) == NULL)
		return bad(r, r->line + 1, "no statement: id, use ports, address, file, function, line");
	b->file = to;
	if ((p = blank(r, name(p, end, &to))) == NULL)
		return bad(r, r->line + 1, "a statement without a file name");
	b->func = to;
	if ((p = blank(r, name(p, end, &to))) == NULL || (p = finish(r, number(p, end, &b->line))) == NULL)
		return bad(r, r->line + 1, "a statement without a function and a line number");
	if (nport == 0 || nport > WETTEXT_PORTS)
		return bad(r, r->line + 1, "%" PRIu64 " use ports", nport);
	if ((r->cur = stmt(r, b->id)) == NULL)
		return bad(r, r->line + 1, "no memory");
	if (r->cur->known)
		return bad(r, r->line + 1, "statement %" PRIu64 " for the second time", b->id);
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

/* A list of `total` entries begins, or nothing does */
static int
list(struct wettext *r, enum state s)
{
	r->rec.left = r->rec.total;
	r->last = 0;
	r->state = s;
	return 0;
}

static int
refer(struct wettext *r, uint64_t id, uint64_t instance)
{
	struct stmt *s = r->cached;

	if (!s || s->id != id + 1) {
		if (id == UINT64_MAX || (s = stmt(r, id)) == NULL)
			return bad(r, r->line, "no memory");
		r->cached = s;
	}
	if (instance >= s->most) {
		if (instance >= UINT64_MAX - 1)
			return bad(r, r->line, "instance %" PRIu64, instance);
		s->most = instance + 1;
		s->at = r->line;
	}
	return 0;
}

/* x of an entry, at *p; *p behind the colon */
static int
entry(struct wettext *r, const uint8_t **p, uint64_t *x)
{
	const uint8_t *q = blanks(*p, r->end);

	if (q - *p != 4)
		r->canonical = 0;
	if ((q = number(q, r->end, x)) == NULL || q == r->end || *q != ':')
		return -1;
	*p = q + 1;
	return 0;
}

static int
in_order(struct wettext *r, uint64_t x, int once)
{
	if (x + 1 < r->last || (once && x + 1 == r->last))
		return bad(r, r->line, "entry %" PRIu64 " behind entry %" PRIu64, x, r->last - 1);
	if (r->cur->exact && x >= r->cur->count)
		return bad(r, r->line, "entry %" PRIu64 " of statement %" PRIu64 ", which has %" PRIu64 " instances", x, r->cur->id - 1, r->cur->count);
	r->last = x + 1;
	if (x >= r->cur->count)
		r->cur->count = x + 1;
	return 0;
}

static int
deps(struct wettext *r, struct wettext_rec *rec)
{
	size_t n = 0;

	for (; n < PIECE && r->rec.left; n++, r->rec.left--) {
		struct wettext_dep *d = &r->u.dep[n];
		const uint8_t *p;
		int ok = look(r);

		if (ok < 0)
			break;
		p = r->p;
		if (!ok || entry(r, &p, &d->x) != 0 || (p = blank(r, number(p, r->end, &d->id))) == NULL ||
		    (p = finish(r, number(p, r->end, &d->instance))) == NULL) {
			line_is_bad(r, "entry `X:id instance'");
			break;
		}
		r->p = p;
		r->line++;
		if (in_order(r, d->x, (r->how & WETTEXT_STRICT) != 0) != 0 || refer(r, d->id, d->instance) != 0)
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
values(struct wettext *r, struct wettext_rec *rec)
{
	size_t n = 0;

	for (; n < PIECE && r->rec.left; n++, r->rec.left--) {
		struct wettext_value *v = &r->u.value[n];
		const uint8_t *p;
		int ok = look(r);

		if (ok < 0)
			break;
		p = r->p;
		v->word = r->word + n * WETTEXT_WORDS;
		if (!ok || entry(r, &p, &v->x) != 0 ||
		    (p = hex(p, r->end, r->word + n * WETTEXT_WORDS, &v->nword, &r->canonical)) == NULL || (p = finish(r, p)) == NULL) {
			line_is_bad(r, "value `X:hexadecimal number'");
			break;
		}
		r->p = p;
		r->line++;
		if (in_order(r, v->x, 1) != 0)
			break;
		if (v->x >= r->rec.total) {
			bad(r, r->line, "value %" PRIu64 " of %" PRIu64, v->x, r->rec.total);
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
header(struct wettext *r)
{
	static const char no[] = "NO VALUES";
	int ok = look(r);

	if (ok < 0)
		return WETTEXT_BAD;
	r->rec.total = 0;
	r->rec.none = 0;
	if (ok && keyed(r, "VALUES ", &r->rec.total)) {
		if (r->cur->count > r->rec.total)
			return bad(r, r->line, "%" PRIu64 " values, but a dependence of instance %" PRIu64, r->rec.total, r->cur->count - 1);
		r->cur->count = r->rec.total;
		r->cur->exact = 1;
		return list(r, VALUES);
	}
	if (ok && (size_t)(r->end - r->p) >= sizeof no - 1 && memcmp(r->p, no, sizeof no - 1) == 0) {
		const uint8_t *p = finish(r, r->p + sizeof no - 1);

		if (p) {
			r->p = p;
			r->line++;
			r->rec.none = 1;
			return list(r, VALUES);
		}
	}
	return line_is_bad(r, "VALUES or NO VALUES");
}

/* Everything that was referred to is there? */
static int
check(struct wettext *r, int ordered)
{
	const struct stmt *worst = NULL;

	for (size_t i = 0; i < r->nslot; i++) {
		struct stmt *s = &r->stmt[i];

		if (!s->id)
			continue;
		if (ordered && s->known && (s->steps < s->count || (s->exact && s->steps != s->count)))
			return bad(r, r->line, "the order has statement %" PRIu64 " %" PRIu64 " times, not %" PRIu64, s->id - 1, s->steps, s->count);
		if (ordered) {
			s->count = s->steps;
			s->exact = 1;
		}
		if (s->most && (!s->known || (s->exact && s->most > s->count)) && (!worst || s->at < worst->at))
			worst = s;
	}
	if (!worst)
		return 0;
	if (!worst->known)
		return bad(r, worst->at, "there is no statement %" PRIu64, worst->id - 1);
	return bad(r, worst->at, "instance %" PRIu64 " of statement %" PRIu64 ", which has %" PRIu64, worst->most - 1, worst->id - 1, worst->count);
}

static int
trailer(struct wettext *r)
{
	int ok = look(r);

	if (ok < 0)
		return WETTEXT_BAD;
	if (ok && !(r->how & WETTEXT_STRICT) && keyed(r, "ORDER ", &r->rec.total))
		return list(r, STEPS);
	while (ok > 0 && (*r->p == '\n' || *r->p == ' ' || *r->p == '\r' || *r->p == '\t')) {
		r->line += *r->p++ == '\n';
		r->canonical = 0;
		ok = look(r);
	}
	if (ok < 0)
		return WETTEXT_BAD;
	if (ok)
		return bad(r, r->line + 1, "something behind all %" PRIu64 " statements", r->nblock);
	if (check(r, 0) != 0)
		return WETTEXT_BAD;
	r->state = OVER;
	return 0;
}

static int
steps(struct wettext *r, struct wettext_rec *rec)
{
	size_t n = 0;

	for (; n < PIECE && r->rec.left; n++, r->rec.left--) {
		struct wettext_step *s = &r->u.step[n];
		const uint8_t *p;
		int ok = look(r);

		if (ok < 0)
			break;
		if (!ok || (p = blank(r, number(r->p, r->end, &s->id))) == NULL || (p = finish(r, number(p, r->end, &s->count))) == NULL) {
			line_is_bad(r, "`id count' of the order");
			break;
		}
		r->p = p;
		r->line++;
		if (s->count == 0 || s->count > r->nblock || s->id > UINT64_MAX - s->count) {
			bad(r, r->line, "%" PRIu64 " statements from %" PRIu64, s->count, s->id);
			break;
		}
		for (uint64_t i = 0; i < s->count; i++) {
			struct stmt *t = slot(r, s->id + i);

			if (!t->id || !t->known) {
				bad(r, r->line, "there is no statement %" PRIu64, s->id + i);
				break;
			}
			t->steps++;
		}
		if (r->state == FAILED)
			break;
	}
	if (r->state == FAILED && n == 0)
		return WETTEXT_BAD;
	r->rec.step = r->u.step;
	r->rec.n = n;
	*rec = r->rec;
	if (r->state != FAILED && r->rec.left == 0) {
		if (look(r) > 0)
			bad(r, r->line + 1, "something behind the order");
		else if (r->state != FAILED && check(r, 1) == 0)
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
		case COUNT: e = first(r); break;
		case BLOCK: return begin(r, rec);
		case PORT:
			e = look(r);
			if (e < 0)
				break;
			e = e > 0 && keyed(r, "SIZE ", &r->rec.total) ? list(r, DEPS) : line_is_bad(r, "SIZE");
			break;
		case DEPS: return deps(r, rec);
		case HEADER: e = header(r); break;
		case VALUES: return values(r, rec);
		case TRAILER: e = trailer(r); break;
		case STEPS: return steps(r, rec);
		case OVER: return WETTEXT_END;
		case FAILED: return WETTEXT_BAD;
		}
	return WETTEXT_BAD;
}
