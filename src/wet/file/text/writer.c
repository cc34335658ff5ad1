/* Writes WET text to a .wet file, in a single pass and in memory that does not grow with its lists. */
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "format/wettext/wettext.h"
#include "wet/file/text/columns.h"
#include "wet/file/writer.h"

#define SECTION ((size_t)1 << 20)       /* approximate entries of a section */

struct store_txt {
	struct store_out out;
	struct store_code tab;          /* holds its strings */
	size_t nstring;                 /* strings that are in the file */
	struct col col[TEXT_NCOL];
	uint64_t id, addr, line;        /* of the previous statement */
	uint64_t step;                  /* id after the previous step */
	struct text_list list;
	uint32_t nseg;
	int begun, ordered;
};

static int
text_writer_section(struct store_txt *t)
{
	struct store_out *o = &t->out;

	if (store_strings_encode(&t->tab, t->nstring, o, o->o->level) != 0)
		return -1;
	t->nstring = t->tab.nstring;
	for (unsigned i = 0; i < TEXT_NCOL; i++) {
		if (store_col(o, &t->col[i], NULL) != 0)
			return -1;
		t->col[i].n = 0;
	}
	o->stats.nsegment++;
	return store_section(o, WETFILE_TXT, t->nseg++, STORE_P_TEXT);
}

static int
text_writer_block(struct store_txt *t, const struct wettext_block *b)
{
	uint32_t file, func;

	if (store_string(&t->tab, b->file, &file) != 0 || store_string(&t->tab, b->func, &func) != 0)
		return -1;
	col_add(&t->col[TEXT_ID], col_zig(b->id - t->id));
	col_add(&t->col[TEXT_NPORT], b->nport);
	col_add(&t->col[TEXT_ADDR], col_zig(b->addr - t->addr));
	col_add(&t->col[TEXT_FILE], file);
	col_add(&t->col[TEXT_FUNC], func);
	col_add(&t->col[TEXT_LINE], col_zig(b->line - t->line));
	t->id = b->id;
	t->addr = b->addr;
	t->line = b->line;
	return 0;
}

static void
text_writer_dep(struct store_txt *t, const struct wettext_dep *d)
{
	struct text_list *l = &t->list;
	struct text_recent v = { d->id, d->instance, 1, 1 };
	unsigned k;

	col_add(&t->col[TEXT_X], col_zig(d->x - l->x - 1));
	l->x = d->x;
	for (k = 0; k < TEXT_PAST && !(l->past[k].used && l->past[k].id == d->id); k++)
		;
	if (k == TEXT_PAST) {
		col_add(&t->col[TEXT_TOKEN], TEXT_NEW);
		col_add(&t->col[TEXT_DEP], col_zig(d->id - t->id));
		col_add(&t->col[TEXT_INSTANCE], col_zig(d->instance - d->x));
		text_list_to_front(l, TEXT_PAST - 1, v);
		return;
	}
	v.stride = d->instance - l->past[k].last;
	col_add(&t->col[TEXT_TOKEN], (v.stride == l->past[k].stride ? TEXT_STRIDE : TEXT_OTHER) + k);
	if (v.stride != l->past[k].stride)
		col_add(&t->col[TEXT_INSTANCE], col_zig(v.stride));
	text_list_to_front(l, k, v);
}

static void
text_writer_value(struct store_txt *t, const struct wettext_value *v)
{
	col_add(&t->col[TEXT_VX], v->x - t->list.x - 1);
	t->list.x = v->x;
	col_add(&t->col[TEXT_NWORD], v->nword);
	for (uint32_t i = 0; i < v->nword; i++)
		col_add(&t->col[TEXT_WORD], v->word[i]);
}

static void
text_writer_step(struct store_txt *t, const struct wettext_step *s)
{
	col_add(&t->col[TEXT_STEP], col_zig(s->id - t->step));
	col_add(&t->col[TEXT_COUNT], s->count);
	t->step = s->id + s->count;
	t->out.stats.nstmt += s->count;
}

static int
text_writer_record(struct store_txt *t, const struct wettext *r, enum wettext_got got,
    const struct wettext_rec *rec)
{
	if (!t->begun)
		col_add(&t->col[TEXT_SIZE], wettext_count(r));
	t->begun = 1;
	if (got == WETTEXT_BLOCK)
		return text_writer_block(t, &rec->block);
	if (rec->left + rec->n == rec->total) {         /* a list begins */
		t->list = (struct text_list){ .x = UINT64_MAX };
		col_add(&t->col[TEXT_SIZE],
		    got == WETTEXT_DEPS ? rec->total : rec->none ? 0 : rec->total + 1);
		t->ordered |= got == WETTEXT_ORDER;
	}
	t->out.stats.ndep += got == WETTEXT_DEPS ? rec->n : 0;
	t->out.stats.nval += got == WETTEXT_VALUES ? rec->n : 0;
	for (size_t i = 0; i < rec->n; i++)
		if (got == WETTEXT_DEPS)
			text_writer_dep(t, &rec->dep[i]);
		else if (got == WETTEXT_VALUES)
			text_writer_value(t, &rec->value[i]);
		else
			text_writer_step(t, &rec->step[i]);
	return 0;
}

/* Entries of the longest column. */
static size_t
text_writer_entries(const struct store_txt *t)
{
	size_t n = 0;

	for (unsigned i = 0; i < TEXT_NCOL; i++)
		n = t->col[i].n > n ? t->col[i].n : n;
	return n;
}

/* Reads the text.  t NULL: only checks it; *canonical: is it in the form that wettext_put_... writes? */
static int
text_writer_read(const char *text, struct store_txt *t, int *canonical, struct fault *f)
{
	struct in *in = in_open(text);
	struct wettext *r = wettext_open(in, 0);
	struct wettext_rec rec;
	int got = WETTEXT_BAD, bad = !r;
	const size_t most = t && t->out.o->entries ? t->out.o->entries : SECTION;

	while (!bad && (got = wettext_next(r, &rec)) > WETTEXT_END)
		bad = t && (text_writer_record(t, r, (enum wettext_got)got, &rec) != 0 ||
		    (text_writer_entries(t) >= most && text_writer_section(t) != 0));
	if (!bad && got == WETTEXT_BAD) {
		*f = *wettext_fault(r);
		bad = -1;
	}
	if (!bad && t) {
		if (!t->begun)
			col_add(&t->col[TEXT_SIZE], wettext_count(r));
		if (!t->ordered)
			col_add(&t->col[TEXT_SIZE], 0);
		if (text_writer_entries(t))     /* the last entry may have completed a section */
			bad = text_writer_section(t);
	}
	if (!bad && canonical)
		*canonical = wettext_canonical(r);
	wettext_close(r);
	in_close(in);
	return bad;
}

/* Stores the bytes of a text that is not in canonical form. */
static int
text_writer_raw(const char *text, struct store_txt *t)
{
	struct in *in = in_open(text);
	struct store_out *o = &t->out;
	struct col *c = &t->col[0];
	size_t have;
	int bad = 0;

	for (const uint8_t *p; !bad && (p = in_peek(in, IN_PEEK, &have), have);) {
		c->n = 0;
		for (size_t i = 0; i < have; i++)
			col_add(c, p[i]);
		in_skip(in, have);
		bad = store_col(o, c, NULL) != 0 ||
		    store_section(o, WETFILE_RAW, t->nseg++, STORE_P_TEXT) != 0;
	}
	if (!bad && in_error(in))
		bad = store_fail(o->f, 1, "%s", in_error(in));
	in_close(in);
	return bad;
}

int
store_text(const char *text, struct wetfile_writer *w, const struct store_opts *o, struct fault *f)
{
	struct store_txt *t = calloc(1, sizeof *t);
	int bad, canonical = 0;

	f->err[0] = '\0';
	if (!t)
		return fault_nomem(f);
	progress_stage("reading");
	bad = store_out_init(&t->out, w, o, f, o->threads) != 0 ||
	    text_writer_read(text, NULL, &canonical, f) != 0;
	progress_stage("compressing");
	bad = bad || (canonical ? text_writer_read(text, t, NULL, f) : text_writer_raw(text, t)) != 0;
	bad = bad || store_finish(&t->out, NULL) != 0;
	if (o->stats)
		*o->stats = t->out.stats;
	store_out_free(&t->out);
	store_code_free(&t->tab);
	for (unsigned i = 0; i < TEXT_NCOL; i++)
		col_free(&t->col[i]);
	free(t);
	return bad ? fault_nomem(f) : 0;
}
