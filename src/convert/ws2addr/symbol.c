/* ws2addr -s: the references of one call of a function. */
#include "base/bytes.h"
#include "base/diag.h"
#include "cfg/source.h"
#include "convert/ws2addr/ws2addr.h"

struct search {
	struct job *j;
	const char *name;
	uint64_t pc;                    /* 0 until it is found */
};

static void
symbol_mapped(void *arg, const struct ws_rec_map *m)
{
	struct search *s = arg;

	if (s->pc || (s->pc = wsource_symbol(s->j->source, m, s->name)) == 0)
		return;
	if (replay_break(s->j->r, s->pc, 1) != 0)
		die("no memory");
}

/* The run had no first instruction of the function. */
static _Noreturn void
symbol_none(struct job *j, const struct search *s)
{
	const char *why;

	out_discard(j->out);
	job_early(j, replay_early(j->r));
	while (!s->pc && (why = wsource_complaint(j->source)) != NULL)
		warn("%s: %s", j->name, why);
	if (!s->pc)
		die("%s: no function %s in the files that the program mapped", j->name, s->name);
	die("%s: %s is never called", j->name, s->name);
}

/* Outputs references up to where rsp is above sp at pc. */
static void
until_return(struct job *j, uint64_t pc, uint64_t sp)
{
	const uint64_t *w;
	size_t n;
	int got;

	if (replay_break(j->r, pc, 1) != 0)
		die("no memory");
	for (;;) {
		got = replay_refs(j->r, &w, &n);
		if (got == REPLAY_OK)
			job_take(j, w, n);
		else if (got != REPLAY_BREAK || replay_regs(j->r)->r[WS_RSP] > sp)
			break;
	}
	if (got == REPLAY_BAD)
		job_bad(j, replay_fault(j->r));
}

void
job_symbol(struct job *j, const char *symbol)
{
	struct search s = { .j = j, .name = symbol };
	uint8_t ret[8];
	uint64_t sp;
	int got;

	replay_set_map_fn(j->r, symbol_mapped, &s);
	got = replay_skip(j->r, WS_UNKNOWN);
	if (got == REPLAY_BAD)
		job_bad(j, replay_fault(j->r));
	if (got != REPLAY_BREAK)
		symbol_none(j, &s);
	replay_set_map_fn(j->r, NULL, NULL);
	replay_break(j->r, s.pc, 0);
	sp = replay_regs(j->r)->r[WS_RSP];
	if (replay_read(j->r, sp, ret, 8) != 8)
		die("%s: %s is entered without a stack", j->name, symbol);
	until_return(j, get_le64(ret), sp);
}
