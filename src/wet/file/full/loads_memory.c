/* Known memory: pages with a bit for each byte. */
#include "wet/file/full/loads_memory.h"

#include <stdlib.h>
#include <string.h>

#define NHASH (2 * LOADMEM_MOST)

void
loadmem_free(struct loadmem *m)
{
	for (size_t i = 0; i < m->have; i++)
		free(m->page[i]);
	free(m->page);
	free(m->hash);
	*m = (struct loadmem){ 0 };
}

void
loadmem_clear(struct loadmem *m)
{
	for (size_t i = 0; i < m->npage; i++)
		m->hash[m->page[i]->slot] = 0;
	m->npage = 0;
	m->last = NULL;
}

static uint32_t *
loads_memory_bucket(struct loadmem *m, uint64_t num)
{
	size_t i = (size_t)(num * UINT64_C(0x9e3779b97f4a7c15) >> 40);

	while (m->hash[i & (NHASH - 1)] && m->page[m->hash[i & (NHASH - 1)] - 1]->num != num)
		i++;
	return &m->hash[i & (NHASH - 1)];
}

static struct loadmem_page *
loads_memory_find(struct loadmem *m, uint64_t num)
{
	uint32_t *h;

	if (m->last && m->last->num == num)
		return m->last;
	if (!m->npage)
		return NULL;
	h = loads_memory_bucket(m, num);
	return *h ? m->last = m->page[*h - 1] : NULL;
}

static struct loadmem_page *
loads_memory_make(struct loadmem *m, uint64_t num)
{
	struct loadmem_page *p = loads_memory_find(m, num);

	if (p)
		return p;
	if (!m->hash &&
	    ((m->hash = calloc(NHASH, sizeof *m->hash)) == NULL ||
		(m->page = malloc(LOADMEM_MOST * sizeof *m->page)) == NULL)) {
		m->nomem = 1;
		return NULL;
	}
	if (m->npage == LOADMEM_MOST)
		loadmem_clear(m);
	if (m->npage == m->have) {
		if ((m->page[m->have] = malloc(sizeof *p)) == NULL) {
			m->nomem = 1;
			return NULL;
		}
		m->have++;
	}
	p = m->page[m->npage];
	p->num = num;
	memset(p->known, 0, sizeof p->known);
	p->slot = (uint32_t)(loads_memory_bucket(m, num) - m->hash);
	m->hash[p->slot] = (uint32_t)++m->npage;
	return m->last = p;
}

/* A mask of n bytes from byte `at` of 64; n + at <= 64. */
static uint64_t
loads_memory_bits(unsigned at, unsigned n)
{
	return (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << at;
}

int
loadmem_read(struct loadmem *m, uint64_t addr, void *to, size_t n)
{
	for (size_t k; n; n -= k, addr += k, to = (uint8_t *)to + k) {
		unsigned off = addr & (LOADMEM_PAGE - 1), at = off & 63;
		struct loadmem_page *p = loads_memory_find(m, addr / LOADMEM_PAGE);
		uint64_t want;

		k = n < 64 - at ? n : 64 - at;
		want = loads_memory_bits(at, (unsigned)k);
		if (!p || (p->known[off / 64] & want) != want)
			return 0;
		memcpy(to, p->b + off, k);
	}
	return 1;
}

void
loadmem_write(struct loadmem *m, uint64_t addr, const void *from, size_t n)
{
	for (size_t k; n; n -= k, addr += k, from = (const uint8_t *)from + k) {
		unsigned off = addr & (LOADMEM_PAGE - 1), at = off & 63;
		struct loadmem_page *p = loads_memory_make(m, addr / LOADMEM_PAGE);

		if (!p)
			return;
		k = n < 64 - at ? n : 64 - at;
		p->known[off / 64] |= loads_memory_bits(at, (unsigned)k);
		memcpy(p->b + off, from, k);
	}
}

void
loadmem_forget(struct loadmem *m, uint64_t addr, uint64_t n)
{
	/* a long range: visit the existing pages, including partial ones */
	if (n / LOADMEM_PAGE > m->npage) {
		for (size_t i = 0; i < m->npage; i++)
			if (m->page[i]->num - addr / LOADMEM_PAGE <= n / LOADMEM_PAGE + 1)
				memset(m->page[i]->known, 0, sizeof m->page[i]->known);
		return;
	}
	for (uint64_t k; n; n -= k, addr += k) {
		unsigned off = addr & (LOADMEM_PAGE - 1), at = off & 63;
		struct loadmem_page *p = loads_memory_find(m, addr / LOADMEM_PAGE);

		k = n < 64 - at ? n : 64 - at;
		if (p)
			p->known[off / 64] &= ~loads_memory_bits(at, (unsigned)k);
	}
}
