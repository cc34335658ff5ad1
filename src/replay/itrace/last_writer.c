/* The shadow of a visit's memory: the last writer of each byte. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/search.h"
#include "replay/guest/memory.h"
#include "replay/itrace/last_writer.h"

#define NBYTES (UINT64_C(1) << 30)      /* maximum number of entries of bytes */
#define SCAN   (UINT64_C(64) << 20)     /* larger mappings that are removed are not searched for entries */

#define PROT   (PROT_READ | PROT_WRITE)
#define FLAGS  (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

#define ROOM (SHADOW_PIECE + MEM_PAGE)          /* bytes that are mapped for a piece */

uint8_t *wshadow_in[(UINT64_C(1) << 46) / SHADOW_PIECE];
static struct wshadow *only;            /* there is one in a process */
static uint8_t *spare;                  /* a piece for what has none, as memory runs out */

static uint8_t *
shadow_piece(void)
{
	void *p = mmap(NULL, ROOM, PROT, FLAGS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	(void)madvise(p, ROOM, MADV_NOHUGEPAGE);
	return p;
}

uint8_t *
wshadow_new_piece(uint64_t addr)
{
	uint8_t *p = shadow_piece();

	if (!p) {
		only->nomem = 1;
		return spare;
	}
	return wshadow_in[(addr & rp_mask) / SHADOW_PIECE] = p;
}

static void
shadow_clear(void)
{
	for (size_t i = 0; i < sizeof wshadow_in / sizeof *wshadow_in; i++)
		if (wshadow_in[i])
			(void)madvise(wshadow_in[i], ROOM, MADV_DONTNEED);
}

static void
shadow_unmap(void)
{
	for (size_t i = 0; i < sizeof wshadow_in / sizeof *wshadow_in; i++) {
		if (wshadow_in[i])
			munmap(wshadow_in[i], ROOM);
		wshadow_in[i] = NULL;
	}
	if (spare)
		munmap(spare, ROOM);
	spare = NULL;
}

int
wshadow_init(struct wshadow *s)
{
	void *p;

	only = s;
	s->on = 1;
	spare = shadow_piece();
	if (!spare)
		return -1;
	p = mmap(NULL, NBYTES * sizeof *s->bytes, PROT, FLAGS, -1, 0);
	if (p == MAP_FAILED)
		return -1;
	s->bytes = p;
	s->nbytes = 1;
	return 0;
}

void
wshadow_free(struct wshadow *s)
{
	if (s->on)
		shadow_unmap();
	if (s->bytes)
		munmap(s->bytes, NBYTES * sizeof *s->bytes);
	free(s->area);
	hash_set_free(&s->pages);
	free(s->piece);
}

void
wshadow_clear(struct wshadow *s)
{
	if (!s->on)
		return;
	shadow_clear();
	(void)madvise(s->bytes, s->nbytes * sizeof *s->bytes, MADV_DONTNEED);
	s->nbytes = 1;
	s->free = 0;
	s->narea = 0;
	s->lastpage = 0;
	hash_set_clear(&s->pages);
	memset(s->cache, 0, sizeof s->cache);
}

void
wshadow_note_new_page(struct wshadow *s, uint64_t page)
{
	if (hash_set_add(&s->pages, page) < 0)
		s->nomem = 1;
	else
		s->lastpage = page;
}

void
wshadow_each(struct wshadow *s, visit_writer_fn *fn, void *arg)
{
	for (size_t i = 0; i < s->pages.nslot; i++)
		if (s->pages.slot[i]) {
			const uint64_t *w = wshadow_at((s->pages.slot[i] - 1) * SHADOW_PAGE);
			uint64_t last = 0;

			for (unsigned k = 0; k < SHADOW_PAGE / 8; last = w[k++])
				if (w[k] & VISIT_MANY)
					for (unsigned j = 0; j < 8; j++)
						fn(arg, s->bytes[w[k] & ~VISIT_MANY][j]);
				else if (w[k] && w[k] != last)
					fn(arg, w[k]);
		}
	for (size_t i = 0; i < s->narea; i++)
		fn(arg, s->area[i].writer);
}

/* Index of the first area that ends after addr. */
static size_t
area_from(const struct wshadow *s, uint64_t addr)
{
	size_t i;

	LOWER_BOUND(i, s->narea, s->area[i].end <= addr);
	return i;
}

uint64_t
wshadow_mapping_writer(struct wshadow *s, uint64_t addr)
{
	uint64_t page = (addr & rp_mask) / MEM_PAGE;
	unsigned k = page % SHADOW_CACHE;

	if (s->cache[k].page != page + 1) {
		size_t i = area_from(s, addr & rp_mask);

		s->cache[k].page = page + 1;
		s->cache[k].writer =
		    i < s->narea && s->area[i].addr <= (addr & rp_mask) ? s->area[i].writer : VISIT_INITIAL;
	}
	return s->cache[k].writer;
}

static uint64_t
word_writer(struct wshadow *s, uint64_t addr)
{
	uint64_t w = *wshadow_at(addr);

	return w ? w : wshadow_mapping_writer(s, addr);
}

/* The entry of the word at addr, which is converted to an entry of bytes. */
static uint64_t *
writers_expand(struct wshadow *s, uint64_t addr)
{
	uint64_t *w = wshadow_at(addr), old = word_writer(s, addr), *b;
	uint32_t k = s->free;

	if (old & VISIT_MANY)
		return s->bytes[old & ~VISIT_MANY];
	if (k)
		s->free = (uint32_t)s->bytes[k][0];
	else if (s->nbytes < NBYTES)
		k = s->nbytes++;
	else {
		s->nomem = 1;
		k = 0;
	}
	b = s->bytes[k];
	for (int i = 0; i < 8; i++)
		b[i] = old;
	wshadow_note(s, addr);
	*w = VISIT_MANY | k;
	return b;
}

static inline void
writers_whole(struct wshadow *s, uint64_t *w, uint64_t writer)
{
	if (*w & VISIT_MANY) {
		uint32_t k = (uint32_t)*w;

		s->bytes[k][0] = s->free;
		s->free = k;
	}
	*w = writer;
}

void
wshadow_write(struct wshadow *s, uint64_t addr, uint64_t n, uint64_t writer)
{
	while (n) {
		unsigned off = addr & 7, k = 8 - off;
		uint64_t *b;

		if (off == 0 && n >= 8) {
			wshadow_note(s, addr);
			writers_whole(s, wshadow_at(addr), writer);
		} else {
			if (k > n)
				k = (unsigned)n;
			if (*wshadow_at(addr) != writer) {
				b = writers_expand(s, addr);
				for (unsigned i = off; i < off + k; i++)
					b[i] = writer;
			}
		}
		addr += k;
		n -= k;
	}
}

void
wshadow_piece(struct wshadow *s, size_t first, uint64_t writer, unsigned off, unsigned len)
{
	struct visit_piece *p = s->npiece > first ? &s->piece[s->npiece - 1] : NULL;

	if (p && p->writer == writer && p->off + p->len == off) {
		p->len = (uint16_t)(p->len + len);
		return;
	}
	if (p)
		p->more = 1;
	if (buf_grow(&s->piece, &s->cappiece, s->npiece + 1, sizeof *s->piece) < 0) {
		s->nomem = 1;
		s->npiece = first;
		return;
	}
	s->piece[s->npiece++] = (struct visit_piece){
		.writer = writer, .off = (uint16_t)off, .len = (uint16_t)len
	};
}

uint64_t
wshadow_read(struct wshadow *s, uint64_t addr, uint64_t n)
{
	size_t first = s->npiece;
	unsigned at = 0;
	uint64_t w;

	while (at < n) {
		unsigned off = addr & 7, k = 8 - off;

		if (k > n - at)
			k = (unsigned)(n - at);
		w = word_writer(s, addr);
		if (w & VISIT_MANY)
			for (unsigned i = 0; i < k; i++)
				wshadow_piece(s, first, s->bytes[w & ~VISIT_MANY][off + i], at + i, 1);
		else
			wshadow_piece(s, first, w, at, k);
		addr += k;
		at += k;
	}
	if (s->npiece - first != 1)
		return s->npiece == first ? VISIT_INITIAL : VISIT_MANY | first;
	s->npiece = first;
	return s->piece[first].writer;
}

/* Frees the entries of bytes in [addr, end), which lies in one piece of the shadow. */
static void
writers_release(struct wshadow *s, uint64_t addr, uint64_t end)
{
	uint64_t *w = wshadow_at(addr), *e = wshadow_at(end - 8);

	if (s->nbytes < 1024 || end - addr > SCAN)
		return;
	for (; w <= e; w++)
		if (*w & VISIT_MANY)
			writers_whole(s, w, 0);
}

static int
area_insert(struct wshadow *s, size_t i, struct shadow_area a)
{
	if (buf_grow(&s->area, &s->caparea, s->narea + 1, sizeof *s->area) < 0) {
		s->nomem = 1;
		return -1;
	}
	memmove(s->area + i + 1, s->area + i, (s->narea - i) * sizeof *s->area);
	s->area[i] = a;
	s->narea++;
	return 0;
}

/* Removes all areas in [addr, end). */
static void
writers_cut(struct wshadow *s, uint64_t addr, uint64_t end)
{
	size_t i = area_from(s, addr);

	memset(s->cache, 0, sizeof s->cache);
	while (i < s->narea && s->area[i].addr < end) {
		struct shadow_area *a = &s->area[i];

		if (a->addr < addr && a->end > end) {
			struct shadow_area upper = { end, a->end, a->writer };

			a->end = addr;
			area_insert(s, i + 1, upper);
			return;
		}
		if (a->addr < addr) {
			a->end = addr;
			i++;
		} else if (a->end > end) {
			a->addr = end;
			return;
		} else {
			memmove(a, a + 1, (s->narea - i - 1) * sizeof *a);
			s->narea--;
		}
	}
}

void
wshadow_unmap(struct wshadow *s, uint64_t addr, uint64_t len)
{
	uint64_t end, n;

	addr &= rp_mask;
	if (len == 0 || addr + len > rp_mask + 1)
		return;
	writers_cut(s, addr, addr + len);
	for (end = addr + len; addr < end; addr += n) {
		n = SHADOW_PIECE - addr % SHADOW_PIECE;
		if (n > end - addr)
			n = end - addr;
		if (!wshadow_in[addr / SHADOW_PIECE])
			continue;
		writers_release(s, addr, addr + n);
		(void)madvise(wshadow_at(addr), (n + MEM_PAGE - 1) & ~(uint64_t)(MEM_PAGE - 1),
		    MADV_DONTNEED);
	}
}

void
wshadow_map(struct wshadow *s, uint64_t addr, uint64_t len, uint64_t writer)
{
	addr &= rp_mask;
	wshadow_unmap(s, addr, len);
	if (writer != VISIT_INITIAL && len)
		area_insert(s, area_from(s, addr), (struct shadow_area){ addr, addr + len, writer });
}

/* Moves the words; memory beyond the old length is new. */
void
wshadow_move(struct wshadow *s, const struct ws_rec_move *m, uint64_t writer)
{
	uint64_t n = m->oldlen < m->newlen ? m->oldlen : m->newlen, from = m->from & rp_mask,
	    to = m->to & rp_mask;

	if (from == to) {
		if (m->newlen > n)
			wshadow_map(s, to + n, m->newlen - n, writer);
		else if (m->oldlen > n)
			wshadow_unmap(s, from + n, m->oldlen - n);
		return;
	}
	wshadow_unmap(s, to, m->newlen);
	wshadow_map(s, to + n, m->newlen - n, writer);
	for (uint64_t i = 0; i < n; i += 8) {
		uint64_t *w = wshadow_at(from + i), v = word_writer(s, from + i);

		if (v) {
			wshadow_note(s, to + i);
			*wshadow_at(to + i) = v;
			*w = 0;
		}
	}
	wshadow_unmap(s, from, m->oldlen);
}
