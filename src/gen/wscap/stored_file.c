/*
 * With --store: the contents of mapped files, which a store has from an earlier capture, are not read.  The store knows
 * which of its blocks have the bytes of a file.  That is certain only of a file that nobody has written to for a while,
 * in whichever way.
 */
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "gen/wscap/hold.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"

/*
 * Bytes of a file that are a block, at multiples of it.  A reader hashes a block when it first needs a page of it, and
 * maps each.
 */
#define PIECE   (256u << 10)
#define CALL_LEAST (64u << 10)  /* bytes that a call has read: where it stops the process, to ask for the file takes long */

static uint64_t
nanoseconds(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

/* What the store knows of the file of r; NULL: it is not to be asked */
static struct hold_file *
stored_known(struct cap *c, const struct region *r, const char *name)
{
	struct hold_file *f;

	if (!c->w || c->all->failed || !r->ino || (r->shared && share_writes(r)))
		return NULL;
	f = hold_file(c->all, r, name);
	if (!f || !hold_steady(f))
		return NULL;
	/* who sets its time back changes this one */
	if (!f->index && f->st.st_ctim.tv_sec < time(NULL) - HOLD_STEADY) {
		struct ws_store_id id = {.dev = f->dev, .ino = f->ino, .size = (uint64_t)f->st.st_size,
		    .mtime = nanoseconds(&f->st.st_mtim), .ctime = nanoseconds(&f->st.st_ctim)};

		f->index = ws_index_open(c->all->store, &id);
		if (!f->index)
			die("out of memory");
	}
	return f->index ? f : NULL;
}

/* The block with n pages of f from offset on, which is made if there is none: as ws_index_find; 0: that cannot be done */
static int
stored_block(struct cap *c, struct hold_file *f, uint64_t offset, uint32_t n, struct ws_stored *s)
{
	static uint8_t piece[PIECE];
	size_t bytes = (size_t)n * PAGE;
	ssize_t got;
	int is = ws_index_find(f->index, offset, n, s->hash);

	s->pages = n;
	s->at = 0;
	if (is)
		return is;
	got = pread(f->fd, piece, bytes, (off_t)offset);
	if (got <= 0 || (size_t)got + PAGE <= bytes)
		return 0;
	memset(piece + got, 0, bytes - (size_t)got);
	is = bytes_zero(piece, bytes) ? WS_INDEX_ZERO : WS_INDEX_BLOCK;
	if (is == WS_INDEX_BLOCK) {
		ws_block_hash(piece, n, s->hash);
		if (ws_store_put(c->all->store, s->hash, piece, bytes))
			return 0;
	}
	if (!hold_steady(f))
		return 0;
	ws_index_add(f->index, offset, n, is == WS_INDEX_BLOCK ? s->hash : NULL);
	return is;
}

/* Records the memory from lo on, which is that of the file from offset on. */
static void
stored_range(struct cap *c, struct hold_file *f, uint64_t lo, uint64_t hi, uint64_t offset)
{
	uint64_t size = ((uint64_t)f->st.st_size + PAGE - 1) / PAGE * PAGE;

	/* behind the end of its file there is no memory */
	if (offset >= size)
		return;
	if (hi - lo > size - offset)
		hi = lo + (size - offset);
	while (lo < hi && c->w && !c->all->failed) {
		uint64_t n = PIECE - offset % PIECE;
		struct ws_pages_ref ref;
		struct ws_stored s;
		int is;

		if (n > hi - lo)
			n = hi - lo;
		ref.n = n / PAGE;
		is = stored_block(c, f, offset, (uint32_t)ref.n, &s);
		if (is == WS_INDEX_BLOCK && !ws_pages_refer(c->all->pages, &s, &ref.page))
			stored_ref(c, lo, &ref);
		else if (is != WS_INDEX_ZERO)
			hold_put(c, &(struct held){lo, lo + n, offset, 0, f});
		lo += n;
		offset += n;
	}
}

struct hold_file *
stored_file(struct cap *c, const struct mapped_file *file)
{
	const struct region r = {.dev = file->dev, .ino = file->ino};

	if (!c->all->store || (!hold_find(c->all, r.dev, r.ino) && hold_many(c->all)))
		return NULL;
	return stored_known(c, &r, file->name);
}

/*
 * Records as many of the n bytes at p, from the first on, as the store has as whole pages of f from this place on; returns
 * their number.
 */
static size_t
stored_pages(struct cap *c, struct hold_file *f, uint64_t place, uint64_t addr, const uint8_t *p, size_t n)
{
	uint64_t size = ((uint64_t)f->st.st_size + PAGE - 1) / PAGE * PAGE;
	size_t had = 0;

	while (n - had >= PAGE && place < size) {
		uint64_t from = place / PIECE * PIECE, end = size - from < PIECE ? size : from + PIECE;
		size_t k = n - had < end - place ? (n - had) / PAGE * PAGE : (size_t)(end - place);
		struct ws_pages_ref ref = {.n = k / PAGE};
		struct ws_stored s;

		if (stored_block(c, f, from, (uint32_t)((end - from) / PAGE), &s) != WS_INDEX_BLOCK)
			break;                  /* or all of it is zero: few files have that */
		s.at = (uint32_t)((place - from) / PAGE);
		/* the file may be another one now, or the place not the right one: only the bytes tell */
		if (!ws_store_same(c->all->store, &s, p + had, k))
			break;
		if (bytes_zero(p + had, k))
			put_zero(c, addr + had, k);
		else if (ws_pages_refer(c->all->pages, &s, &ref.page))
			break;
		else
			stored_ref(c, addr + had, &ref);
		had += k;
		place += k;
	}
	return had;
}

void
stored_read(struct cap *c, struct hold_file *f, uint64_t place, uint64_t addr, const uint8_t *p, size_t n)
{
	size_t first = (PAGE - place % PAGE) % PAGE, had = 0;

	if (f && first + PAGE <= n) {
		put_bytes(c, addr, p, first);
		had = first + stored_pages(c, f, place + first, addr + first, p + first, n - first);
	}
	put_bytes(c, addr + had, p + had, n - had);
}

int
stored_call(struct cap *c, const struct call *k, uint64_t addr, uint64_t n)
{
	long long at = k->nr == SYS_pread64 ? (long long)k->arg[3] : -1;
	int fd = (int)k->arg[0];
	struct mapped_file file;
	struct hold_file *f;
	char name[4096];

	if (!c->all->store || !c->w || c->compare || k->ret < 0 || n < CALL_LEAST || (k->nr != SYS_read && k->nr != SYS_pread64))
		return 0;
	if (!file_regular(c, fd, &file))
		return 0;
	file_name(c, fd, name, sizeof(name));
	file.name = name;
	if (k->nr == SYS_read)
		at = file_place(c, fd) - k->ret;
	if (at < 0 || !(f = stored_file(c, &file)))
		return 0;
	while (n) {
		uint64_t place = (uint64_t)at, piece = CHUNK - place % PAGE;
		size_t most = n < piece ? (size_t)n : (size_t)piece, got = tracee_read(&c->t, addr, c->all->scratch, most);

		random_hide(c, addr, c->all->scratch, got);
		stored_read(c, f, place, addr, c->all->scratch, got);
		if (got < most)
			break;
		addr += got;
		at += (long long)got;
		n -= got;
	}
	return 1;
}

int
stored_map(struct cap *c, const struct region *r, uint64_t lo, const char *name, int fresh)
{
	struct hold_file *f = stored_known(c, r, name);

	if (!f || (!fresh && hold_begin(c)))
		return 0;
	for (uint64_t end; lo < r->hi; lo = end) {
		int own = 0;

		end = fresh ? r->hi : hold_own(c, lo, r->hi, &own);
		if (own)
			put_pages(c, lo, end);
		else
			stored_range(c, f, lo, end, r->offset + (lo - r->lo));
	}
	return 1;
}
