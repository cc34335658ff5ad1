/* Breakpoints where a region may begin or end, and where the program loads libraries. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <Zydis/Zydis.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "gen/wscap/point.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"
#include "isa/x86/decode.h"

static const struct where point_load = { .kind = WHERE_NAME, .name = "_dl_debug_state", .n = 1 };
static const struct where point_main = { .kind = WHERE_NAME, .name = "main", .n = 1 };

static const struct where *
point_wanted(const struct tree *a)
{
	return a->waiting ? &a->from : &a->to;
}

static int
point_is(const struct found *f, uint64_t addr)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->addr[i] == addr)
			return 1;
	return 0;
}

/* Indirect functions become those that they stand for. */
static void
point_resolve(struct cap *c, struct found *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->indirect[i]) {
			f->addr[i] = functions_resolve(c, f->addr[i]);
			f->indirect[i] = 0;
		}
}

static int
point_direct(const struct found *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->indirect[i])
			return 0;
	return 1;
}

/*
 * Why can the program not be stopped there often?  The instruction at a place is executed unseen: what
 * comes from outside of the program would be missing in the capture.
 */
static const char *
point_unfit(struct cap *c, const struct where *w, uint64_t addr)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t b[15];
	size_t n = tracee_read(&c->t, addr, b, sizeof(b));

	random_hide(c, addr, b, n);     /* if one is there already */
	if ((c->all->waiting && w->n == 1) || x86_decode(&z, op, b, n, x86_amd_here()))
		return NULL;
	switch (z.meta.category) {
	case ZYDIS_CATEGORY_SYSCALL: case ZYDIS_CATEGORY_SYSRET: case ZYDIS_CATEGORY_INTERRUPT:
		return "a system call is there, which would not be captured; take an instruction before it";
	default:
		break;
	}
	switch (z.mnemonic) {
	case ZYDIS_MNEMONIC_CPUID: case ZYDIS_MNEMONIC_RDTSC: case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDRAND: case ZYDIS_MNEMONIC_RDSEED: case ZYDIS_MNEMONIC_RDPID:
		return "an instruction of changing result is there; take one before it";
	default:
		return NULL;
	}
}

/* Once the capture has begun, it has no end but the program's. */
static void
point_refuse(struct cap *c, const struct where *w, const char *why)
{
	struct tree *a = c->all;

	if (a->waiting)
		wait_fail(c, "--from", w, why);
	if (a->settled) {
		warn("--to %s: %s; the capture goes on", w->text, why);
		a->to.kind = WHERE_NONE;
	} else if (a->attached || a->from.kind) {
		wait_fail(c, "--to", w, why);
	} else {
		die("--to %s: %s", w->text, why);
	}
}

/* Writes the breakpoints: 0 or -1. */
static int
point_plant(struct cap *c, const struct where *w, const struct found *f)
{
	const char *why = NULL;

	for (size_t i = 0; i < f->n && !why; i++)
		why = point_unfit(c, w, f->addr[i]);
	for (size_t i = 0; i < f->n && !why; i++)
		if (f->addr[i] && random_point(c, f->addr[i]))
			why = "no breakpoint can be written there";
	if (why)
		point_refuse(c, w, why);
	return why ? -1 : 0;
}

/* late: the program has been relocated, so that indirect functions can be resolved */
static void
point_look(struct cap *c, int late)
{
	struct tree *a = c->all;
	const struct where *w = point_wanted(a);
	struct found f = {0};

	if (w->kind == WHERE_NONE || w->kind == WHERE_SIGNAL || (a->found.n && w->kind != WHERE_MARK))
		return;
	functions_find(c, w, &f);
	if (!late && !point_direct(&f))
		return;
	point_resolve(c, &f);
	if (f.n && !point_plant(c, w, &f))
		a->found = f;
}

/*
 * The loader calls a function of its own when it has loaded and relocated something; a program that is linked
 * statically has relocated itself when it comes to main.
 */
static void
point_watch(struct cap *c)
{
	struct tree *a = c->all;
	struct found f;

	functions_find(c, &point_load, &a->load);
	functions_find(c, &point_main, &f);
	for (size_t i = 0; i < f.n && a->load.n < WHERE_PLACES; i++)
		a->load.addr[a->load.n++] = f.addr[i];
	for (size_t i = 0; i < a->load.n; i++)
		(void)random_point(c, a->load.addr[i]);
}

void
point_program(struct cap *c, int late)
{
	struct tree *a = c->all;

	a->found.n = a->load.n = 0;
	if (point_wanted(a)->kind == WHERE_NONE || point_wanted(a)->kind == WHERE_SIGNAL)
		return;
	point_look(c, late);
	if (!a->found.n || point_wanted(a)->kind == WHERE_MARK)
		point_watch(c);
}

struct site *
point_passed(const struct cap *c, uint64_t rip)
{
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].addr + 1 == rip)
			return &c->site[i];
	return NULL;
}

void
point_back(struct tracee *t, struct user_regs_struct *g)
{
	g->rip--;
	g->orig_rax = UINT64_MAX;
	tracee_setregs(t, g);
}

/* Has the region's beginning or end come n times? */
static int
point_count(struct tree *a)
{
	const struct where *w = point_wanted(a);

	return ++a->nseen == w->n;
}

/* The trap flag is not to be seen in what pushf has pushed. */
static void
point_hide_step(struct cap *c, const uint8_t *insn)
{
	struct user_regs_struct g;
	uint8_t b[2];

	while (*insn == 0x66 || (*insn & 0xf0) == 0x40)
		insn++;
	if (*insn != 0x9c || tracee_regs(&c->t, &g) || tracee_read(&c->t, g.rsp, b, 2) != 2)
		return;
	b[1] &= 0xfe;
	tracee_write(&c->t, g.rsp, b, 2);
}

/*
 * Executes the instruction at a point.  A signal may come first: it is returned, and the point will be
 * met again, which does not count.
 */
static int
point_step(struct cap *c, struct site *s)
{
	struct user_regs_struct g;
	uint64_t addr = s->addr;
	uint8_t insn[16] = {0}, trap = 0xcc;
	int status;

	if (tracee_regs(&c->t, &g))
		return 0;
	tracee_write(&c->t, addr, &s->was, 1);
	tracee_read(&c->t, addr, insn, 15);
	do {                            /* one that was to stand while another was at a point has that stop first */
		if (tracee_resume(&c->t, PTRACE_SINGLESTEP, 0))
			return 0;
		while (tracee_wait(&c->t, &status))
			;
	} while (c->all->waiting && WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP &&
	    WSTOPSIG(status) == SIGTRAP);
	if (!WIFSTOPPED(status)) {
		c->ended = status;
		c->hasended = 1;
		return 0;
	}
	tracee_write(&c->t, addr, &trap, 1);
	c->again = 0;
	if (status >> 8 == SIGTRAP) {
		point_hide_step(c, insn);
		c->behind = 0;
		return 0;
	}
	c->again = addr;
	c->againsp = g.rsp;
	return status >> 16 ? 0 : WSTOPSIG(status);
}

int
point_hit(struct cap *c, struct site *s, int *sig)
{
	struct tree *a = c->all;
	struct user_regs_struct g;
	int counts, counted;

	*sig = 0;
	if (tracee_regs(&c->t, &g))
		return 0;
	counts = c->pid == a->main && !(c->again == s->addr && c->againsp == g.rsp);
	c->again = 0;
	if (counts && point_is(&a->load, s->addr))
		point_look(c, 1);
	counted = counts && !c->hasended && point_is(&a->found, s->addr);
	if (counted) {
		/* each one is a place in the capture, so that the last can be told from the others */
		signal_place(c);
		if (point_count(a))
			return 1;
	}
	for (size_t i = 0; i < c->nsite && !c->hasended; i++)   /* point_look may have moved it */
		if (c->site[i].addr == g.rip) {
			*sig = point_step(c, &c->site[i]);
			break;
		}
	if (a->waiting && c->again) {   /* the region may begin in another thread before this one is here again */
		a->nseen -= (unsigned)counted;
		c->again = 0;
	}
	return 0;
}

/* The region ends. */
void
point_end(struct tree *a)
{
	snprintf(a->until.why, sizeof(a->until.why), "--to %.50s", a->to.text);
	a->over = a->until.why;
	tree_interrupt(a);
}

int
point_signal(struct cap *c, int sig)
{
	const struct where *w = point_wanted(c->all);

	return w->kind == WHERE_SIGNAL && w->sig == sig && c->pid == c->all->main && point_count(c->all);
}
