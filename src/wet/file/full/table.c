/* Converts statements of a capture to those of the file. */
#include <string.h>

#include "cfg/source.h"
#include "format/wettext/wettext.h"
#include "wet/file/writer.h"

/* Its role in control dependence, as in control.c; region ends are numbered by nodes of the graph. */
static void
control_of(const struct wcode *code, const struct fact *f, struct store_stmt *t)
{
	uint32_t v = wcode_find(code, f->pc);
	const struct wcode_node *n;

	if (v == CODE_EXIT)
		return;
	n = &code->node[v];
	if (n->flags & CODE_JOIN) {
		t->ctl |= STORE_JOIN;
		t->join = v + 1;
	}
	if (n->flags & CODE_BRANCH) {
		t->ctl |= STORE_BRANCH;
		t->pdom = n->pdom == CODE_EXIT ? 0 : n->pdom + 1;
	}
	if (n->kind == CODE_CALL && f->nref)
		t->ctl |= STORE_CALL;
	else if (n->kind == CODE_RETURN && f->nref)
		t->ctl |= STORE_RETURN;
	else if (n->kind == CODE_COND && n->flags & CODE_TAIL) {
		t->ctl |= STORE_CONDTAIL;
		t->target = n->target;
	} else if (n->flags & CODE_TAIL)
		t->ctl |= STORE_TAIL;
	if (n->kind == CODE_CALL || n->kind == CODE_RETURN || n->kind == CODE_INDIRECT ||
	    n->kind == CODE_SYSCALL)
		t->ctl |= STORE_ENDS;
}

static int
stmt_table_word(struct store_code *c, const char *name, uint32_t *index)
{
	uint8_t s[16384];

	s[wettext_put_name(s, sizeof s - 1, name)] = 0;
	return store_string(c, (const char *)s, index);
}

int
store_statement_add(struct store_cap *c, uint32_t s, struct wsource *src)
{
	const struct stmt *v = &c->stmts.stmt[s];
	struct store_stmt t = { .addr = v->pc, .nuse = v->nuse, .nmem = v->nmem, .ndef = v->fact->ndef,
	    .nval = (uint8_t)stmt_words(v) };
	const struct store_code *given = c->out.o->given;
	const char *file, *func;
	int line = 0;
	uint16_t reg[2 * FACT_MAXUSE];
	struct wport port;

	for (unsigned i = 0; i < v->fact->nuse; i++)
		reg[i] = (uint16_t)(v->fact->use[i].reg << 5 | v->fact->use[i].lanes);
	for (unsigned i = 0; i < v->fact->ndef; i++)
		reg[v->nuse + i] = (uint16_t)(v->fact->def[i].reg << 5 | v->fact->def[i].lanes);
	wport_of(v->fact, &port);
	t.addrs = port.addrs;
	t.role = port.role;
	control_of(&c->code, v->fact, &t);
	if (given && (s >= given->nstmt || given->stmt[s].addr != v->pc))
		return store_fail(c->out.f, 1, "the statements are not those of the capture");
	if (given) {
		file = given->string[given->stmt[s].file];
		func = given->string[given->stmt[s].func];
		t.line = given->stmt[s].line;
		if (store_string(&c->tab, file, &t.file) != 0 || store_string(&c->tab, func, &t.func) != 0)
			return -1;
	} else {
		wsource_find(src, v->pc, v->b, v->len, &file, &func, &line);
		t.line = line < 0 ? 0 : (uint64_t)line;
		if (stmt_table_word(&c->tab, file, &t.file) != 0 ||
		    stmt_table_word(&c->tab, func, &t.func) != 0)
			return -1;
	}
	t.len = v->len;
	memcpy(t.b, v->b, sizeof t.b);
	if (store_stmt(&c->tab, &t, reg) != 0)
		return -1;
	if (store_addr_stmt(c, v->fact, &port) != 0)
		return -1;
	return c->load ? store_load_add(c, s) : 0;
}
