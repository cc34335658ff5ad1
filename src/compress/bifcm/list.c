/* bifcm -l: lists what a file contains. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "compress/bifcm/bifcm.h"

#define METHODS 256             /* numbers of methods */

struct column {
	uint64_t n, size;
	uint64_t blocks[METHODS];       /* number of blocks, by method */
};

static void
bifcm_list_line(struct out *out, const char *name, uint64_t n)
{
	out_printf(out, "%s %llu\n", name, (unsigned long long)n);
}

static double
bifcm_list_bits(uint64_t size, uint64_t n)
{
	return n ? 8.0 * (double)size / (double)n : 0;
}

/* Columns in which a stream of references is coded. */
static const char *const refcol[VS_REFCOLS] = { "fetches", "sizes", "counts", "tags", "addresses" };

static void
column_name(const struct vs_layout *y, unsigned c, char name[16])
{
	if (y->ref)
		snprintf(name, 16, "%s", refcol[c]);
	else
		snprintf(name, 16, "%u", c + 1);
}

static void
print_column(struct out *out, const char *name, const struct column *col)
{
	out_printf(out, "%-10s %12llu %12llu %9.4f ", name, (unsigned long long)col->n,
	    (unsigned long long)col->size, bifcm_list_bits(col->size, col->n));
	for (unsigned m = 0; m < METHODS; m++)
		if (col->blocks[m])
			out_printf(out, " %s:%llu", vs_method_name(m), (unsigned long long)col->blocks[m]);
	out_str(out, "\n");
}

/* After the columns comes what whole blocks have, if there are any. */
static void
print_columns(struct out *out, const struct vs_layout *y, const struct column *col)
{
	char name[16];

	out_printf(out, "%-10s %12s %12s %9s  %s\n", "column", "values", "bytes", "bits", "blocks by method");
	for (unsigned c = 0; c < vs_columns(y); c++) {
		column_name(y, c, name);
		print_column(out, name, &col[c]);
	}
	if (col[VS_COLUMNS].n)
		print_column(out, "whole", &col[VS_COLUMNS]);
}

static void
print_block(struct out *out, const struct vs_layout *y, const struct vs_entry *e, size_t i,
    const struct vs_stat *s, int whole)
{
	unsigned columns = whole ? 1 : vs_columns(y);

	out_printf(out, "block %zu at %llu records %llu+%lu bytes %llu", i + 1, (unsigned long long)e->off,
	    (unsigned long long)e->rec, (unsigned long)e->n, (unsigned long long)e->size);
	for (unsigned c = 0; c < columns; c++)
		out_printf(out, " %s:%llu", s[c].n ? vs_method_name(s[c].method) : "-",
		    (unsigned long long)s[c].size);
	out_str(out, "\n");
}

static void
print_summary(struct vs_reader *r, const struct job *j, const struct vs_index *x)
{
	const struct vs_info *info = vs_info(r);
	struct buf text = BUF_INIT;

	if (j->a->several)
		out_printf(j->out, "file %s\n", j->in->name);
	vs_layout_text(&info->layout, &text);
	out_str(j->out, "layout ");
	out_write(j->out, text.p, text.n);
	out_str(j->out, "\n");
	buf_free(&text);
	bifcm_list_line(j->out, "records", x->nrec);
	bifcm_list_line(j->out, "blocks", x->n);
	bifcm_list_line(j->out, "block-records", x->n > 1 ? x->e[1].n : x->nrec);
	bifcm_list_line(j->out, "first-block-records", x->n ? x->e[0].n : 0);
	bifcm_list_line(j->out, "head-bytes", info->nhead);
	bifcm_list_line(j->out, "tail-bytes", x->ntail);
	bifcm_list_line(j->out, "bytes", bifcm_sizes_found->bytes);
	bifcm_list_line(j->out, "file-bytes", x->size);
	bifcm_list_line(j->out, "memory-bytes", vs_read_memory(r, 1));
	out_printf(j->out, "bits-a-record %.4f\n", bifcm_list_bits(x->size, x->nrec));
}

static void
print_details(struct vs_reader *r, const struct job *j, const struct vs_index *x)
{
	const struct vs_layout *y = &vs_info(r)->layout;
	struct column *col = xcalloc(VS_COLUMNS + 1, sizeof(*col));
	struct vs_stat s[VS_COLUMNS];
	struct fault f;

	print_summary(r, j, x);
	for (size_t i = 0; i < x->n; i++) {
		int whole = vs_stat(r, i, s, &f);

		if (whole < 0) {
			out_flush(j->out);
			die_fault(j->in->name, &f);
		}
		for (unsigned c = 0; c < (whole ? 1 : vs_columns(y)); c++) {
			struct column *to = &col[whole ? VS_COLUMNS : c];

			to->n += s[c].n;
			to->size += s[c].size;
			to->blocks[s[c].method] += s[c].n != 0;
		}
		if (j->a->verbose > 1)
			print_block(j->out, y, &x->e[i], i, s, whole);
	}
	print_columns(j->out, y, col);
	free(col);
}

static void
print_row(struct out *out, const struct sizes *z, const char *name)
{
	out_printf(out, "%14llu %14llu %6.1f%% %s\n", (unsigned long long)z->file, (unsigned long long)z->bytes,
	    z->bytes ? 100 * ((double)z->bytes - (double)z->file) / (double)z->bytes : 0, name);
}

static void
print_heading(struct out *out)
{
	out_printf(out, "%14s %14s %7s %s\n", "compressed", "uncompressed", "ratio", "name");
}

void
bifcm_list_totals(struct out *out, const struct sizes *sum)
{
	print_row(out, sum, "(totals)");
}

void
bifcm_list_print(struct vs_reader *r, const struct job *j)
{
	const struct vs_info *info = vs_info(r);
	struct fault f;
	const struct vs_index *x = vs_index(r, &f);

	*bifcm_sizes_found = (struct sizes){ x->size,
		info->nhead + x->ntail + x->nrec * vs_record_size(&info->layout) };
	if (j->a->verbose) {
		print_details(r, j, x);
		return;
	}
	if (!j->a->quiet && !j->listed)
		print_heading(j->out);
	print_row(j->out, bifcm_sizes_found, j->in->path ? j->in->path : "-");
}
