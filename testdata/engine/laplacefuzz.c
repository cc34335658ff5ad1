/*
 * Damaged Laplace traces: readers take what has one encoding only, and the
 * model stays whole whatever the records say.
 *
 *   laplacefuzz [rounds [seed]]      random damage
 *   laplacefuzz -f file ...          files, as each of the formats
 */
#define FUZZ_OWN_MAIN
#include "../check.h"
#include "../random.h"
#include "../fuzz/fuzz.h"
#include "laplace/laplace.h"

static unsigned long taken, refused, wrong, looked;

static void
look(struct lap_model *m)
{
	for (uint64_t id = 0; id < 6; id++) {
		struct lap_space *s = lap_model_space(m, id);
		uint64_t a, b;

		for (int i = 0; s && i < 8; i++) {
			uint64_t page = rnd_below(4) ? rnd_below(40) : LAP_PAGES - 1 - rnd_below(3);
			int got = lap_model_page(m, s, page, &a);

			looked += got == 1;
			if (lap_model_page(m, s, page, &b) != got || (got == 1 && (a != b || a < LAP_PAGES)))
				wrong++;
		}
	}
}

static void
kernel(const uint8_t *p, size_t n)
{
	static struct lap_events r;
	struct in *in = in_mem(p, n, "memory");
	struct lap_model *m = lap_model_new();
	struct lap_task *t;
	struct lap_event e;
	int got;

	lap_events_open(&r, in);
	for (;;) {
		struct buf b = BUF_INIT;

		got = lap_events_read(&r, &e);
		if (got == 0 || (got < 0 && lap_events_skip(&r) != 0))
			break;
		if (got < 0) {
			refused++;
			continue;
		}
		taken++;
		lap_print_event(&b, &e);
		wrong += b.n != r.nline || memcmp(b.p, r.line, b.n) != 0;
		buf_free(&b);
		if (lap_model_event(m, &e, &t) != 0 && lap_model_error(m)->fatal)
			break;
		if (t && t->space)
			wrong += lap_model_space(m, t->space->id) != t->space && lap_model_running(m) == t;
		look(m);
	}
	lap_model_free(m);
	in_close(in);
}

static void
references(const uint8_t *p, size_t n)
{
	struct in *in = in_mem(p, n, "memory");
	struct lap_refs r;
	struct lap_ref v[7];
	uint8_t room[LAP_REF_MAX];
	int open = lap_refs_open(&r, in) == 0;
	uint64_t at = in_off(in);

	while (open) {
		long k = lap_refs_read(&r, v, 7);

		if (k == 0 || (k < 0 && lap_refs_skip(&r) != 0))
			break;
		if (k < 0) {
			refused++;
			at = in_off(in);
			continue;
		}
		for (long i = 0; i < k; i++) {
			size_t len = lap_put_ref(r.form, room, &v[i]);

			wrong += len > n - at || memcmp(p + at, room, len) != 0;
			at += len;
			taken++;
		}
	}
	in_close(in);
}

static void
merged(const uint8_t *p, size_t n)
{
	static char name[LAP_NAME_MAX];
	struct lap_merged r;
	struct in *in = in_mem(p, n, "memory");
	struct lap_item it;
	int open = lap_merged_open(&r, in, name) == 0;
	struct lap_last last = { .offsets = r.offsets > 0 };
	uint64_t at = in_off(in);

	while (open && lap_merged_read(&r, &it) == 1) {
		struct buf b = BUF_INIT;

		if (it.isevent)
			(r.packed ? lap_pack_event(&last, &b, &it.event) : lap_print_event(&b, &it.event));
		else
			b.n = (r.packed ? lap_pack_touch(&last, buf_reserve(&b, LAP_REF_MAX), &it.touch) :
			    lap_print_touch(buf_reserve(&b, LAP_REF_MAX), &it.touch));
		wrong += b.n > n - at || memcmp(p + at, b.p, b.n) != 0;
		at += b.n;
		wrong += at != in_off(in);
		taken++;
		buf_free(&b);
	}
	refused += r.err != NULL;
	in_close(in);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	rnd_state = 88172645463325252u;
	references(data, n);
	kernel(data, n);
	merged(data, n);
	if (wrong)
		abort();
	return 0;
}

#ifndef LIBFUZZER
/* Small numbers mostly, so that records have to do with each other; and the ends of all ranges */
static uint64_t
number(unsigned bits)
{
	static const uint64_t odd[] = { 0, 1, 0xfff, 0x1000, 0x1001, UINT32_MAX, UINT64_MAX,
	    UINT64_MAX - 0xfff, UINT64_C(1) << 63, UINT64_C(1) << 52 };
	uint64_t v = rnd_below(12) ? rnd_below(6) : odd[rnd_below(sizeof odd / sizeof *odd)];

	if (rnd_below(3) == 0 && bits == 64)
		v = rnd_below(40) << 12;
	return bits < 64 ? v & ((UINT64_C(1) << bits) - 1) : v;
}

static struct lap_event
event(uint64_t *time)
{
	struct lap_event e = { .kind = (enum lap_kind)rnd_below(LAP_NKINDS), .name = "n", .nname = 1 };

	*time += rnd_below(3);
	e.time = *time;
	e.type = 'f';
	for (unsigned i = 0; i < LAP_NFIELDS; i++)
		e.f[i] = number(lap_field_bits((enum lap_field)i));
	return e;
}

/* A trace of any form */
static void
make(struct buf *b, int what)
{
	struct lap_last last = { .offsets = what == 6 };
	uint64_t time = 0;
	int packed = what == 4 || what == 6, offsets = what >= 6;

	if (what == 1 || packed) {
		lap_put_header(buf_reserve(b, LAP_HEADER), what == 1 ? LAP_H_REFS : offsets ? LAP_H_OFFSETS : LAP_H_MERGED);
		b->n += LAP_HEADER;
	}
	for (uint64_t i = 0, n = 1 + rnd_below(120); i < n; i++) {
		struct lap_event e = event(&time);
		struct lap_touch t = { time, rnd_below(50), rnd_below(50), (uint8_t)rnd_below(6),
		    (uint8_t)(1 + rnd_below(8)), (uint16_t)(offsets ? 1 + rnd_below(4089) : 0) };
		struct lap_ref v = { time, rnd_below(50), rnd_below(50), (uint8_t)rnd_below(6),
		    (uint8_t)(1 + rnd_below(255)) };
		uint8_t *p = buf_reserve(b, LAP_REF_MAX);

		if (what < 3)
			b->n += lap_put_ref((enum lap_form)what, p, &v);
		else if (what == 3 || rnd_below(3) == 0)
			(packed ? lap_pack_event(&last, b, &e) : lap_print_event(b, &e));
		else
			b->n += packed ? lap_pack_touch(&last, p, &t) : lap_print_touch(p, &t);
	}
}

static void
damage(struct buf *b)
{
	for (uint64_t i = 0, n = rnd_below(4); i < n && b->n; i++) {
		size_t at = rnd_below(b->n), k = 1 + rnd_below(40);

		if (k > b->n - at)
			k = b->n - at;
		switch (rnd_below(5)) {
		case 0: b->p[at] = (uint8_t)rnd_below(256); break;
		case 1: b->p[at] ^= (uint8_t)(1 << rnd_below(8)); break;
		case 2: memmove(b->p + at, b->p + at + k, b->n - at - k); b->n -= k; break;
		case 3: memmove(b->p + rnd_below(b->n - k + 1), b->p + at, k); break;
		default: b->p[at] = (uint8_t)" \n0\\-rS\177\200\377"[rnd_below(10)]; break;
		}
	}
}

int
main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;

	if (argc > 2 && !strcmp(argv[1], "-f"))
		return fuzz_files(argc - 1, argv + 1);
	if (argc > 2)
		rnd_state = strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15u | 1;
	for (unsigned long i = 0; i < n && !wrong; i++) {
		struct buf b = BUF_INIT;
		int what = (int)rnd_below(8);

		make(&b, what);
		damage(&b);
		if (what < 3)
			references(b.p, b.n);
		else if (what == 3)
			kernel(b.p, b.n);
		else
			merged(b.p, b.n);
		buf_free(&b);
		if (wrong)
			printf("# round %lu, form %d\n", i, what);
	}
	printf("# %lu records taken, %lu refused, %lu pages found\n", taken, refused, looked);
	CHECK("what is taken is written the same, and the model stays whole", !wrong);
	CHECK("some were taken, some refused, some pages mapped", taken > n && refused > n / 10 &&
	    looked > n / 10);
	return check_end();
}
#endif
