/*
 * wetq: where a value came from as one page of HTML, for a browser, without anything from elsewhere: the source with
 * the lines of the slice, and for each instance its value, what it was made of, and why it was executed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "convert/wetq/chain.h"
#include "convert/wetq/html.h"
#include "convert/wetq/name.h"

#define ITEMS 2000u             /* instances that have a part of the page, at most */
#define CAUSES 16u              /* of each that are listed, at most */
#define FOLLOWED 32u            /* branches, and addresses, whose causes are followed, at most */
#define WORTH 64000000u         /* instances that following them is worth */
#define CONTEXT 3               /* lines that are shown around one of the slice */
#define LINES 4000u             /* lines of the slice that are shown, at most */
#define LONGEST 300u            /* bytes of a line, a name or a value that are shown */

/* An instance.  Lists are of indices of items. */
struct item {
	uint32_t member, via;           /* via: the store that its value went through, index of a member plus 1 */
	uint32_t made[CAUSES], address[CAUSES], control;        /* control: plus 1 */
	unsigned nmade, naddress;
	size_t name, nname;
};

/* A line: of the file of statement id; in: it is in the slice, else only what was followed besides is */
struct line { uint32_t id, item; int line, in; };

struct page {
	struct job *j;
	struct chain c;
	struct names names;
	struct item *item;
	size_t nitem, capitem, most;
	uint32_t *item_of;              /* by member: index plus 1 */
	size_t capitem_of, nitem_of;
	struct line *line;              /* by file and line */
	size_t nline;
	struct buf b;
};

static const struct place *
html_place(const struct page *p, uint32_t item)
{
	return job_place(p->j, p->c.member[p->item[item].member].id);
}

/* The item of a member, a new one if there is none: its index plus 1, or 0: there are too many */
static uint32_t
html_item(struct page *p, uint32_t member, uint32_t via)
{
	while (p->nitem_of <= member) {
		p->item_of = mem_xgrow(p->item_of, &p->capitem_of, p->nitem_of + 1, sizeof *p->item_of);
		p->item_of[p->nitem_of++] = 0;
	}
	if (p->item_of[member] || p->nitem == p->most)
		return p->item_of[member];
	p->item = mem_xgrow(p->item, &p->capitem, p->nitem + 1, sizeof *p->item);
	p->item[p->nitem] = (struct item){ .member = member, .via = via };
	return p->item_of[member] = (uint32_t)++p->nitem;
}

static unsigned
html_causes(struct page *p, uint32_t i, int address, uint32_t *to)
{
	struct chain_cause cause[CAUSES];
	size_t n = chain_causes(&p->c, p->item[i].member, address, cause, CAUSES);
	unsigned k = 0;

	for (size_t c = 0; c < n; c++) {
		uint32_t at = html_item(p, cause[c].member, cause[c].via);

		if (at && at - 1 != i)
			to[k++] = at - 1;
	}
	return k;
}

/* The branch or call that an item was executed for, with what that was made of: 0, or -1 */
static int
html_control(struct page *p, uint32_t i, unsigned *left)
{
	struct chain_member *m = &p->c.member[p->item[i].member], *on = NULL;
	uint64_t n = m->onn;
	uint32_t id = chain_parent(&p->c, m);

	if (!id || place_is_system(job_place(p->j, id)))
		return 0;
	if (n)
		for (size_t k = 0; k < p->c.nmember && !on; k++)
			on = p->c.member[k].n == n ? &p->c.member[k] : NULL;
	else
		on = chain_find(&p->c, id, m->oninstance);
	if (!on && *left) {
		uint32_t at = (uint32_t)p->c.nmember;

		--*left;
		if (!n && query_position(p->j->q, id, m->oninstance, &n) != 1)
			return job_bad(p->j);
		if (chain_extend(&p->c, p->c.flags, n, UINT32_MAX) != 0)
			return -1;
		on = at < p->c.nmember ? &p->c.member[at] : NULL;
	}
	if (on)
		p->item[i].control = html_item(p, (uint32_t)(on - p->c.member), 0);
	return 0;
}

/* Does a statement read memory at an address that was computed, not just a variable of the stack? */
static int
html_has_address(const struct page *p, const struct chain_member *m)
{
	const struct query_stmt *s = query_stmt(p->j->q, m->id);

	return s->port.addrs && m->reads && s->port.role & WPORT_RESULT && !chain_is_stack(s) &&
	    !place_is_system(job_place(p->j, m->id));
}

/* Follows the addresses of an item, and of the copies that it has values by: 0, or -1 */
static int
html_address(struct page *p, uint32_t i, unsigned *left)
{
	uint32_t at[CAUSES];
	size_t n = chain_copies(&p->c, p->item[i].member, at, CAUSES);

	for (size_t k = 0; k < n && *left; k++) {
		const struct chain_member *m = &p->c.member[at[k]];

		if (!html_has_address(p, m))
			continue;
		--*left;
		if (chain_extend(&p->c, p->c.flags | QUERY_ADDRESS, m->n, at[k]) != 0)
			return -1;
	}
	p->item[i].naddress = n ? html_causes(p, i, 1, p->item[i].address) : 0;
	return 0;
}

/* Lines that only bring a value somewhere else have no item yet: the copy there that is nearest to the point. */
static void
html_copies(struct page *p)
{
	size_t nmember = p->c.nmember;
	uint32_t nstmt = query_nstmt(p->j->q), *has = xcalloc(nstmt + 1u, sizeof *has), n = 0;
	unsigned char *done = xcalloc(nstmt + 1u, 1);

	for (size_t i = 0; i < p->nitem; i++) {
		uint32_t id = p->c.member[p->item[i].member].id;

		if (!done[id - 1])
			has[n++] = id;
		done[id - 1] = 1;
	}
	for (size_t i = 0; i < nmember; i++) {
		uint32_t id = p->c.member[i].id, k = 0;

		if (done[id - 1] || place_is_system(job_place(p->j, id)))
			continue;
		done[id - 1] = 1;
		while (k < n && !chain_same_line(&p->c, has[k], id))
			k++;
		if (k < n)
			continue;
		has[n++] = id;
		(void)html_item(p, (uint32_t)i, 0);
	}
	free(has);
	free(done);
}

/* How many branches and addresses are followed: each may need the whole run once more. */
static unsigned
html_followed(const struct page *p)
{
	uint64_t n = WORTH / (query_length(p->j->q) + 1);

	return n < 2 ? 2 : n > FOLLOWED ? FOLLOWED : (unsigned)n;
}

static int
html_collect(struct page *p)
{
	unsigned branches = html_followed(p), addresses = branches;

	(void)html_item(p, 0, 0);
	for (uint32_t i = 0; i < p->nitem; i++) {
		uint32_t to[CAUSES];
		unsigned n = html_causes(p, i, 0, to);

		/* items may have moved */
		memcpy(p->item[i].made, to, sizeof to);
		p->item[i].nmade = n;
	}
	html_copies(p);
	for (uint32_t i = 0; i < p->nitem; i++) {
		uint32_t to[CAUSES];

		if (p->c.parents && html_control(p, i, &branches) != 0)
			return -1;
		if (p->c.flags & QUERY_THIN && html_address(p, i, &addresses) != 0)
			return -1;
		if (!p->item[i].nmade) {
			unsigned n = html_causes(p, i, 0, to);

			memcpy(p->item[i].made, to, sizeof to);
			p->item[i].nmade = n;
		}
	}
	return 0;
}

static void
html_names(struct page *p)
{
	for (uint32_t i = 0; i < p->nitem; i++) {
		struct item *t = &p->item[i];

		t->name = p->names.n;
		chain_ask(&p->c, &p->names, t->member, t->via);
		t->nname = p->names.n - t->name;
	}
	names_find(&p->names);
}

/* `name = value` of an item, each in an element of its own; nothing if neither is known */
static void
html_value(struct page *p, uint32_t i)
{
	const struct item *t = &p->item[i];
	const struct name *m = names_first(&p->names, t->name, t->nname);
	struct buf v = BUF_INIT, name = BUF_INIT;

	name_text(m, &name);
	if (m && m->value)
		buf_str(&v, m->value);
	else
		chain_value(&p->c, &p->c.member[t->member], &v);
	if (name.n) {
		buf_str(&p->b, "<b>");
		html_text(&p->b, (const char *)name.p, name.n, LONGEST);
		buf_str(&p->b, "</b>");
	}
	if (v.n) {
		buf_str(&p->b, name.n ? " = <span>" : "<span>");
		html_text(&p->b, (const char *)v.p, v.n, LONGEST);
		buf_str(&p->b, "</span>");
	}
	buf_free(&v);
	buf_free(&name);
}

static void
html_where(struct page *p, uint32_t i)
{
	const struct place *at = html_place(p, i);

	if (!place_is_system(at)) {
		html_text(&p->b, at->file, strlen(at->file), LONGEST);
		buf_printf(&p->b, ":%d ", at->line);
	}
	html_text(&p->b, at->func ? at->func : "?", strlen(at->func ? at->func : "?"), LONGEST);
}

static void
html_point(struct page *p, uint32_t i)
{
	const struct chain_member *m = &p->c.member[p->item[i].member];

	buf_printf(&p->b, "%llu#%llu", (unsigned long long)query_stmt_name(p->j->q, m->id), (unsigned long long)m->instance);
}

static void
html_link(struct page *p, uint32_t i)
{
	buf_printf(&p->b, "<a href=\"#i%u\">", i);
	html_where(p, i);
	buf_str(&p->b, "</a> <code>");
	html_value(p, i);
	buf_str(&p->b, "</code> <small>");
	html_point(p, i);
	buf_str(&p->b, "</small>");
}

static void
html_list(struct page *p, const uint32_t *item, unsigned n)
{
	buf_str(&p->b, "<ol>\n");
	for (unsigned k = 0; k < n; k++) {
		buf_str(&p->b, "<li>");
		html_link(p, item[k]);
		buf_str(&p->b, "</li>\n");
	}
	buf_str(&p->b, "</ol>\n");
}

/* The nearest instance of the same statement that is an item, after this one or before: index plus 1, or 0 */
static uint32_t
html_other(const struct page *p, uint32_t i, int after)
{
	const struct chain_member *m = &p->c.member[p->item[i].member], *best = NULL;
	uint32_t found = 0;

	for (uint32_t k = 0; k < p->nitem; k++) {
		const struct chain_member *o = &p->c.member[p->item[k].member];

		if (o->id != m->id || (after ? o->instance <= m->instance : o->instance >= m->instance))
			continue;
		if (!best || (after ? o->instance < best->instance : o->instance > best->instance)) {
			best = o;
			found = k + 1;
		}
	}
	return found;
}

static int
html_order(const void *a, const void *b)
{
	const struct line *p = a, *q = b;

	if (p->id != q->id)
		return p->id < q->id ? -1 : 1;
	return p->line < q->line ? -1 : p->line > q->line;
}

/* The lines of the slice, of each file together, by the first statement of it; system: files are left out */
static void
html_lines(struct page *p)
{
	uint32_t nstmt = query_nstmt(p->j->q), n = 0;
	unsigned char *in = xcalloc(nstmt + 1u, 1);
	size_t cap = 0;

	for (size_t i = 0; i < p->c.nmember; i++)
		if (!p->c.member[i].extra)
			in[p->c.member[i].id - 1] = 2;
		else if (i < p->nitem_of && p->item_of[i])
			in[p->c.member[i].id - 1] |= 1;
	for (uint32_t id = 1; id <= nstmt; id++) {
		const struct place *at = job_place(p->j, id);
		uint32_t first = id;

		if (!in[id - 1] || place_is_system(at))
			continue;
		for (uint32_t k = 0; k < n; k++)
			if (strcmp(job_place(p->j, p->line[k].id)->file, at->file) == 0) {
				first = p->line[k].id;
				break;
			}
		for (uint32_t k = 0; k < n && first; k++)
			if (p->line[k].id == first && p->line[k].line == at->line) {
				p->line[k].in |= in[id - 1] > 1;
				first = 0;
			}
		if (!first || n == LINES)
			continue;
		p->line = mem_xgrow(p->line, &cap, n + 1, sizeof *p->line);
		p->line[n++] = (struct line){ .id = first, .line = at->line, .in = in[id - 1] > 1 };
	}
	free(in);
	p->nline = n;
	if (n)
		qsort(p->line, n, sizeof *p->line, html_order);
	/* the item of a line: the first, which is the nearest to the point */
	for (uint32_t i = (uint32_t)p->nitem; i-- > 0;) {
		const struct place *at = html_place(p, i);

		for (size_t k = 0; k < p->nline && !place_is_system(at); k++)
			if (p->line[k].line == at->line && strcmp(job_place(p->j, p->line[k].id)->file, at->file) == 0)
				p->line[k].item = i + 1;
	}
}

static size_t
html_line_of(const struct page *p, uint32_t i)
{
	const struct place *at = html_place(p, i);

	for (size_t k = 0; k < p->nline && !place_is_system(at); k++)
		if (p->line[k].line == at->line && strcmp(job_place(p->j, p->line[k].id)->file, at->file) == 0)
			return k + 1;
	return 0;
}

static void
html_section(struct page *p, uint32_t i)
{
	const struct item *t = &p->item[i];
	const struct chain_member *m = &p->c.member[t->member];
	uint32_t prev = html_other(p, i, 0), next = html_other(p, i, 1);
	size_t line = html_line_of(p, i), n = 0;
	const char *s = line ? texts_line(p->names.texts, m->id, &n) : NULL;

	buf_printf(&p->b, "<section id=\"i%u\"", i);
	if (line)
		buf_printf(&p->b, " data-l=\"l%zu\"", line - 1);
	buf_str(&p->b, ">\n<h3>");
	html_where(p, i);
	buf_str(&p->b, "</h3>\n<p class=\"val\">");
	html_value(p, i);
	buf_str(&p->b, " <small class=\"point\">");
	html_point(p, i);
	buf_str(&p->b, "</small></p>\n");
	if (s) {
		for (; n && (*s == ' ' || *s == '\t'); s++)
			n--;
		buf_str(&p->b, "<pre>");
		html_text(&p->b, s, n, LONGEST);
		buf_str(&p->b, "</pre>\n");
	}
	if (prev || next)
		buf_str(&p->b, "<nav>");
	if (prev)
		buf_printf(&p->b, "<a rel=\"prev\" href=\"#i%u\">previous instance</a>", prev - 1);
	if (next)
		buf_printf(&p->b, "<a rel=\"next\" href=\"#i%u\">next instance</a>", next - 1);
	buf_str(&p->b, prev || next ? "</nav>\n" : "");
	buf_str(&p->b, t->nmade ? "<div class=\"made\"><h4>Made of</h4>\n" : "<h4>Made of nothing that is known</h4>\n");
	if (t->nmade) {
		html_list(p, t->made, t->nmade);
		buf_str(&p->b, "</div>\n");
	}
	if (t->naddress) {
		buf_str(&p->b, "<details class=\"address\"><summary>Its place in memory was made of</summary>\n");
		html_list(p, t->address, t->naddress);
		buf_str(&p->b, "</details>\n");
	}
	if (t->control) {
		const uint32_t on = t->control - 1;

		buf_str(&p->b, "<details class=\"control\"><summary>Executed because of</summary>\n");
		html_list(p, &on, 1);
		buf_str(&p->b, "</details>\n");
	}
	buf_str(&p->b, "</section>\n");
}

/* A line of a file; k: its index in p->line plus 1; 0: it is not in the slice */
static void
html_line(struct page *p, uint32_t id, int line, size_t k)
{
	size_t n = 0;
	const char *s = texts_line_of(p->names.texts, id, line, &n);
	uint32_t item = k ? p->line[k - 1].item : 0;

	if (!k && !s)
		return;
	if (k)
		buf_printf(&p->b, "<div class=\"l%s\" id=\"l%zu\">", p->line[k - 1].in ? " in" : "", k - 1);
	else
		buf_str(&p->b, "<div class=\"l\">");
	if (item)
		buf_printf(&p->b, "<a href=\"#i%u\">%d</a>", item - 1, line);
	else
		buf_printf(&p->b, "<span>%d</span>", line);
	buf_str(&p->b, "<span>");
	html_text(&p->b, s ? s : "", n, LONGEST);
	buf_str(&p->b, "</span>");
	if (item) {
		buf_printf(&p->b, "<a class=\"v\" href=\"#i%u\">", item - 1);
		html_value(p, item - 1);
		buf_str(&p->b, " <small>");
		html_point(p, item - 1);
		buf_str(&p->b, "</small></a>");
	}
	buf_str(&p->b, "</div>\n");
}

static void
html_source(struct page *p)
{
	int last = 0;

	for (size_t k = 0; k < p->nline; k++) {
		const struct line *l = &p->line[k];
		const char *file = job_place(p->j, l->id)->file;
		int begin = k == 0 || p->line[k - 1].id != l->id, end = k + 1 == p->nline || p->line[k + 1].id != l->id;
		int to = !end && p->line[k + 1].line - 1 < l->line + CONTEXT ? p->line[k + 1].line - 1 : l->line + CONTEXT;

		if (begin) {
			buf_str(&p->b, "<h2>");
			html_text(&p->b, file, strlen(file), LONGEST);
			buf_str(&p->b, "</h2>\n<div class=\"file\">\n");
			last = 0;
		}
		if (l->line - CONTEXT > last + 1)
			buf_str(&p->b, begin ? "" : "<div class=\"gap\">&#8942;</div>\n");
		for (int i = l->line - CONTEXT > last ? l->line - CONTEXT : last + 1; i < l->line; i++)
			html_line(p, l->id, i, 0);
		html_line(p, l->id, l->line, k + 1);
		for (int i = l->line + 1; i <= to; i++)
			html_line(p, l->id, i, 0);
		last = to > l->line ? to : l->line;
		if (end)
			buf_str(&p->b, "</div>\n");
		out_write(p->j->out, p->b.p, p->b.n);
		p->b.n = 0;
	}
}

static void
html_print(struct page *p, const char *point)
{
	html_lines(p);
	buf_str(&p->b, html_begin);
	buf_str(&p->b, "<title>why ");
	html_text(&p->b, point, strlen(point), LONGEST);
	buf_str(&p->b, "</title>\n</head>\n<body>\n<header><h1>Why ");
	html_text(&p->b, point, strlen(point), LONGEST);
	buf_printf(&p->b, "</h1>\n<p>%zu instances in %zu lines", p->nitem, p->nline);
	if (p->nitem == p->most || p->c.cut)
		buf_str(&p->b, "; there are more, which are not shown");
	buf_str(&p->b, ". <kbd>1</kbd>&#8211;<kbd>9</kbd> cause, <kbd>b</kbd> back, <kbd>p</kbd> <kbd>n</kbd> "
	    "previous, next instance, <kbd>c</kbd> control, <kbd>a</kbd> address</p></header>\n<main>\n<div id=\"source\">\n");
	html_source(p);
	buf_str(&p->b, "</div>\n<div id=\"steps\">\n");
	for (uint32_t i = 0; i < p->nitem; i++) {
		html_section(p, i);
		out_write(p->j->out, p->b.p, p->b.n);
		p->b.n = 0;
	}
	buf_str(&p->b, "</div>\n</main>\n");
	buf_str(&p->b, html_script);
	buf_str(&p->b, "</body>\n</html>\n");
	out_write(p->j->out, p->b.p, p->b.n);
}

int
job_html(struct job *j, const char *point)
{
	struct page p = { .j = j, .b = BUF_INIT, .most = j->most < ITEMS ? j->most ? j->most : 1 : ITEMS };
	uint64_t n;
	int bad;

	j->quiet = 1;
	if (job_point(j, point, 1, &n) != 0)
		return -1;
	chain_init(&p.c, j);
	p.names = (struct names){ .j = j, .texts = texts_new(j) };
	bad = chain_slice(&p.c, p.c.flags, n);
	if (!bad && p.c.nmember)
		bad = html_collect(&p);
	if (!bad && p.c.nmember) {
		html_names(&p);
		html_print(&p, point);
	}
	names_free(&p.names);
	texts_free(p.names.texts);
	chain_free(&p.c);
	buf_free(&p.b);
	free(p.item);
	free(p.item_of);
	free(p.line);
	return bad;
}
