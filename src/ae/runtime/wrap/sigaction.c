/* sigaction: the program sees what it installed. */
#include "ae/runtime/aert.h"

#include <errno.h>

int __real_sigaction(int sig, const struct sigaction *act, struct sigaction *old);
int __wrap_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

int __wrap_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	int err;

	if (!ae_on)
		return __real_sigaction(sig, act, old);
	err = ae_sigaction(sig, act, old);
	if (!err)
		return 0;
	errno = err;
	return -1;
}
