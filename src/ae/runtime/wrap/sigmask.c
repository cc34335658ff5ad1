/* sigprocmask and its relatives: SIGSEGV remains unblocked in the kernel, whatever the program asks for. */
#include "ae/runtime/aert.h"

#include <errno.h>

int __real_sigprocmask(int how, const sigset_t *set, sigset_t *old);
int __real_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *old);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int __wrap_sigblock(int mask);
int __wrap_sigsetmask(int mask);
int __wrap_sighold(int sig);
int __wrap_sigrelse(int sig);

int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return ae_on ? ae_sigmask(how, set, old) : __real_pthread_sigmask(how, set, old);
}

int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	int err;

	if (!ae_on)
		return __real_sigprocmask(how, set, old);
	err = ae_sigmask(how, set, old);
	if (!err)
		return 0;
	errno = err;
	return -1;
}

static int bsd(int how, int mask)
{
	sigset_t set, old;
	int sig, was = 0;

	sigemptyset(&set);
	for (sig = 1; sig <= 32; sig++)
		if ((unsigned)mask >> (sig - 1) & 1)
			sigaddset(&set, sig);
	if (__wrap_sigprocmask(how, &set, &old) != 0)
		return -1;
	for (sig = 1; sig <= 32; sig++)
		if (sigismember(&old, sig) == 1)
			was |= (int)(1u << (sig - 1));
	return was;
}

int __wrap_sigblock(int mask)
{
	return bsd(SIG_BLOCK, mask);
}

int __wrap_sigsetmask(int mask)
{
	return bsd(SIG_SETMASK, mask);
}

static int one(int how, int sig)
{
	sigset_t set;

	sigemptyset(&set);
	return sigaddset(&set, sig) != 0 ? -1 : __wrap_sigprocmask(how, &set, NULL);
}

int __wrap_sighold(int sig)
{
	return one(SIG_BLOCK, sig);
}

int __wrap_sigrelse(int sig)
{
	return one(SIG_UNBLOCK, sig);
}
