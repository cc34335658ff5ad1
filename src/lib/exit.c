/*
 * In the shared library, exit() of the rooms below is this (the linker's --wrap): it is called only in
 * the process that reads, which was forked from the caller's and must not run the caller's atexit
 * handlers, or write what the caller's streams hold.
 */
#include "base/confine.h"

void __wrap_exit(int status) __attribute__((noreturn));

void
__wrap_exit(int status)
{
	(void)status;
	confine_exit();
}
