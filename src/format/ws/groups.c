/* Captures: the reader's groups and index. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/search.h"
#include "format/ws/reader_internal.h"
#include "format/ws/runs_internal.h"

static int
ws_groups_append(struct ws_group **v, size_t *n, size_t *cap, const struct ws_group *g)
{
	if (buf_grow(v, cap, *n + 1, sizeof(**v)) < 0)
		return -1;
	(*v)[(*n)++] = *g;
	return 0;
}

static int
same_group(const struct ws_group *a, const struct ws_group *b)
{
	return a->off == b->off && a->size == b->size && a->rec == b->rec && a->trigger == b->trigger &&
	    a->icount == b->icount && a->nrec == b->nrec && a->ntrigger == b->ntrigger &&
	    a->flags == b->flags;
}

/* Does the header agree with the groups before, and with the index? */
static const char *
ws_group_fits(const struct ws_reader *r)
{
	const struct ws_group *g = &r->now.g;
	size_t i;

	if (g->rec != r->nrec || g->trigger != r->ntrigger)
		return "the group does not follow the one before";
	if (!(g->flags & WS_GROUP_INSIDE) != !r->flow.inkey)
		return "the group's header is wrong about a keyframe";
	if (!r->whole)
		return NULL;
	LOWER_BOUND(i, r->ngroup, r->group[i].off < g->off);
	return i < r->ngroup && same_group(&r->group[i], g) ? NULL : "the group is not what the index says";
}

/* Reads the payload to the start of the room; compressed streams are unpacked after it. */
static int
load_streams(struct ws_reader *r)
{
	size_t packed = (size_t)(r->now.g.size - WS_GROUP_HEAD), need = packed, got;
	uint64_t off = r->now.g.off + WS_GROUP_HEAD;
	const uint8_t *p;
	uint8_t *to;

	for (int i = 0; i < WS_NSTREAMS; i++)
		need += r->now.z.method[i] == WS_NONE ? 0 : r->now.z.raw[i];
	if (need > r->caproom || !r->room) {
		free(r->room);
		r->room = malloc(need + 1);
		r->caproom = r->room ? need : 0;
		if (!r->room)
			return ws_bad(r, r->now.g.off, "out of memory");
	}
	r->nroom = need;
	ws_copy_drop(r->copy);
	r->copy = NULL;
	got = src_read(&r->src, off, r->room, packed);
	if (got < packed)
		return ws_bad(r, off + got, "the group is cut off: %zu of %zu bytes are there", got, packed);
	if (ws_crc(r->room, packed, 0) != r->now.crc)
		return ws_bad(r, r->now.g.off,
		    "the group is damaged (records %llu to %llu, bytes up to %llu)",
		    (unsigned long long)r->now.g.rec, (unsigned long long)(r->now.g.rec + r->now.g.nrec - 1),
		    (unsigned long long)(off + packed));
	p = r->room;
	to = r->room + packed;
	for (int i = 0; i < WS_NSTREAMS; i++) {
		const char *bad = NULL;

		r->at[i] = off;
		r->base[i] = r->now.z.method[i] == WS_NONE ? p : to;
		if (r->now.z.method[i] != WS_NONE) {
			bad = ws_unpack(r->now.z.method[i], p, r->now.z.packed[i], to, r->now.z.raw[i]);
			to += r->now.z.raw[i];
		}
		if (bad)
			return ws_bad(r, off, "%s", bad);
		r->s[i] = (struct ws_cur){ r->base[i], r->base[i] + r->now.z.raw[i], NULL };
		p += r->now.z.packed[i];
		off += r->now.z.packed[i];
	}
	return 0;
}

int
ws_load_group(struct ws_reader *r)
{
	uint8_t h[WS_GROUP_HEAD];
	size_t n = src_read(&r->src, r->pos, h, 4);
	const char *bad;

	if (n < 4)
		return ws_bad(r, r->pos + n, n ? "cut off in the head of a group" :
		    "cut off: no index (the capture was interrupted)");
	if (!memcmp(h, ws_magic_index, 4))
		return ws_read_end(r);
	if (!memcmp(h, ws_magic_run, 4) && !r->runs)
		return ws_bad(r, r->pos, "a capture of several processes can be read from a file only, not from a pipe");
	if (!memcmp(h, ws_magic_pages, 4) && !r->runs)
		return ws_bad(r, r->pos, "a capture with a store can be read from a file only, not from a pipe");
	if (memcmp(h, ws_magic_group, 4))
		return ws_bad(r, r->pos, "neither a group nor the index");
	n += src_read(&r->src, r->pos + 4, h + 4, WS_GROUP_HEAD - 4);
	if (n < WS_GROUP_HEAD)
		return ws_bad(r, r->pos + n, "cut off in the head of a group");
	r->now.g.off = r->pos;
	bad = ws_get_ghead(h, &r->now);
	if (!bad)
		bad = ws_group_fits(r);
	if (bad)
		return ws_bad(r, r->pos, "%s", bad);
	if (r->src.seeks && r->now.g.size > r->src.size - r->pos)
		return ws_bad(r, r->src.size, "the group is cut off: %llu of %llu bytes are there",
		    (unsigned long long)(r->src.size - r->pos), (unsigned long long)r->now.g.size);
	if (load_streams(r) != 0)
		return -1;
	if (!r->strayed && ws_groups_append(&r->walked, &r->nwalked, &r->capwalked, &r->now.g) != 0)
		return ws_bad(r, r->pos, "out of memory");
	r->left = r->now.g.nrec;
	r->triggers = 0;
	ws_history_clear(&r->past);
	r->pos += r->now.g.size;
	return 1;
}

/* Is nothing at off, or, on a pipe, kept files only, which nobody asks for there? */
static int
at_end(struct ws_reader *r, uint64_t off)
{
	uint8_t m[4];
	size_t n = src_read(&r->src, off, m, sizeof(m));

	return !r->src.error && (!n || (n == sizeof(m) && !r->src.seeks && !memcmp(m, ws_magic_kept, 4)));
}

/* Reads the index at off: head, body, check sum, end mark, and nothing else. NULL: the fault is set. */
static struct ws_group *
read_index(struct ws_reader *r, uint64_t off, size_t *ngroup, uint64_t *behind)
{
	uint8_t h[8], *b = NULL;
	size_t len, want, n;
	struct ws_cur c = { NULL, NULL, NULL };
	struct ws_group *g = NULL;

	/* on a pipe, the magic was already read */
	n = r->src.seeks ? src_read(&r->src, off, h, 8) : 4 + src_read(&r->src, off + 4, h + 4, 4);
	if (n < 8) {
		ws_bad(r, off + n, "cut off in the index");
		return NULL;
	}
	if (r->src.seeks && memcmp(h, ws_magic_index, 4)) {
		ws_bad(r, off, "the end mark does not lead to an index");
		return NULL;
	}
	memcpy(h, ws_magic_index, 4);
	len = get_le32(h + 4);
	want = len + 8 + WS_MARK;
	if (len > WS_INDEX_MAX || (r->src.seeks && want > r->src.size - off - 8)) {
		ws_bad(r, len > WS_INDEX_MAX ? off + 4 :
		    r->src.size, "cut off in the index, or it is too large");
		return NULL;
	}
	b = malloc(8 + want);
	if (!b) {
		ws_bad(r, off, "out of memory");
		return NULL;
	}
	memcpy(b, h, 8);
	n = src_read(&r->src, off + 8, b + 8, want);
	c.p = b + 8;
	c.end = c.p + len;
	if (n < want)
		ws_bad(r, off + 8 + n, "cut off in the index");
	else if (ws_crc(b, 8 + len, 0) != get_le64(c.end))
		ws_bad(r, off, "the index is damaged");
	else if (get_le64(c.end + 8) != off || memcmp(c.end + 16, ws_magic_end, 8))
		ws_bad(r, off + 16 + len, "the end mark is damaged");
	else if (!at_end(r, off + 8 + want))
		ws_bad(r, off + 8 + want, "bytes after the end mark");
	else if (!(g = ws_get_index(&c, r->first, ngroup)))
		ws_bad(r, off + (uint64_t)(c.p - b), "index: %s", c.err);
	else if (*ngroup ? g[*ngroup - 1].off + g[*ngroup - 1].size != off : off != r->first) {
		ws_bad(r, off, "the index does not fit the groups");
		free(g);
		g = NULL;
	}
	free(b);
	*behind = off + 8 + want;
	return g;
}

int
ws_read_end(struct ws_reader *r)
{
	size_t n;
	uint64_t behind;
	struct ws_group *g = read_index(r, r->pos, &n, &behind);
	int same;

	if (!g)
		return -1;
	same = r->strayed || n == r->nwalked;
	for (size_t i = 0; same && !r->strayed && i < n; i++)
		same = same_group(&g[i], &r->walked[i]);
	free(g);
	if (!same)
		return ws_bad(r, r->pos, "the index does not fit the groups");
	if (!r->flow.ended)
		return ws_bad(r, r->pos, "the capture has no end");
	if (r->runs && ws_runs_count(r->runs) == 1 && ws_runs_fault(r->runs))
		return ws_bad(r, ws_runs_fault(r->runs)->off, "after the end mark: %s", ws_runs_fault(r->runs)->err);
	r->done = 1;
	r->pos = behind;
	return 0;
}

/* Finds the index by the end mark. If there is none, no fault is set. */
static struct ws_group *
index_from_end(struct ws_reader *r, size_t *n)
{
	struct fault f = r->fault;
	int failed = r->failed;
	struct ws_group *g;
	uint8_t m[WS_MARK];
	uint64_t off, behind, size = r->src.size;

	if (size < r->first + 8 + 8 + WS_MARK || src_read(&r->src, size - WS_MARK, m, WS_MARK) < WS_MARK ||
	    memcmp(m + 8, ws_magic_end, 8))
		return NULL;
	off = get_le64(m);
	if (off < r->first || off > size - 8 - 8 - WS_MARK)
		return NULL;
	g = read_index(r, off, n, &behind);
	r->fault = f;
	r->failed = failed;
	return g;
}

/* Finds groups in a row, as long as their headers are valid and they are complete. */
static struct ws_group *
ws_group_walk(struct ws_reader *r, size_t *n)
{
	struct ws_group *v = calloc(1, sizeof(*v));
	uint8_t h[WS_GROUP_HEAD];
	uint64_t off = r->first, rec = 0, trigger = 0;
	struct ws_ghead d;
	size_t cap = 1;

	*n = 0;
	while (v && src_read(&r->src, off, h, sizeof(h)) == sizeof(h) && !memcmp(h, ws_magic_group, 4) &&
	    !ws_get_ghead(h, &d) && d.g.rec == rec && d.g.trigger == trigger &&
	    d.g.size <= r->src.size - off) {
		d.g.off = off;
		if (ws_groups_append(&v, n, &cap, &d.g) != 0) {
			free(v);
			return NULL;
		}
		off += d.g.size;
		rec += d.g.nrec;
		trigger += d.g.ntrigger;
	}
	return v;
}

const struct ws_group *
ws_groups(struct ws_reader *r, size_t *n, int *whole)
{
	if (!r->group && !r->src.seeks) {
		ws_bad(r, r->src.pos, "a pipe has no index");
		return NULL;
	}
	if (!r->group) {
		r->group = index_from_end(r, &r->ngroup);
		r->whole = r->group != NULL;
		if (!r->group)
			r->group = ws_group_walk(r, &r->ngroup);
		if (!r->group) {
			ws_bad(r, 0, "out of memory");
			return NULL;
		}
	}
	*n = r->ngroup;
	if (whole)
		*whole = r->whole;
	return r->group;
}

int
ws_seek_group(struct ws_reader *r, size_t i)
{
	size_t n;
	const struct ws_group *g = ws_groups(r, &n, NULL);

	if (!g)
		return -1;
	if (i >= n)
		return ws_bad(r, r->src.size, "there is no group %zu", i);
	r->failed = r->done = 0;
	r->left = r->now.g.nrec = 0;
	r->strayed = 1;
	r->pos = g[i].off;
	r->nrec = g[i].rec;
	r->ntrigger = g[i].trigger;
	r->flow = (struct ws_check_order){ .started = i > 0, .inkey = !!(g[i].flags & WS_GROUP_INSIDE) };
	return 0;
}
