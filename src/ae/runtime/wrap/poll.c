/* Waits with their own signal mask: SIGSEGV must not be blocked in handlers that run during them. */
#include "ae/runtime/aert.h"

#include <poll.h>
#include <sys/select.h>

int __real_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask);
int __real_pselect(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *mask);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask);
int __real___ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask,
    size_t size);
int __wrap___ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask,
    size_t size);
int __wrap_pselect(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *mask);

int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	sigset_t copy;

	return __real_ppoll(fds, n, t, ae_mask_strip(mask, &copy));
}

int __wrap___ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *mask,
    size_t size)
{
	sigset_t copy;

	return __real___ppoll_chk(fds, n, t, ae_mask_strip(mask, &copy), size);
}

int __wrap_pselect(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *mask)
{
	sigset_t copy;

	return __real_pselect(n, r, w, e, t, ae_mask_strip(mask, &copy));
}
