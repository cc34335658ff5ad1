/* sigaltstack: the program does not see ours. */
#include "ae/runtime/aert.h"

#include <errno.h>

int __real_sigaltstack(const stack_t *ss, stack_t *old);
int __wrap_sigaltstack(const stack_t *ss, stack_t *old);

int __wrap_sigaltstack(const stack_t *ss, stack_t *old)
{
	int err;

	if (!ae_on)
		return __real_sigaltstack(ss, old);
	err = ae_sigaltstack(ss, old);
	if (!err)
		return 0;
	errno = err;
	return -1;
}
