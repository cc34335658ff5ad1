/* Captures: encoding and decoding of the file header and of group headers. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/ws/ws_internal.h"
#include "isa/x86/maker.h"

struct ws_header_copy { /* a header and the memory that its pointers point to */
	struct ws_header h;
	const char **argv;
	struct ws_cpuid *cpuid;
	char *strings;
};

static size_t
ws_header_len(const char *s)
{
	return s ? strnlen(s, WS_STR_MAX + 1) : 0;
}

const char *
ws_check_header(const struct ws_header *h)
{
	size_t sum = 0;

	if (ws_header_len(h->version) > WS_STR_MAX || ws_header_len(h->brand) > WS_STR_MAX ||
	    ws_header_len(h->kernel) > WS_STR_MAX || ws_header_len(h->exe) > WS_STR_MAX)
		return "a string of the header is too long";
	if (h->argc > WS_ARGC_MAX)
		return "too many arguments";
	for (size_t i = 0; i < h->argc && sum <= WS_ARGS_MAX; i++)
		sum += h->argv[i] ? strnlen(h->argv[i], WS_ARGS_MAX + 1) : 0;
	if (sum > WS_ARGS_MAX)
		return "arguments are too long";
	if (h->ncpuid > WS_CPUID_MAX)
		return "too many entries of cpuid";
	for (size_t i = 1; i < h->ncpuid; i++) {
		const struct ws_cpuid *c = &h->cpuid[i];

		if (c[-1].leaf > c->leaf || (c[-1].leaf == c->leaf && c[-1].sub >= c->sub))
			return "entries of cpuid that do not ascend";
	}
	if (h->machine != WS_X86_64)
		return "a machine that is not x86-64";
	if (h->page != WS_PAGE || h->line != WS_LINE)
		return "sizes of page and line that are not 4096 and 64";
	return h->flags & ~(uint32_t)WS_FLAGS ? "unknown flags in the header" : NULL;
}

/* The entry of a leaf: of the subleaf, or of subleaf 0 if there are no others. */
static const struct ws_cpuid *
cpuid_entry(const struct ws_cpuid *t, size_t n, uint32_t leaf, uint32_t sub)
{
	for (size_t i = 0; i < n; i++)
		if (t[i].leaf == leaf && (t[i].sub == sub || (t[i].sub == 0 && (i + 1 == n || t[i + 1].leaf != leaf))))
			return &t[i];
	return NULL;
}

struct ws_cpuid
ws_cpuid_find(const struct ws_cpuid *t, size_t n, uint32_t leaf, uint32_t sub)
{
	const struct ws_cpuid *c = cpuid_entry(t, n, leaf, sub);
	struct ws_cpuid r = {0};

	/* processors of AMD answer a leaf that they do not have by zeros, others like the last basic leaf */
	if (n && t[0].leaf == 0 && !cpuid_entry(t, n, leaf, 0) && !x86_amd(t[0].ebx, t[0].edx, t[0].ecx))
		c = cpuid_entry(t, n, t[0].eax, sub);
	if (c)
		r = *c;
	r.leaf = leaf;
	r.sub = sub;
	return r;
}

static void
put_str(struct buf *b, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	buf_varint(b, n);
	buf_add(b, s, n);
}

void
ws_put_header(struct buf *b, const struct ws_header *h)
{
	uint64_t crc;

	buf_add(b, ws_magic, sizeof(ws_magic));
	buf_le32(b, WS_VERSION);
	buf_le32(b, 0);
	buf_le64(b, 0);
	buf_varint(b, h->machine);
	buf_varint(b, h->page);
	buf_varint(b, h->line);
	buf_varint(b, h->flags);
	buf_varint(b, h->xcr0);
	buf_varint(b, zigzag((uint64_t)h->when));
	put_str(b, h->version);
	put_str(b, h->brand);
	put_str(b, h->kernel);
	put_str(b, h->exe);
	buf_varint(b, h->argc);
	for (size_t i = 0; i < h->argc; i++)
		put_str(b, h->argv[i]);
	buf_varint(b, h->ncpuid);
	for (size_t i = 0; i < h->ncpuid; i++) {
		const struct ws_cpuid *c = &h->cpuid[i];
		const uint32_t v[6] = { c->leaf, c->sub, c->eax, c->ebx, c->ecx, c->edx };

		for (int k = 0; k < 6; k++)
			buf_varint(b, v[k]);
	}
	if (b->nomem)
		return;
	put_le32(b->p + 12, (uint32_t)(b->n - WS_HEAD));
	crc = ws_crc(b->p + WS_HEAD, b->n - WS_HEAD, ws_crc(b->p, 16, 0));
	put_le64(b->p + 16, crc);
}

/* A string of at most `max` bytes, copied to *to, which moves to its end. */
static const char *
get_str(struct ws_cur *c, char **to, uint64_t max)
{
	size_t n = (size_t)ws_get_max(c, max, "a string is too long");
	const uint8_t *p = ws_get_bytes(c, n);
	char *s = *to;

	if (!p)
		return "";
	if (n && memchr(p, 0, n))
		c->err = "a string with a zero byte";
	memcpy(s, p, n);
	s[n] = '\0';
	*to += n + 1;
	return s;
}

static void
get_cpuid(struct ws_cur *c, struct ws_cpuid *d)
{
	uint32_t v[6];

	for (int k = 0; k < 6; k++)
		v[k] = (uint32_t)ws_get_max(c, UINT32_MAX, "a number of more than 32 bits");
	*d = (struct ws_cpuid){ v[0], v[1], v[2], v[3], v[4], v[5] };
}

static void
get_body(struct ws_cur *c, struct ws_header_copy *d)
{
	struct ws_header *h = &d->h;
	char *s = d->strings;

	h->machine = (uint32_t)ws_get_max(c, UINT32_MAX, "a number of more than 32 bits");
	h->page = (uint32_t)ws_get_max(c, UINT32_MAX, "a number of more than 32 bits");
	h->line = (uint32_t)ws_get_max(c, UINT32_MAX, "a number of more than 32 bits");
	h->flags = (uint32_t)ws_get_max(c, UINT32_MAX, "a number of more than 32 bits");
	h->xcr0 = ws_get(c);
	h->when = (int64_t)unzigzag(ws_get(c));
	h->version = get_str(c, &s, WS_STR_MAX);
	h->brand = get_str(c, &s, WS_STR_MAX);
	h->kernel = get_str(c, &s, WS_STR_MAX);
	h->exe = get_str(c, &s, WS_STR_MAX);
	h->argc = (size_t)ws_get_max(c, WS_ARGC_MAX, "too many arguments");
	if (h->argc > (size_t)(c->end - c->p)) {
		c->err = c->err ? c->err : "more arguments than bytes";
		h->argc = 0;
	}
	d->argv = calloc(h->argc + 1, sizeof(*d->argv));
	for (size_t i = 0; d->argv && i < h->argc; i++)
		d->argv[i] = get_str(c, &s, WS_ARGS_MAX);
	h->argv = d->argv;
	h->ncpuid = (size_t)ws_get_max(c, WS_CPUID_MAX, "too many entries of cpuid");
	d->cpuid = calloc(h->ncpuid + 1, sizeof(*d->cpuid));
	for (size_t i = 0; d->cpuid && i < h->ncpuid; i++)
		get_cpuid(c, &d->cpuid[i]);
	h->cpuid = d->cpuid;
	if (!c->err && (!d->argv || !d->cpuid))
		c->err = "out of memory";
	if (!c->err && c->p != c->end)
		c->err = "bytes after the header's last field";
	if (!c->err)
		c->err = ws_check_header(h);
}

struct ws_header_copy *
ws_get_header(struct ws_cur *c)
{
	struct ws_header_copy *d = calloc(1, sizeof(*d));

	/* each string has a length of at least one byte in the file and one NUL here */
	if (d)
		d->strings = malloc((size_t)(c->end - c->p) + 1);
	if (!d || !d->strings) {
		c->err = "out of memory";
		ws_header_free(d);
		return NULL;
	}
	get_body(c, d);
	if (!c->err)
		return d;
	ws_header_free(d);
	return NULL;
}

const struct ws_header *
ws_header_copy(const struct ws_header_copy *d)
{
	return &d->h;
}

void
ws_header_free(struct ws_header_copy *d)
{
	if (!d)
		return;
	free(d->argv);
	free(d->cpuid);
	free(d->strings);
	free(d);
}

void
ws_put_ghead(uint8_t p[WS_GROUP_HEAD], const struct ws_ghead *h)
{
	memset(p, 0, WS_GROUP_HEAD);
	memcpy(p, ws_magic_group, 4);
	put_le32(p + 4, h->g.flags);
	put_le64(p + 8, h->g.rec);
	put_le64(p + 16, h->g.trigger);
	put_le64(p + 24, h->g.icount);
	put_le32(p + 32, h->g.nrec);
	put_le32(p + 36, h->g.ntrigger);
	for (int i = 0; i < WS_NSTREAMS; i++) {
		p[40 + i] = (uint8_t)h->z.method[i];
		put_le32(p + 48 + 8 * i, h->z.raw[i]);
		put_le32(p + 52 + 8 * i, h->z.packed[i]);
	}
	put_le64(p + 88, h->crc);
	put_le64(p + 96, ws_crc(p, 96, 0));
}

static const char *
check_sizes(const struct ws_sizes *z)
{
	uint64_t sum = 0;

	for (int i = 0; i < WS_NSTREAMS; i++) {
		if (z->method[i] >= WS_NMETHODS)
			return "unknown method of compression";
		if (z->method[i] == WS_NONE ? z->packed[i] != z->raw[i] : !z->packed[i] ||
		    z->packed[i] >= z->raw[i])
			return "sizes of a group that cannot be";
		sum += z->raw[i];
	}
	return sum > WS_GROUP_MAX ? "a group that is too large" : NULL;
}

const char *
ws_get_ghead(const uint8_t p[WS_GROUP_HEAD], struct ws_ghead *h)
{
	struct ws_group *g = &h->g;

	if (get_le64(p + 96) != ws_crc(p, 96, 0))
		return "the header of a group is damaged";
	g->flags = get_le32(p + 4);
	g->rec = get_le64(p + 8);
	g->trigger = get_le64(p + 16);
	g->icount = get_le64(p + 24);
	g->nrec = get_le32(p + 32);
	g->ntrigger = get_le32(p + 36);
	g->size = WS_GROUP_HEAD;
	for (int i = 0; i < WS_NSTREAMS; i++) {
		h->z.method[i] = p[40 + i];
		h->z.raw[i] = get_le32(p + 48 + 8 * i);
		h->z.packed[i] = get_le32(p + 52 + 8 * i);
		g->size += h->z.packed[i];
	}
	h->crc = get_le64(p + 88);
	if (g->flags > 7 || (g->flags & 3) == 3)
		return "unknown flags of a group";
	if (g->flags & WS_GROUP_X86 && !h->z.raw[WS_S_CODE])
		return "code that is not there";
	if (p[45] | p[46] | p[47])
		return "bytes of a group's header that are not 0";
	if (!g->nrec || g->nrec > h->z.raw[WS_S_CONTROL] || g->ntrigger > g->nrec)
		return "numbers of records that cannot be";
	return check_sizes(&h->z);
}
