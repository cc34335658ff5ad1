/* daemon: libc forks inside it and ends the parent there, so the parent's recording is closed before. */
#include "ae/runtime/aert.h"

int __real_daemon(int nochdir, int noclose);
int __wrap_daemon(int nochdir, int noclose);

int __wrap_daemon(int nochdir, int noclose)
{
	int traced = ae_fork_before();
	int token = ae_leave_before(AE_EXIT);
	int r = __real_daemon(nochdir, noclose);

	if (ae_on && ae_kin() == AE_FORKED)
		ae_fork_child(traced);
	else
		ae_leave_failed(token);
	return r;
}
