/* Diagnostics: one message, one write. See diag.h. */
#include "base/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "base/text.h"

static const char *name = "tracemill";
static int status = 1;
static int limited;     /* SIGXFSZ was not ignored at the start */

/*
 * Standard descriptors that are closed must not become those of our files, to which messages would go, and from which
 * input would come.  Reading and writing fails as before, and programs that we start find them closed.
 */
static void
diag_standard(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
}

void
diag_init(const char *argv0, int trouble)
{
	const char *slash;

	diag_standard();
	status = trouble;
	if (signal(SIGXFSZ, SIG_IGN) == SIG_DFL)
		limited = 1;
	if (!argv0 || !*argv0)
		return;
	slash = strrchr(argv0, '/');
	name = slash && slash[1] ? slash + 1 : argv0;
}

void
diag_child(void)
{
	if (limited)
		signal(SIGXFSZ, SIG_DFL);
}

int
diag_exit_status(void)
{
	return status;
}

const char *
diag_name(void)
{
	return name;
}

/*
 * One message is one write, so that lines of tools in a pipe do not interleave. What does not fit
 * is cut: a name from a hostile file must not flood the terminal.
 */
static void
diag_write(const char *where, const char *fmt, va_list ap, int err)
{
	char line[2048];
	int n, m;

	n = snprintf(line, sizeof(line), "%s: %s", name, where);
	if (n < 0 || n >= (int)sizeof(line))
		n = (int)sizeof(line) - 1;
	m = vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
	if (m > 0)
		n += m;
	if (n >= (int)sizeof(line))
		n = (int)sizeof(line) - 1;
	if (err) {
		m = snprintf(line + n, sizeof(line) - (size_t)n, ": %s", strerror(err));
		if (m > 0)
			n += m;
	}
	if (n >= (int)sizeof(line) - 1)
		n = (int)sizeof(line) - 2;
	/* also names and texts of files, which must not do anything to a terminal */
	text_clean(line, (size_t)n);
	line[n++] = '\n';
	progress_clear();
	fwrite(line, 1, (size_t)n, stderr);
}

void
warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_write("", fmt, ap, 0);
	va_end(ap);
}

void
warn_sys(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	diag_write("", fmt, ap, err);
	va_end(ap);
}

void
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_write("", fmt, ap, 0);
	va_end(ap);
	exit(status);
}

void
die_sys(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	diag_write("", fmt, ap, err);
	va_end(ap);
	exit(status);
}

void
diag_flush(void)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		die_sys("standard output");
}

static void
say_at(const char *file, uint64_t off, uint64_t rec, const char *fmt, va_list ap)
{
	char where[1024];

	if (off == DIAG_NOOFF)
		snprintf(where, sizeof(where), "%s: ", file);
	else if (rec == DIAG_NOREC)
		snprintf(where, sizeof(where), "%s: byte %" PRIu64 ": ", file, off);
	else
		snprintf(where, sizeof(where), "%s: byte %" PRIu64 " (record %" PRIu64 "): ", file, off, rec);
	diag_write(where, fmt, ap, 0);
}

void
warn_at(const char *file, uint64_t off, uint64_t rec, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_at(file, off, rec, fmt, ap);
	va_end(ap);
}

void
die_at(const char *file, uint64_t off, uint64_t rec, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_at(file, off, rec, fmt, ap);
	va_end(ap);
	exit(status);
}

void
die_fault(const char *file, const struct fault *f)
{
	if (f->line)
		die("%s: line %" PRIu64 ": %s", file, f->line, f->err);
	die_at(file, f->off, f->rec, "%s", f->err);
}

void
die_usage(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	warn("%s; see %s --help", text, name);
	exit(status > 2 ? status : 2);
}
