/* addrdiff: prints the first difference, with its place in the program and its neighbours. */
#include "convert/addrdiff/addrdiff.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A reference in the form "inst 0x401136 4". */
static void
put_ref(char *buf, size_t size, uint64_t w)
{
	unsigned kind = ref_kind(w);

	if (kind < REF_ENTER)
		snprintf(buf, size, "%-6s 0x%" PRIx64 " %u", ref_kind_name(kind), ref_addr(w), ref_size(w));
	else
		snprintf(buf, size, "%-6s 0x%" PRIx64, ref_kind_name(kind), ref_addr(w));
}

/* Prints w[i] or the end of the side; nothing before its beginning. */
static void
put_cell(char *buf, size_t size, struct side *s, size_t i)
{
	*buf = '\0';
	if (i < s->n)
		put_ref(buf, size, s->w[i]);
	else if (i == s->n)
		snprintf(buf, size, "%s", s->fault ? "(fault)" : "(end)");
}

static void
put_line(struct diff *d, char mark, long k)
{
	char a[64], b[64];
	struct side *s;
	const char *where = NULL;
	size_t i = (size_t)((long)d->a.pos + k), j = (size_t)((long)d->b.pos + k);

	put_cell(a, sizeof(a), &d->a, i);
	put_cell(b, sizeof(b), &d->b, j);
	if (!*a && !*b)
		return;
	s = i < d->a.n && ref_kind(d->a.w[i]) == REF_INST ? &d->a : &d->b;
	if (s == &d->b)
		i = j;
	if (d->prog && i < s->n && ref_kind(s->w[i]) == REF_INST)
		where = prog_where(d->prog, ref_addr(s->w[i]));
	if (where)
		out_printf(d->out, "%c %-32s %-32s %s\n", mark, a, b, where);
	else
		out_printf(d->out, "%c %-32s %s\n", mark, a, b);
}

/* Prints the function of the side's last instruction. */
static void
put_place(struct diff *d, struct side *s)
{
	const char *where;
	size_t i = s->pos < s->n ? s->pos : s->n;

	if (i < s->n && ref_kind(s->w[i]) == REF_INST)
		i++;
	while (i > 0 && ref_kind(s->w[i - 1]) != REF_INST)
		i--;
	if (!i)
		return;
	where = d->prog ? prog_where(d->prog, ref_addr(s->w[i - 1])) : NULL;
	out_printf(d->out, "  %s: reference %" PRIu64 ", instruction %" PRIu64 " at 0x%" PRIx64 "%s%s\n",
	    in_name(s->in), side_ref(s, s->pos), side_inst(s, s->pos), ref_addr(s->w[i - 1]),
	    where ? " in " : "", where ? where : "");
}

/* Do the data references of both sides differ only in addresses that the shifts do not allow? */
static void
put_why(struct diff *d)
{
	uint64_t a, b;

	if (!d->shift || d->a.pos == d->a.n || d->b.pos == d->b.n)
		return;
	a = d->a.w[d->a.pos];
	b = d->b.w[d->b.pos];
	if (a >> 48 == b >> 48 && ref_kind(a) != REF_INST && ref_kind(a) < REF_ENTER &&
	    !same_place(d, a, b))
		out_printf(d->out, "  %s\n", shift_why(d->shift));
}

void
report_difference(struct diff *d)
{
	long k, n = (long)d->context;

	while (d->a.n - d->a.pos <= (size_t)n && side_more(&d->a))
		;
	while (d->b.n - d->b.pos <= (size_t)n && side_more(&d->b))
		;
	out_printf(d->out, "%s %s differ: reference %" PRIu64 ", instruction %" PRIu64 "\n", in_name(d->a.in),
	    in_name(d->b.in), side_ref(&d->a, d->a.pos), side_inst(&d->a, d->a.pos));
	put_place(d, &d->a);
	put_place(d, &d->b);
	put_why(d);
	for (k = -n; k <= n; k++) {
		if (k < 0 && (d->a.pos < (size_t)-k || d->b.pos < (size_t)-k))
			continue;
		put_line(d, k ? ' ' : '>', k);
	}
}
