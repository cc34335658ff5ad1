/*
 * Messages of the runtime: one line on standard error, but only while that is
 * still the file it was at the start.  A program that closed descriptor 2 and
 * opened a data file there must not find our words in it.
 */
#include "aert.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

static dev_t say_dev;
static ino_t say_ino;
static int say_ok;

void ae_say_init(void)
{
	struct stat st;

	if (sys3(SYS_fstat, 2, SYS_P(&st), 0) != 0)
		return;
	say_dev = st.st_dev;
	say_ino = st.st_ino;
	say_ok = 1;
}

void ae_say(const char *const *part)
{
	struct iovec iov[12];
	struct stat st;
	uint64_t all = ~(uint64_t)0, old;
	long n = 0;

	if (!say_ok || sys3(SYS_fstat, 2, SYS_P(&st), 0) != 0 || st.st_dev != say_dev || st.st_ino != say_ino)
		return;
	for (; *part && n < 12; part++, n++) {
		size_t len = 0;

		while ((*part)[len])
			len++;
		iov[n].iov_base = (void *)(uintptr_t)*part;
		iov[n].iov_len = len;
	}
	/* a broken pipe there is no reason to die of SIGPIPE */
	sys4(SYS_rt_sigprocmask, SIG_BLOCK, SYS_P(&all), SYS_P(&old), 8);
	if (sys_err(sys3(SYS_writev, 2, SYS_P(iov), n)) == EPIPE && !(old >> (SIGPIPE - 1) & 1)) {
		uint64_t set = (uint64_t)1 << (SIGPIPE - 1), none[2] = { 0, 0 };

		sys4(SYS_rt_sigtimedwait, SYS_P(&set), 0, SYS_P(none), 8);
	}
	sys4(SYS_rt_sigprocmask, SIG_SETMASK, SYS_P(&old), 0, 8);
}

const char *ae_dec(char *buf, uint64_t v)
{
	char *p = buf + 23;

	*p = 0;
	do
		*--p = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	return p;
}

const char *ae_strerror(int err, char *buf)
{
	static const struct { int err; const char *text; } tab[] = {
		{ ENOSPC, "No space left on device" }, { EDQUOT, "Disk quota exceeded" },
		{ EFBIG, "File too large" }, { EPIPE, "Broken pipe" }, { EACCES, "Permission denied" },
		{ ENOENT, "No such file or directory" }, { EISDIR, "Is a directory" }, { EIO, "Input/output error" },
		{ EROFS, "Read-only file system" }, { ENAMETOOLONG, "File name too long" }, { EMFILE, "Too many open files" },
		{ ENOTDIR, "Not a directory" }, { ESTALE, "The file was closed and cannot be opened again" },
		{ ENXIO, "No such device or address" }, { EPERM, "Operation not permitted" }, { ENOMEM, "Cannot allocate memory" },
	};
	const char *d;
	size_t i;

	for (i = 0; i < sizeof tab / sizeof tab[0]; i++)
		if (tab[i].err == err)
			return tab[i].text;
	d = ae_dec(buf + 12, (uint64_t)err);    /* ends at buf[35] */
	buf = (char *)(uintptr_t)d - 6;
	mem_copy(buf, "error ", 6);
	return buf;
}
