/* Captures of several processes: their names, and what a tool says of those that it leaves out. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/src.h"
#include "format/ws/runs.h"

/* The number after the last colon, and the name before it; 0: there is none. */
static size_t
path_split(const char *path, char *file, size_t room)
{
	const char *colon = strrchr(path, ':');
	size_t n = 0, len = colon ? (size_t)(colon - path) : 0;

	if (!len || len >= room || !colon[1] || colon[1] == '0')
		return 0;
	for (const char *p = colon + 1; *p; p++) {
		if (*p < '0' || *p > '9' || n > WS_RUNS_MAX)
			return 0;
		n = n * 10 + (size_t)(*p - '0');
	}
	memcpy(file, path, len);
	file[len] = '\0';
	return n;
}

static int
path_open(const char *path, size_t *run, int (*file_open)(const char *))
{
	char file[4096];
	int fd = src_is_stdin(path) ? STDIN_FILENO : file_open(path);

	*run = 0;
	if (fd >= 0 || (*run = path_split(path, file, sizeof(file))) == 0)
		return fd;
	return src_is_stdin(file) ? STDIN_FILENO : file_open(file);
}

int
ws_open_path(const char *path, size_t *run)
{
	return path_open(path, run, src_open);
}

int
ws_keep_open_path(const char *path, size_t *run)
{
	return path_open(path, run, helper_keep_open);
}

static void
several_close(int fd)
{
	if (fd > STDIN_FILENO)
		close(fd);
}

/* The runs of a file that names none; NULL: it is none with several. */
static struct ws_runs *
several(const char *path, int *fd)
{
	struct ws_runs *t = NULL;
	struct fault f;
	size_t run = 0;
	int whole;

	*fd = ws_open_path(path, &run);
	if (*fd >= 0 && !run)
		t = ws_runs_read(*fd, &whole, &f);
	if (t && ws_runs_count(t) > 1)
		return t;
	ws_runs_free(t);
	several_close(*fd);
	return NULL;
}

size_t
ws_runs_of_path(const char *path)
{
	int fd;
	struct ws_runs *t = several(path, &fd);
	size_t n = t ? ws_runs_count(t) : 0;

	if (t)
		several_close(fd);
	ws_runs_free(t);
	return n;
}

/* The last part of a path, as far as it is printable and fits. */
static void
others_name(const char *path, char *name, size_t room)
{
	const char *slash = strrchr(path, '/');
	size_t n = 0;

	for (const char *p = slash ? slash + 1 : path; *p && n + 1 < room; p++)
		name[n++] = *p > ' ' && *p < 0x7f ? *p : '?';
	name[n] = '\0';
}

int
ws_others(const char *path, char text[WS_OTHERS_TEXT])
{
	int fd;
	struct ws_runs *t = several(path, &fd);
	struct ws_reader *r = NULL;
	struct fault f;
	char name[64] = "?";

	if (!t)
		return 0;
	r = ws_open_run(fd, 0, &f);
	if (r)
		others_name(ws_head(r)->exe, name, sizeof(name));
	ws_close(r);
	several_close(fd);
	snprintf(text, WS_OTHERS_TEXT, "run %zu of %zu, of %s; FILE:NUMBER is another one (wsinfo lists them)",
	    ws_runs_main(t), ws_runs_count(t), name);
	ws_runs_free(t);
	return 1;
}
