/* addrstat: sums of strides, and their table. */
#include <inttypes.h>
#include <stdlib.h>

#include "apps/addrstat/addrstat.h"
#include "base/mem.h"

void
stride_totals(const struct stride *s, struct stride_totals *u)
{
	const struct stride_counts *c = stride_counts(s);
	size_t n;

	*u = (struct stride_totals){ .same_address = c->width[48], .same_line = c->same_line };
	stride_slots(s, &n);
	u->first = n;
	for (unsigned i = 0; i < STRIDE_WIDTHS; i++) {
		u->strides += c->width[i];
		u->constant += c->constant[i];
	}
	u->accesses = u->first + u->strides;
}

/* Of the same number, the shorter stride first, and of these the positive one */
static int
often_before(const struct stride_often *a, const struct stride_often *b)
{
	int64_t x = a->stride < 0 ? -a->stride : a->stride, y = b->stride < 0 ? -b->stride : b->stride;

	if (a->n != b->n)
		return a->n > b->n;
	return x != y ? x < y : a->stride > b->stride;
}

size_t
stride_often(const struct stride *s, struct stride_often *v, size_t room)
{
	const struct stride_counts *c = stride_counts(s);
	size_t n = 0;

	for (int64_t d = -STRIDE_NEAR; d <= STRIDE_NEAR && room; d++) {
		struct stride_often o = { d, c->near[STRIDE_NEAR + d] };
		size_t i;

		if (!o.n || (n == room && !often_before(&o, &v[n - 1])))
			continue;
		n += n < room;
		for (i = n - 1; i && often_before(&o, &v[i - 1]); i--)
			v[i] = v[i - 1];
		v[i] = o;
	}
	return n;
}

static double
percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* Three widths together: less than 8 bytes, than 64, and so on */
static void
print_widths(struct buf *buf, const struct stride_counts *c)
{
	static const char *const name[] = { "1 to 7", "8 to 63", "64 to 511", "512 to 4095", "4k to 32k",
		"32k to 256k", "256k to 2M", "2M to 16M", "16M to 128M", "128M to 1G", "1G to 8G", "8G to 64G", "64G to 512G",
		"512G to 4T", "4T to 32T", "32T or more" };

	buf_printf(buf, "\n%-16s %18s %18s %18s\n", "stride, bytes", "forward", "backward", "as the one before");
	buf_printf(buf, "%-16s %18" PRIu64 " %18s %18" PRIu64 "\n", "0", c->width[48], "", c->constant[48]);
	for (unsigned g = 0; g < sizeof name / sizeof name[0]; g++) {
		uint64_t forward = 0, backward = 0, constant = 0;

		for (unsigned b = 3 * g + 1; b <= 3 * g + 3 && b <= 48; b++) {
			forward += c->width[48 + b];
			backward += c->width[48 - b];
			constant += c->constant[48 + b] + c->constant[48 - b];
		}
		if (forward || backward)
			buf_printf(buf, "%-16s %18" PRIu64 " %18" PRIu64 " %18" PRIu64 "\n", name[g], forward, backward,
			    constant);
	}
}

void
print_strides(struct buf *buf, const struct stride *s, size_t top)
{
	struct stride_often *v = xcalloc(top + 1, sizeof *v);
	struct stride_totals u;
	size_t n = stride_often(s, v, top);

	stride_totals(s, &u);
	buf_printf(buf, "\nstrides  %16" PRIu64 " accesses have one, and %" PRIu64 " are the first of an instruction\n",
	    u.strides, u.first);
	buf_printf(buf, "%25" PRIu64 " %5.1f%% of these go to the same line of 64 bytes\n", u.same_line,
	    percent(u.same_line, u.strides));
	buf_printf(buf, "%25" PRIu64 " %5.1f%% have the stride of the one before: it is constant\n", u.constant,
	    percent(u.constant, u.strides));
	print_widths(buf, stride_counts(s));
	buf_printf(buf, "\n%-16s %18s\n", "stride, bytes", "accesses");
	for (size_t i = 0; i < n; i++)
		buf_printf(buf, "%-+16" PRId64 " %18" PRIu64 " %5.1f%%\n", v[i].stride, v[i].n, percent(v[i].n, u.strides));
	free(v);
}
