/* Regions: what ae_start() and ae_stop() of tracemill.h call. */
#include "ae/runtime/call.h"

/* Does the first thread call, and not from a handler that interrupted traced code? */
static int region_can(void)
{
	return ae_on && ae_rec && ae_ismain() && __ae_ptr;
}

/* Is there no entry on the side stack, so that untraced code called no traced function that has not returned? */
static int region_alone(void)
{
	return ((const uintptr_t *)ae_side_top)[-2] == ~(uintptr_t)0;
}

void __ae_start(void)
{
	if (region_can() && !ae_live)
		ae_pending = 1;
}

void __ae_stop(void)
{
	if (!region_can())
		return;
	ae_pending = 0;
	if (!ae_live)
		return;
	ae_kept = region_alone();
	if (ae_kept)
		ae_live = 0;
	else
		ae_rec_leave();
}
