/* quick_exit: the recording ends after the last of its handlers, which was registered first. */
#include "ae/runtime/aert.h"

int __real_at_quick_exit(void (*f)(void));
int __wrap_at_quick_exit(void (*f)(void));
_Noreturn void __real_quick_exit(int status);
_Noreturn void __wrap_quick_exit(int status);

static int registered;

static void last(void)
{
	ae_end(AE_EXIT);
}

static void prepare(void)
{
	if (ae_on && !registered) {
		registered = 1;
		__real_at_quick_exit(last);
	}
}

int __wrap_at_quick_exit(void (*f)(void))
{
	prepare();
	return __real_at_quick_exit(f);
}

_Noreturn void __wrap_quick_exit(int status)
{
	prepare();
	__real_quick_exit(status);
}
