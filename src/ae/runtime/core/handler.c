/*
 * Handlers of signals that interrupt traced code: they are recorded into a stream of their own, which belongs to the
 * thread, or to the handlers, that they interrupt. The stream of what is interrupted stays as it is, since nobody could
 * tell in it where the signal came: its events are recorded in groups, and a group is only whole at its end.
 *
 * While such a handler runs, the thread has the state and the buffer of that stream. A signal that interrupts its
 * traced code has another stream, above it. That is also so where the runtime changes from one to the other, which is in
 * section aetext: see `held`.
 */
#include "ae/runtime/call.h"

AE_KEEP_POINTER;

#define AETEXT __attribute__((section("aetext")))

#if AE_HANDLERS
/*
 * The stack of the handler: from `low`, `span` bytes, up to the frame of the signal. Frames elsewhere are of what is
 * interrupted: the handler came to them by a jump.
 */
AETEXT static void find_stack(struct ae_thread *h, const void *context)
{
	const struct ae_thread *b = h->below;
	uintptr_t low, size, at = (uintptr_t)context;

	context_stack(context, &low, &size);
	if (at - low >= size)
		low = b->below && at - b->low < b->span ? b->low : 0;
	h->low = low;
	h->span = at - low;
}

int AETEXT ae_handler_begin(struct ae_thread *t, void *context, uint8_t *live)
{
	struct ae_thread *s = t, *h;

	if (t->depth)
		return 0;
	t->mid = live;
	t->held++;
	while (s->over)
		s = s->over;
	if (!s->handler)
		ae_thread_handler(s);
	h = s->handler;
	if (!h || !ae_rec) {
		t->held--;
		return 0;
	}
	s->over = h;
	h->ret = t;
	find_stack(h, context);
	h->pointer = ae_lent && !t->ptr ? context_lend(context, t->lent, 1) : 0;
	context_regs(context, h->reg);
	context_return(context, ae_handled_return);
	h->live = 2;
	machine_set(h);
	return 1;
}

/* Did the handler leave what it interrupted as it was, with these registers? */
AETEXT static int unchanged(const uintptr_t was[AE_NREG], const void *context)
{
	uintptr_t reg[AE_NREG];
	int i;

	context_regs(context, reg);
	for (i = 0; i < AE_NREG && reg[i] == was[i]; i++)
		;
	return i == AE_NREG;
}

/* Does traced code that was interrupted with these registers go on elsewhere, in code that is not traced? */
AETEXT static int elsewhere(const uintptr_t was[AE_NREG], const void *context)
{
	return ae_intext(was[AE_NREG - 2]) && !ae_intext(context_pc(context));
}

void AETEXT ae_handled(void *context)
{
	struct ae_thread *h = ae_me(), *t = h->ret;

	if (h->live && !unchanged(h->reg, context))
		ae_rec_give_up(h, "a signal handler changed registers of traced code");
	if (h->pointer)
		t->lent = context_lend(context, h->pointer, 1);
	if (!t->ptr && t->held == 1 && elsewhere(h->reg, context)) {    /* as after a call: r15 is the program's */
		t->ptr = (uint8_t *)context_pointer(context);
		context_lend(context, t->lent, h->pointer != 0);
	}
	machine_set(t);
	h->below->over = NULL;
	t->held--;
}

void AETEXT ae_plain_handled(const void *context, uintptr_t kept[2])
{
	struct ae_thread *t = ae_me();

	if (!ae_lent || t->depth != 1)
		return;
	if (t->live && !unchanged(t->plain, context))
		ae_rec_give_up(t, "a signal handler changed registers of traced code");
	if (!kept[0] && elsewhere(t->plain, context)) {
		kept[0] = kept[1];
		kept[1] = context_pointer(context);
	}
}
#else
int AETEXT ae_handler_begin(struct ae_thread *t, void *context, uint8_t *live)
{
	(void)t;
	(void)context;
	(void)live;
	return 0;
}
#endif

/* Is this stack pointer one of t, and not of what t interrupted? */
static int on_stack(const struct ae_thread *t, uintptr_t sp)
{
	return !t->below || sp - t->low < t->span;
}

/* A handler left what it interrupted by a jump: from now on, this thread is what it jumped to. */
void ae_lost(void)
{
	struct ae_thread *t = ae_me();
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0), lent = t->lent;

	if (t->live)
		ae_rec_give_up(t, "a signal handler that interrupted traced code did not return");
	for (; !on_stack(t, sp); t = t->below)
		t->below->over = NULL;
	t->held = t->depth = 0;
	machine_set(t);
	t->lent = lent;
	t->ptr = NULL;
}
