/* laplace-text: convert binary Laplace traces to text, and back. */
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/src.h"
#include "format/laplace/laplace.h"

#define BATCH 1024              /* records read at once */

enum { OFFSETS = 256 };

static const struct opt laplace_text_opts[] = {
	{ 'b', "binary", NULL, "the other way: text to binary references" },
	{ 'm', "merged", NULL, "with -b: the text is a merged trace" },
	{ OFFSETS, "offsets", NULL, "with -bm: its references have offsets" },
	OPT_OUTPUT,
	{ 'w', "wide", NULL, "with -b: references of 26 bytes after a header, for 64-bit addresses" },
	{ 0 },
};

static const struct opt_tool laplace_text_tool = {
	.does = "Prints a raw reference trace or a merged trace as text, and makes them from text.",
	.synopsis = "[-b [-m [--offsets] | -w]] [-o file] [file]",
	.example = "laplace-text refs | head",
	.opt = laplace_text_opts,
};

struct job {
	int binary, merged, offsets, wide;
	uint32_t sum;                   /* checksum of what was packed */
	struct in *in;
	struct out *out;
};

/* On a fault, writes what came before to standard output, but creates no file. */
static _Noreturn void
laplace_text_stop(struct job *j, uint64_t off, uint64_t rec, const char *what)
{
	if (j->out)
		out_discard(j->out);
	die_at(in_name(j->in), off, rec, "%s", what);
}

/* Does the input begin with an event of a merged trace as text? References begin with other types. */
static int
laplace_text_is_merged(struct job *j)
{
	size_t n, i = 1;
	const uint8_t *p = in_peek(j->in, 32, &n);

	while (i < n && (p[i] == ' ' || (p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
		i++;
	return i > 6 && p[0] > ' ' && p[0] <= '~' && !memchr("rwiRWI", p[0], 6) && p[1] == ' ';
}

static void
laplace_text_raw(struct job *j)
{
	struct lap_ref v[BATCH];
	struct lap_refs r;
	enum lap_form to = !j->binary ? LAP_TEXT : j->wide ? LAP_WIDE : LAP_CLASSIC;
	uint64_t off = 0;
	size_t have;
	long n = lap_refs_open(&r, j->in);

	if (n < 0)
		laplace_text_stop(j, r.off, DIAG_NOREC, r.err);
	in_peek(j->in, 1, &have);
	if (j->binary && (r.form == LAP_WIDE || (r.form == LAP_CLASSIC && have)))
		laplace_text_stop(j, 0, DIAG_NOREC, "not references as text");
	if (!j->binary && r.form == LAP_TEXT)
		laplace_text_stop(j, 0, DIAG_NOREC, "text already (-b makes binary of it)");
	if (!j->binary && laplace_text_is_merged(j))
		laplace_text_stop(j, 0, DIAG_NOREC, "text already, of a merged trace (-b -m makes binary of it)");
	if (to == LAP_WIDE) {
		lap_put_header(out_reserve(j->out, LAP_HEADER), LAP_H_REFS);
		out_commit(j->out, LAP_HEADER);
	}
	while ((n = lap_refs_read(&r, v, BATCH)) > 0) {
		uint8_t *p = out_reserve(j->out, BATCH * LAP_REF_MAX), *q = p;

		for (long i = 0; i < n; i++) {
			if (to == LAP_CLASSIC && !lap_fits_classic(&v[i])) {
				out_commit(j->out, (size_t)(q - p));
				laplace_text_stop(j, off, r.nrec - (uint64_t)(n - i),
				    "more than 32 bits, which need the wide form (-w)");
			}
			if (to == LAP_CLASSIC)
				off += lap_put_ref(LAP_TEXT, q, &v[i]);
			q += lap_put_ref(to, q, &v[i]);
		}
		out_commit(j->out, (size_t)(q - p));
	}
	if (n < 0)
		laplace_text_stop(j, r.off, r.nrec, r.err);
}

static void
laplace_text_packed(struct job *j, const uint8_t *p, size_t n)
{
	j->sum = lap_sum(j->sum, p, n);
	out_write(j->out, p, n);
}

static void
laplace_text_merged(struct job *j)
{
	static char name[LAP_NAME_MAX];
	struct lap_merged r;
	struct lap_item it;
	struct lap_last last = { .offsets = j->offsets };
	uint8_t p[LAP_REF_MAX];
	struct buf b = BUF_INIT;
	int got = lap_merged_open(&r, j->in, name);

	if (got < 0)
		laplace_text_stop(j, r.off, DIAG_NOREC, r.err);
	if (j->binary && r.packed)
		laplace_text_stop(j, 0, DIAG_NOREC, "not a merged trace as text");
	if (j->binary) {
		lap_put_header(p, j->offsets ? LAP_H_OFFSETS : LAP_H_MERGED);
		laplace_text_packed(j, p, LAP_HEADER);
	}
	while ((got = lap_merged_read(&r, &it)) > 0) {
		uint64_t time = it.isevent ? it.event.time : it.touch.time;

		if (j->binary && time < last.time)
			laplace_text_stop(j, in_off(j->in), r.nrec - 1,
			    "a time before that of the record before it");
		if (j->binary && !it.isevent && r.offsets != j->offsets)
			laplace_text_stop(j, in_off(j->in), r.nrec - 1, j->offsets ?
			    "a reference without an offset" : "a reference with an offset, which needs --offsets");
		if (!it.isevent) {
			if (j->binary)
				laplace_text_packed(j, p, lap_pack_touch(&last, p, &it.touch));
			else
				out_commit(j->out,
				    lap_print_touch(out_reserve(j->out, LAP_REF_MAX), &it.touch));
			continue;
		}
		b.n = 0;
		if (j->binary)
			lap_pack_event(&last, &b, &it.event);
		else
			lap_print_event(&b, &it.event);
		if (b.nomem)
			die("out of memory");
		if (j->binary)
			laplace_text_packed(j, b.p, b.n);
		else
			out_write(j->out, b.p, b.n);
	}
	if (got < 0)
		laplace_text_stop(j, r.off, r.nrec, r.err);
	if (j->binary) {
		lap_pack_end(p, j->sum);
		out_write(j->out, p, LAP_TRAILER);
	}
	buf_free(&b);
}

int
main(int argc, char **argv)
{
	struct job j = { .binary = 0 };
	const char *outname = NULL;
	const uint8_t *p;
	size_t n;
	int c;

	diag_init(argv[0], 1);
	while ((c = opt_next(&laplace_text_tool, argc, argv)) != -1)
		switch (c) {
		case 'b': j.binary = 1; break;
		case 'm': j.merged = 1; break;
		case OFFSETS: j.offsets = 1; break;
		case 'o': outname = optarg; break;
		case 'w': j.wide = 1; break;
		}
	opt_operands(argc, argv, 0, 1);
	if (j.merged && j.wide)
		die_usage("only one of -m and -w can be given");
	if (!j.binary && (j.merged || j.wide))
		die_usage("-%c is for -b", j.merged ? 'm' : 'w');
	if (j.offsets && !j.merged)
		die_usage("--offsets is for -b -m");
	progress_start(src_name(argv[optind]));
	j.in = in_open(argv[optind]);
	j.out = out_open(outname);
	if (j.binary)
		out_binary(j.out, "a binary trace");
	p = in_peek(j.in, LAP_HEADER, &n);
	if (j.merged || (!j.binary && lap_is_packed(p, n)))
		laplace_text_merged(&j);
	else
		laplace_text_raw(&j);
	out_close(j.out);
	in_close(j.in);
	return 0;
}
