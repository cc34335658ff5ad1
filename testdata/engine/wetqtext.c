/*
 * wetqtext TEXT CAPTURE back|forward HOW ID INSTANCE: the slice of an instance
 * out of comprehensive text with its trailer, as lines id#instance: plainly, by
 * walking all instances in order.  HOW: - or letters: d data only, r with rsp.
 * The capture tells only which port is rsp's.
 * HOW with an e: the dependences between them instead, a line `id on c` each,
 * c: 1 for control.
 * wetqtext TEXT flow: ids in order.  wetqtext TEXT values ID: its values, as there.
 * wetqtext CAPTURE addrs PC: addresses of the instruction at PC (hexadecimal), by a visit of the whole run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "replay/itrace/itrace.h"
#include "format/wettext/wettext.h"

struct port { struct wettext_dep *dep; size_t n, cap, at; };
struct stmt {
	uint64_t addr, count;
	struct port *port;
	uint32_t nport, rsp;            /* rsp: its port, 0: none */
	char **value;
	size_t nvalue, capvalue;
	uint8_t *in;                    /* of each instance */
};

static struct stmt *stmt;
static size_t nstmt, capstmt;
static uint64_t *order, norder;
static size_t caporder;

static _Noreturn void
bad(const char *what)
{
	fprintf(stderr, "wetqtext: %s\n", what);
	exit(2);
}

static void
grow(void *array, size_t *cap, size_t n, size_t size)
{
	if (buf_grow(array, cap, n, size) < 0)
		bad("no memory");
}

static void
value(struct stmt *s, const struct wettext_value *v)
{
	uint8_t b[WETTEXT_PUT];
	size_t n = wettext_put_value(b, v->x, v->word, v->nword);

	grow(&s->value, &s->capvalue, s->nvalue + 1, sizeof *s->value);
	s->value[s->nvalue++] = strndup((char *)b, n);
}

static void
take(const struct wettext_rec *r, int got)
{
	struct stmt *s = nstmt ? &stmt[nstmt - 1] : NULL;

	switch (got) {
	case WETTEXT_BLOCK:
		grow(&stmt, &capstmt, nstmt + 1, sizeof *stmt);
		if (r->block.id != nstmt + 1)
			bad("ids are not in order");
		stmt[nstmt++] = (struct stmt){ .addr = r->block.addr, .nport = r->block.nport,
		    .port = calloc(r->block.nport + 1, sizeof(struct port)) };
		break;
	case WETTEXT_DEPS:
		for (size_t i = 0; i < r->n; i++) {
			struct port *p = &s->port[r->port];

			grow(&p->dep, &p->cap, p->n + 1, sizeof *p->dep);
			p->dep[p->n++] = r->dep[i];
		}
		break;
	case WETTEXT_VALUES:
		for (size_t i = 0; i < r->n; i++)
			value(s, &r->value[i]);
		break;
	default:
		for (size_t i = 0; i < r->n; i++)
			for (uint64_t k = 0; k < r->step[i].count; k++) {
				grow(&order, &caporder, norder + 1, sizeof *order);
				order[norder++] = r->step[i].id + k;
				stmt[r->step[i].id + k - 1].count++;
			}
	}
}

static void
text(const char *path)
{
	struct in *in = in_open(path);
	struct wettext *t = in ? wettext_open(in, 0) : NULL;
	struct wettext_rec r;
	int got;

	if (!t)
		bad(path);
	while ((got = wettext_next(t, &r)) > WETTEXT_END)
		take(&r, got);
	if (got != WETTEXT_END)
		bad(wettext_fault(t)->err);
	wettext_close(t);
	in_close(in);
}

/* Ports of rsp: by address, which programs that change their code are not for */
static void
rsp(const char *path)
{
	struct fault f;
	struct visit *v = visit_open(path, VISIT_CONTROL, &f);
	struct visit_insn e;
	const struct visit_batch *b;
	size_t n = 0;

	if (!v)
		bad(f.err);
	while (n < nstmt && visit_next(v, &e, &b) == REPLAY_OK)
		/* ids are in this order */
		if (stmt[n].addr == e.fact->pc && e.fact->kind != FACT_SIGNAL) {
			for (unsigned i = 0; i < e.fact->nuse; i++)
				if (e.fact->use[i].reg == 4)
					stmt[n].rsp = i + 1;
			n++;
		}
	if (n < nstmt)
		bad("the capture is of another run");
	visit_close(v);
}

/* Is port p of s one that counts? */
static int
counts(const struct stmt *s, uint32_t p, const char *how)
{
	return p == 0 ? !strchr(how, 'd') : p != s->rsp || strchr(how, 'r');
}

static void
back(const char *how)
{
	for (size_t i = 0; i < nstmt; i++)
		for (uint32_t p = 0; p < stmt[i].nport; p++)
			stmt[i].port[p].at = stmt[i].port[p].n;
	for (size_t i = 0; i < nstmt; i++)
		stmt[i].nvalue = stmt[i].count;         /* from here on: instances that are still to come */
	for (uint64_t k = norder; k-- > 0;) {
		struct stmt *s = &stmt[order[k] - 1];
		uint64_t x = --s->nvalue;

		for (uint32_t p = 0; p < s->nport; p++)
			for (struct port *q = &s->port[p]; q->at && q->dep[q->at - 1].x == x; q->at--)
				if (s->in[x] && counts(s, p, how))
					stmt[q->dep[q->at - 1].id - 1].in[q->dep[q->at - 1].instance] = 1;
	}
}

static void
forward(const char *how)
{
	for (size_t i = 0; i < nstmt; i++)
		stmt[i].nvalue = 0;
	for (uint64_t k = 0; k < norder; k++) {
		struct stmt *s = &stmt[order[k] - 1];
		uint64_t x = s->nvalue++;

		for (uint32_t p = 0; p < s->nport; p++)
			for (struct port *q = &s->port[p]; q->at < q->n && q->dep[q->at].x == x; q->at++)
				if (counts(s, p, how))
					s->in[x] |= stmt[q->dep[q->at].id - 1].in[q->dep[q->at].instance];
	}
}

/* What members depend on within the slice, but for the first of a forward one */
static void
edges(const char *how, const struct stmt *first, uint64_t instance)
{
	for (struct stmt *s = stmt; s < stmt + nstmt; s++)
		for (uint32_t p = 0; p < s->nport; p++)
			for (size_t i = 0; counts(s, p, how) && i < s->port[p].n; i++) {
				const struct wettext_dep *d = &s->port[p].dep[i];

				if (s->in[d->x] && stmt[d->id - 1].in[d->instance] &&
				    (s != first || d->x != instance))
					printf("%td %llu %d\n", s - stmt + 1, (unsigned long long)d->id,
					    p == 0);
			}
}

static void
addrs(const char *path, uint64_t pc)
{
	struct fault f;
	struct visit *v = visit_open(path, VISIT_MEMORY, &f);
	struct visit_insn e;
	const struct visit_batch *b;
	uint64_t x = 0, last = 0;

	if (!v)
		bad(f.err);
	while (visit_next(v, &e, &b) == REPLAY_OK) {
		if (e.fact->pc != pc || e.fact->kind == FACT_SIGNAL)
			continue;
		x += e.n != last;
		last = e.n;
		for (uint32_t i = 0; i < e.nref; i++) {
			uint64_t w = b->word[e.ref + i];

			printf("%llu:%c %llx %u\n", (unsigned long long)x - 1, ref_kind(w) == REF_LOAD ? 'r' :
			    ref_kind(w) == REF_STORE ? 'w' : 'm',
			    (unsigned long long)ref_addr(w), ref_size(w));
		}
	}
	visit_close(v);
}

int
main(int argc, char **argv)
{
	uint64_t id, x;

	if (argc < 3)
		return 2;
	if (strcmp(argv[2], "addrs") == 0 && argc == 4) {
		addrs(argv[1], strtoull(argv[3], NULL, 16));
		return 0;
	}
	text(argv[1]);
	if (strcmp(argv[2], "flow") == 0) {
		for (uint64_t i = 0; i < norder; i++)
			printf("%llu\n", (unsigned long long)order[i]);
		return 0;
	}
	if (argc == 4) {
		id = strtoull(argv[3], NULL, 10);
		for (size_t i = 0; i < stmt[id - 1].nvalue; i++)
			fputs(stmt[id - 1].value[i], stdout);
		return 0;
	}
	if (argc != 7)
		return 2;
	rsp(argv[2]);
	id = strtoull(argv[5], NULL, 10);
	x = strtoull(argv[6], NULL, 10);
	if (id == 0 || id > nstmt || x >= stmt[id - 1].count)
		bad("no such instance");
	for (size_t i = 0; i < nstmt; i++)
		stmt[i].in = calloc(stmt[i].count + 1, 1);
	stmt[id - 1].in[x] = 1;
	(strcmp(argv[3], "back") == 0 ? back : forward)(argv[4]);
	if (strchr(argv[4], 'e'))
		edges(argv[4], strcmp(argv[3], "back") == 0 ? NULL : &stmt[id - 1], x);
	for (size_t i = 0; i < nstmt && !strchr(argv[4], 'e'); i++)
		for (uint64_t k = 0; k < stmt[i].count; k++)
			if (stmt[i].in[k])
				printf("%zu#%llu\n", i + 1, (unsigned long long)k);
	return 0;
}
