/* epoll_pwait: SIGSEGV must not be blocked in handlers that run during the wait. */
#include "ae/runtime/aert.h"

#include <sys/epoll.h>

int __real_epoll_pwait(int fd, struct epoll_event *ev, int n, int timeout, const sigset_t *mask);
int __wrap_epoll_pwait(int fd, struct epoll_event *ev, int n, int timeout, const sigset_t *mask);

int __wrap_epoll_pwait(int fd, struct epoll_event *ev, int n, int timeout, const sigset_t *mask)
{
	sigset_t copy;

	return __real_epoll_pwait(fd, ev, n, timeout, ae_mask_strip(mask, &copy));
}
