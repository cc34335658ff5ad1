/* Captures: a store, a folder with blocks of pages whose names are their hashes. */
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/src.h"
#include "format/ws/store_internal.h"

#define LAST    8u

struct ws_store {
	int dir;
	unsigned n;                     /* temporary names given */
	uint8_t *room;                  /* owned: a block of the store, to compare */
	struct { uint8_t hash[WS_HASH_BYTES]; int fd; } last[LAST];     /* blocks that were compared with last; 0: none */
	unsigned next;                  /* of these to be replaced */
};

void
ws_page_hash(const uint8_t *page, uint8_t hash[WS_HASH_BYTES])
{
	struct sha256_ctx c;

	sha256_init(&c);
	sha256_update(&c, WS_PAGE, page);
	sha256_digest(&c, WS_HASH_BYTES, hash);
}

void
ws_block_hash(const uint8_t *pages, size_t n, uint8_t hash[WS_HASH_BYTES])
{
	struct sha256_ctx c;
	uint8_t one[WS_HASH_BYTES];

	sha256_init(&c);
	for (size_t i = 0; i < n; i++) {
		ws_page_hash(pages + i * WS_PAGE, one);
		sha256_update(&c, sizeof(one), one);
	}
	sha256_digest(&c, WS_HASH_BYTES, hash);
}

void
ws_hash_text(const uint8_t hash[WS_HASH_BYTES], char text[WS_HASH_TEXT])
{
	for (unsigned i = 0; i < WS_HASH_BYTES; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", hash[i]);
}

struct ws_store *
ws_store_open(const char *path)
{
	struct ws_store *s = calloc(1, sizeof(*s));

	if (!s || !(s->room = malloc(WS_BLOCK_PAGES * WS_PAGE))) {
		free(s);
		errno = ENOMEM;
		return NULL;
	}
	s->dir = -1;
	if (!mkdir(path, 0777) || errno == EEXIST)
		s->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir >= 0)
		return s;
	ws_store_close(s);
	return NULL;
}

void
ws_store_close(struct ws_store *s)
{
	int e = errno;

	if (!s)
		return;
	if (s->dir >= 0)
		close(s->dir);
	for (unsigned i = 0; i < LAST; i++)
		if (s->last[i].fd)
			close(s->last[i].fd);
	free(s->room);
	free(s);
	errno = e;
}

/* A regular file of this name in the folder: a descriptor, and *st is filled in; -1: *error is an errno, or one of ours. */
static int
store_regular(int dir, const char *name, struct stat *st, int *error)
{
	/* a link is not followed, and a pipe does not block */
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	*error = fd < 0 ? errno : 0;
	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && S_ISREG(st->st_mode)) {
		src_opened(fd);
		return fd;
	}
	*error = WS_STORE_DAMAGED;
	close(fd);
	return -1;
}

/* The same of one of this size. */
static int
store_file(int dir, const char *name, size_t bytes, int *error)
{
	struct stat st;
	int fd = store_regular(dir, name, &st, error);

	if (fd < 0 || (uint64_t)st.st_size == bytes)
		return fd;
	*error = WS_STORE_DAMAGED;
	close(fd);
	return -1;
}

/* Reads n bytes: 1; 0: there are not that many */
static int
store_read(int fd, uint8_t *p, size_t n)
{
	size_t got = 0;
	ssize_t k = 1;

	while (got < n && k > 0) {
		k = read(fd, p + got, n - got);
		got += k > 0 ? (size_t)k : 0;
	}
	return got == n;
}

static int
store_same(struct ws_store *s, const char *name, const uint8_t *p, size_t n)
{
	int error, fd = store_file(s->dir, name, n, &error), same;

	if (fd < 0)
		return 0;
	same = store_read(fd, s->room, n) && !memcmp(s->room, p, n);
	close(fd);
	return same;
}

/* A descriptor of a block, which is kept for a while; -1 */
static int
store_block(struct ws_store *s, const struct ws_stored *b)
{
	char name[WS_HASH_TEXT];
	int error, fd;

	for (unsigned i = 0; i < LAST; i++)
		if (s->last[i].fd && !memcmp(s->last[i].hash, b->hash, WS_HASH_BYTES))
			return s->last[i].fd;
	ws_hash_text(b->hash, name);
	fd = store_file(s->dir, name, (size_t)b->pages * WS_PAGE, &error);
	if (fd < 0)
		return -1;
	if (s->last[s->next].fd)
		close(s->last[s->next].fd);
	memcpy(s->last[s->next].hash, b->hash, WS_HASH_BYTES);
	s->last[s->next].fd = fd;
	s->next = (s->next + 1) % LAST;
	return fd;
}

int
ws_store_same(struct ws_store *s, const struct ws_stored *b, const uint8_t *p, size_t n)
{
	int fd = store_block(s, b);

	if (fd < 0 || b->at > b->pages || n > (size_t)(b->pages - b->at) * WS_PAGE)
		return 0;
	return pread(fd, s->room, n, (off_t)b->at * WS_PAGE) == (ssize_t)n && !memcmp(s->room, p, n);
}

uint64_t
ws_store_has(struct ws_store *s, const uint8_t hash[WS_HASH_BYTES], size_t bytes)
{
	char name[WS_HASH_TEXT];
	struct stat st;

	ws_hash_text(hash, name);
	if (fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != bytes)
		return 0;
	return (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
}

uint8_t *
ws_store_load(struct ws_store *s, const char *name, size_t most, size_t *n)
{
	struct stat st;
	int error, fd = store_regular(s->dir, name, &st, &error);
	uint8_t *p = NULL;

	if (fd < 0)
		return NULL;
	if ((st.st_uid == geteuid() || !st.st_uid) && !(st.st_mode & (S_IWGRP | S_IWOTH)) && (uint64_t)st.st_size <= most) {
		*n = (size_t)st.st_size;
		p = malloc(*n + 1);
	}
	if (p && !store_read(fd, p, *n)) {
		free(p);
		p = NULL;
	}
	close(fd);
	return p;
}

/* A file with another name until it is complete; it has that name for good if it is killed here. */
int
ws_store_save(struct ws_store *s, const char *name, const uint8_t *p, size_t n)
{
	char part[64];
	int fd, e;

	do {
		snprintf(part, sizeof(part), "new.%ld.%u", (long)getpid(), s->n++);
		fd = openat(s->dir, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	} while (fd < 0 && errno == EEXIST && s->n);
	if (fd < 0)
		return errno;
	e = ws_write_fd(&fd, p, n);
	if (close(fd) && !e)
		e = errno;
	if (!e && renameat(s->dir, part, s->dir, name))
		e = errno;
	if (e)
		unlinkat(s->dir, part, 0);
	return e;
}

int
ws_store_put(struct ws_store *s, const uint8_t hash[WS_HASH_BYTES], const uint8_t *p, size_t n)
{
	char name[WS_HASH_TEXT];

	ws_hash_text(hash, name);
	return store_same(s, name, p, n) ? 0 : ws_store_save(s, name, p, n);
}

/* Blocks that this process has mapped.  It may no longer open files when it opens a capture again. */
struct mapped {
	struct mapped *next;
	uint8_t hash[WS_HASH_BYTES];
	size_t bytes;
	const uint8_t *p;
};

static struct mapped **
mapped_find(const uint8_t hash[WS_HASH_BYTES], size_t bytes)
{
	static struct mapped *bucket[1024];
	struct mapped **m = &bucket[(hash[0] | (unsigned)hash[1] << 8) % 1024];

	while (*m && (memcmp((*m)->hash, hash, WS_HASH_BYTES) || (*m)->bytes != bytes))
		m = &(*m)->next;
	return m;
}

static const uint8_t *
store_map_file(int dir, const uint8_t hash[WS_HASH_BYTES], size_t bytes, int *error)
{
	char name[WS_HASH_TEXT];
	void *p;
	int fd;

	ws_hash_text(hash, name);
	fd = store_file(dir, name, bytes, error);
	if (fd < 0)
		return NULL;
	p = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	*error = p == MAP_FAILED ? errno : 0;
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

const uint8_t *
ws_store_map(const uint8_t hash[WS_HASH_BYTES], size_t bytes, int *error)
{
	struct mapped **m = mapped_find(hash, bytes), *add;
	const char *path = getenv(WS_STORE_ENV);
	const uint8_t *p;
	int dir;

	*error = 0;
	if (*m)
		return (*m)->p;
	*error = WS_STORE_NONE;
	if (!path || !*path)
		return NULL;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*error = dir < 0 ? errno : 0;
	if (dir < 0)
		return NULL;
	p = store_map_file(dir, hash, bytes, error);
	close(dir);
	add = p ? calloc(1, sizeof(*add)) : NULL;
	if (p && !add) {
		munmap((void *)(uintptr_t)p, bytes);
		*error = ENOMEM;
		return NULL;
	}
	if (add) {
		memcpy(add->hash, hash, WS_HASH_BYTES);
		add->bytes = bytes;
		add->p = p;
		*m = add;
	}
	return p;
}

const char *
ws_store_words(const struct ws_block *b)
{
	static char text[300];
	const char *path = getenv(WS_STORE_ENV);
	char name[WS_HASH_TEXT];

	ws_hash_text(b->hash, name);
	if (b->error == WS_STORE_NONE)
		snprintf(text, sizeof(text), "pages are in a store, block %s: " WS_STORE_ENV " must name its folder", name);
	else
		snprintf(text, sizeof(text), "block %s of the store %.100s: %s", name, path ? path : "",
		    b->error == WS_STORE_DAMAGED ? "the file is damaged" : strerror(b->error));
	return text;
}
