/* aec -o: the files are made in a temporary folder; when all are there, they get their place. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/in.h"
#include "base/mem.h"
#include "base/temp.h"
#include "gen/aec/aec.h"

#define SIGN "Made by aec"      /* near the beginning of all files that aec makes */

/* A file that is there may be replaced if it was made by aec: it may be the Makefile of somebody's project. */
static void
folder_may_replace(const char *path)
{
	struct stat st;
	struct in *in;
	size_t have;
	const uint8_t *p;

	if (lstat(path, &st) != 0)
		return;
	in = in_open(path);
	p = in_peek(in, sizeof "/* " SIGN - 1, &have);
	if (!memmem(p, have, SIGN, sizeof SIGN - 1))
		die("%s: exists, and was not made by aec", path);
	in_close(in);
}

static void
folder_each(const char *from, const char *to, void (*what)(const char *from, const char *to))
{
	DIR *d = opendir(from);
	const struct dirent *e;

	if (!d)
		die_sys("%s", to);
	while ((e = readdir(d))) {
		char *old = xasprintf("%s/%s", from, e->d_name), *new = xasprintf("%s/%s", to, e->d_name);

		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			what(old, new);
		free(old);
		free(new);
	}
	closedir(d);
}

static void
folder_look(const char *from, const char *to)
{
	(void)from;
	folder_may_replace(to);
}

static void
folder_move(const char *from, const char *to)
{
	if (rename(from, to) != 0)
		die_sys("%s", to);
}

/* The folder itself, if it is new, or its files, to one that is there and stays. */
static void
folder_finish(char *temp, const char *name, int new)
{
	mode_t mask = umask(0);

	umask(mask);
	if (!new) {
		folder_each(temp, name, folder_look);
		folder_each(temp, name, folder_move);
		temp_remove(temp);
		return;
	}
	if (chmod(temp, 0777 & ~mask) != 0 || rename(temp, name) != 0)
		die_sys("%s", name);
	temp_keep(temp);
}

void
folder_write(struct aec *a, const char *name)
{
	struct stat st;
	size_t n = strlen(name);
	char *final, *temp;
	int new = stat(name, &st) != 0;

	while (n > 1 && name[n - 1] == '/')
		n--;
	final = xstrndup(name, n);
	if (new && errno != ENOENT)
		die_sys("%s", final);
	if (!new && !S_ISDIR(st.st_mode))
		die("%s: %s", final, strerror(ENOTDIR));
	/* on the same file system: beside it, or in it */
	temp = xasprintf(new ? "%s.XXXXXX" : "%s/aec.XXXXXX", final);
	if (temp_folder(temp) != 0)
		die_sys("%s", final);
	a->dir = temp;
	a->place = final;
	write_files(a);
	folder_finish(temp, final, new);
	free(temp);
	free(final);
}
