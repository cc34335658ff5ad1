/*
 * Files that gdb reads: those that the capture keeps; else the executables and libraries of this system that
 * have the names, and the build ids, of those that the program had mapped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/wsgdb/wsgdb.h"
#include "base/diag.h"
#include "base/helper.h"
#include "format/ws/elf.h"

#define PATH_ROOM 4096u
static const char maps[] = "/proc/1/maps";

static void
answer(struct server *s, int e)
{
	char text[32];

	/* the numbers of errno in the protocol are those of old Unix, as are Linux' up to 34 */
	snprintf(text, sizeof text, e ? "F-1,%x" : "F0", (unsigned)(e > 34 ? 9999 : e));
	wire_text(s->w, text);
}

/* Warns of a file, once. */
static void
file_differs(struct server *s, const char *path)
{
	for (size_t i = 0; i < s->said.n; i += strlen((char *)s->said.p + i) + 1)
		if (strcmp((char *)s->said.p + i, path) == 0)
			return;
	buf_add(&s->said, path, strlen(path) + 1);
	warn("%s: not the file that the program ran: its build id is another. gdb does not get it", path);
}

/* Is it another file than the one that was mapped under this name? */
static int
is_other(struct server *s, const char *path, int fd)
{
	const struct ws_rec_map *m;
	struct stat st, mst;

	if (fstat(fd, &st) != 0)
		return 0;
	for (size_t i = 0; (m = replay_map(history_replay(s->h), i)) != NULL; i++) {
		if (!m->nid || !m->name[0])
			continue;
		if (strcmp(m->name, path) != 0 &&
		    (stat(m->name, &mst) != 0 || mst.st_dev != st.st_dev || mst.st_ino != st.st_ino))
			continue;
		if (!ws_elf_has_id(fd, m->id, m->nid)) {
			file_differs(s, path);
			return 1;
		}
	}
	return 0;
}

/* Opens a file that the capture keeps: 1; 0: it keeps none of this name, or that is damaged. */
static int
file_kept(struct server *s, const char *path, unsigned k)
{
	const char *why;

	for (size_t i = 0; s->runs && i < ws_kept_count(s->runs); i++) {
		struct ws_kept kept = ws_kept_get(s->runs, i);

		if (strcmp(kept.path, path) != 0)
			continue;
		s->file[k].kept = ws_kept_load(s->runs, s->capture, i, &why);
		s->file[k].nkept = kept.bytes;
		if (!s->file[k].kept)
			warn("%s: its copy in the capture cannot be used: %s", path, why);
		return s->file[k].kept != NULL;
	}
	return 0;
}

/* Opens a file of this system: a descriptor, or -1 with errno. */
static int
file_here(struct server *s, const char *path)
{
	int fd = helper_open(path, HELPER_ELF);

	if (fd < 0 || !is_other(s, path, fd))
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

static void
file_open(struct server *s, const char *p)
{
	const char *end = strchr(p, ',');
	size_t n = end ? (size_t)(end - p) / 2 : 0;
	char path[PATH_ROOM], text[32];
	unsigned k = 0;
	int fd = -1, list;

	if (!end || n >= sizeof path || packet_unhex((uint8_t *)path, p, n) != 0 || memchr(path, '\0', n)) {
		answer(s, EINVAL);
		return;
	}
	path[n] = '\0';
	while (k < NFILES && s->file[k].used)
		k++;
	if (k == NFILES) {
		answer(s, EMFILE);
		return;
	}
	list = strcmp(path, maps) == 0;
	if (list)
		object_maps(s);
	else if (!file_kept(s, path, k) && (fd = file_here(s, path)) < 0) {
		answer(s, errno);
		return;
	}
	s->file[k].fd = fd;
	s->file[k].maps = list;
	s->file[k].used = 1;
	snprintf(text, sizeof text, "F%x", k);
	wire_text(s->w, text);
}

static void
file_close(struct server *s, unsigned k)
{
	if (s->file[k].used && s->file[k].fd >= 0)
		close(s->file[k].fd);
	free(s->file[k].kept);
	s->file[k].kept = NULL;
	s->file[k].used = 0;
}

void
file_close_all(struct server *s)
{
	for (unsigned k = 0; k < NFILES; k++)
		file_close(s, k);
	if (s->runs)
		ws_kept_close(s->runs, s->capture);
	s->runs = NULL;
}

/* The bytes of a file that is in memory; NULL: it has a descriptor */
static const uint8_t *
file_bytes(const struct server *s, unsigned k, size_t *n)
{
	*n = s->file[k].maps ? s->maps.n : s->file[k].nkept;
	return s->file[k].maps ? s->maps.p : s->file[k].kept;
}

static void
file_read(struct server *s, unsigned k, uint64_t n, uint64_t off)
{
	static uint8_t room[PACKET_MAX];
	struct buf data = BUF_INIT, b = BUF_INIT;
	ssize_t got;
	size_t done, size;
	const uint8_t *p = file_bytes(s, k, &size);

	n = n < sizeof room ? n : sizeof room;
	if (p || s->file[k].maps) {
		got = off < size ? (ssize_t)(size - off < n ? size - off : n) : 0;
		if (got)
			memcpy(room, p + off, (size_t)got);
	} else
		got = off > INT64_MAX ? 0 : pread(s->file[k].fd, room, (size_t)n, (off_t)off);
	if (got < 0) {
		answer(s, errno);
		return;
	}
	done = packet_binary(&data, room, (size_t)got);
	buf_printf(&b, "F%zx;", done);
	buf_add(&b, data.p, data.n);
	wire_send(s->w, b.p, b.n);
	buf_free(&data);
	buf_free(&b);
}

static void
put_be(uint8_t *p, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * (n - 1 - i));
}

/* The protocol's struct stat: numbers with the highest byte first */
static void
file_stat(struct server *s, unsigned k)
{
	struct stat st = { .st_mode = S_IFREG | 0444, .st_nlink = 1 };
	struct buf b = BUF_INIT;
	uint8_t f[64] = { 0 };
	size_t size;

	if (s->file[k].fd >= 0 && fstat(s->file[k].fd, &st) != 0) {
		answer(s, errno);
		return;
	}
	(void)file_bytes(s, k, &size);
	if (s->file[k].fd < 0)
		st.st_size = (off_t)size;
	put_be(f, st.st_dev, 4);
	put_be(f + 4, st.st_ino, 4);
	put_be(f + 8, st.st_mode, 4);
	put_be(f + 12, st.st_nlink, 4);
	put_be(f + 16, st.st_uid, 4);
	put_be(f + 20, st.st_gid, 4);
	put_be(f + 28, (uint64_t)st.st_size, 8);
	put_be(f + 36, (uint64_t)st.st_blksize, 8);
	put_be(f + 44, (uint64_t)st.st_blocks, 8);
	put_be(f + 52, (uint64_t)st.st_atime, 4);
	put_be(f + 56, (uint64_t)st.st_mtime, 4);
	put_be(f + 60, (uint64_t)st.st_ctime, 4);
	buf_printf(&b, "F%zx;", sizeof f);
	(void)packet_binary(&b, f, sizeof f);
	wire_send(s->w, b.p, b.n);
	buf_free(&b);
}

/* The number of an open file at *p, and `end`: 0, or -1 */
static int
file_number(struct server *s, const char **p, char end, unsigned *k)
{
	uint64_t v;

	if (packet_number(p, &v, end) != 0 || v >= NFILES || !s->file[v].used)
		return -1;
	*k = (unsigned)v;
	return 0;
}

/* Is *p a request of this name?  Then *p is what follows it. */
static int
is_request(const char **p, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(*p, name, n) != 0)
		return 0;
	*p += n;
	return 1;
}

void
file_packet(struct server *s)
{
	const char *p = s->w->packet + strlen("vFile:");
	uint64_t n, off;
	unsigned k;

	if (is_request(&p, "setfs:"))
		answer(s, 0);
	else if (is_request(&p, "open:"))
		file_open(s, p);
	else if (is_request(&p, "pread:")) {
		if (file_number(s, &p, ',', &k) != 0 || packet_number(&p, &n, ',') != 0 ||
		    packet_number(&p, &off, '\0') != 0)
			answer(s, EBADF);
		else
			file_read(s, k, n, off);
	} else if (is_request(&p, "fstat:")) {
		if (file_number(s, &p, '\0', &k) != 0)
			answer(s, EBADF);
		else
			file_stat(s, k);
	} else if (is_request(&p, "close:")) {
		if (file_number(s, &p, '\0', &k) != 0)
			answer(s, EBADF);
		else {
			file_close(s, k);
			answer(s, 0);
		}
	} else if (is_request(&p, "pwrite:") || is_request(&p, "unlink:"))
		answer(s, EROFS);
	else if (is_request(&p, "readlink:"))
		answer(s, EINVAL);
	else
		wire_text(s->w, "");
}
