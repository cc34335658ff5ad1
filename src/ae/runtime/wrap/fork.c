/* fork: the child records into a file of its own. */
#include "ae/runtime/aert.h"

#include <sys/types.h>

pid_t __real_fork(void);
pid_t __wrap_fork(void);

pid_t __wrap_fork(void)
{
	int traced = ae_fork_before();
	pid_t pid = __real_fork();

	if (pid == 0)
		ae_fork_child(traced);
	return pid;
}
