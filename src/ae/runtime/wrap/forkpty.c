/* forkpty: libc forks inside. */
#include "ae/runtime/aert.h"

#include <pty.h>
#include <sys/types.h>

pid_t __real_forkpty(int *amaster, char *name, const struct termios *t, const struct winsize *w);
pid_t __wrap_forkpty(int *amaster, char *name, const struct termios *t, const struct winsize *w);

pid_t __wrap_forkpty(int *amaster, char *name, const struct termios *t, const struct winsize *w)
{
	int traced = ae_fork_before();
	pid_t pid = __real_forkpty(amaster, name, t, w);

	if (pid == 0)
		ae_fork_child(traced);
	return pid;
}
