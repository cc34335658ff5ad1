/*
 * Value streams that are damaged: cut off at every byte, and with every bit
 * flipped, what comes is a beginning of it and a fault.
 */
#include "../check.h"
#include "streams.h"

/* The offset of each block of a file, and of the index after them. */
static size_t
places(const struct text *out, uint64_t *off, size_t max)
{
	struct fault f;
	struct vs_reader *r = vs_open_mem(out->p, out->n, &f);
	const struct vs_index *x = vs_index(r, &f);
	size_t n = x->n;

	if (n + 1 > max)
		abort();
	for (size_t i = 0; i < n; i++)
		off[i] = x->e[i].off;
	off[n] = n ? x->e[n - 1].off + x->e[n - 1].size : vs_info(r)->nhead + 26 + vs_info(r)->layout.nfield;
	vs_close(r);
	return n;
}

static int full;        /* MATRIX=full: more of what is alike */
static const char *const small[] = { "8", "4,8", "addr" };

static void
test_cut(void)
{
	struct text in = { 0 }, out = { 0 }, t = { 0 };
	struct vs_options o;
	uint64_t off[64];
	int copy = 1, index = 1, walk = 1;

	for (int i = 0; i < 6; i++) {
		size_t nblock, rec, whole;

		options(&o, small[i % 3]);
		o.level = i < 3 ? 0 : 9;
		o.method = -1;
		o.group = 0;
		o.block = o.first = 100;
		make(&in, 3100 + (size_t)i);
		pack(&out, &in, &o, 0);
		rec = vs_record_size(&o.layout);
		nblock = places(&out, off, 64);
		/* what -9 makes takes long to read: not at every byte */
		for (size_t n = 0; n < out.n; n += i < 3 || full ? 1 : 7) {
			uint8_t *p = malloc(n + 1);
			struct fault f;
			struct vs_reader *r;

			memcpy(p, out.p, n);
			r = vs_open_mem(p, n, &f);
			if (n >= off[0] ? !r : r != NULL)
				copy = 0;
			for (whole = 0; whole < nblock && off[whole + 1] <= n; whole++)
				;
			whole = whole == nblock ? in.n / rec : whole * o.block;
			t.n = 0;
			if (r) {
				const struct vs_index *x;

				copy &= vs_copy(r, 1, keep, &t, &f) == -1 && t.n == whole * rec &&
				    same(t.p, in.p, t.n);
				copy &= strstr(f.err, "cut off") != NULL || strstr(f.err, "end mark") != NULL;
				x = vs_index(r, &f);
				index &= x && !x->whole && x->nrec == whole && x->fault.err[0];
				t.n = 0;
				walk &= vs_walk(r, 0, whole, 0, 1, keep, &t, &f) == 0 && t.n == whole * rec &&
				    same(t.p, in.p, t.n);
			}
			vs_close(r);
			free(p);
		}
	}
	CHECK("cut off anywhere: the whole blocks before, and a fault", copy);
	CHECK("cut off anywhere: the blocks are found without an index", index);
	CHECK("and read", walk);
	free(in.p);
	free(out.p);
	free(t.p);
}

/* One bit of out is another: what vs_copy, vs_walk and the cursor say.  1 if all of them are right. */
static int
flipped(const struct text *in, struct text *out, const struct vs_options *o, const uint64_t *off,
    size_t nblock, size_t at,
	struct text *t)
{
	size_t rec = vs_record_size(&o->layout), no, before = 0;
	struct fault f;
	struct vs_reader *r = vs_open_mem(out->p, out->n, &f);
	char name[32];
	int ok = 1;

	if (at < off[0]) {
		ok = !r;
		vs_close(r);
		return ok;
	}
	if (!r)
		return 0;
	for (no = 0; no < nblock && off[no + 1] <= at; no++)
		;
	before = no == nblock ? in->n / rec : no * o->block;
	t->n = 0;
	ok = vs_copy(r, at % 16 ? 1 : 2, keep, t, &f) == -1 && t->n == before * rec &&
	    same(t->p, in->p, t->n);
	if (no < nblock) {
		snprintf(name, sizeof(name), "block %zu ", no + 1);
		ok = ok && strstr(f.err, name) && f.rec == before && f.off >= off[no] && f.off < off[no + 1];
		/* the others can be read: those after it if the first is good, backward, too */
		t->n = 0;
		ok = ok && vs_walk(r, before + o->block, UINT64_MAX, 1, 1, keep, t, &f) == (no &&
		    no + 1 < nblock ? 0 : no ? 0 : -1);
		if (no && no + 1 < nblock)
			ok = ok && t->n == (in->n / rec - before - o->block) * rec;
		t->n = 0;
		ok = ok && vs_walk(r, 0, UINT64_MAX, 1, at % 16 == 1 ? 2 : 1, keep, t, &f) == -1 &&
		    strstr(f.err, name);
		ok = ok && (!no || t->n == (in->n / rec > before + o->block ?
		    in->n / rec - before - o->block : 0) * rec);
	} else {
		ok = ok && (strstr(f.err, "index") || strstr(f.err, "end mark"));
		ok = ok && vs_index(r, &f) && !vs_index(r, &f)->whole && vs_index(r, &f)->nrec == in->n / rec;
	}
	if (!ok)
		printf("# bit of byte %zu, block %zu of %zu: %s\n", at, no + 1, nblock, f.err);
	vs_close(r);
	return ok;
}

static void
test_flip(void)
{
	struct text in = { 0 }, out = { 0 }, t = { 0 };
	struct vs_options o;
	uint64_t off[64];
	int good = 1;

	for (int i = 0; i < 6; i++) {
		size_t nblock;

		options(&o, small[i % 3]);
		o.level = i < 3 ? 0 : 9;
		o.method = -1;
		o.group = 0;
		o.block = o.first = 60;
		make(&in, i < 3 ? 1001 : 2001);
		pack(&out, &in, &o, 0);
		nblock = places(&out, off, 64);
		/* what is packed: one bit of each byte, another one each time */
		for (size_t k = 0; k < out.n * 8 && good; k += i < 3 ? full ? 1 : 5 : full ? 9 : 47) {
			out.p[k / 8] ^= (uint8_t)(1u << k % 8);
			good &= flipped(&in, &out, &o, off, nblock, k / 8, &t);
			out.p[k / 8] ^= (uint8_t)(1u << k % 8);
		}
	}
	CHECK("a flipped bit: found, the block named, all before delivered, the others there", good);
	free(in.p);
	free(out.p);
	free(t.p);
}

int
main(void)
{
	full = getenv("MATRIX") && !strcmp(getenv("MATRIX"), "full");
	test_cut();
	test_flip();
	return check_end();
}
