/* sigsuspend: a handler that runs meanwhile must find SIGSEGV open. */
#include "ae/runtime/aert.h"

int __real_sigsuspend(const sigset_t *mask);
int __wrap_sigsuspend(const sigset_t *mask);

int __wrap_sigsuspend(const sigset_t *mask)
{
	sigset_t copy;

	return __real_sigsuspend(ae_mask_strip(mask, &copy));
}
