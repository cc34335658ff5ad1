/* Files that are mapped: they are kept open, so that their bytes can be read without the process. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/hold.h"
#include "gen/wscap/scan.h"
#include "gen/wscap/wscap.h"

#define NFILE     512u          /* files that are open */
#define TMPFS     0x01021994u

struct hold_files {
	struct hold_file file[NFILE];
	size_t n;
};

/* Local file systems, whose mapped pages are taken away only when memory is short. */
static int
hold_local(const struct statfs *fs)
{
	/* ext, xfs, btrfs, tmpfs, overlayfs, squashfs, erofs, f2fs */
	static const uint32_t magic[] = {0xef53, 0x58465342, 0x9123683e, TMPFS, 0x794c7630, 0x73717368,
	    0xe0f5e1e2, 0xf2f52010};

	for (size_t i = 0; i < sizeof(magic) / sizeof(magic[0]); i++)
		if ((uint32_t)fs->f_type == magic[i])
			return 1;
	return 0;
}

struct hold_file *
hold_find(const struct tree *a, uint64_t dev, uint64_t ino)
{
	for (size_t i = 0; a->held && i < a->held->n; i++)
		if (a->held->file[i].ino == ino && a->held->file[i].dev == dev)
			return &a->held->file[i];
	return NULL;
}

int
hold_many(const struct tree *a)
{
	return a->held && a->held->n >= NFILE / 2;
}

struct hold_file *
hold_file(struct tree *a, const struct region *r, const char *name)
{
	struct hold_file *f = hold_find(a, r->dev, r->ino);
	struct statfs fs;

	if (f)
		return f->fd < 0 ? NULL : f;
	if (!a->held)
		a->held = xcalloc(1, sizeof(*a->held));
	if (a->held->n == NFILE || name[0] != '/')
		return NULL;
	f = &a->held->file[a->held->n++];
	f->dev = r->dev;
	f->ino = r->ino;
	f->fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0)
		return NULL;
	if (!fstat(f->fd, &f->st) && S_ISREG(f->st.st_mode) && f->st.st_dev == f->dev && f->st.st_ino == f->ino &&
	    !fstatfs(f->fd, &fs) && hold_local(&fs)) {
		f->old = (uint32_t)fs.f_type != TMPFS && f->st.st_mtim.tv_sec < time(NULL) - HOLD_STEADY;
		return f;
	}
	close(f->fd);
	f->fd = -1;
	return NULL;
}

void
hold_memory(struct tree *a, const struct region *r, const char *name)
{
	struct hold_file *f;
	struct statfs fs;

	if (!r->ino || hold_many(a) || hold_find(a, r->dev, r->ino) || (f = hold_file(a, r, name)) == NULL)
		return;
	f->memory = !fstatfs(f->fd, &fs) && (uint32_t)fs.f_type == TMPFS;
	if (f->memory)
		return;
	close(f->fd);
	a->held->n--;
}

void
hold_memory_gone(struct tree *a)
{
	struct stat st;

	for (size_t i = 0; a->held && i < a->held->n; i++) {
		struct hold_file *f = &a->held->file[i];

		if (!f->memory || (!fstat(f->fd, &st) && st.st_nlink))
			continue;
		close(f->fd);
		f->fd = -1;
		f->memory = 0;
	}
}

int
hold_same(const struct hold_file *f)
{
	struct stat st;

	return !fstat(f->fd, &st) && st.st_size == f->st.st_size && st.st_mtim.tv_sec == f->st.st_mtim.tv_sec &&
	    st.st_mtim.tv_nsec == f->st.st_mtim.tv_nsec;
}

/*
 * Who writes to a file through a mapping changes its time at the first write to a page since that was written
 * back, which is after half a minute at most, and never in tmpfs.
 */
int
hold_steady(const struct hold_file *f)
{
	struct stat st;

	return f->old && !fstat(f->fd, &st) && !memcmp(&st.st_mtim, &f->st.st_mtim, sizeof(st.st_mtim)) &&
	    !memcmp(&st.st_ctim, &f->st.st_ctim, sizeof(st.st_ctim));
}

struct hold_file *
hold_file_at(const struct cap *c, uint64_t addr, size_t n, uint64_t *offset)
{
	size_t i = region_at(&c->reg, addr);
	const struct region *r = &c->reg.p[i];
	struct hold_file *f = NULL;

	if (i < c->reg.n && r->lo <= addr && r->hi - addr >= n && r->ino && !r->shared && !r->wasw &&
	    !c->all->attached && !c->all->from.kind)
		f = hold_find(c->all, r->dev, r->ino);
	if (!f || f->fd < 0)
		return NULL;
	*offset = r->offset + (addr - r->lo);
	return f;
}

struct hold_file *
hold_steady_at(const struct cap *c, uint64_t addr, size_t n, uint64_t *offset)
{
	struct hold_file *f = hold_file_at(c, addr, n, offset);

	return f && hold_steady(f) ? f : NULL;
}

size_t
hold_read(struct cap *c, uint64_t addr, void *p, size_t n)
{
	uint64_t offset;
	const struct hold_file *f = hold_file_at(c, addr, n, &offset);
	ssize_t got = f ? pread(f->fd, p, n, (off_t)offset) : -1;

	return got < 0 ? tracee_read(&c->t, addr, p, n) : (size_t)got;
}

void
hold_index_close(struct tree *a)
{
	for (size_t i = 0; a->held && i < a->held->n; i++) {
		struct hold_file *f = &a->held->file[i];

		fast_learn_keep(f);
		ws_index_close(f->index);
		f->index = NULL;
	}
}

static void
hold_file_free(struct hold_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	scan_free(f->scan);
}

void
hold_close(struct tree *a)
{
	for (size_t i = 0; a->held && i < a->held->n; i++)
		hold_file_free(&a->held->file[i]);
	free(a->held);
	a->held = NULL;
}
