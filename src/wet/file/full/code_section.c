/* Writes and reads CODE sections: statements and paths. */
#include <stdlib.h>
#include <string.h>

#include "isa/x86/fact.h"
#include "wet/file/full/code.h"
#include "wet/file/writer.h"

/* Columns of statements, in the order of the file. */
enum { ADDR, NUSE, NMEM, NDEF, NVAL, CTL, TARGET, JOIN, PDOM, FILE_, FUNC, LINE, REG, BYTES, BYTE, NSTMT };
enum { NRUN, START, LEN, NPATHS };

#define ROLE 7u                 /* in CTL: the first bit of the role */
#define FORMS_ADDRESS 2048u     /* in REG: a register that is used only for that */

static int
put_all(struct store_out *o, int level, struct col *c, unsigned n)
{
	int bad = 0;

	for (unsigned i = 0; i < n; i++) {
		bad |= bad || store_col_level(o, &c[i], NULL, level) != 0;
		col_free(&c[i]);
	}
	return bad ? -1 : 0;
}

int
store_strings_encode(const struct store_code *c, size_t from, struct store_out *o, int level)
{
	struct col t = { 0 };

	for (size_t i = from; i < c->nstring; i++)
		for (const char *s = c->string[i];; s++) {
			col_add(&t, (unsigned char)*s);
			if (!*s)
				break;
		}
	return put_all(o, level, &t, 1);
}

static int
put_stmts(const struct store_code *c, size_t from, struct store_out *out, int level)
{
	struct col t[NSTMT] = { 0 };

	for (size_t i = from; i < c->nstmt; i++) {
		const struct store_stmt *s = &c->stmt[i], *o = i ? s - 1 : &(struct store_stmt){ 0 };

		col_add(&t[ADDR], col_zig(s->addr - o->addr));
		col_add(&t[NUSE], s->nuse);
		col_add(&t[NMEM], s->nmem);
		col_add(&t[NDEF], s->ndef);
		col_add(&t[NVAL], s->nval);
		col_add(&t[CTL], s->ctl | (unsigned)s->role << ROLE);
		if (s->ctl & STORE_CONDTAIL)
			col_add(&t[TARGET], col_zig(s->target - s->addr));
		if (s->ctl & STORE_JOIN)
			col_add(&t[JOIN], s->join);
		if (s->ctl & STORE_BRANCH)
			col_add(&t[PDOM], s->pdom);
		col_add(&t[FILE_], s->file);
		col_add(&t[FUNC], s->func);
		col_add(&t[LINE], col_zig(s->line - o->line));
		for (uint32_t k = 0; k < s->nuse + s->ndef; k++)
			col_add(&t[REG], c->reg[s->reg + k] | (k < s->nuse && s->addrs >> k & 1 ?
			    FORMS_ADDRESS : 0u));
		for (unsigned k = 0; k < s->len; k++)
			col_add(&t[BYTE], s->b[k]);
		col_add(&t[BYTES], s->len);
	}
	if (c->bytes)
		return put_all(out, level, t, NSTMT);
	col_free(&t[BYTES]);
	col_free(&t[BYTE]);
	return put_all(out, level, t, BYTES);
}

static int
put_paths(const struct store_code *c, size_t from, struct store_out *o, int level)
{
	struct col t[NPATHS] = { 0 };
	uint32_t last = 0;

	for (size_t i = from; i < c->npath; i++) {
		const struct store_path *p = &c->path[i];
		const uint32_t *s = c->seq + p->first;
		uint32_t nrun = 0;

		for (uint32_t k = 0, n; k < p->n; k += n, nrun++) {
			for (n = 1; k + n < p->n && s[k + n] == s[k] + n; n++)
				;
			col_add(&t[START], col_zig((uint64_t)s[k] - last));
			col_add(&t[LEN], n);
			last = s[k] + n;
		}
		col_add(&t[NRUN], nrun);
	}
	return put_all(o, level, t, NPATHS);
}

int
store_code_encode(const struct store_code *c, const struct store_mark *from, struct store_out *o, int level)
{
	return store_strings_encode(c, from->nstring, o, level) != 0 || put_stmts(c, from->nstmt, o, level) != 0 ||
	    put_paths(c, from->npath, o, level) != 0 ? -1 : 0;
}

int
store_strings_decode(struct store_code *c, struct col_reader *r)
{
	struct col t = { 0 };
	char *s = NULL;
	size_t n = 0;
	int e = col_get(r, &t, SIZE_MAX, 255, NULL);

	if (!e && t.n && t.v[t.n - 1])
		e = col_bad(r, "a string does not end");
	if (!e && (s = malloc(t.n + 1)) == NULL)
		e = col_bad(r, NULL);
	for (size_t i = 0; !e && i < t.n; i++) {
		s[n++] = (char)t.v[i];
		if (s[n - 1])
			continue;
		if (n == 1 || n > 65536 || c->nstring >= STORE_STMTS)
			e = col_bad(r, "a string is not as strings are");
		else if (buf_grow(&c->string, &c->capstring, c->nstring + 1, sizeof *c->string) != 0 ||
		    (c->string[c->nstring] = strdup(s)) == NULL)
			e = col_bad(r, NULL);
		else
			c->nstring++;
		n = 0;
	}
	free(s);
	col_free(&t);
	return e;
}

/* Fills the NSTMT columns of statements in t. */
static int
get_columns(const struct store_code *c, struct col_reader *r, struct col *t)
{
	static const uint64_t most[NSTMT] = { UINT64_MAX, FACT_MAXUSE, STORE_MEM, FACT_MAXUSE, 8, 8191,
		UINT64_MAX, UINT32_MAX, UINT32_MAX, 0, 0, UINT64_MAX, FORMS_ADDRESS | 2047, 15, 255 };
	size_t n = SIZE_MAX, nreg = 0, nbyte = 0, have[6] = { 0 };

	for (unsigned i = 0; i < (c->bytes ? NSTMT : BYTES); i++) {
		size_t want = i == TARGET ? have[5] : i == JOIN ? have[1] : i == PDOM ? have[0] :
		    i == REG ? nreg : i == BYTE ? nbyte : n;

		if ((i == FILE_ || i == FUNC) && t[ADDR].n && !c->nstring)
			return col_bad(r, "a statement without a file");
		if (col_get(r, &t[i], want, i == FILE_ || i == FUNC ? c->nstring - 1 : most[i], NULL) != 0)
			return -1;
		n = t[ADDR].n;
		for (size_t k = 0; k < n && (i == NUSE || i == NDEF); k++)
			nreg += t[i].v[k];
		for (size_t k = 0; k < n && i == CTL; k++)
			for (unsigned j = 0; j < 6; j++)
				have[j] += t[i].v[k] >> j & 1;
		for (size_t k = 0; k < n && i == BYTES; k++)
			nbyte += t[i].v[k];
		if (nreg > COL_MAX || c->nreg + nreg > UINT32_MAX || c->nstmt + n > STORE_STMTS)
			return col_bad(r, "too many statements");
	}
	return 0;
}

static int
get_stmts(struct store_code *c, struct col_reader *r)
{
	struct col t[NSTMT] = { 0 };
	size_t target = 0, join = 0, pdom = 0, reg = 0, byte = 0;
	struct store_stmt s = c->nstmt ? c->stmt[c->nstmt - 1] : (struct store_stmt){ 0 };
	uint16_t regs[2 * FACT_MAXUSE];
	int e = get_columns(c, r, t);

	for (size_t i = 0; !e && i < t[ADDR].n; i++) {
		s = (struct store_stmt){ .addr = s.addr + col_zag(t[ADDR].v[i]),
			.nuse = (uint32_t)t[NUSE].v[i], .nmem = (uint32_t)t[NMEM].v[i],
			.ndef = (uint32_t)t[NDEF].v[i], .file = (uint32_t)t[FILE_].v[i],
			.func = (uint32_t)t[FUNC].v[i], .line = s.line + col_zag(t[LINE].v[i]),
			.nval = (uint8_t)t[NVAL].v[i], .ctl = (uint8_t)(t[CTL].v[i] & ((1u << ROLE) - 1)),
			.role = (uint8_t)(t[CTL].v[i] >> ROLE) };
		if (s.ctl & STORE_CONDTAIL)
			s.target = s.addr + col_zag(t[TARGET].v[target++]);
		if (s.ctl & STORE_JOIN)
			s.join = (uint32_t)t[JOIN].v[join++];
		if (s.ctl & STORE_BRANCH)
			s.pdom = (uint32_t)t[PDOM].v[pdom++];
		for (uint32_t k = 0; k < s.nuse + s.ndef; k++) {
			uint64_t v = t[REG].v[reg++];

			if (v & FORMS_ADDRESS && k < s.nuse)
				s.addrs |= UINT64_C(1) << k;
			else if (v & FORMS_ADDRESS)
				e = col_bad(r, "no such register");
			regs[k] = (uint16_t)(v & (FORMS_ADDRESS - 1));
			if (regs[k] >> 5 >= FACT_NREG)
				e = col_bad(r, "no such register");
		}
		c->roles |= s.role || s.addrs;
		s.len = c->bytes ? (uint8_t)t[BYTES].v[i] : 0;
		for (unsigned k = 0; k < sizeof s.b; k++)
			s.b[k] = k < s.len ? (uint8_t)t[BYTE].v[byte + k] : 0;
		byte += s.len;
		if (!e && store_stmt(c, &s, regs) != 0)
			e = col_bad(r, NULL);
	}
	for (unsigned i = 0; i < NSTMT; i++)
		col_free(&t[i]);
	return e;
}

/* Reads the runs of consecutive statements of a path. */
static int
get_path(struct store_code *c, struct col_reader *r, const struct col *t, uint64_t nrun, size_t *at,
    uint64_t *last)
{
	uint32_t seq[STORE_PATH], n = 0;

	for (uint64_t k = 0; k < nrun; k++, ++*at) {
		uint64_t start = *last + col_zag(t[START].v[*at]), len = t[LEN].v[*at];

		if (len == 0 || len > STORE_PATH - n || start >= c->nstmt || len > c->nstmt - start)
			return col_bad(r, "a path is not as paths are");
		for (uint64_t i = 0; i < len; i++)
			seq[n++] = (uint32_t)(start + i);
		*last = start + len;
	}
	if (!n || c->npath >= STORE_STMTS || c->nslot > STORE_STMTS || c->nseq + n > UINT32_MAX)
		return col_bad(r, "a path is not as paths are");
	return store_path(c, seq, n) != 0 ? col_bad(r, NULL) : 0;
}

static int
get_paths(struct store_code *c, struct col_reader *r)
{
	struct col t[NPATHS] = { 0 };
	size_t all = 0, at = 0;
	uint64_t last = 0;
	int e = col_get(r, &t[NRUN], SIZE_MAX, STORE_PATH, NULL);

	for (size_t i = 0; !e && i < t[NRUN].n; i++)
		all += t[NRUN].v[i];
	if (!e)
		e = col_get(r, &t[START], all, UINT64_MAX, NULL) != 0 ||
		    col_get(r, &t[LEN], all, STORE_PATH, NULL) != 0 ? -1 : 0;
	for (size_t i = 0; !e && i < t[NRUN].n; i++)
		e = get_path(c, r, t, t[NRUN].v[i], &at, &last);
	for (unsigned i = 0; i < NPATHS; i++)
		col_free(&t[i]);
	return e;
}

int
store_code_decode(struct store_code *c, struct col_reader *r)
{
	if (store_strings_decode(c, r) != 0 || get_stmts(c, r) != 0 || get_paths(c, r) != 0)
		return -1;
	return r->p != r->end ? col_bad(r, "bytes after the paths") : 0;
}
