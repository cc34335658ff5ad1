/* signal and its older relatives, as libc builds them on sigaction. */
#include "ae/runtime/aert.h"

#include <errno.h>

sighandler_t __real_signal(int sig, sighandler_t h);
sighandler_t __real___sysv_signal(int sig, sighandler_t h);
sighandler_t __real_sigset(int sig, sighandler_t h);
int __real_sigignore(int sig);
int __real_siginterrupt(int sig, int flag);
sighandler_t __wrap_signal(int sig, sighandler_t h);
sighandler_t __wrap_bsd_signal(int sig, sighandler_t h);
sighandler_t __wrap_ssignal(int sig, sighandler_t h);
sighandler_t __wrap___sysv_signal(int sig, sighandler_t h);
sighandler_t __wrap_sysv_signal(int sig, sighandler_t h);
sighandler_t __wrap_sigset(int sig, sighandler_t h);
int __wrap_sigignore(int sig);
int __wrap_siginterrupt(int sig, int flag);

static sigset_t interrupting;   /* signals that siginterrupt marked */

static sighandler_t set(int sig, sighandler_t h, int flags, int masked)
{
	struct sigaction act = { .sa_handler = h, .sa_flags = flags }, old;
	int err = EINVAL;

	if (h != SIG_ERR) {
		if (masked)
			sigaddset(&act.sa_mask, sig);
		err = ae_sigaction(sig, &act, &old);
	}
	if (!err)
		return old.sa_handler;
	errno = err;
	return SIG_ERR;
}

sighandler_t __wrap_signal(int sig, sighandler_t h)
{
	if (!ae_on)
		return __real_signal(sig, h);
	return set(sig, h, sigismember(&interrupting, sig) == 1 ? 0 : SA_RESTART, 1);
}

sighandler_t __wrap_bsd_signal(int sig, sighandler_t h)
{
	return __wrap_signal(sig, h);
}

sighandler_t __wrap_ssignal(int sig, sighandler_t h)
{
	return __wrap_signal(sig, h);
}

sighandler_t __wrap___sysv_signal(int sig, sighandler_t h)
{
	if (!ae_on)
		return __real___sysv_signal(sig, h);
	return set(sig, h, (int)(SA_RESETHAND | SA_NODEFER | SA_INTERRUPT), 0);
}

sighandler_t __wrap_sysv_signal(int sig, sighandler_t h)
{
	return __wrap___sysv_signal(sig, h);
}

sighandler_t __wrap_sigset(int sig, sighandler_t h)
{
	sighandler_t was;
	sigset_t one, old;
	struct sigaction act;
	int err;

	if (!ae_on)
		return __real_sigset(sig, h);
	sigemptyset(&one);
	if (sigaddset(&one, sig) != 0)
		return SIG_ERR;
	if (h == SIG_HOLD) {
		err = ae_sigmask(SIG_BLOCK, &one, &old);
		if (!err && !sigismember(&old, sig))
			err = ae_sigaction(sig, NULL, &act);
		was = act.sa_handler;
	} else {
		was = set(sig, h, 0, 0);
		if (was == SIG_ERR)
			return was;
		err = ae_sigmask(SIG_UNBLOCK, &one, &old);
	}
	if (err) {
		errno = err;
		return SIG_ERR;
	}
	return sigismember(&old, sig) ? SIG_HOLD : was;
}

int __wrap_sigignore(int sig)
{
	if (!ae_on)
		return __real_sigignore(sig);
	return set(sig, SIG_IGN, 0, 0) == SIG_ERR ? -1 : 0;
}

int __wrap_siginterrupt(int sig, int flag)
{
	struct sigaction act;
	int err;

	if (!ae_on)
		return __real_siginterrupt(sig, flag);
	err = ae_sigaction(sig, NULL, &act);
	if (!err) {
		if (flag) {
			sigaddset(&interrupting, sig);
			act.sa_flags &= ~SA_RESTART;
		} else {
			sigdelset(&interrupting, sig);
			act.sa_flags |= SA_RESTART;
		}
		err = ae_sigaction(sig, &act, NULL);
	}
	if (!err)
		return 0;
	errno = err;
	return -1;
}
