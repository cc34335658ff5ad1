/* laplace-merge: output files and their buffers. */
#include <dirent.h>
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
#include "merge/laplace-merge/merge.h"

#define NBUF 256u               /* buffers */

struct files {
	char *final, *folder;           /* owned; folder: where the files are for now */
	struct file *first, **end;
	struct file *newest, *oldest;   /* files with buffers */
	unsigned nbuf;
	/* file_single: a single output without a folder; else the tar file or NULL */
	struct out *out;
};

/* Exits if the result would replace a nonempty folder; rename(2) replaces an empty one. */
static void
check_free(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *e;

	if (!d && errno == ENOENT)
		return;
	if (!d)
		die_sys("%s", path);
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			die("%s: exists, and is not empty", path);
	closedir(d);
}

struct files *
files_new(const char *path)
{
	struct files *a = xcalloc(1, sizeof *a);
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	a->final = xstrndup(path, n);
	a->end = &a->first;
	if (archive_is_tar(path))
		a->out = out_open(path);
	else
		check_free(a->final);
	a->folder = xasprintf("%s.XXXXXX", a->final);
	if (temp_folder(a->folder) != 0)
		die_sys("%s", a->final);
	return a;
}

void
files_dir(struct files *a, const char *name)
{
	char *path = xasprintf("%s/%s", a->folder, name);

	if (mkdir(path, 0777) != 0)
		die_sys("%s/%s", a->final, name);
	free(path);
}

struct file *
files_add(struct files *a, const char *dir, const char *name, uint64_t pid)
{
	struct file *f = xcalloc(1, sizeof *f);

	f->all = a;
	f->pid = pid;
	f->path = dir ? xasprintf("%s/%s/%s", a->folder, dir, name) : xasprintf("%s/%s", a->folder, name);
	*a->end = f;
	a->end = &f->next;
	return f;
}

struct file *
files_first(const struct files *a)
{
	return a->first;
}

const char *
files_folder(const struct files *a)
{
	return a->folder;
}

/* Names the file as it would be in the result: the folder where it is for now is removed. */
static _Noreturn void
files_bad(const struct file *f)
{
	const struct files *a = f->all;

	die_sys("%s%s", a->final, a->out ? "" : f->path + strlen(a->folder));
}

/* Files are not kept open: a full buffer is worth an open and a close. */
static void
files_append(struct file *f)
{
	int fd = open(f->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	const uint8_t *p = f->p;
	size_t n = f->n;

	if (fd < 0)
		files_bad(f);
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno != EINTR)
			files_bad(f);
		if (k > 0) {
			p += k;
			n -= (size_t)k;
		}
	}
	if (close(fd) != 0)
		files_bad(f);
}

void
file_flush(struct file *f)
{
	if (!f->path)
		out_write(f->all->out, f->p, f->n);
	else
		files_append(f);
	f->sum = lap_sum(f->sum, f->p, f->n);
	f->off += f->n;
	f->n = 0;
}

static void
files_unlist(struct file *f)
{
	*(f->newer ? &f->newer->older : &f->all->newest) = f->older;
	*(f->older ? &f->older->newer : &f->all->oldest) = f->newer;
}

void
file_get_buffer(struct file *f)
{
	struct files *a = f->all;
	struct file *old = a->oldest;

	if (a->nbuf < NBUF) {
		f->p = xmalloc(FILE_ROOM);
		a->nbuf++;
	} else {
		file_flush(old);
		files_unlist(old);
		f->p = old->p;
		old->p = NULL;
	}
	f->n = 0;
	f->newer = NULL;
	f->older = a->newest;
	*(a->newest ? &a->newest->newer : &a->oldest) = f;
	a->newest = f;
}

void
file_prepare_write(struct file *f)
{
	struct files *a = f->all;

	if (!f->p || a->newest == f)
		return;
	files_unlist(f);
	f->newer = NULL;
	f->older = a->newest;
	a->newest->newer = f;
	a->newest = f;
}

static void
flush_all(struct files *a)
{
	for (struct file *f = a->newest, *older; f; f = older) {
		older = f->older;
		file_flush(f);
		free(f->p);
		f->p = NULL;
	}
	a->newest = a->oldest = NULL;
}

static void
free_all(struct files *a)
{
	while (a->first) {
		struct file *f = a->first;

		a->first = f->next;
		free(f->path);
		free(f);
	}
	free(a->folder);
	free(a->final);
	free(a);
}

void
files_done(struct files *a)
{
	mode_t mask = umask(0);

	umask(mask);
	flush_all(a);
	if (a->out) {
		archive_write(a->out, a);
		temp_remove(a->folder);
	} else {
		if (chmod(a->folder, 0777 & ~mask) != 0 || rename(a->folder, a->final) != 0)
			die_sys("%s", a->final);
		temp_keep(a->folder);
	}
	free_all(a);
}

struct file *
file_single(struct out *o)
{
	struct files *a = xcalloc(1, sizeof *a);
	struct file *f = xcalloc(1, sizeof *f);

	a->out = o;
	f->all = a;
	return f;
}

void
file_single_done(struct file *f)
{
	if (f->p)
		file_flush(f);
	free(f->p);
	free(f->all);
	free(f);
}
