/* Tables of statements and paths. */
#include "wet/file/full/code.h"

#include <stdlib.h>
#include <string.h>

void
store_code_free(struct store_code *c)
{
	for (size_t i = 0; i < c->nstring; i++)
		free(c->string[i]);
	free(c->stmt);
	free(c->reg);
	free(c->string);
	free(c->path);
	free(c->seq);
	free(c->hash);
	*c = (struct store_code){ 0 };
}

struct store_mark
store_mark(const struct store_code *c)
{
	return (struct store_mark){ c->nstmt, c->nstring, c->npath };
}

static uint32_t *
code_table_bucket(const struct store_code *c, const char *s)
{
	uint64_t h = 0;
	size_t i;

	for (const char *p = s; *p; p++)
		h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3) + 1;
	for (i = (size_t)(h ^ h >> 29); c->hash[i & (c->nhash - 1)]; i++)
		if (strcmp(c->string[c->hash[i & (c->nhash - 1)] - 1], s) == 0)
			break;
	return &c->hash[i & (c->nhash - 1)];
}

static int
code_table_rehash(struct store_code *c)
{
	size_t n = 1024;

	while (n < c->nstring * 4)
		n *= 2;
	free(c->hash);
	c->nhash = 0;
	if ((c->hash = calloc(n, sizeof *c->hash)) == NULL)
		return -1;
	c->nhash = n;
	for (size_t i = 0; i < c->nstring; i++)
		*code_table_bucket(c, c->string[i]) = (uint32_t)i + 1;
	return 0;
}

int
store_string(struct store_code *c, const char *s, uint32_t *index)
{
	uint32_t *h;

	if (c->nstring * 2 >= c->nhash && code_table_rehash(c) != 0)
		return -1;
	h = code_table_bucket(c, s);
	if (!*h) {
		if (buf_grow(&c->string, &c->capstring, c->nstring + 1, sizeof *c->string) != 0 ||
		    (c->string[c->nstring] = strdup(s)) == NULL)
			return -1;
		*h = (uint32_t)++c->nstring;
	}
	*index = *h - 1;
	return 0;
}

int
store_stmt(struct store_code *c, const struct store_stmt *s, const uint16_t *reg)
{
	size_t n = s->nuse + s->ndef;

	if (buf_grow(&c->stmt, &c->capstmt, c->nstmt + 1, sizeof *c->stmt) != 0 ||
	    buf_grow(&c->reg, &c->capreg, c->nreg + n, sizeof *c->reg) != 0)
		return -1;
	c->stmt[c->nstmt] = *s;
	c->stmt[c->nstmt++].reg = (uint32_t)c->nreg;
	if (n)
		memcpy(c->reg + c->nreg, reg, n * sizeof *reg);
	c->nreg += n;
	return 0;
}

int
store_path(struct store_code *c, const uint32_t *stmt, uint32_t n)
{
	struct store_path *p;

	if (buf_grow(&c->path, &c->cappath, c->npath + 1, sizeof *c->path) != 0 ||
	    buf_grow(&c->seq, &c->capseq, c->nseq + n, sizeof *c->seq) != 0)
		return -1;
	p = &c->path[c->npath++];
	*p = (struct store_path){ (uint32_t)c->nseq, n, c->nslot, 0 };
	for (uint32_t i = 0; i < n; i++) {
		c->seq[c->nseq++] = stmt[i];
		p->nslot += c->stmt[stmt[i]].nmem;
	}
	c->nslot += p->nslot;
	return 0;
}
