/*
 * Threads that wait for others without a system call, by reading a word again and again.  Such loops execute `pause`.
 * While one thread runs at a time, the word does not change before the turn goes on: it does at that instruction.
 *
 * A breakpoint is written there once a thread has run for its time, and was stopped near it.  The place needs nothing to be
 * found again: it is the first time that the thread executes this `pause` since what was recorded last.  If it is not, as
 * all others waited for something else then, the turn goes on as after some milliseconds.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"
#include "isa/x86/decode.h"

#define INSNS  128u             /* instructions that are looked at around a place */
#define PATH   24u              /* of them, in a row */
#define PATHS  16u              /* branches that are followed, the nearest first */
#define NEAR   4096u            /* bytes to their targets */
#define ALONE  64u              /* pauses of the only thread that could run, before it executes them undisturbed */
#define ROUNDS 1000u            /* turns that end at a pause, in a row: all threads may wait for something else */

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
				random_pause(c, at);
			at = paths_next(&p, &z, op, at);
		}
	}
	if (c->nsite > had)             /* it may have executed them before */
		c->th->passed = 1;
}

int
spin_lift(struct cap *c)
{
	struct threads *th = c->th;

	if (!th)
		return 0;
	th->passed = 1;
	if (th->unwatched)
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
	if (c->th && !c->th->unwatched)
		c->th->passed = 0;
}

void
spin_turn(struct cap *c)
{
	struct threads *th = c->th;

	if (th->unwatched)
		random_pauses(c, 1);
	th->unwatched = th->passed = 0;
	th->alone = 0;
}

/* The thread executes pauses undisturbed, until another one gets the turn. */
static void
spin_leave(struct cap *c)
{
	random_pauses(c, 0);
	c->th->unwatched = c->th->passed = 1;
	c->th->spins = 0;
}

void
spin_ready(struct cap *c)
{
	struct threads *th = c->th;

	if (th->unwatched && th->turn && th->due <= 0)
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
	struct ws_regs behind = t->place;

	behind.rip += PAUSE_BYTES;
	if (t->paused)
		spin_put(c, &behind);
}

void
spin_hit(struct cap *c, uint64_t addr, struct user_regs_struct *g)
{
	struct threads *th = c->th;
	struct ws_regs at;

	tracee_from_user(&at, g, g->rax);
	g->rip = addr + PAUSE_BYTES;
	g->orig_rax = UINT64_MAX;
	tracee_setregs(&c->t, g);
	c->behind = 0;
	if (!th || !th->turn) {
		random_pauses(c, 0);    /* the child of a process with threads */
	} else if (th->passed || (th->nready ? ++th->spins > ROUNDS : ++th->alone > ALONE)) {
		spin_leave(c);
		if (th->nready) {
			spin_ready(c);
			(void)lately_begin(c);
		}
	} else if (th->nready) {
		th->sig = (struct ws_rec_sig){.icount = WS_UNKNOWN, .at = at};
		th->sig.at.rip = addr;
		th->placed = th->passed = th->turn->paused = 1;
	} else {
		/* in front of it, and behind: a replay that stands at a place takes it for the next one that is the same */
		at.rip = addr;
		spin_put(c, &at);
		at.rip += PAUSE_BYTES;
		spin_put(c, &at);
	}
}
