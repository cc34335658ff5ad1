/* Captures: encoding and decoding of the index and the end mark. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/ws/ws_internal.h"

void
ws_put_index(struct buf *b, const struct ws_group *g, size_t n, uint64_t off)
{
	size_t start = b->n;

	buf_add(b, ws_magic_index, sizeof(ws_magic_index));
	buf_le32(b, 0);
	buf_varint(b, n);
	for (size_t i = 0; i < n; i++) {
		buf_varint(b, g[i].size);
		buf_varint(b, g[i].flags);
		buf_varint(b, g[i].nrec);
		buf_varint(b, g[i].ntrigger);
		buf_varint(b, g[i].icount + 1);
	}
	if (b->nomem)
		return;
	put_le32(b->p + start + 4, (uint32_t)(b->n - start - 8));
	buf_le64(b, ws_crc(b->p + start, b->n - start, 0));
	buf_le64(b, off);
	buf_add(b, ws_magic_end, sizeof(ws_magic_end));
}

struct ws_group *
ws_get_index(struct ws_cur *c, uint64_t first, size_t *n)
{
	uint64_t off = first, rec = 0, trigger = 0;
	struct ws_group *g;

	/* a group takes at least five bytes */
	*n = (size_t)ws_get_max(c, (size_t)(c->end - c->p) / 5, "an index of more groups than it has");
	if (c->err)
		return NULL;
	g = calloc(*n + 1, sizeof(*g));
	if (!g) {
		c->err = "out of memory";
		return NULL;
	}
	for (size_t i = 0; i < *n && !c->err; i++) {
		g[i].off = off;
		g[i].rec = rec;
		g[i].trigger = trigger;
		g[i].size = ws_get_max(c, WS_GROUP_HEAD + (uint64_t)WS_GROUP_MAX,
		    "a group that is too large");
		g[i].flags = (uint32_t)ws_get_max(c, 7, "unknown flags of a group");
		g[i].nrec = (uint32_t)ws_get_max(c, WS_GROUP_MAX, "numbers of records that cannot be");
		g[i].ntrigger = (uint32_t)ws_get_max(c, g[i].nrec, "numbers of records that cannot be");
		g[i].icount = ws_get(c) - 1;
		off += g[i].size;
		rec += g[i].nrec;
		trigger += g[i].ntrigger;
	}
	if (!c->err && c->p != c->end)
		c->err = "bytes after the last group of the index";
	if (!c->err)
		return g;
	free(g);
	return NULL;
}
