/*
 * Records the place where an asynchronous signal interrupts the program, so that a replay
 * recognizes it among millions of visits: the registers, the stack, and what the program wrote
 * in its last steps, which is where a loop keeps its counter if it is in memory.
 */
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <Zydis/Zydis.h>

#include "base/bytes.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/spin.h"
#include "gen/wscap/thread.h"
#include "gen/wscap/touch.h"
#include "gen/wscap/wscap.h"
#include "isa/x86/decode.h"

#define STEPS 64u               /* steps for which the program is watched */
#define FAR_STEPS 20000u        /* the same at the end of a capture */
#define FAR_WORDS (64 - ZONE / 8)
#define LATELY 384u             /* words that the program has changed lately, which tell passes of outer loops apart */
#define ZONE  128u              /* the red zone: bytes below rsp that functions use without changing rsp */

struct step {
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

/* Instructions that must not be single-stepped: they leave the program, trap, or show the trap flag. */
static int
place_stays(const struct step *s)
{
	switch (s->z.meta.category) {
	case ZYDIS_CATEGORY_SYSCALL: case ZYDIS_CATEGORY_SYSRET: case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_RDRAND: case ZYDIS_CATEGORY_RDSEED: case ZYDIS_CATEGORY_RDPID:
	case ZYDIS_CATEGORY_STRINGOP:
		return 0;
	default:
		break;
	}
	switch (s->z.mnemonic) {
	case ZYDIS_MNEMONIC_PUSHF: case ZYDIS_MNEMONIC_PUSHFQ: case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_CPUID: case ZYDIS_MNEMONIC_RDTSC: case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_UD0: case ZYDIS_MNEMONIC_UD1: case ZYDIS_MNEMONIC_UD2:
		return 0;
	default:
		return !(s->z.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED);
	}
}

static int
place_decode(struct cap *c, uint64_t pc, struct step *s)
{
	uint8_t b[15];
	size_t n = tracee_read(&c->t, pc, b, sizeof(b));

	if (fast_covers(c, pc))         /* another instruction is there */
		return -1;
	return x86_decode(&s->z, s->op, b, n, x86_amd_here());
}

static void
place_note(struct cap *c, uint64_t addr)
{
	addr &= ~7ull;
	for (size_t i = 0; i < c->nplace; i++)
		if (c->place[i] == addr)
			return;
	if (c->nplace < WS_SIGWORDS)
		c->place[c->nplace++] = addr;
}

/* Notes an address outside of the stack that is compared anyhow; the last ones written are kept. */
static void
place_note_far(struct cap *c, uint64_t addr, uint64_t sp)
{
	addr &= ~7ull;
	if (addr - (sp - WS_SIGSTACK) < 2 * WS_SIGSTACK)
		return;
	for (size_t i = 0; i < c->nplace; i++)
		if (c->place[i] == addr)
			return;
	if (c->nplace == FAR_WORDS)
		memmove(c->place, c->place + 1, --c->nplace * sizeof(c->place[0]));
	c->place[c->nplace++] = addr;
}

/* The address that the instruction at g's rip writes to. */
static void
place_writes(struct cap *c, const struct step *s, const struct user_regs_struct *g, int far)
{
	ZydisRegisterContext x;
	struct ws_regs w;
	uint64_t addr;

	tracee_from_user(&w, g, g->rax);
	memset(&x, 0, sizeof(x));
	for (int i = 0; i < 16; i++) {
		x.values[ZYDIS_REGISTER_RAX + i] = w.r[i];
		x.values[ZYDIS_REGISTER_EAX + i] = (uint32_t)w.r[i];
	}
	for (int i = 0; i < s->z.operand_count_visible; i++) {
		const ZydisDecodedOperand *o = &s->op[i];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
		    !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) ||
		    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(&s->z, o, w.rip, &x, &addr)))
			continue;
		addr += o->mem.segment == ZYDIS_REGISTER_FS ? w.fsbase :
		    o->mem.segment == ZYDIS_REGISTER_GS ? w.gsbase : 0;
		if (far) {
			place_note_far(c, addr, g->rsp);
			continue;
		}
		place_note(c, addr);
		if (addr % 8 + o->size / 8u > 8)
			place_note(c, addr + 7);
	}
}

/* Instructions that are in the way of the short search only. */
static int
place_passes(const struct step *s)
{
	return s->z.meta.category == ZYDIS_CATEGORY_STRINGOP || s->z.mnemonic == ZYDIS_MNEMONIC_CPUID;
}

int
place_run(struct cap *c, int how)
{
	int status = 0;

	do {
		if (tracee_resume(&c->t, how, 0))
			return 0;
		while (tracee_wait(&c->t, &status))
			;
	} while (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP);
	if (!WIFSTOPPED(status)) {
		c->ended = status;
		c->hasended = 1;
		return -1;
	}
	return status;
}

/* A signal with a handler that comes while a place is searched waits until later: with a fast timer, one always comes. */
static int
place_holds(struct cap *c, int status, siginfo_t *si)
{
	return status >> 16 == 0 && !ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, si) && !signal_is_fault(si) &&
	    !signal_wait(c, si);
}

/*
 * One step: 0; a signal that came instead; -1: the program ended.  A process that was interrupted directly after an int3
 * does not step, it takes that one's SIGTRAP first: then rip is behind the int3, amid the instruction of the program.
 */
static int
place_step(struct cap *c)
{
	siginfo_t si;
	int status;

	do {
		status = place_run(c, PTRACE_SINGLESTEP);
	} while (status > 0 && status >> 8 != SIGTRAP && place_holds(c, status, &si));
	if (status <= 0)
		return status;
	c->behind = 0;
	if (status >> 8 == SIGTRAP && !ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si) && si.si_code == SI_KERNEL)
		return SIGTRAP;
	return status >> 8 == SIGTRAP ? 0 : WSTOPSIG(status);
}

static int
place_watch(struct cap *c, unsigned steps, int far)
{
	struct user_regs_struct g;
	struct step s;
	struct spin_loop l = {0};
	unsigned i;
	int sig = 0, lifted = spin_lift(c);

	c->nplace = 0;
	for (i = 0; i < steps && !sig && !touch_hides(c); i++) {
		if (tracee_regs(&c->t, &g))
			break;
		if (random_trapped(c, g.rip) == g.rip) {
			if (place_decode(c, g.rip, &s) || (!place_stays(&s) && !(far && place_passes(&s))))
				break;
			place_writes(c, &s, &g, far);
			if (!far)
				spin_loop_step(&l, c, &g, &s.z, s.op);
		}
		sig = place_step(c);
		/* the kernel has unblocked it, and one that the program has sent itself would be taken for the next step */
		if (!sig && c->mask >> (SIGTRAP - 1) & 1)
			ptrace(PTRACE_SETSIGMASK, c->t.pid, sizeof(c->mask), &c->mask);
		if (sig && i == 0)
			c->nplace = 0;
	}
	spin_return(c, lifted);
	if (l.found && !c->hasended)
		spin_jump(c, l.found, l.len);
	/* a step of a program that blocks SIGTRAP unblocks it, and takes its action; that cannot be set where another one came */
	if (i && !sig && !c->hasended)
		signal_forced(c, SIGTRAP);
	else if (i && !c->hasended && c->mask >> (SIGTRAP - 1) & 1)
		ptrace(PTRACE_SETSIGMASK, c->t.pid, sizeof(c->mask), &c->mask);
	return sig;
}

int
place_search(struct cap *c)
{
	return place_watch(c, STEPS, 0);
}

int
place_search_far(struct cap *c)
{
	return place_watch(c, FAR_STEPS, 1);
}

void
place_record(struct cap *c, struct ws_rec_sig *s, uint64_t sp)
{
	uint64_t lately[LATELY];
	size_t n = lately_end(c, lately, LATELY);
	uint8_t b[8];

	for (uint64_t at = sp - ZONE; at != sp; at += 8)
		place_note(c, at);
	for (size_t i = 0; i < n; i++)
		place_note(c, lately[i]);
	if (c->t.nheld)                 /* for the next one */
		lately_begin(c);
	s->stack = c->stack;
	s->nstack = tracee_readable(&c->t, sp, c->stack, sizeof(c->stack));
	s->words = c->words;
	for (size_t i = 0; i < c->nplace; i++) {
		if (tracee_read(&c->t, c->place[i], b, 8) != 8)
			continue;
		put_le64(c->words + s->nwords * WS_SIGWORD, c->place[i]);
		memcpy(c->words + s->nwords++ * WS_SIGWORD + 8, b, 8);
	}
	c->nplace = 0;
	spin_known(c);
}
