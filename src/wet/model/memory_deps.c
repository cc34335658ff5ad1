/* Codes writers of memory as tokens, with a history of recent writers for each port. */
#include "wet/model/memory_deps.h"

#include <stdlib.h>
#include <string.h>

int
memdep_room(struct memdep *m, size_t nport)
{
	size_t cap = m->cap;

	if (nport <= m->nport)
		return 0;
	if (buf_grow(&m->port, &m->cap, nport, sizeof *m->port) != 0)
		return -1;
	if (m->cap != cap) {
		struct memdep_port **sub = realloc(m->sub, m->cap * sizeof(struct memdep_port *));

		if (!sub)
			return -1;
		m->sub = sub;
	}
	memset(m->port + m->nport, 0, (nport - m->nport) * sizeof *m->port);
	for (; m->nport < nport; m->nport++)
		m->sub[m->nport] = NULL;
	return 0;
}

void
memdep_reset(struct memdep *m)
{
	for (size_t i = 0; i < m->nport; i++) {
		free(m->sub[i]);
		m->sub[i] = NULL;
	}
	if (m->nport)
		memset(m->port, 0, m->nport * sizeof *m->port);
}

void
memdep_free(struct memdep *m)
{
	memdep_reset(m);
	free(m->port);
	free(m->sub);
	*m = (struct memdep){ 0 };
}

int
memdep_order(size_t nport, const uint64_t *key, size_t n, uint32_t *place)
{
	uint32_t *at = calloc(nport + 2, sizeof *at);

	if (!at)
		return -1;
	for (size_t i = 0; i < n; i++)
		at[key[i] / MEMDEP_KEYS + 2]++;
	for (size_t i = 2; i < nport + 2; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < n; i++)
		place[i] = at[key[i] / MEMDEP_KEYS + 1]++;
	free(at);
	return 0;
}

struct memdep_port *
memdep_past(struct memdep *m, uint64_t key)
{
	size_t i = (size_t)(key / MEMDEP_KEYS), k = (size_t)(key % MEMDEP_KEYS);

	if (k == 0)
		return &m->port[i];
	if (!m->sub[i])
		m->sub[i] = calloc(MEMDEP_SUBS, sizeof *m->sub[i]);
	return m->sub[i] ? &m->sub[i][k - 1] : NULL;
}

/* Moves v from place k to the front of the history. */
static void
memory_front(struct memdep_port *p, unsigned k, struct memdep_past v)
{
	for (; k > 0; k--)
		p->past[k] = p->past[k - 1];
	p->past[0] = v;
}

unsigned
memdep_put(struct memdep_port *p, uint64_t who, const uint32_t *count, uint32_t *far)
{
	uint32_t id = (uint32_t)(who >> 32), inst = (uint32_t)who;
	unsigned k, token;

	*far = id ? count[id - 1] - inst : 0;
	if (!id)
		return MEMDEP_NONE;
	for (k = 0; k < MEMDEP_PAST && p->past[k].id != id; k++)
		;
	if (k == MEMDEP_PAST) {
		memory_front(p, MEMDEP_PAST - 1, (struct memdep_past){ id, inst, *far, 0 });
		return MEMDEP_NEW;
	}
	token = *far == p->past[k].far ? MEMDEP_SAME :
	    inst == p->past[k].last + p->past[k].stride ? MEMDEP_STRIDE : MEMDEP_FAR;
	memory_front(p, k, (struct memdep_past){ id, inst, *far, inst - p->past[k].last });
	return token + k;
}

uint64_t
memdep_get(struct memdep_port *p, unsigned token, uint32_t id, uint32_t far, const uint32_t *count)
{
	unsigned k = token % MEMDEP_PAST;
	struct memdep_past v = { id, 0, far, 0 };

	if (token < MEMDEP_NONE) {
		if (!p->past[k].id)
			return 0;
		v = p->past[k];
	} else
		k = MEMDEP_PAST - 1;
	if (token >= MEMDEP_FAR && token < MEMDEP_NONE)
		v.far = far;
	if (token >= MEMDEP_STRIDE && token < MEMDEP_FAR) {
		v.last += v.stride;
		v.far = count[v.id - 1] - v.last;
	} else {
		uint32_t inst = count[v.id - 1] - v.far;

		v.stride = token < MEMDEP_NONE ? inst - v.last : 0;
		v.last = inst;
	}
	memory_front(p, k, v);
	return (uint64_t)v.id << 32 | v.last;
}
