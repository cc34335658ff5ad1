/* ws2wet: writes the text. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/mem.h"
#include "convert/ws2wet/ws2wet.h"
#include "format/wettext/wettext.h"

void
job_names(struct job *j)
{
	const char *what;

	for (uint32_t s = 0; s < j->stmts.n; s++)
		wsource_code(j->source, j->stmts.stmt[s].pc, j->stmts.stmt[s].b, j->stmts.stmt[s].len);
	while ((what = wsource_complaint(j->source)) != NULL)
		warn("%s: %s", j->name, what);
}

/* Writes the first line of a block. */
static void
source_put(struct job *j, const struct stmt *s)
{
	const char *file, *func;
	int line;
	uint8_t name[16384];
	size_t n;

	wsource_find(j->source, s->pc, s->b, s->len, &file, &func, &line);
	out_printf(j->out, "%u %u %llx ", (unsigned)s->id, stmt_ports(s), (unsigned long long)s->pc);
	n = wettext_put_name(name, sizeof name - 1, file);
	name[n++] = ' ';
	out_write(j->out, name, n);
	n = wettext_put_name(name, sizeof name - 1, func);
	name[n++] = ' ';
	out_write(j->out, name, n);
	out_printf(j->out, "%d\n", line);
}

static uint64_t
ws2wet_text_size(const struct job *j, const struct unit *u)
{
	const struct stmt *s = &j->stmts.stmt[u->stmt];

	return j->count[u->stmt] *
	    (u->port == NONE && s->nval != WPORT_FLAGS ? s->nval : 1u) * sizeof *u->slot;
}

static void
ws2wet_text_deps(struct job *j, const struct unit *u)
{
	uint64_t count = j->count[u->stmt], n = u->nmore;
	size_t m = 0;

	for (uint64_t x = 0; x < count; x++)
		n += u->slot[x] != 0;
	out_commit(j->out, wettext_put_size(out_reserve(j->out, WETTEXT_PUT), n));
	for (uint64_t x = 0; x < count; x++) {
		uint64_t who = u->slot[x];

		if (!who)
			continue;
		out_commit(j->out,
		    wettext_put_dep(out_reserve(j->out, WETTEXT_PUT), x, who >> 32, (uint32_t)who));
		for (; m < u->nmore && u->more[m].x == x; m++)
			out_commit(j->out,
			    wettext_put_dep(out_reserve(j->out, WETTEXT_PUT), x, u->more[m].who >> 32,
				(uint32_t)u->more[m].who));
	}
}

static void
ws2wet_text_values(struct job *j, const struct unit *u)
{
	uint64_t count = j->count[u->stmt];
	unsigned n = stmt_words(&j->stmts.stmt[u->stmt]);

	if (!n) {
		out_commit(j->out, wettext_put_novalues(out_reserve(j->out, WETTEXT_PUT)));
		return;
	}
	out_commit(j->out, wettext_put_values(out_reserve(j->out, WETTEXT_PUT), count));
	for (uint64_t x = 0; x < count; x++)
		out_commit(j->out,
		    wettext_put_value(out_reserve(j->out, WETTEXT_PUT), x, u->slot + x * n, n));
}

static void
unit_put(struct job *j, const struct unit *u)
{
	if (u->port == 0)
		source_put(j, &j->stmts.stmt[u->stmt]);
	if (u->port == NONE)
		ws2wet_text_values(j, u);
	else
		ws2wet_text_deps(j, u);
}

/* Goes to the list after u; 0: u was the last one. */
static int
ws2wet_text_next(const struct job *j, struct unit *u)
{
	const struct stmt *s = &j->stmts.stmt[u->stmt];

	u->slot = NULL;
	u->more = NULL;
	u->nmore = u->capmore = 0;
	if (u->port == NONE) {
		if (s->id == j->stmts.nid)
			return 0;
		u->stmt = j->byid[s->id];
		u->port = 0;
	} else
		u->port = u->port < (uint32_t)s->nuse + s->nmem ? u->port + 1 : NONE;
	return 1;
}

void
job_text(struct job *j)
{
	struct unit u = { 0 }, *unit = NULL;
	size_t n, cap = 0;
	int more = j->stmts.nid != 0;

	out_commit(j->out, wettext_put_count(out_reserve(j->out, WETTEXT_PUT), j->stmts.nid));
	if (more)
		u.stmt = j->byid[0];
	while (more) {
		uint64_t bytes = 0;

		for (n = 0; more && (n == 0 || bytes + ws2wet_text_size(j, &u) <= j->budget);
		    more = ws2wet_text_next(j, &u)) {
			bytes += ws2wet_text_size(j, &u);
			unit = mem_xgrow(unit, &cap, n + 1, sizeof *unit);
			unit[n] = u;
			unit[n++].slot = xcalloc(ws2wet_text_size(j, &u) / sizeof *u.slot + 1,
			    sizeof *u.slot);
		}
		fill_lists(j, unit, n);
		for (size_t i = 0; i < n; i++) {
			unit_put(j, &unit[i]);
			free(unit[i].slot);
			free(unit[i].more);
		}
	}
	free(unit);
}

struct order { struct job *j; uint64_t id, count, lines; int print; };

static void
ws2wet_text_step(struct order *o, uint64_t id, uint64_t count)
{
	if (o->count && o->id + o->count == id) {
		o->count += count;
		return;
	}
	if (o->count) {
		o->lines++;
		if (o->print)
			out_commit(o->j->out,
			    wettext_put_step(out_reserve(o->j->out, WETTEXT_PUT), o->id, o->count));
	}
	o->id = id;
	o->count = count;
}

static void
ws2wet_text_steps(struct order *o)
{
	const struct job *j = o->j;

	for (uint64_t i = 0; i < j->table.n; i++) {
		const struct stmt_atom *a;

		if (j->table.ent[i] >> 32 >= j->stmts.natom)
			continue;
		a = &j->stmts.atom[j->table.ent[i] >> 32];
		for (uint32_t k = 0; k < a->len; k++)
			ws2wet_text_step(o, j->stmts.stmt[j->stmts.atomstmt[a->first + k]].id, 1);
	}
	ws2wet_text_step(o, 0, 0);
}

void
job_order(struct job *j)
{
	struct order o = { .j = j };

	ws2wet_text_steps(&o);
	out_commit(j->out, wettext_put_order(out_reserve(j->out, WETTEXT_PUT), o.lines));
	o = (struct order){ .j = j, .print = 1 };
	ws2wet_text_steps(&o);
}
