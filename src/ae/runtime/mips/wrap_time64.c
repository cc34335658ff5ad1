/* The functions that programs with 64-bit time_t on a 32-bit machine call instead of ppoll and pselect. */
#include "ae/runtime/aert.h"

#include <poll.h>
#include <sys/select.h>

struct timespec64;
int __real___ppoll64(struct pollfd *fds, nfds_t n, const struct timespec64 *t, const sigset_t *mask);
int __real___pselect64(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec64 *t,
    const sigset_t *mask);
int __wrap___ppoll64(struct pollfd *fds, nfds_t n, const struct timespec64 *t, const sigset_t *mask);
int __wrap___pselect64(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec64 *t,
    const sigset_t *mask);

int __wrap___ppoll64(struct pollfd *fds, nfds_t n, const struct timespec64 *t, const sigset_t *mask)
{
	sigset_t copy;

	return __real___ppoll64(fds, n, t, ae_mask_strip(mask, &copy));
}

int __wrap___pselect64(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec64 *t,
    const sigset_t *mask)
{
	sigset_t copy;

	return __real___pselect64(n, r, w, e, t, ae_mask_strip(mask, &copy));
}
