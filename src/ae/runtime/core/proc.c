/* fork, exec and _exit: what happens to the recording. */
#include "ae/runtime/call.h"

#include <sys/stat.h>

/* Before a fork: the child must not inherit events of its parent. Returns a value for ae_fork_child. */
int ae_fork_before(void)
{
	struct ae_thread *t = ae_rec ? ae_me() : NULL;

	if (!t || !t->ptr || t->below || ae_kin() != AE_SELF)
		return 0;
	ae_flush(t);
	return 1;
}

_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap__Exit(int status);

static uint64_t leave_size, leave_total, leave_end;

/*
 * The process is about to become another program, or to end where we cannot see it: writes the
 * buffer and closes the file. ae_leave_failed undoes that.
 */
int ae_leave_before(enum ae_reason why)
{
	struct ae_set mask;
	uintptr_t pid = (uintptr_t)sys3(SYS_getpid, 0, 0, 0);
	struct ae_thread *t = ae_me();
	int err, mid;

	if (!ae_rec || ae_kin() != AE_SELF)
		return 0;
	mask = ae_block();
	mid = t && t->live && !t->ptr;
	leave_size = ae_file_size();
	leave_total = ae_total;
	err = t ? ae_rec_part(t) : 0;
	if (!err)
		err = ae_rec_others(t);
	if (err < 0)
		why = AE_LIMITED;
	if (err > 0 || mid)
		why = AE_STOPPED;
	ae_file_end(why, 0, why == AE_EXEC || why == AE_LIMITED ? pid : 0, t ? t->number : 0);
	leave_end = ae_file_size();
	if (ae_rec)
		ae_lock_leave(1);
	ae_unblock(mask);
	return ae_rec;
}

void ae_leave_failed(int token)
{
	struct ae_set mask;

	if (!token)
		return;
	mask = ae_block();
	/*
	 * a pipe cannot be truncated; neither can the file if a signal handler or another thread has
	 * written since
	 */
	if (ae_file_kind() != S_IFCHR && (ae_file_size() != leave_end || ae_file_cut(leave_size) != 0)) {
		ae_rec_shut();
		AE_SAY(ae_file_path(), ": recording ended at an exec or daemon call that failed");
	}
	ae_total = leave_total;
	ae_lock_leave(0);
	ae_unblock(mask);
}

int ae_exec_before(void)
{
	ae_segv_real(1);
	return ae_leave_before(AE_EXEC);
}

void ae_exec_failed(int token)
{
	ae_segv_real(0);
	ae_leave_failed(token);
}

/*
 * These replace libc's _exit and _Exit. They are not in libaert.a, because the objects of a static
 * libc refer to them, too.
 */
_Noreturn void __wrap__exit(int status)
{
	ae_end(AE_EXIT);
	for (;;)
		sys3(SYS_exit_group, status, 0, 0);
}

_Noreturn void __wrap__Exit(int status)
{
	__wrap__exit(status);
}
