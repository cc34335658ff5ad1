/*
 * The main program of every regenerator that aec makes: writes the references of a run from its
 * event file to standard output.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ae/regen/ae.h"
#include "base/diag.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/src.h"
#include "format/ref/ref.h"

/* the option that has only a long name */
enum { TASK = 256 };

static const struct opt regenerator_opts[] = {
	{ 'c', "count", NULL, "print the number of references instead of the references" },
	OPT_FORMAT,
	OPT_NOINST,
	OPT_NOLOOPS,
	OPT_QUIET_LIMIT,
	OPT_OUTPUT,
	OPT_PARENT,
	{ TASK, "task", "N", "only thread N" },
	{ 0 },
};

static const struct opt_tool regenerator_tool = {
	.does = "Recomputes the references of the program that aec(1) made it from, from the events of a run.",
	.synopsis = "[-cil] [-f format] [-m number] [-o file] [-p file] [--task number]\n"
	    "[ae.out]",
	.opt = regenerator_opts,
};

struct sink {
	struct out *out;
	int format, count_only;
	unsigned drop;                  /* kinds of references to leave out */
	int begun;                      /* the header has been written */
	uint64_t n;
	uint64_t keep[AE_BATCH];
};

/* Writes the header with the first references: the events may be missing or belong to another program. */
static void
regenerator_begin(struct sink *s)
{
	if (!s->begun && !s->count_only)
		out_commit(s->out, ae_put_header(s->format, out_reserve(s->out, AE_PUT_MAX)));
	s->begun = 1;
}

static int
regenerator_take(void *arg, const uint64_t *refs, size_t n)
{
	struct sink *s = arg;

	regenerator_begin(s);
	if (s->drop) {
		n = ref_without(s->keep, refs, n, s->drop);
		refs = s->keep;
	}
	s->n += n;
	while (n && !s->count_only) {
		size_t k = n < OUT_ROOM / AE_PUT_MAX ? n : OUT_ROOM / AE_PUT_MAX;

		out_commit(s->out, ae_put(s->format, out_reserve(s->out, k * AE_PUT_MAX), refs, k));
		refs += k;
		n -= k;
	}
	return 0;
}

static const char *
regenerator_options(int argc, char **argv, struct sink *s)
{
	const char *outname = NULL;
	uint64_t most, task;
	int c;

	while ((c = opt_next(&regenerator_tool, argc, argv)) != -1) {
		switch (c) {
		case 'f':
			s->format = ae_format(optarg);
			if (s->format < 0)
				opt_wrong(OPT_BAD_FORMAT);
			break;
		case 'i':
			s->drop |= 1u << REF_INST;
			break;
		case 'l':
			s->drop |= 1u << REF_ENTER | 1u << REF_BACK | 1u << REF_EXIT;
			break;
		case 'm':
			if (num_size(optarg, 1, UINT64_MAX, &most) != 0)
				opt_wrong(OPT_BAD_SIZE);
			ae_most(most);
			break;
		case 'c':
			s->count_only = 1;
			break;
		case 'o':
			outname = optarg;
			break;
		case 'p':
			ae_parent(optarg);
			break;
		case TASK:
			if (num_u64(optarg, 1, UINT32_MAX, &task) != 0)
				opt_wrong("not the number of a thread");
			ae_task((unsigned)task);
			break;
		}
	}
	opt_operands(argc, argv, 0, 1);
	return outname;
}

int
ae_main(int argc, char **argv)
{
	static struct sink s;
	const char *outname;
	int bad;

	diag_init(argv[0], 1);
	outname = regenerator_options(argc, argv, &s);
	s.out = out_open(outname);
	if (s.format == REF_ADDR && !s.count_only)
		out_binary(s.out, "a reference stream");
	progress_start(src_name(argv[optind]));
	bad = ae_recreate_batch(argv[optind], regenerator_take, &s);
	if (bad != -1)
		regenerator_begin(&s);
	if (s.count_only)
		out_printf(s.out, "%llu\n", (unsigned long long)s.n);
	if (bad == -1)
		out_discard(s.out);
	else
		out_close(s.out);
	if (bad)
		warn("%s", ae_error());
	else if (ae_note())
		warn("%s: %s", src_name(argv[optind]), ae_note());
	return bad != 0;
}
