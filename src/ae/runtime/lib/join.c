/*
 * In a shared library: joins the recording of the program that uses it, if there is one (core/module.c). What the
 * library calls of the runtime is in the program: lib.S of the machine has a jump for each function, and libaert.a
 * is linked into the library as into programs.
 */
#include "ae/runtime/aert.h"

#include <dlfcn.h>

#pragma GCC visibility push(hidden)
extern struct ae_fn __start_aefn[] __attribute__((weak)), __stop_aefn[] __attribute__((weak));
extern const char __start_aetext[], __stop_aetext[], __ehdr_start[];
extern const struct ae_site __start_aecall[] __attribute__((weak)), __stop_aecall[] __attribute__((weak));
extern const char __ae_uses_context[] __attribute__((weak));
extern void *ae_core[];
#pragma GCC visibility pop

/* what a program that aecc did not link does not have */
#pragma weak __ae_join
#pragma weak __ae_part

int ae_on;

_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap__Exit(int status);

static struct ae_module self;

static void join(void)
{
	Dl_info info;

	if (!__ae_join || !__ae_part || &__stop_aefn[0] == &__start_aefn[0])
		return;
	self.version = AE_LIBRARY;
	self.path = dladdr(&self, &info) ? info.dli_fname : "?";
	self.fn = __start_aefn;
	self.fnend = __stop_aefn;
	self.text = __start_aetext;
	self.textend = __stop_aetext;
	self.site = __start_aecall;
	self.siteend = __stop_aecall;
	machine_length((uintptr_t)(self.textend - self.text));
	self.ehdr = __ehdr_start;
	self.core = ae_core;
	self.context = __ae_uses_context != NULL;
	ae_on = __ae_join(&self);
}

static void part(void)
{
	if (ae_on)
		__ae_part(&self);
}

__attribute__((section(".init_array.00000"), used)) static void (*const join_hook)(void) = join;
__attribute__((section(".fini_array.00000"), used)) static void (*const part_hook)(void) = part;

_Noreturn void __wrap__exit(int status)
{
	if (ae_on)
		ae_end(AE_EXIT);
	__real__exit(status);
}

_Noreturn void __wrap__Exit(int status)
{
	__wrap__exit(status);
}
