/* sigsuspend: SIGSEGV must not be blocked in handlers that run during the wait. */
#include "ae/runtime/aert.h"

int __real_sigsuspend(const sigset_t *mask);
int __wrap_sigsuspend(const sigset_t *mask);

int __wrap_sigsuspend(const sigset_t *mask)
{
	sigset_t copy;

	return __real_sigsuspend(ae_mask_strip(mask, &copy));
}
