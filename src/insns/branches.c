/* Executed branches as lines of comma-separated values. */
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "insns/formats.h"

#define LINE 80u                /* bytes of a line, at most */

struct branches {
	struct out *out;
	struct insns_kinds kinds;
	size_t namelen[BRANCH_KINDS];
};

static void
branches_put(struct branches *c, const struct fact *f, const struct insns_kind *k, uint64_t next)
{
	unsigned kind = k->kind - 1u;
	int taken = kind != BRANCH_COND || next != f->pc + f->len;
	uint8_t *p = out_reserve(c->out, LINE), *q = p;

	*q++ = '0';
	*q++ = 'x';
	q += digits_hex(q, f->pc, 1);
	*q++ = ',';
	*q++ = '0';
	*q++ = 'x';
	q += digits_hex(q, k->target ? k->target : next, 1);
	*q++ = ',';
	memcpy(q, branch_name[kind], c->namelen[kind]);
	q += c->namelen[kind];
	*q++ = ',';
	*q++ = (uint8_t)('0' + taken);
	*q++ = '\n';
	out_commit(c->out, (size_t)(q - p));
}

static void
branches_take(void *arg, const struct insns_span *s)
{
	struct branches *c = arg;

	if (insns_signal(s))
		return;
	for (uint32_t i = 0; i < s->run.ninsn; i++) {
		const struct fact *f = s->run.at[i].fact;
		const struct insns_kind *k = insns_kind(&c->kinds, f);

		if (k->kind != BRANCH_NONE + 1)
			branches_put(c, f, k, insns_next(s, i));
	}
}

int
branches_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f)
{
	struct branches c = { .out = out };
	struct insns mine = *q;
	int bad;

	mine.take = branches_take;
	mine.arg = &c;
	for (int i = 0; i < BRANCH_KINDS; i++)
		c.namelen[i] = strlen(branch_name[i]);
	out_str(out, "pc,target,kind,taken\n");
	bad = insns_run(&mine, early, f);
	free(c.kinds.k);
	return bad;
}
