/* ws2laplace: follows descriptors, and identifies files. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/diag.h"
#include "base/mem.h"
#include "convert/ws2laplace/ws2laplace.h"

#define FD_MAX (1u << 20)       /* descriptors that are followed */

struct path {
	char *name;                     /* owned */
	struct identity id;
};

/* FNV-1a hash as inode, with device 0:0, which no file has. */
struct identity
open_made_up(const void *p, size_t n)
{
	struct identity id = { .inode = 0xcbf29ce484222325u };
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++)
		id.inode = (id.inode ^ b[i]) * 0x100000001b3u;
	return id;
}

static int
descriptor_compare(const void *a, const void *b)
{
	return strcmp(((const struct path *)a)->name, ((const struct path *)b)->name);
}

struct identity
open_path(struct job *j, const char *name, size_t ordinal)
{
	struct path *p = xmalloc(sizeof *p), **at;

	p->name = xstrdup(name);
	p->id = open_made_up(name, strlen(name));
	at = tsearch(p, &j->paths, descriptor_compare);
	if (!at)
		die("out of memory");
	if (*at != p) {
		free(p->name);
		free(p);
	}
	if (ordinal && ordinal < j->nordinal && j->mapped[ordinal].known)
		(*at)->id = j->mapped[ordinal];
	return (*at)->id;
}

struct identity
open_map(struct job *j, const struct ws_rec_map *m, const struct opened *o)
{
	struct identity id;

	if (m->dev || m->ino) {
		id = (struct identity){ m->ino, major(m->dev), minor(m->dev), 1 };
		if (o && o->ordinal && o->ordinal < j->nordinal)
			j->mapped[o->ordinal] = id;
		return id;
	}
	if (o)
		return o->id;
	return m->nid ? open_made_up(m->id, m->nid) : open_made_up(m->name, strlen(m->name));
}

size_t
open_next(struct job *j)
{
	if (!j->nordinal)
		j->nordinal = 1;        /* 0 means none */
	if (j->scanning) {
		j->mapped = mem_xgrow(j->mapped, &j->capmapped, j->nordinal + 1, sizeof *j->mapped);
		j->mapped[j->nordinal] = (struct identity){ 0 };
	}
	return j->nordinal++;
}

static void
descriptor_release(struct opened *o)
{
	if (o && --o->refs == 0)
		free(o);
}

static struct opened **
descriptor_slot(struct job *j, uint64_t fd)
{
	size_t was = j->nfd;

	if (fd >= FD_MAX)
		return NULL;
	if (fd >= j->nfd) {
		j->fd = mem_xgrow(j->fd, &j->nfd, fd + 1, sizeof *j->fd);
		memset(j->fd + was, 0, (j->nfd - was) * sizeof *j->fd);
	}
	return &j->fd[fd];
}

struct opened *
open_set(struct job *j, uint64_t fd, char type, struct identity id)
{
	struct opened **s = descriptor_slot(j, fd);

	if (!s)
		return NULL;
	descriptor_release(*s);
	*s = xcalloc(1, sizeof **s);
	(*s)->id = id;
	(*s)->type = type;
	(*s)->refs = 1;
	return *s;
}

/* Descriptors that the program inherited are files of their own: nothing is known of them. */
struct opened *
open_get(struct job *j, uint64_t fd)
{
	struct opened **s = descriptor_slot(j, fd);
	char name[32];

	if (!s)
		return NULL;
	if (*s)
		return *s;
	snprintf(name, sizeof name, "descriptor %u", (unsigned)fd);
	return open_set(j, fd, 'd', open_made_up(name, strlen(name)));
}

void
open_share(struct job *j, uint64_t from, uint64_t to)
{
	struct opened *o = open_get(j, from), **s = descriptor_slot(j, to);

	if (!o || !s || from == to)
		return;
	o = j->fd[from];                /* descriptor_slot may have moved the array */
	o->refs++;
	descriptor_release(*s);
	*s = o;
}

int
open_close(struct job *j, uint64_t fd, struct identity *id)
{
	struct opened **s = descriptor_slot(j, fd);

	if (!s || !*s)
		return 0;
	*id = (*s)->id;
	descriptor_release(*s);
	*s = NULL;
	return 1;
}

static void
free_path(void *p)
{
	free(((struct path *)p)->name);
	free(p);
}

void
open_free(struct job *j)
{
	for (size_t i = 0; i < j->nfd; i++)
		descriptor_release(j->fd[i]);
	free(j->fd);
	j->fd = NULL;
	j->nfd = 0;
	tdestroy(j->paths, free_path);
	j->paths = NULL;
}
