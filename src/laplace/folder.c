/* The manifest of a folder of traces. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/num.h"
#include "laplace/traces.h"
#include "laplace/traces_internal.h"

enum { FIELDS = 7 };

int
lap_folder_fault(struct lap_folder *f, const char *name, uint64_t off, uint64_t rec, const char *what)
{
	fault_set(&f->fault, off, rec, "%s", what);
	free(f->where);
	f->where = lap_folder_path(f, name);
	return -1;
}

char *
lap_folder_path(const struct lap_folder *f, const char *name)
{
	size_t n = strlen(f->dir) + strlen(name) + 2;
	char *s = malloc(n);

	if (s)
		snprintf(s, n, "%s/%s", f->dir, name);
	return s;
}

/* The folder may be a stranger's: a file below it must be a file, and no link. */
static const char *
folder_wrong(char *path, int below)
{
	char *slash = strrchr(path, '/');
	struct stat st;

	*slash = '\0';
	if (below && (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode)))
		return "not a folder";          /* path stays the folder's */
	*slash = '/';
	if (lstat(path, &st) != 0)
		return strerror(errno);
	return S_ISREG(st.st_mode) ? NULL : "not a regular file";
}

int
lap_folder_check(struct lap_folder *f, const char *name)
{
	char *path = lap_folder_path(f, name);
	const char *why = path ? folder_wrong(path, strchr(name, '/') != NULL) : "out of memory";

	if (why) {
		fault_set(&f->fault, DIAG_NOOFF, DIAG_NOREC, "%s", why);
		free(f->where);
		f->where = path;
		return -1;
	}
	free(path);
	return 0;
}

/* p1/t1, p1.2/t1.3: the names that laplace-merge gives, which lead nowhere else */
static int
is_task_path(const char *s)
{
	const char *digits = "0123456789abcdef.";
	size_t n = *s == 'p' ? strspn(s + 1, digits) : 0;

	if (!n || strncmp(s + 1 + n, "/t", 2) != 0)
		return 0;
	s += n + 3;
	n = strspn(s, digits);
	return n && !s[n];
}

/* The fields of a line, which it cuts; how many there are, at most FIELDS. */
static int
fields_of(char *line, char *field[FIELDS])
{
	int n = 0;

	for (char *s = line; s && n < FIELDS; n++) {
		field[n] = s;
		s = strchr(s, ' ');
		if (s)
			*s++ = '\0';
	}
	return n;
}

/* A task's line, or the kernel's: 0; -1: it is neither as it must be; -2: no memory */
static int
folder_add(struct lap_folder *f, char *line)
{
	char *field[FIELDS];
	int n = fields_of(line, field), kernel = !strcmp(field[0], "kernel");
	uint64_t v[5] = { 0 };

	if (n != (kernel ? 6 : 7) || (kernel ? strcmp(field[1], "kernel") != 0 : !is_task_path(field[1])))
		return -1;
	for (int i = 2; i < n; i++)
		if (!*field[i] || num_hex(field[i], strlen(field[i]), &v[i - 2 + kernel]) != strlen(field[i]))
			return -1;
	if (f->n == f->room) {
		size_t room = f->room ? 2 * f->room : 64;
		struct lap_trace *t = realloc(f->trace, room * sizeof *t);

		if (!t)
			return -2;
		f->trace = t;
		f->room = room;
	}
	f->trace[f->n] = (struct lap_trace){
		.path = strdup(field[1]), .pid = v[0], .first = v[1], .last = v[2], .nref = v[3], .nevent = v[4],
		.process = f->nprocess - !kernel, .kernel = kernel
	};
	return f->trace[f->n].path ? f->n++, 0 : -2;
}

/* A line, which it cuts: 0, or -1 or -2 as folder_add */
static int
folder_line(struct lap_folder *f, char *line, int first)
{
	if (first)
		return strcmp(line, "laplace-merge 1 text") != 0 && strcmp(line, "laplace-merge 1 packed") != 0 ? -1 : 0;
	if (!strncmp(line, "process ", 8))
		f->nprocess++;
	else if (!strncmp(line, "task ", 5))
		return f->nprocess ? folder_add(f, line) : -1;
	else if (!strncmp(line, "kernel ", 7))
		return folder_add(f, line);
	return 0;
}

static int
folder_read(struct lap_folder *f, struct in *in)
{
	const uint8_t *p, *nl;
	size_t have;
	int end = 0, first = 1;

	for (; (p = in_line(in, LAP_LINE_MAX, &have, &nl)), nl; first = 0) {
		char *line = strndup((const char *)p, (size_t)(nl - p));
		int got;

		if (!line)
			return lap_folder_fault(f, "manifest", DIAG_NOOFF, DIAG_NOREC, "out of memory");
		got = end || strlen(line) != (size_t)(nl - p) ? -1 : 0;
		end = !strcmp(line, "end");
		if (!got)
			got = folder_line(f, line, first);
		free(line);
		if (got)
			return lap_folder_fault(f, "manifest", in_off(in), DIAG_NOREC,
			    got == -2 ? "out of memory" : "not a line of a manifest");
		in_skip(in, (size_t)(nl - p) + 1);
	}
	if (in_error(in))
		return lap_folder_fault(f, "manifest", in_off(in), DIAG_NOREC, in_error(in));
	return have || !end ?
	    lap_folder_fault(f, "manifest", in_off(in), DIAG_NOREC, "the manifest is cut off") : 0;
}

int
lap_folder_open(struct lap_folder *f, const char *dir)
{
	struct stat st;
	char *path;
	struct in *in;
	int got;

	memset(f, 0, sizeof *f);
	f->dir = strdup(dir);
	for (size_t n = f->dir ? strlen(f->dir) : 0; n > 1 && f->dir[n - 1] == '/'; n--)
		f->dir[n - 1] = '\0';
	if (!f->dir || !(path = lap_folder_path(f, "manifest")))
		return fault_nomem(&f->fault);
	if (stat(f->dir, &st) == 0 && !S_ISDIR(st.st_mode)) {
		free(path);
		f->where = strdup(f->dir);
		fault_set(&f->fault, DIAG_NOOFF, DIAG_NOREC,
		    "no folder that laplace-merge made; an archive must be unpacked first");
		return -1;
	}
	got = lap_folder_check(f, "manifest");
	if (got == 0) {
		in = in_open(path);
		got = folder_read(f, in);
		in_close(in);
	}
	free(path);
	return got;
}

void
lap_folder_close(struct lap_folder *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->trace[i].path);
	free(f->trace);
	free(f->dir);
	free(f->where);
	memset(f, 0, sizeof *f);
}
