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
	hash_free(&c->by_string);
	*c = (struct store_code){ 0 };
}

struct store_mark
store_mark(const struct store_code *c)
{
	return (struct store_mark){ c->nstmt, c->nstring, c->npath };
}

int
store_string(struct store_code *c, const char *s, uint32_t *index)
{
	uint32_t h = hash_bytes(s, strlen(s)), at = h;

	while ((*index = hash_find(&c->by_string, h, &at)) != HASH_NONE && strcmp(c->string[*index], s) != 0)
		;
	if (*index != HASH_NONE)
		return 0;
	*index = (uint32_t)c->nstring;
	if (buf_grow(&c->string, &c->capstring, c->nstring + 1, sizeof *c->string) != 0 ||
	    (c->string[c->nstring] = strdup(s)) == NULL)
		return -1;
	c->nstring++;
	return hash_add(&c->by_string, h, *index);
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
