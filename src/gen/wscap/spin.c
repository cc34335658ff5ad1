/*
 * Threads and processes that wait for others without a system call, by reading a word again and again.  Such loops execute
 * `pause`, or end with a jump that spin_loop.c finds.  While one runs at a time, the word does not change before the turn
 * goes on: it does at that instruction.
 *
 * A breakpoint is written there once a thread has run for its time, and was stopped near it.  The place needs nothing to be
 * found again: it is the first time that the thread executes this instruction, and jumps, since what was recorded last.  If
 * it is not, as all others waited for something else then, the turn goes on as after some milliseconds.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/spin.h"
#include "gen/wscap/thread.h"
#include "isa/x86/decode.h"

#define INSNS  128u             /* instructions that are looked at around a place */
#define PATH   24u              /* of them, in a row */
#define PATHS  16u              /* branches that are followed, the nearest first */
#define NEAR   4096u            /* bytes to their targets */
#define ALONE  64u              /* pauses of the only thread that could run, before it executes them undisturbed */
#define ROUNDS 1000u            /* turns that end at a pause, in a row: all threads may wait for something else */
#define JUMPS  200u             /* the same at a jump, whose loop may compute */

/* Is there code of a file, which nobody can write to? */
static int
spin_code(const struct cap *c, uint64_t addr)
{
	size_t i = region_at(&c->reg, addr);
	const struct region *r = &c->reg.p[i];

	return i < c->reg.n && r->lo <= addr && r->hi - addr > 1 && r->ino && !r->shared && r->prot & PROT_EXEC &&
	    !(r->prot & PROT_WRITE);
}

/* What may be executed next. */
struct paths {
	uint64_t seen[INSNS], todo[PATHS];
	size_t nseen, ntodo, done;      /* of todo */
};

/* The instruction after the one at `at`; a branch is kept for later.  0: none that is known, or it is seen already. */
static uint64_t
paths_next(struct paths *p, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op, uint64_t at)
{
	uint64_t next = at + z->length, to = next;

	if (op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[0].imm.is_relative)
		to = next + (uint64_t)op[0].imm.value.s;
	if (to - (at - NEAR) > 2 * NEAR)
		to = next;
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		if (to != next && p->ntodo < PATHS)
			p->todo[p->ntodo++] = to;
		return next;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return to == next ? 0 : to;
	case ZYDIS_CATEGORY_RET: case ZYDIS_CATEGORY_INTERRUPT: case ZYDIS_CATEGORY_SYSCALL:
		return 0;
	default:
		return next;
	}
}

static int
paths_saw(struct paths *p, uint64_t at)
{
	for (size_t i = 0; i < p->nseen; i++)
		if (p->seen[i] == at)
			return 1;
	p->seen[p->nseen++] = at;
	return 0;
}

void
spin_learn(struct cap *c, uint64_t rip)
{
	struct paths p = {.todo = {rip}, .ntodo = 1};
	size_t had = c->nsite;

	while (p.done < p.ntodo) {
		uint64_t at = p.todo[p.done++];

		for (unsigned i = 0; i < PATH && at && p.nseen < INSNS && !paths_saw(&p, at); i++) {
			ZydisDecodedInstruction z;
			ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
			uint8_t b[ZYDIS_MAX_INSTRUCTION_LENGTH];
			size_t n = tracee_readable(&c->t, at, b, sizeof(b));

			random_hide(c, at, b, n);
			if (x86_decode(&z, op, b, n, x86_amd_here()))
				break;
			/* with more prefixes, a turn that ends there would begin amid it */
			if (z.mnemonic == ZYDIS_MNEMONIC_PAUSE && z.length == PAUSE_BYTES && spin_code(c, at))
				random_pause(c, at, PAUSE_BYTES);
			at = paths_next(&p, &z, op, at);
		}
	}
	if (c->nsite > had)             /* it may have executed them before */
		c->spin.passed = 1;
}

void
spin_learn_here(struct cap *c)
{
	struct user_regs_struct g;

	if (!tracee_regs(&c->t, &g))
		spin_learn(c, g.rip);
}

void
spin_jump(struct cap *c, uint64_t addr, unsigned len)
{
	if ((c->th || share_any(c)) && spin_code(c, addr))
		random_pause(c, addr, len);
}

int
spin_lift(struct cap *c)
{
	c->spin.passed = 1;
	if (c->spin.unwatched)
		return 0;
	random_pauses(c, 0);
	return 1;
}

void
spin_return(struct cap *c, int lifted)
{
	if (lifted && !c->hasended)
		random_pauses(c, 1);
}

void
spin_known(struct cap *c)
{
	if (!c->spin.unwatched)
		c->spin.passed = 0;
}

void
spin_turn(struct cap *c)
{
	struct spin *s = &c->spin;

	if (s->unwatched)
		random_pauses(c, 1);
	s->unwatched = s->passed = 0;
	s->alone = 0;
}

/* The thread executes such instructions undisturbed, until another one gets the turn. */
static void
spin_leave(struct cap *c)
{
	random_pauses(c, 0);
	c->spin.unwatched = c->spin.passed = 1;
	c->spin.spins = 0;
}

void
spin_ready(struct cap *c)
{
	struct threads *th = c->th;

	if (c->spin.unwatched && th->turn && th->due <= 0)
		th->due = 1;
}

/* A place without stack and memory, as it is the first that has this address. */
static void
spin_put(struct cap *c, const struct ws_regs *at)
{
	struct ws_rec r = {.kind = WS_SIG, .u.sig = {.icount = WS_UNKNOWN, .sig = SIGSTOP, .at = *at, .to = *at}};

	wscap_put(c, &r);
}

void
spin_resumed(struct cap *c, struct thread *t)
{
	struct ws_regs after = t->place;

	after.rip = t->after;
	if (t->after)
		spin_put(c, &after);
}

/* Its turn, or that of its process, is to end after some milliseconds, where that can be told from other places. */
static void
spin_later(struct cap *c)
{
	struct turns *t = &c->all->turns;

	if (c->th && c->th->nready)
		spin_ready(c);
	else if (t->due <= 0)
		t->due = 1;
	(void)lately_begin(c);
}

/* The place is recorded at the switch to another thread. */
static void
spin_switch(struct cap *c, const struct ws_regs *at, uint64_t after)
{
	struct threads *th = c->th;

	th->sig = (struct ws_rec_sig){.icount = WS_UNKNOWN, .at = *at};
	th->placed = c->spin.passed = 1;
	th->turn->after = after;
}

/* In front of the instruction, and after it: a replay that stands at a place takes it for the next one that is the same. */
static void
spin_put_both(struct cap *c, struct ws_regs *at, uint64_t after)
{
	spin_put(c, at);
	at->rip = after;
	spin_put(c, at);
}

void
spin_hit(struct cap *c, const struct site *s, struct user_regs_struct *g)
{
	struct spin *p = &c->spin;
	struct threads *th = c->th;
	int jump = s->was != PAUSE_BYTE, processes = turn_others(c), threads = th && th->nready;
	struct ws_regs at;

	tracee_from_user(&at, g, g->rax);
	at.rip = s->addr;
	g->rip = spin_after(c, s, g->eflags);
	g->orig_rax = UINT64_MAX;
	tracee_setregs(&c->t, g);
	c->behind = 0;
	if (c->lender || (th && !th->turn))     /* a child in its parent's memory */
		return;
	if (jump && g->rip == s->addr + s->d.len) {     /* it has waited, and its flags are not those of a place */
		p->spins = 0;
	} else if (p->passed ||
	    (threads || processes ? ++p->spins > (jump ? JUMPS : ROUNDS) : ++p->alone > ALONE)) {
		spin_leave(c);
		if (threads || processes)
			spin_later(c);
	} else if (threads && !(processes && p->round++ > th->nready)) {
		spin_switch(c, &at, g->rip);
	} else {
		spin_put_both(c, &at, g->rip);
		c->turn.placed = p->passed = processes;
	}
}
