/* Memory as a packer of events knows it: see recall.h. */
#include "ae/pack/recall.h"

#include <stdlib.h>

#define RECALL_FIRST 256u

static uint32_t
recall_hash(uint64_t no)
{
	return (uint32_t)((no * 0x9E3779B97F4A7C15u) >> 32);
}

int
recall_init(struct recall *m, int big, recall_fill *fill, void *arg)
{
	memset(m, 0, sizeof *m);
	m->big = big;
	m->fill = fill;
	m->arg = arg;
	m->key = calloc(RECALL_FIRST, sizeof *m->key);
	m->page = calloc(RECALL_FIRST, sizeof *m->page);
	m->mask = RECALL_FIRST - 1;
	return m->key && m->page ? 0 : -1;
}

static void
recall_forget(struct recall *m)
{
	for (uint32_t i = 0; m->page && i <= m->mask; i++)
		free(m->page[i]);
	memset(m->cache, 0, sizeof m->cache);
	m->n = 0;
}

void
recall_free(struct recall *m)
{
	recall_forget(m);
	free(m->key);
	free(m->page);
	m->key = NULL;
	m->page = NULL;
}

/* Makes the table twice as large. */
static int
recall_grow(struct recall *m)
{
	uint32_t size = 2 * (m->mask + 1);
	uint64_t *key = calloc(size, sizeof *key);
	uint8_t **page = calloc(size, sizeof *page);

	if (!key || !page) {
		free(key);
		free(page);
		return -1;
	}
	for (uint32_t i = 0; i <= m->mask; i++) {
		uint32_t h;

		if (!m->key[i])
			continue;
		for (h = recall_hash(m->key[i]) & (size - 1); key[h]; h = (h + 1) & (size - 1))
			;
		key[h] = m->key[i];
		page[h] = m->page[i];
	}
	free(m->key);
	free(m->page);
	m->key = key;
	m->page = page;
	m->mask = size - 1;
	return 0;
}

static uint8_t *
recall_new(struct recall *m, uint64_t no)
{
	uint8_t *p = malloc(RECALL_PAGE);
	uint32_t h;

	if (!p || (2 * (m->n + 1) > m->mask && recall_grow(m) != 0)) {
		free(p);
		m->failed = 1;
		return m->none;
	}
	for (h = recall_hash(no + 1) & m->mask; m->key[h]; h = (h + 1) & m->mask)
		;
	m->key[h] = no + 1;
	m->page[h] = p;
	m->n++;
	m->fill(m->arg, no * RECALL_PAGE, p);
	return p;
}

uint8_t *
recall_find(struct recall *m, uint64_t no)
{
	unsigned i = no % RECALL_CACHE;
	uint8_t *p = NULL;

	if (m->n >= RECALL_MOST) {
		recall_forget(m);
		memset(m->key, 0, (m->mask + 1) * sizeof *m->key);
		memset(m->page, 0, (m->mask + 1) * sizeof *m->page);
	}
	for (uint32_t h = recall_hash(no + 1) & m->mask; m->key[h]; h = (h + 1) & m->mask)
		if (m->key[h] == no + 1) {
			p = m->page[h];
			break;
		}
	if (!p)
		p = recall_new(m, no);
	m->cache[i].no = no + 1;
	m->cache[i].p = p;
	return p;
}

void
recall_read(struct recall *m, uint64_t addr, uint8_t *b, size_t n)
{
	for (size_t k; n; b += k, addr += k, n -= k) {
		size_t at = addr % RECALL_PAGE;

		k = RECALL_PAGE - at < n ? RECALL_PAGE - at : n;
		memcpy(b, recall_page(m, addr / RECALL_PAGE) + at, k);
	}
}

void
recall_write(struct recall *m, uint64_t addr, const uint8_t *b, size_t n)
{
	for (size_t k; n; b += k, addr += k, n -= k) {
		size_t at = addr % RECALL_PAGE;

		k = RECALL_PAGE - at < n ? RECALL_PAGE - at : n;
		memcpy(recall_page(m, addr / RECALL_PAGE) + at, b, k);
	}
}
