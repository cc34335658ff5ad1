/* Regions: what ae_start() and ae_stop() of tracemill.h call. */
#include "ae/runtime/call.h"

/* The thread, if it is recorded and calls from no handler that interrupted traced code */
static struct ae_thread *region_can(void)
{
	struct ae_thread *t = ae_rec ? ae_me() : NULL;

	return t && t->ptr && !t->below ? t : NULL;
}

/* Is there no entry on the side stack, so that untraced code called no traced function that has not returned? */
static int region_alone(const struct ae_thread *t)
{
	return ((const uintptr_t *)t->side_top)[-2] == ~(uintptr_t)0;
}

void __ae_start(void)
{
	struct ae_thread *t = region_can();

	if (ae_on)
		ae_open = 1;
	if (t && !t->live)
		t->pending = 1;
}

void __ae_stop(void)
{
	struct ae_thread *t = region_can();

	ae_open = 0;
	if (!t)
		return;
	t->pending = 0;
	if (!t->live)
		return;
	t->kept = region_alone(t);
	if (t->kept)
		t->live = 0;
	else
		ae_rec_leave(t);
}
