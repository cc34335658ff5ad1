/*
 * gem5's elastic traces, src/proto/inst_dep_record.proto of gem5: a magic number, then messages of protobuf
 * with their lengths before them: an InstDepRecordHeader, and an InstDepRecord for each operation of micro.h.
 */
#include <string.h>

#include "base/varint.h"
#include "format/ref/ref.h"
#include "insns/formats.h"
#include "insns/micro.h"

#define BATCH  (128u << 10)     /* bytes of the output's buffer */
#define MOST   512u             /* bytes of a record, at most */
#define WINDOW 576u             /* records that gem5 reads at a time: three reorder buffers of it */
#define CYCLE  1000u            /* ticks, of 10^12 a second */

/* Numbers of fields, and of types of records */
enum { SEQ_NUM = 1, TYPE, ADDR, SIZE, ROB_DEP = 6, COMP_DELAY, REG_DEP, PC = 10 };
enum { LOAD = 1, STORE, COMP };

struct elastic {
	struct out *out;
	uint8_t *p, *begin, *end;       /* in the output's buffer: where the next record goes */
	struct micros micros;
	uint64_t seq;                   /* of the last record */
	uint64_t writer[MICRO_NREG];    /* the last record that wrote a register; 0: none */
	uint64_t load, store;           /* the last ones */
};

static uint8_t *
elastic_field(uint8_t *p, unsigned field, uint64_t v)
{
	*p++ = (uint8_t)(field << 3);
	return varint_put(p, v);
}

static void
elastic_flush(struct elastic *c)
{
	if (c->begin)
		out_commit(c->out, (size_t)(c->p - c->begin));
	c->begin = c->p = out_reserve(c->out, BATCH);
	c->end = c->p + BATCH - MOST;
}

/* The record can still be in gem5's graph when this one is read: it keeps two windows. */
static int
elastic_near(const struct elastic *c, uint64_t seq)
{
	return seq && c->seq - seq < 2 * WINDOW;
}

/* A store waits for the last store and the last load, and everything for the writers of what it uses. */
static uint8_t *
elastic_deps(const struct elastic *c, uint8_t *p, const struct micro_op *o)
{
	uint64_t dep[MICRO_NIN + 2];
	unsigned n = 0, k;

	if (o->type == MICRO_STORE) {
		uint64_t order[] = { c->store, c->load };

		for (unsigned i = 0; i < 2; i++)
			if (elastic_near(c, order[i])) {
				dep[n++] = order[i];
				p = elastic_field(p, ROB_DEP, order[i]);
			}
	}
	for (unsigned i = 0; i < o->nin; i++) {
		uint64_t seq = c->writer[o->in[i]];

		for (k = 0; k < n && dep[k] != seq; k++)
			;
		if (k == n && elastic_near(c, seq)) {
			dep[n++] = seq;
			p = elastic_field(p, REG_DEP, seq);
		}
	}
	return p;
}

static void
elastic_put(void *arg, const struct micro_at *a)
{
	static const uint8_t type[] = {
		[MICRO_COMPUTE] = COMP, [MICRO_LOAD] = LOAD, [MICRO_STORE] = STORE, [MICRO_BRANCH] = COMP,
	};
	struct elastic *c = arg;
	const struct micro_op *o = a->op;
	uint8_t b[MOST], *p = b;
	int slow = o->type == MICRO_COMPUTE && o->class != MICRO_SIMPLE;

	p = elastic_field(p, SEQ_NUM, ++c->seq);
	p = elastic_field(p, TYPE, type[o->type]);
	if (o->type == MICRO_LOAD || o->type == MICRO_STORE) {
		p = elastic_field(p, ADDR, ref_addr(a->ref));
		p = elastic_field(p, SIZE, ref_size(a->ref));
	}
	p = elastic_deps(c, p, o);
	p = elastic_field(p, COMP_DELAY, slow ? 4 * CYCLE : CYCLE);
	p = elastic_field(p, PC, a->fact->pc);
	for (unsigned i = 0; i < o->nout; i++)
		c->writer[o->out[i].reg] = c->seq;
	if (o->type == MICRO_LOAD)
		c->load = c->seq;
	else if (o->type == MICRO_STORE)
		c->store = c->seq;
	c->p = varint_put(c->p, (uint64_t)(p - b));
	memcpy(c->p, b, (size_t)(p - b));
	c->p += p - b;
	if (c->p > c->end)
		elastic_flush(c);
}

static void
elastic_head(struct elastic *c)
{
	static const char id[] = "tracemill";
	uint8_t b[64], *p = b;

	*p++ = 1 << 3 | 2;              /* obj_id */
	*p++ = sizeof id - 1;
	memcpy(p, id, sizeof id - 1);
	p = elastic_field(p + sizeof id - 1, 2, 0);             /* ver */
	p = elastic_field(p, 3, UINT64_C(1000000000000));       /* tick_freq */
	p = elastic_field(p, 4, WINDOW);
	memcpy(c->p, "gem5", 4);
	c->p = varint_put(c->p + 4, (uint64_t)(p - b));
	memcpy(c->p, b, (size_t)(p - b));
	c->p += p - b;
}

static void
elastic_take(void *arg, const struct insns_span *s)
{
	struct elastic *c = arg;

	micro_span(&c->micros, s, elastic_put, c);
}

int
elastic_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f)
{
	struct elastic c = { .out = out };
	struct insns mine = *q;
	int bad;

	mine.values = 1;
	mine.what = VISIT_FLAGS;
	mine.take = elastic_take;
	mine.arg = &c;
	out_binary(out, "an elastic trace");
	elastic_flush(&c);
	elastic_head(&c);
	bad = insns_run(&mine, early, f);
	elastic_flush(&c);
	micros_free(&c.micros);
	return bad;
}
