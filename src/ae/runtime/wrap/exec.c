/* The exec family: the recording is closed before, and reopened if the exec fails. */
#include "ae/runtime/aert.h"

#include <errno.h>
#include <stdarg.h>

int __real_execve(const char *path, char *const *argv, char *const *envp);
int __real_execv(const char *path, char *const *argv);
int __real_execvp(const char *file, char *const *argv);
int __real_execvpe(const char *file, char *const *argv, char *const *envp);
int __real_fexecve(int fd, char *const *argv, char *const *envp);
int __wrap_execve(const char *path, char *const *argv, char *const *envp);
int __wrap_execv(const char *path, char *const *argv);
int __wrap_execvp(const char *file, char *const *argv);
int __wrap_execvpe(const char *file, char *const *argv, char *const *envp);
int __wrap_fexecve(int fd, char *const *argv, char *const *envp);
int __wrap_execl(const char *path, const char *arg, ...);
int __wrap_execlp(const char *file, const char *arg, ...);
int __wrap_execle(const char *path, const char *arg, ...);

/* Returns the value of a failed exec; preserves errno. */
#define EXEC(call) do { \
		int token_ = ae_exec_before(), r_ = (call), err_ = errno; \
		ae_exec_failed(token_); \
		errno = err_; \
		return r_; \
	} while (0)

int __wrap_execve(const char *path, char *const *argv, char *const *envp)
{
	EXEC(__real_execve(path, argv, envp));
}

int __wrap_execv(const char *path, char *const *argv)
{
	EXEC(__real_execv(path, argv));
}

int __wrap_execvp(const char *file, char *const *argv)
{
	EXEC(__real_execvp(file, argv));
}

int __wrap_execvpe(const char *file, char *const *argv, char *const *envp)
{
	EXEC(__real_execvpe(file, argv, envp));
}

int __wrap_fexecve(int fd, char *const *argv, char *const *envp)
{
	EXEC(__real_fexecve(fd, argv, envp));
}

/* Counts the arguments, including the null pointer. */
static size_t count(va_list ap)
{
	size_t n = 2;

	while (va_arg(ap, char *))
		n++;
	return n;
}

static void collect(char **argv, const char *arg, va_list ap)
{
	*argv = (char *)(uintptr_t)arg;
	while (*argv)
		*++argv = va_arg(ap, char *);
}

#define NARG(n, arg) do { \
		va_list ap_; \
		va_start(ap_, arg); \
		n = arg ? count(ap_) : 1; \
		va_end(ap_); \
	} while (0)

int __wrap_execl(const char *path, const char *arg, ...)
{
	va_list ap;
	size_t n;

	NARG(n, arg);
	char *argv[n];

	va_start(ap, arg);
	collect(argv, arg, ap);
	va_end(ap);
	EXEC(__real_execv(path, argv));
}

int __wrap_execlp(const char *file, const char *arg, ...)
{
	va_list ap;
	size_t n;

	NARG(n, arg);
	char *argv[n];

	va_start(ap, arg);
	collect(argv, arg, ap);
	va_end(ap);
	EXEC(__real_execvp(file, argv));
}

int __wrap_execle(const char *path, const char *arg, ...)
{
	char **envp;
	va_list ap;
	size_t n;

	NARG(n, arg);
	char *argv[n];

	va_start(ap, arg);
	collect(argv, arg, ap);
	envp = va_arg(ap, char **);
	va_end(ap);
	EXEC(__real_execve(path, argv, envp));
}
