/*
 * Messages of the runtime: one line on standard error, but only while that is the same file as at
 * the start. A program that closed descriptor 2 and opened a data file there must not find our
 * words in it.
 */
#include "ae/runtime/call.h"

#include <sys/stat.h>
#include <sys/uio.h>

static uint64_t say_dev, say_ino;
static int say_ok;

void ae_say_init(void)
{
	mode_t mode;

	say_ok = sys_fstat(2, &say_dev, &say_ino, &mode) == 0;
}

void ae_say(const char *const *part)
{
	struct iovec iov[12];
	struct ae_set all = set_all(), old;
	uint64_t dev, ino;
	mode_t mode;
	long n = 0;

	if (!say_ok || sys_fstat(2, &dev, &ino, &mode) != 0 || dev != say_dev || ino != say_ino)
		return;
	for (; *part && n < 12; part++, n++) {
		size_t len = 0;

		while ((*part)[len])
			len++;
		iov[n].iov_base = (void *)(uintptr_t)*part;
		iov[n].iov_len = len;
	}
	/* a broken pipe must not raise SIGPIPE */
	set_mask(SIG_BLOCK, &all, &old);
	if (sys_err(sys3(SYS_writev, 2, SYS_P(iov), n)) == EPIPE && !set_has(&old, SIGPIPE))
		set_swallow(SIGPIPE);
	set_mask(SIG_SETMASK, &old, NULL);
}

const char *ae_dec(char *buf, uint64_t v)
{
	uint64_t tens[20];              /* no division: a 64-bit one may be a library call */
	char *p = buf;
	int i;

	tens[0] = 1;
	for (i = 1; i < 20; i++)
		tens[i] = tens[i - 1] * 10;
	for (i = 19; i >= 0; i--) {
		char c = '0';

		for (; v >= tens[i]; v -= tens[i])
			c++;
		if (p > buf || c > '0' || i == 0)
			*p++ = c;
	}
	*p = 0;
	return buf;
}

const char *ae_strerror(int err, char *buf)
{
	static const struct { int err; const char *text; } tab[] = {
		{ ENOSPC, "No space left on device" }, { EDQUOT, "Disk quota exceeded" },
		{ EFBIG, "File too large" }, { EPIPE, "Broken pipe" }, { EACCES, "Permission denied" }, { EEXIST, "File exists" },
		{ ENOENT, "No such file or directory" }, { EISDIR, "Is a directory" },
		{ EIO, "Input/output error" },
		{ EROFS, "Read-only file system" }, { ENAMETOOLONG, "File name too long" },
		{ EMFILE, "Too many open files" },
		{ ENOTDIR, "Not a directory" }, { ESTALE, "The file was closed and cannot be opened again" },
		{ ENXIO, "No such device or address" }, { EPERM, "Operation not permitted" },
		{ ENOMEM, "Cannot allocate memory" },
	};
	size_t i;

	for (i = 0; i < sizeof tab / sizeof tab[0]; i++)
		if (tab[i].err == err)
			return tab[i].text;
	mem_copy(buf, "error ", 6);
	ae_dec(buf + 6, (uint64_t)err);
	return buf;
}
