/*
 * Signals. The kernel knows one handler of ours, the trampoline, for each signal that the program
 * handles or whose default action kills. act[] has the actions that the program believes in.
 * SIGSEGV is never blocked, because it reports that the buffer is full.
 *
 * The code between the trampoline and the handler is in section aetext, so that a second signal
 * finds it there and its handler is not taken for a callback. The register of the event pointer is still the
 * interrupted code's all the way.
 */
#include "ae/runtime/call.h"

AE_KEEP_POINTER;

#define AETEXT __attribute__((section("aetext")))
#define LIBC_OWN(sig) ((sig) == 32 || (sig) == 33)      /* libc uses these for threads */
#define TRAMP ((sighandler_t)(uintptr_t)ae_tramp)

static struct ae_act act[AE_NSIG + 1];

static int kills(int sig)
{
	switch (sig) {
	case SIGCHLD: case SIGCONT: case SIGSTOP: case SIGTSTP: case SIGTTIN: case SIGTTOU: case SIGURG:
	case SIGWINCH:
	case SIGKILL:
		return 0;
	default:
		return !LIBC_OWN(sig);
	}
}

/* Installs the kernel's action for act[sig]. */
static int install(int sig, struct ae_kact *old)
{
	const struct ae_act *a = act + sig;
	sighandler_t handler = a->handler;
	unsigned long flags = a->flags;
	struct ae_set mask = a->mask;
	struct ae_kact k;

	if (a->handler == SIG_DFL ? kills(sig) : a->handler != SIG_IGN || sig == SIGSEGV)
		handler = TRAMP;
	if (a->handler == SIG_DFL && kills(sig)) {
		flags = SA_ONSTACK | SA_RESTART;
		mask = set_all();
	}
	set_del(&mask, SIGSEGV);
	flags &= ~(unsigned long)SA_RESETHAND;
	/*
	 * the trampoline needs its siginfo; other handlers get none, because the frame differs with it on
	 * some machines
	 */
	if (sig == SIGSEGV)
		flags |= SA_SIGINFO | SA_NODEFER;
	k = kact_make(handler, flags, mask);
	return sys_err(sys4(SYS_rt_sigaction, sig, SYS_P(&k), SYS_P(old), sizeof mask));
}

static void *own_altstack(const struct ae_thread *t)
{
	return (void *)(AE_BASE(t) + AE_ALT);
}

/* An alternate stack for a thread that has none */
static void altstack(const struct ae_thread *t)
{
	stack_t ss = { .ss_sp = own_altstack(t), .ss_size = AE_ALTLEN }, was;

	if (sys3(SYS_sigaltstack, 0, SYS_P(&was), 0) == 0 && (was.ss_flags & SS_DISABLE))
		sys3(SYS_sigaltstack, SYS_P(&ss), 0, 0);
}

void ae_sig_thread(struct ae_thread *t, struct ae_set *mask)
{
	int sig;

	t->segv_blocked = set_has(mask, SIGSEGV);
	set_del(mask, SIGSEGV);
	for (sig = 1; sig <= AE_NSIG; sig++)
		if ((uintptr_t)act[sig].handler > 1 && (act[sig].flags & SA_ONSTACK))
			return;         /* it finds no alternate stack, as the program knows of none */
	altstack(t);
}

void ae_sig_init(void)
{
	struct ae_kact k;
	int sig;

	altstack(ae_me());
	for (sig = 1; sig <= AE_NSIG; sig++) {
		if (!kills(sig) || sys4(SYS_rt_sigaction, sig, 0, SYS_P(&k), sizeof k.mask) != 0)
			continue;
		act[sig].handler = k.handler;
		if (k.handler == SIG_DFL || sig == SIGSEGV)
			install(sig, &k);
	}
}

void ae_sig_answer(void)
{
	struct ae_thread *t = ae_me();

	for (; t; t = t->below)
		if (t->asked == 1) {
			t->shown = ae_rec_at(t);
			t->asked = 4;
		}
}

/* The signal by which another thread asks where this one is, or asked before it gave up waiting */
AETEXT static int answer(struct ae_thread *t, uint8_t *live)
{
	int asked = 0;

	for (; t; t = t->below, live = NULL) {
		if (t->asked == 1)
			t->shown = live ? live : t->ptr ? t->ptr : t->depth || t->held ? t->mid : NULL;
		asked |= t->asked;
		t->asked = t->asked == 1 ? 2 : 0;
	}
	return asked;
}

/* What is of the whole thread is in its own state, not in those of its handlers. */
AETEXT static struct ae_thread *root(struct ae_thread *t)
{
	while (t && t->below)
		t = t->below;
	return t;
}

/*
 * Is SIGSEGV blocked from the program's view? Handlers whose frames are below sp have returned or
 * were jumped over.
 */
AETEXT static int blocked(struct ae_thread *t, uintptr_t sp)
{
	while (t->nframe > 0 && sp > t->frame[t->nframe - 1])
		t->nframe--;
	return t->segv_blocked || t->nframe > 0;
}

/* The default action: ends the recording, then dies of the signal as without us. */
static void die(int sig, int fault, uintptr_t pc, uint8_t *live, size_t tail)
{
	struct ae_kact k = kact_make(SIG_DFL, 0, set_none());

	const struct ae_thread *t = ae_me();

	if (!live && t && (t->depth || t->held))
		live = t->mid;
	ae_finish(AE_SIGNAL, sig, pc, live, tail);
	sys4(SYS_rt_sigaction, sig, SYS_P(&k), 0, sizeof k.mask);
	/*
	 * it arrives when the handler returns, at the interrupted place, so that a core file shows that
	 * place
	 */
	if (!fault)
		sys_kill(sys3(SYS_gettid, 0, 0, 0), sig);
}

/*
 * Traced code used memory that it may not: remembers what, and returns how many bytes after live may be events
 * of the group that was interrupted. The processor says no address of one that it could never translate.
 */
static size_t faulted(const struct ae_thread *t, int sig, const siginfo_t *si, const void *context,
    const uint8_t *live)
{
	size_t tail = AE_END(t) - (uintptr_t)live;

	if ((sig != SIGSEGV && sig != SIGBUS) || si->si_code <= 0 || si->si_code == SI_KERNEL ||
	    tail > AE_END(t) - (uintptr_t)t->buf)
		return 0;
	if (tail > AE_TAIL)
		tail = AE_TAIL;
	ae_file_fault(context_access(context), (uintptr_t)si->si_addr, (unsigned)tail);
	return tail;
}

AETEXT static int is_full(const struct ae_thread *t, const siginfo_t *si, const void *context)
{
	return si->si_code > 0 && (uintptr_t)si->si_addr - AE_END(t) < AE_GUARD &&
	    context_pointer(context) - (uintptr_t)t->buf <= AE_BUFLEN && ae_intext(context_pc(context));
}

/*
 * The buffer is full. A signal that arrives before ae_full blocks all finds the state of a handler
 * that interrupted traced code.
 */
AETEXT static void full(struct ae_thread *t, void *context, uint8_t *live)
{
	uint8_t *p = t->ptr;

	t->mid = live;
	t->held++;
	t->ptr = NULL;
	context_set_pointer(context, (uintptr_t)ae_full(t, (uint8_t *)context_pointer(context)));
	t->ptr = p ? t->buf : NULL;
	t->held--;
}

/* How to handle sig now: the handler, or NULL for none; *kill for the default action. */
AETEXT static sighandler_t choose(struct ae_thread *t, int sig, const siginfo_t *si, uintptr_t sp, int *kill)
{
	struct ae_act *a = act + sig;
	sighandler_t h = a->handler;
	int fault = sig == SIGSEGV && si->si_code > 0;

	*kill = 0;
	if (sig == SIGSEGV && t && blocked(t, sp)) {    /* t is a thread's own */
		t->segv_pending |= !fault;
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

/*
 * Does the handler interrupt traced code? So it does in what the runtime does for traced code, if that is not in aetext:
 * there is no event pointer then, or it is held.
 */
AETEXT static int interrupts(const struct ae_thread *t, int intext)
{
	return t && (intext || t->held || (!t->ptr && !t->depth));
}

/* Where the events of t end, which the signal interrupted; NULL: it is not known here, or t runs an unrecorded handler */
AETEXT static uint8_t *live_at(const struct ae_thread *t, int inside, const void *context)
{
	if (!t)
		return NULL;
	if (t->held)
		return t->mid;
	return t->ptr || !inside || t->depth ? t->ptr : (uint8_t *)context_pointer(context);
}

/* SIGSEGV is blocked while the handler runs, from the program's view. t: of a thread */
AETEXT static void block_segv(struct ae_thread *t, int sig, const void *context)
{
	if (t && t->nframe < AE_NFRAME &&
	    ((sig == SIGSEGV && !(act[sig].flags & SA_NODEFER)) || set_has(&act[sig].mask, SIGSEGV)))
		t->frame[t->nframe++] = (uintptr_t)context;
}

AETEXT sighandler_t ae_dispatch(int sig, siginfo_t *si, void *context, uintptr_t *how)
{
	struct ae_thread *t = ae_me(), *thread = root(t);
	int intext = t && ae_intext(context_pc(context)), inside = interrupts(t, intext), kill;
	sighandler_t handler;
	uint8_t *live = live_at(t, inside, context);

	*how = 0;
	if (sig == SIGSEGV && t && is_full(t, si, context)) {
		full(t, context, live);
		return NULL;
	}
	if (sig == SIGSEGV && t && si->si_code == SI_TKILL && answer(t, live))
		return NULL;
	handler = choose(thread, sig, si, context_sp(context), &kill);
	if (kill)
		die(sig, sig == SIGSEGV && si->si_code > 0, intext ? context_pc(context) : 0, live,
		    intext && t->live && live && (!t->ptr || ae_lent) && !t->depth && !t->held ? faulted(t, sig, si, context, live) : 0);
	if (!handler)
		return NULL;
	if (!(act[sig].flags & SA_SIGINFO))
		*how = AE_OLD;
	block_segv(thread, sig, context);
	/*
	 * once recording has stopped as well, if r15 is lent: twins run on, and who leaves the handler by a jump must be seen
	 * where it lands
	 */
	if (inside && (ae_rec || ae_lent) && !(ae_rec && t->live && ae_handler_begin(t, context, live))) {
		*how |= AE_PLAIN;
		AE_ADD(&ae_nhandler, ae_rec && t->live);
#ifdef AE_LENDS
		how[1] = context_lend(context, t->lent, ae_lent && !t->ptr);
		if (!t->depth && ae_lent)
			context_regs(context, t->plain);
#endif
		if (!t->depth)
			t->mid = live;
	}
	return handler;
}

/* libc's sets are longer, and begin like the kernel's. */
static struct ae_set mask_of(const sigset_t *set)
{
	struct ae_set m;

	mem_copy(&m, set, sizeof m);
	return m;
}

/* A handler for the alternate stack: if the program has none, ours must not replace it. */
static void drop_altstack(void)
{
	stack_t off = { .ss_flags = SS_DISABLE }, now;
	const struct ae_thread *t = root(ae_me());

	if (t && sys3(SYS_sigaltstack, 0, SYS_P(&now), 0) == 0 && now.ss_sp == own_altstack(t) &&
	    !(now.ss_flags & SS_ONSTACK))
		sys3(SYS_sigaltstack, SYS_P(&off), 0, 0);
}

int ae_sigaction(int sig, const struct sigaction *new, struct sigaction *old)
{
	struct ae_act was;
	struct ae_kact k;
	struct ae_set block;
	int err;

	if (sig < 1 || sig > AE_NSIG || LIBC_OWN(sig))
		return EINVAL;
	block = ae_block();
	was = act[sig];
	err = sys_err(sys4(SYS_rt_sigaction, sig, 0, SYS_P(&k), sizeof k.mask));
	if (!err && k.handler != TRAMP) {       /* set by a library */
		was.handler = k.handler;
		was.flags = k.flags;
		was.mask = k.mask;
	}
	if (!err && new) {
		act[sig].handler = new->sa_handler;
		act[sig].flags = (unsigned)new->sa_flags | AE_SAFLAGS;
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
		mem_copy(&old->sa_mask, &was.mask, sizeof was.mask);
		kact_restorer(old, was.flags);
	}
	ae_unblock(block);
	return err;
}

int ae_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	struct ae_set m = set_none(), was = set_none();
	struct ae_thread *t = root(ae_me());
	int segv = 0, shut, err;

	if (set) {
		m = mask_of(set);
		set_del(&m, 32);
		set_del(&m, 33);
		segv = set_has(&m, SIGSEGV);
		if (t)
			set_del(&m, SIGSEGV);
	}
	err = sys_err(set_mask(how, set ? &m : NULL, &was));
	if (err)
		return err;
	shut = t && blocked(t, (uintptr_t)__builtin_frame_address(0));
	if (t && set) {
		if (how != SIG_UNBLOCK && segv) {
			t->segv_blocked = 1;
		} else if (how == SIG_SETMASK || segv) {
			t->segv_blocked = 0;
			t->nframe = 0;
		}
		if (t->segv_pending && !t->segv_blocked && t->nframe == 0) {
			t->segv_pending = 0;
			sys_kill(sys3(SYS_gettid, 0, 0, 0), SIGSEGV);
		}
	}
	if (old) {
		if (shut)
			set_add(&was, SIGSEGV);
		mem_zero(old, sizeof *old);
		mem_copy(old, &was, sizeof was);
	}
	return 0;
}

const sigset_t *ae_mask_strip(const sigset_t *set, sigset_t *copy)
{
	struct ae_set m;

	if (!set || !ae_me())
		return set;
	mem_copy(copy, set, sizeof *copy);
	m = mask_of(set);
	set_del(&m, SIGSEGV);
	mem_copy(copy, &m, sizeof m);
	return copy;
}

void ae_segv_real(int really)
{
	struct ae_set set = set_none();
	struct ae_thread *t = root(ae_me());

	if (!t || (really ? !t->segv_blocked : !t->segv_shut))
		return;
	t->segv_shut = really;
	set_add(&set, SIGSEGV);
	set_mask(really ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

int ae_sigaltstack(const stack_t *ss, stack_t *old)
{
	stack_t was;
	const struct ae_thread *t = root(ae_me());
	int err = sys_err(sys3(SYS_sigaltstack, SYS_P(ss), SYS_P(&was), 0));

	if (!err && old) {
		*old = was;
		if (t && was.ss_sp == own_altstack(t)) {
			old->ss_sp = NULL;
			old->ss_size = 0;
			old->ss_flags = SS_DISABLE;
		}
	}
	return err;
}
