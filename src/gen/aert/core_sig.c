/*
 * Signals.  The kernel knows one handler of ours, the trampoline, for each
 * signal that the program handles or whose default kills; what the program
 * believes is in act[].  SIGSEGV is never blocked, because it says that the
 * buffer is full.
 *
 * What runs between the trampoline and the handler is in section aetext, so
 * that a second signal finds it there and is run untraced.  r15 is still the
 * interrupted code's all the way.
 */
#include "aert.h"
#include "sys.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

__extension__ register uint64_t r15_reserved __asm__("r15");

#define AETEXT __attribute__((section("aetext")))
#define BIT(sig) ((uint64_t)1 << ((sig) - 1))
#define LIBC_OWN (BIT(32) | BIT(33))    /* libc keeps these for threads */
#define RESTORER 0x04000000u
#define NFRAME 32
#define TRAMP ((sighandler_t)(uintptr_t)ae_tramp)

struct kact { sighandler_t handler; uint64_t flags; void *restorer; uint64_t mask; };

static struct ae_act act[65];
static int segv_blocked;                /* the program blocked SIGSEGV */
static int segv_pending;                /* and one was sent */
static uint64_t frame[NFRAME];          /* running handlers that block SIGSEGV: their signal frames */
static int nframe;
static int main_tid;
static volatile int asked;              /* another thread wants the traced one to finish the recording: 1, done: 2 */
static enum ae_reason ask_why;
static int ask_sig;
static int segv_shut;                   /* the kernel blocks it too, around an exec */

static int kills(int sig)
{
	const uint64_t mild = BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) |
	    BIT(SIGTTOU) | BIT(SIGURG) | BIT(SIGWINCH) | BIT(SIGKILL) | LIBC_OWN;

	return !(mild & BIT(sig));
}

/* Give the kernel what stands for act[sig] */
static int install(int sig, struct kact *old)
{
	struct ae_act *a = act + sig;
	struct kact k = { a->handler, a->flags | RESTORER, (void *)(uintptr_t)ae_restorer, a->mask };

	if (a->handler == SIG_DFL ? kills(sig) : a->handler != SIG_IGN || sig == SIGSEGV)
		k.handler = TRAMP;
	if (a->handler == SIG_DFL && kills(sig)) {
		k.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | RESTORER;
		k.mask = ~(uint64_t)0;
	}
	k.mask &= ~BIT(SIGSEGV);
	k.flags = (k.flags | SA_SIGINFO) & ~(uint64_t)SA_RESETHAND;     /* the trampoline wants to see siginfo */
	if (sig == SIGSEGV)
		k.flags |= SA_NODEFER;
	return sys_err(sys4(SYS_rt_sigaction, sig, SYS_P(&k), SYS_P(old), 8));
}

void ae_sig_init(void)
{
	stack_t ss = { .ss_sp = (void *)AE_ALT, .ss_size = AE_ALTLEN }, was;
	struct kact k;
	int sig;

	main_tid = (int)sys3(SYS_gettid, 0, 0, 0);
	if (sys3(SYS_sigaltstack, 0, SYS_P(&was), 0) == 0 && (was.ss_flags & SS_DISABLE))
		sys3(SYS_sigaltstack, SYS_P(&ss), 0, 0);
	for (sig = 1; sig <= 64; sig++) {
		if (!kills(sig) || sys4(SYS_rt_sigaction, sig, 0, SYS_P(&k), 8) != 0)
			continue;
		act[sig].handler = k.handler;
		if (k.handler == SIG_DFL || sig == SIGSEGV)
			install(sig, &k);
	}
}

/*
 * Another thread ends the process while traced code runs: where it stands is
 * in a register of the traced thread, so that one must do it, in a handler.
 */
void ae_ask(enum ae_reason why, int sig)
{
	struct timespec ms = { 0, 1000000 };
	int i;

	ask_why = why;
	ask_sig = sig;
	asked = 1;
	if (sys3(SYS_tgkill, sys3(SYS_getpid, 0, 0, 0), main_tid, SIGSEGV) == 0)
		for (i = 0; i < 500 && asked == 1; i++)
			sys3(SYS_nanosleep, SYS_P(&ms), 0, 0);
	asked = 0;
}

/* Is SIGSEGV blocked, as the program sees it?  Handlers whose frames lie below sp have returned or were jumped over. */
AETEXT static int blocked(uint64_t sp)
{
	while (nframe > 0 && sp > frame[nframe - 1])
		nframe--;
	return segv_blocked || nframe > 0;
}

/* The default action: end the recording, then die of the signal as if we had never been there. */
static void die(int sig, int fault, uint64_t rip, uint8_t *live)
{
	struct kact k = { SIG_DFL, RESTORER, (void *)(uintptr_t)ae_restorer, 0 };

	if (!live && ae_depth)
		live = ae_mid;
	if (!live && !ae_ismain() && ae_kin() == AE_SELF && ae_rec)
		ae_ask(AE_SIGNAL, sig);
	ae_finish(AE_SIGNAL, sig, rip, live);
	sys4(SYS_rt_sigaction, sig, SYS_P(&k), 0, 8);
	/* it comes when the handler returns, at the place that was interrupted: so a core file shows it */
	if (!(sig == SIGSEGV && fault))
		sys3(SYS_tgkill, sys3(SYS_getpid, 0, 0, 0), sys3(SYS_gettid, 0, 0, 0), sig);
}

AETEXT static int is_full(const siginfo_t *si, const greg_t *r)
{
	uint64_t at = (uint64_t)(uintptr_t)si->si_addr, r15 = (uint64_t)r[REG_R15];

	return si->si_code > 0 && at - AE_END < AE_GUARD && r15 - AE_BUF <= AE_BUFLEN && ae_intext((uint64_t)r[REG_RIP]);
}

/* The buffer is full.  A signal that comes before ae_full blocks all finds the state of a handler that interrupted traced code. */
AETEXT static void full(greg_t *r, uint8_t *live)
{
	uint8_t *p = __ae_ptr;

	ae_mid = live;
	ae_depth++;
	__ae_ptr = NULL;
	r[REG_R15] = (greg_t)ae_full((uint8_t *)r[REG_R15]);
	__ae_ptr = p ? (uint8_t *)AE_BUF : NULL;
	ae_depth--;
}

/* How sig is to be handled now: the handler, or NULL for none; *kill for the default action */
AETEXT static sighandler_t choose(int sig, const siginfo_t *si, uint64_t sp, int main, int *kill)
{
	struct ae_act *a = act + sig;
	sighandler_t h = a->handler;
	int fault = sig == SIGSEGV && si->si_code > 0;

	*kill = 0;
	if (sig == SIGSEGV && main && blocked(sp)) {
		segv_pending |= !fault;
		*kill = fault;
		return NULL;
	}
	if (h == SIG_DFL || (h == SIG_IGN && fault))
		*kill = 1;
	if (h == SIG_DFL || h == SIG_IGN)
		return NULL;
	if (a->flags & SA_RESETHAND)
		a->handler = SIG_DFL;
	return h;
}

AETEXT struct ae_call ae_dispatch(int sig, siginfo_t *si, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct ae_call c = { NULL, 0 };
	int main = ae_ismain(), inside = main && ae_intext((uint64_t)r[REG_RIP]), kill;
	uint8_t *live;

	live = __ae_ptr;
	if (!live && inside && !ae_depth)
		live = (uint8_t *)r[REG_R15];
	if (sig == SIGSEGV && main && is_full(si, r)) {
		full(r, live);
		return c;
	}
	if (sig == SIGSEGV && main && asked == 1 && si->si_code == SI_TKILL) {
		ae_finish(ask_why, ask_sig, 0, live ? live : ae_mid);
		asked = 2;
		return c;
	}
	c.handler = choose(sig, si, (uint64_t)r[REG_RSP], main, &kill);
	if (kill)
		die(sig, si->si_code > 0, inside ? (uint64_t)r[REG_RIP] : 0, live);
	if (!c.handler)
		return c;
	if (main && nframe < NFRAME && ((sig == SIGSEGV && !(act[sig].flags & SA_NODEFER)) || (act[sig].mask & BIT(SIGSEGV))))
		frame[nframe++] = (uint64_t)(uintptr_t)context;
	if (inside && ae_rec) {
		c.plain = 1;
		ae_nhandler++;
		if (!ae_depth)
			ae_mid = live;
	}
	return c;
}

static uint64_t mask_of(const sigset_t *set)
{
	uint64_t m;

	mem_copy(&m, set, 8);
	return m;
}

/* A handler on the alternate stack: if the program has none, ours must not stand in for it. */
static void drop_altstack(void)
{
	stack_t off = { .ss_flags = SS_DISABLE }, now;

	if (sys3(SYS_sigaltstack, 0, SYS_P(&now), 0) == 0 && now.ss_sp == (void *)AE_ALT && !(now.ss_flags & SS_ONSTACK))
		sys3(SYS_sigaltstack, SYS_P(&off), 0, 0);
}

int ae_sigaction(int sig, const struct sigaction *new, struct sigaction *old)
{
	struct ae_act was;
	struct kact k;
	uint64_t block;
	int err;

	if (sig < 1 || sig > 64 || (LIBC_OWN & BIT(sig)))
		return EINVAL;
	block = ae_block();
	was = act[sig];
	err = sys_err(sys4(SYS_rt_sigaction, sig, 0, SYS_P(&k), 8));
	if (!err && k.handler != TRAMP) {        /* set by a library */
		was.handler = k.handler;
		was.flags = k.flags;
		was.mask = k.mask;
	}
	if (!err && new) {
		act[sig].handler = new->sa_handler;
		act[sig].flags = (uint32_t)new->sa_flags | RESTORER;
		act[sig].mask = mask_of(&new->sa_mask);
		err = install(sig, &k);
		if (err)
			act[sig] = was;
		else if ((new->sa_flags & SA_ONSTACK) && (uintptr_t)new->sa_handler > 1)
			drop_altstack();
	}
	if (!err && old) {
		mem_zero(old, sizeof *old);
		old->sa_handler = was.handler;
		old->sa_flags = (int)was.flags;
		mem_copy(&old->sa_mask, &was.mask, 8);
		old->sa_restorer = was.flags & RESTORER ? (void (*)(void))ae_restorer : NULL;
	}
	ae_unblock(block);
	return err;
}

int ae_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	uint64_t m = 0, was = 0, bit = BIT(SIGSEGV);
	int main = ae_ismain(), shut, err;

	if (set)
		m = mask_of(set) & ~LIBC_OWN;
	err = sys_err(sys4(SYS_rt_sigprocmask, how, set ? SYS_P(&(uint64_t){ main ? m & ~bit : m }) : 0, SYS_P(&was), 8));
	if (err)
		return err;
	shut = main && blocked((uint64_t)(uintptr_t)__builtin_frame_address(0));
	if (main && set) {
		if (how != SIG_UNBLOCK && (m & bit)) {
			segv_blocked = 1;
		} else if (how == SIG_SETMASK || (m & bit)) {
			segv_blocked = 0;
			nframe = 0;
		}
		if (segv_pending && !segv_blocked && nframe == 0) {
			segv_pending = 0;
			sys3(SYS_tgkill, sys3(SYS_getpid, 0, 0, 0), sys3(SYS_gettid, 0, 0, 0), SIGSEGV);
		}
	}
	if (old) {
		was |= shut ? bit : 0;
		mem_zero(old, sizeof *old);
		mem_copy(old, &was, 8);
	}
	return 0;
}

const sigset_t *ae_mask_strip(const sigset_t *set, sigset_t *copy)
{
	uint64_t m;

	if (!set || !ae_on || !ae_ismain())
		return set;
	mem_copy(copy, set, sizeof *copy);
	m = mask_of(set) & ~BIT(SIGSEGV);
	mem_copy(copy, &m, 8);
	return copy;
}

void ae_segv_real(int really)
{
	uint64_t set = BIT(SIGSEGV);

	if (!ae_on || !ae_ismain() || (really ? !segv_blocked : !segv_shut))
		return;
	segv_shut = really;
	sys4(SYS_rt_sigprocmask, really ? SIG_BLOCK : SIG_UNBLOCK, SYS_P(&set), 0, 8);
}

int ae_sigaltstack(const stack_t *ss, stack_t *old)
{
	stack_t was;
	int err = sys_err(sys3(SYS_sigaltstack, SYS_P(ss), SYS_P(&was), 0));

	if (!err && old) {
		*old = was;
		if (was.ss_sp == (void *)AE_ALT) {
			old->ss_sp = NULL;
			old->ss_size = 0;
			old->ss_flags = SS_DISABLE;
		}
	}
	return err;
}
