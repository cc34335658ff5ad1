/* Captures: finds the files to keep, and writes them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/src.h"
#include "format/ws/elf.h"
#include "format/ws/kept.h"
#include "format/ws/ws_internal.h"

struct keep {
	char *path;                     /* owned */
	uint64_t dev, ino;
	int fd;                         /* -1: it is not kept */
	struct stat st;
};

struct ws_keeper {
	struct keep *v;                 /* owned */
	size_t n, cap;
	int own;
	struct buf name;                /* of the last file that was mapped from its beginning, with a NUL */
	uint8_t id[WS_ID_MAX];          /* and its build id */
	size_t nid;
};

struct ws_keeper *
ws_keeper_new(int own)
{
	struct ws_keeper *k = calloc(1, sizeof(*k));

	if (k)
		k->own = own;
	return k;
}

void
ws_keeper_free(struct ws_keeper *k)
{
	for (size_t i = 0; k && i < k->n; i++) {
		free(k->v[i].path);
		if (k->v[i].fd >= 0)
			close(k->v[i].fd);
	}
	if (k) {
		buf_free(&k->name);
		free(k->v);
	}
	free(k);
}

/* A new entry; NULL: there is one, or no memory */
static struct keep *
keeper_entry(struct ws_keeper *k, const char *path, uint64_t dev, uint64_t ino)
{
	char *copy;

	for (size_t i = 0; i < k->n; i++)
		if (k->v[i].ino == ino && k->v[i].dev == dev && strcmp(k->v[i].path, path) == 0)
			return NULL;
	if (buf_grow(&k->v, &k->cap, k->n + 1, sizeof(*k->v)) < 0 || !(copy = strdup(path)))
		return NULL;
	k->v[k->n] = (struct keep){.path = copy, .dev = dev, .ino = ino, .fd = -1};
	return &k->v[k->n++];
}

/* The build id is told with the first mapping of a file, which seldom is the one that is executed. */
static int
keeper_is_same(struct ws_keeper *k, const struct ws_rec_map *m, int fd)
{
	const uint8_t *id = m->nid ? m->id : k->id;
	size_t nid = m->nid;

	if (!nid && k->name.n && strcmp((const char *)k->name.p, m->name) == 0)
		nid = k->nid;
	return !nid || ws_elf_has_id(fd, id, nid);
}

/* Is the file one that a package of the system has installed?  Such files are found again by their build ids. */
static int
keeper_is_system(const char *path)
{
	static const char *const below[] = { "/usr/", "/lib", "/bin/", "/sbin/" };

	if (strncmp(path, "/usr/local/", 11) == 0)
		return 0;
	for (size_t i = 0; i < sizeof(below) / sizeof(*below); i++)
		if (strncmp(path, below[i], strlen(below[i])) == 0)
			return 1;
	return 0;
}

/* Is an open file one to keep? */
static int
keeper_wants(struct ws_keeper *k, const struct ws_rec_map *m, struct keep *e)
{
	return fstat(e->fd, &e->st) == 0 && S_ISREG(e->st.st_mode) &&
	    (!k->own || (uint64_t)e->st.st_size <= WS_KEPT_OWN) && ws_elf_has_symbols(e->fd) && keeper_is_same(k, m, e->fd);
}

void
ws_keeper_add(struct ws_keeper *k, const struct ws_rec_map *m)
{
	struct keep *e;

	if (m->nid) {
		k->name.n = 0;
		buf_add(&k->name, m->name, strlen(m->name) + 1);
		memcpy(k->id, m->id, m->nid);
		k->nid = m->nid;
	}
	/* libraries are mapped to be read first, and parts of them become code later */
	if (m->name[0] != '/' || (k->own && keeper_is_system(m->name)) || k->n >= WS_KEPT_MAX ||
	    (e = keeper_entry(k, m->name, m->dev, m->ino)) == NULL)
		return;
	/* a name that is not a file's any more may be a pipe's, for which an open would wait */
	e->fd = open(e->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (e->fd >= 0 && keeper_wants(k, m, e)) {
		src_opened(e->fd);
		return;
	}
	if (e->fd < 0)
		return;
	close(e->fd);
	e->fd = -1;
}

void
ws_keeper_has(struct ws_keeper *k, const struct ws_runs *t)
{
	for (size_t i = 0; i < ws_kept_count(t); i++) {
		struct ws_kept have = ws_kept_get(t, i);

		(void)keeper_entry(k, have.path, have.dev, have.ino);
	}
}

size_t
ws_keeper_count(const struct ws_keeper *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++)
		n += k->v[i].fd >= 0;
	return n;
}

/* The contents, for the caller to free; NULL: *why */
static uint8_t *
keep_contents(const struct keep *e, const char **why)
{
	size_t n = (size_t)e->st.st_size, at = 0;
	ssize_t got = 1;
	struct stat now;
	uint8_t *p;

	*why = "too large to be kept";
	if (e->st.st_size < 1 || (uint64_t)e->st.st_size > WS_KEPT_BYTES)
		return NULL;
	*why = "out of memory";
	if (!(p = malloc(n)))
		return NULL;
	while (at < n && got > 0) {
		got = pread(e->fd, p + at, n - at, (off_t)at);
		at += got > 0 ? (size_t)got : 0;
	}
	*why = got < 0 ? strerror(errno) : "was changed while the program ran";
	if (at == n && fstat(e->fd, &now) == 0 && now.st_size == e->st.st_size &&
	    now.st_mtim.tv_sec == e->st.st_mtim.tv_sec && now.st_mtim.tv_nsec == e->st.st_mtim.tv_nsec)
		return p;
	free(p);
	return NULL;
}

int
ws_keeper_write(struct ws_keeper *k, ws_write_fn *write, void *arg, ws_keeper_miss_fn *miss)
{
	int e = 0;

	for (size_t i = 0; i < k->n && !e; i++) {
		const struct keep *q = &k->v[i];
		struct ws_kept kept = {.path = q->path, .dev = q->dev, .ino = q->ino,
		    .bytes = (uint64_t)q->st.st_size};
		const char *why;
		uint8_t *p;

		if (q->fd < 0)
			continue;
		p = keep_contents(q, &why);
		if (p)
			e = ws_kept_write(write, arg, &kept, p);
		else
			miss(q->path, why);
		free(p);
	}
	return e;
}
