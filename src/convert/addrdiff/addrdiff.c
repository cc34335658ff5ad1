/* addrdiff: compare two reference streams, lackey logs or captures. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/src.h"
#include "convert/addrdiff/addrdiff.h"

enum { RANGE = 256, LOAD };

static const struct opt addrdiff_opts[] = {
	{ 'a', "odd-regions", "N", "with -s: allow N regions moved by a multiple of 16, not of a page (0)" },
	{ 'c', "conventions", NULL, "take instructions for the same if the conventions of ref(5) say so" },
	{ 'd', "dead-loads", NULL, "allow loads on one side that a log on the other side lacks" },
	{ 'e', "executable", "PROG", "compare only instructions of PROG's traced functions; again for its libraries" },
	{ 'l', "no-loops", NULL, "leave loop and task events out" },
	{ LOAD, "load", "A[:B]", "with -e: PROG was loaded at address A, in the second trace at B; hexadecimal" },
	{ 'n', "context", "N", "show N references before and after a difference (3)" },
	{ 'q', "quiet", NULL, "print nothing; the exit status says whether there is a difference" },
	{ RANGE, "range", "FROM:TO", "compare only from instruction FROM, counted from 0, up to before TO" },
	{ 's', "shifts", NULL, "allow each region of memory to be at another address on the other side" },
	{ 'v', "verbose", NULL, "if there is no difference, print how much was compared" },
	{ 0 },
};

static const struct opt_tool addrdiff_tool = {
	.does = "Compares two traces or captures, or one with valgrind's lackey log; prints the first difference.",
	.synopsis = "[-cdlqsv] [-a regions] [-e prog [--load a[:b]]] ... [-n context]\n"
	    "[--range from:to] a b",
	.example = "ae2addr prog ae.out | addrdiff -v -s -e prog - prog.log",
	.opt = addrdiff_opts,
};

/* Number of equal references from pos on, of the n that both sides have. */
static size_t
addrdiff_common(struct diff *d, size_t n)
{
	const uint64_t *a = d->a.w + d->a.pos, *b = d->b.w + d->b.pos;
	size_t i;

	if (!d->shift) {
		for (i = 0; i < n && a[i] == b[i]; i++)
			;
		return i;
	}
	for (i = 0; i < n; i++) {
		unsigned kind = ref_kind(a[i]);

		if (kind == REF_INST || kind >= REF_ENTER) {
			if (a[i] != b[i])
				break;
		} else if (a[i] >> 48 != b[i] >> 48 || !same_place(d, a[i], b[i])) {
			break;
		}
	}
	return i;
}

/* 0: the sides are equal; 1: there is a difference. */
static int
addrdiff_compare(struct diff *d)
{
	struct side *a = &d->a, *b = &d->b;

	for (;;) {
		int morea = a->pos < a->n || side_more(a);
		int moreb = b->pos < b->n || side_more(b);
		size_t n = a->n - a->pos, k;

		/* a fault hides what would follow: it is reported instead of a difference in length */
		if (!morea && a->fault)
			side_die(a);
		if (!moreb && b->fault)
			side_die(b);
		if (!morea && !moreb)
			return 0;
		if (n > b->n - b->pos)
			n = b->n - b->pos;
		k = addrdiff_common(d, n);
		a->pos += k;
		b->pos += k;
		if (k < n || !morea || !moreb) {
			if (d->conventions && match_instruction(d))
				continue;
			return 1;
		}
	}
}

static void
addrdiff_summary(struct diff *d)
{
	out_printf(d->out, "%s %s are the same: %" PRIu64 " references, %" PRIu64 " instructions\n",
	    in_name(d->a.in), in_name(d->b.in), d->a.nref + d->a.n - d->a.refs_before,
	    side_inst(&d->a, d->a.n) - d->a.insts_before);
	if (d->joined)
		out_printf(d->out, "same by convention only: %" PRIu64 " instructions\n", d->joined);
	if (d->dead)
		out_printf(d->out, "loads that the log lacks: %" PRIu64 "\n", d->dead);
	if (d->shift)
		shift_print(d->shift, d->out);
}

#define LOADS 66                /* as many files as there can be */

/* Addresses of --load, on both sides; a file that is always at the same has 0 */
struct loads { size_t n; uint64_t at[2][LOADS]; };

/* 0x555555554000, or 0x555555554000:0x108000 */
static void
addrdiff_load(struct loads *l, const char *s)
{
	uint64_t a, b;
	char *end;

	errno = 0;
	a = b = strtoull(s, &end, 16);
	if (end != s && *end == ':')
		b = strtoull(s = end + 1, &end, 16);
	if (errno || end == s || *end || !isxdigit((unsigned char)*s) || (a | b) & 4095 || l->n == LOADS)
		opt_wrong("not an address of a page, or two, in hexadecimal");
	l->at[0][l->n] = a;
	l->at[1][l->n++] = b;
}

/* Each position independent file has its --load, in this order; moves these to the numbers of the files. */
static void
addrdiff_loads(const struct prog *p, struct loads *l, char *const *path)
{
	struct loads given = *l;
	size_t k = 0;

	for (l->n = 0; p; p = prog_next(p), l->n++) {
		int moves = prog_moves(p);

		if (moves && k == given.n)
			die_usage("%s is position independent: --load says where it was loaded", src_name(path[l->n]));
		for (int i = 0; i < 2; i++)
			l->at[i][l->n] = moves ? given.at[i][k] : 0;
		k += (size_t)moves;
	}
	if (k < given.n)
		die_usage("--load is of a position independent program, named by -e");
}

static struct side *
addrdiff_other(struct diff *d, struct side *s)
{
	return s == &d->a ? &d->b : &d->a;
}

int
main(int argc, char **argv)
{
	struct diff d;
	static struct loads load;
	char *prog[LOADS];
	size_t nprog = 0;
	int c, noloops = 0, shifts = 0, r;
	uint64_t n = 3, odd = 0, from = 0, to = UINT64_MAX;
	struct side *s;

	diag_init(argv[0], 2);
	memset(&d, 0, sizeof(d));
	while ((c = opt_next(&addrdiff_tool, argc, argv)) != -1) {
		switch (c) {
		case 'a':
			if (num_u64(optarg, 0, 60, &odd) < 0)
				opt_wrong("not a number from 0 to 60");
			break;
		case 'c':
			d.conventions = 1;
			break;
		case 'd':
			d.deadloads = 1;
			break;
		case 'e':
			if (nprog == LOADS)
				opt_wrong("too many files");
			prog[nprog++] = optarg;
			break;
		case 'l':
			noloops = 1;
			break;
		case LOAD:
			addrdiff_load(&load, optarg);
			break;
		case 'n':
			if (num_u64(optarg, 0, CONTEXT_MAX, &n) < 0)
				opt_wrong("not a number from 0 to %d", CONTEXT_MAX);
			break;
		case 'q':
			d.quiet = 1;
			break;
		case RANGE:
			if (num_range(optarg, UINT64_MAX, &from, &to) != 0)
				opt_wrong(OPT_BAD_RANGE);
			break;
		case 's':
			shifts = 1;
			break;
		case 'v':
			d.verbose = 1;
			break;
		}
	}
	opt_operands(argc, argv, 2, 2);
	if (src_is_stdin(argv[optind]) && src_is_stdin(argv[optind + 1]))
		die("only one of the two can be standard input");
	d.context = (size_t)n;
	for (size_t i = 0; i < nprog; i++) {
		struct prog *p = prog_open(prog[i], d.prog);

		d.prog = d.prog ? d.prog : p;
	}
	addrdiff_loads(d.prog, &load, prog);
	if (!d.quiet)
		progress_start(NULL);
	side_open(&d.a, argv[optind], d.quiet);
	side_open(&d.b, argv[optind + 1], d.quiet);
	d.a.load = load.at[0];
	d.b.load = load.at[1];
	for (s = &d.a; ; s = &d.b) {
		s->prog = d.prog;
		s->from = from;
		s->to = to;
		s->noloops = noloops || addrdiff_other(&d, s)->log;
		if (s->log)
			d.conventions = 1;
		if (s == &d.b)
			break;
	}
	d.out = out_open(NULL);
	if (shifts)
		d.shift = shift_new(d.prog, 1 + (unsigned)odd);
	r = addrdiff_compare(&d);
	if (r && !d.quiet)
		report_difference(&d);
	else if (!r && d.verbose && !d.quiet)
		addrdiff_summary(&d);
	if (!d.quiet && d.a.seen < from && d.b.seen < from)
		warn("nothing is in this range: %s has %" PRIu64 " instructions, %s %" PRIu64, in_name(d.a.in), d.a.seen,
		    in_name(d.b.in), d.b.seen);
	out_close(d.out);
	/* damage of the input may cause a difference; the checksum at its end shows that */
	side_read_to_end(&d.a);
	side_read_to_end(&d.b);
	side_close(&d.a);
	side_close(&d.b);
	shift_free(d.shift);
	prog_close(d.prog);
	return r;
}
