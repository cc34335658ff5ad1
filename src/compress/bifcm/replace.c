/*
 * bifcm: a file is replaced by what is made of it.
 *
 * The output is written under a temporary name beside the input, gets its owner, mode and times, is
 * flushed to the disk, and is renamed. Only then is the input removed. So at any moment one of the
 * two is complete, whatever ends the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/temp.h"
#include "compress/bifcm/bifcm.h"

struct replacement {
	const struct args *a;
	struct input in;
	struct stat st;         /* of the input, before it is read */
	char *final, *temp;     /* owned */
	int fd;                 /* of the temporary file; -1 */
};

/* As gzip: a file that is left alone is a warning. */
static enum status
replace_skip(const struct replacement *r, const char *name, const char *why)
{
	if (!r->a->quiet)
		warn("%s: %s; left as it is", name, why);
	return SKIPPED;
}

static enum status
replace_failed(const char *name)
{
	warn_sys("%s", name);
	return FAILED;
}

/* The name of the output, or why there is none. */
static enum status
replace_name(struct replacement *r, const char *path)
{
	const char *suffix = r->a->suffix;
	size_t n = strlen(path), k = strlen(suffix);
	int has = n > k && path[n - k - 1] != '/' && strcmp(path + n - k, suffix) == 0;
	char why[100];

	if (r->a->action == DECOMPRESS && !has) {
		snprintf(why, sizeof why, "its name does not end in %.50s", suffix);
		return replace_skip(r, path, why);
	}
	if (r->a->action == COMPRESS && has) {
		snprintf(why, sizeof why, "its name ends in %.50s already", suffix);
		return replace_skip(r, path, why);
	}
	r->final = has ? xstrndup(path, n - k) : xasprintf("%s%s", path, suffix);
	return DONE;
}

/* What gzip does not replace unless it is told to. */
static enum status
replace_reluctant(const struct replacement *r, const char *path)
{
	if (!S_ISREG(r->st.st_mode))
		return replace_skip(r, path, "not a regular file");
	if (r->a->force)
		return DONE;
	if (r->st.st_nlink > 1)
		return replace_skip(r, path, "it has other links (-f replaces this one)");
	if (r->st.st_mode & (S_ISUID | S_ISGID | S_ISVTX))
		return replace_skip(r, path, "it is set-user-ID, set-group-ID or sticky (-f replaces it)");
	return DONE;
}

static enum status
replace_open(struct replacement *r, const char *path)
{
	enum status bad;

	/* not opened before it is known to be a file: that alone may do something to a device */
	if ((r->a->force ? stat(path, &r->st) : lstat(path, &r->st)) != 0)
		return replace_failed(path);
	if (S_ISDIR(r->st.st_mode)) {
		errno = EISDIR;
		return replace_failed(path);
	}
	if (S_ISLNK(r->st.st_mode))
		return replace_skip(r, path, "a symbolic link (-f follows it)");
	if (!S_ISREG(r->st.st_mode))
		return replace_skip(r, path, "not a regular file");
	if ((bad = replace_name(r, path)) != DONE)
		return bad;
	r->in.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (r->a->force ? 0 : O_NOFOLLOW));
	if (r->in.fd < 0 || fstat(r->in.fd, &r->st) != 0)
		return replace_failed(path);
	return replace_reluctant(r, path);
}

/* Is the name of the output free, or may what has it be replaced? */
static enum status
replace_is_free(const struct replacement *r)
{
	struct stat st;

	if (lstat(r->final, &st) != 0)
		return errno == ENOENT ? DONE : replace_failed(r->final);
	if (!r->a->force)
		return replace_skip(r, r->final, "exists (-f overwrites it)");
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		warn("%s: exists and is not a regular file", r->final);
		return FAILED;
	}
	return DONE;
}

static enum status
replace_create(struct replacement *r)
{
	r->temp = temp_name(r->final);
	r->fd = r->temp ? temp_file(r->temp, 0600) : -1;
	if (r->fd < 0) {
		enum status bad = replace_failed(r->final);

		free(r->temp);
		r->temp = NULL;
		return bad;
	}
	return temp_set_final(r->temp, r->final) == 0 ? DONE : replace_failed(r->final);
}

/* Owner, mode and times of the input, as far as they may be set; 0, or -1 with errno. */
static int
replace_attributes(const struct replacement *r)
{
	const struct timespec times[2] = { r->st.st_atim, r->st.st_mtim };
	mode_t mode = r->st.st_mode & 0777;

	if (fchown(r->fd, r->st.st_uid, r->st.st_gid) != 0 && fchown(r->fd, (uid_t)-1, r->st.st_gid) != 0)
		/* the file is of another group, which must not have more than all others */
		mode &= 0700 | (mode & 7) << 3 | 7;
	/* a file system without modes or times is no reason to fail */
	if (fchmod(r->fd, mode) != 0 && errno != EPERM && errno != ENOTSUP)
		return -1;
	return futimens(r->fd, times) != 0 && errno != EPERM && errno != ENOTSUP ? -1 : 0;
}

/* 0, also where the file system cannot flush; or -1 with errno */
static int
replace_flush(int fd)
{
	return fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP ? -1 : 0;
}

/* The new name must be on the disk before the input's name is gone from it. */
static int
replace_flush_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), bad;

	free(folder);
	if (fd < 0)
		return errno == EACCES ? 0 : -1;        /* one that may be written to, not read */
	bad = replace_flush(fd);
	close(fd);
	return bad;
}

/* The output gets its name; without -f it takes it from no other file, however late that came. */
static int
replace_rename(struct replacement *r)
{
	struct stat st;

	if (!r->a->force && link(r->temp, r->final) == 0) {
		temp_remove(r->temp);
	} else {
		if (!r->a->force && (errno == EEXIST || lstat(r->final, &st) == 0)) {
			errno = EEXIST;
			return -1;
		}
		/* -f, or a file system without links */
		if (temp_commit(r->temp) != 0)
			return -1;
	}
	free(r->temp);
	r->temp = NULL;
	return 0;
}

static enum status
replace_remove_input(const struct replacement *r, const char *path)
{
	struct stat st;

	if (replace_flush_folder(r->final) != 0)
		return replace_failed(r->final);
	if (stat(path, &st) != 0 || st.st_dev != r->st.st_dev || st.st_ino != r->st.st_ino) {
		warn("%s: another file has this name now, and stays", path);
		return FAILED;
	}
	return unlink(path) == 0 ? DONE : replace_failed(path);
}

static void
replace_tell(const struct replacement *r, const char *path, off_t size)
{
	double from = (double)(r->a->action == COMPRESS ? r->st.st_size : size);
	double to = (double)(r->a->action == COMPRESS ? size : r->st.st_size);

	warn("%s: %.1f%%, %s %s", path, from > 0 ? 100 * (from - to) / from : 0,
	    r->a->keep ? "kept, made" : "replaced by", r->final);
}

/* After the work: the output is finished, then the input is removed. */
static enum status
replace_finish(struct replacement *r, const char *path)
{
	struct stat st;
	off_t size;

	if (fstat(r->in.fd, &st) != 0)
		return replace_failed(path);
	if (st.st_size != r->st.st_size || st.st_mtim.tv_sec != r->st.st_mtim.tv_sec ||
	    st.st_mtim.tv_nsec != r->st.st_mtim.tv_nsec) {
		warn("%s: changed while it was read, and stays", path);
		return FAILED;
	}
	if (fstat(r->fd, &st) != 0 || replace_attributes(r) != 0 || replace_flush(r->fd) != 0)
		return replace_failed(r->final);
	size = st.st_size;
	if (close(r->fd) != 0) {
		r->fd = -1;
		return replace_failed(r->final);
	}
	r->fd = -1;
	if (replace_rename(r) != 0)
		return replace_failed(r->final);
	if (!r->a->keep) {
		enum status bad = replace_remove_input(r, path);

		if (bad != DONE)
			return bad;
	}
	if (r->a->verbose)
		replace_tell(r, path, size);
	return DONE;
}

enum status
replace_file(const struct args *a, const char *path)
{
	struct replacement r = { .a = a, .in = { path, path, -1 }, .fd = -1 };
	enum status status = replace_open(&r, path);

	if (status == DONE)
		status = replace_is_free(&r);
	if (status == DONE)
		status = replace_create(&r);
	if (status == DONE)
		status = work_run(&(struct job){ .a = a, .in = &r.in, .outfd = r.fd, .outname = r.final });
	if (status == DONE)
		status = replace_finish(&r, path);
	if (r.fd >= 0)
		close(r.fd);
	if (r.temp)
		temp_remove(r.temp);
	input_close(&r.in);
	free(r.temp);
	free(r.final);
	return status;
}
