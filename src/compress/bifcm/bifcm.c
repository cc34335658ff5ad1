/* bifcm: compress streams of values, and read them forward, backward or from any place */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/opt.h"
#include "compress/bifcm/bifcm.h"
#include "format/ref/ref.h"

static const struct opt bifcm_opts[] = {
	OPT_LEVELS("to -9: from storing only to smallest (6)"),
	{ 'b', "block", "N[,FIRST]", "values or records in a block, and in the first one" },
	{ 'd', "decompress", NULL, "decompress" },
	{ 'H', "header", "BYTES", "store the first BYTES of the input separately" },
	{ 'l', "list", NULL, "list what a compressed file contains" },
	{ 'm', "method", "METHOD", "code all columns by METHOD; ? for METHOD prints their names" },
	{ 'n', "count", "N", "with -d: write at most N records" },
	OPT_OUTPUT,
	{ 'R', "reverse", NULL, "with -d: write the records in reverse order" },
	{ 'r', "record", "LAYOUT", "records of fields: their widths (4,8), or addr, a reference stream" },
	{ 's', "start", "N", "with -d: leave out the first N records" },
	{ 'T', "threads", "N", "use N threads; 0: one for each processor (1)" },
	{ 't', "test", NULL, "decompress, compare all checksums, and write nothing" },
	{ 'v', "verbose", NULL, "with -l: also print a line for each block" },
	{ 'w', "width", "BYTES", "values of 1, 2, 4 or 8 bytes (8)" },
	{ 0 },
};

static const struct opt_tool bifcm_tool = {
	.does = "Compresses the output of these tools, or any stream of integers of a fixed width.\n"
	    "Any part of the result can be read, in both directions.",
	.synopsis = "[-0..-9] [-b n[,first]] [-H bytes] [-m method] [-r layout | -w bytes] [-T n] [-o file] [file]\n"
	    "-d [-R] [-s start] [-n count] [-T n] [-o file] [file]\n"
	    "-l [-v] [-o file] [file]\n"
	    "-t [-T n] [file]",
	.example = "ae2addr prog ae.out | bifcm -r addr -o prog.bif; bifcm -d prog.bif | addrdiff - other.refs",
	.opt = bifcm_opts,
};

#define PIECE (256u << 10)      /* bytes read at once */
#define LEVEL 6                 /* the default level */

enum action { COMPRESS, DECOMPRESS, LIST, TEST };

struct args {
	enum action action;
	struct vs_options o;
	uint64_t nhead, start, count;
	int refs;               /* a reference stream, with its header */
	int backward, part, each, sizes;
	const char *outname;
	int given;              /* an option of compression was given: it excludes other actions */
};

static int
bifcm_put(void *arg, const void *p, size_t n)
{
	out_write(arg, p, n);
	return 0;
}

static int
bifcm_ignore(void *arg, const void *p, size_t n)
{
	(void)arg, (void)p, (void)n;
	return 0;
}

static void
bifcm_compress(struct input *in, struct args *a)
{
	struct out *out;
	uint8_t *p = xmalloc(PIECE), *head = xmalloc(a->nhead + 1);
	struct vs_writer *w;
	struct fault f;
	size_t n;

	a->o.head = head;
	a->o.nhead = input_read(in, head, a->nhead);
	if (a->refs && !ref_is_stream(head, a->o.nhead))
		die_at(in->name, 0, DIAG_NOREC,
		    "not a reference stream; if its header is missing, use -H 0");
	n = input_read(in, p, PIECE);   /* nothing is written before the input is known to be readable */
	out = out_create(a->outname, out_mode_of(in->path));
	out_binary(out, "a compressed stream");
	w = vs_create(bifcm_put, out, &a->o, &f);
	if (!w)
		die("%s", f.err);
	for (; n; n = input_read(in, p, PIECE))
		if (vs_write(w, p, n) != 0)
			die("%s", vs_write_fault(w)->err);
	if (vs_finish(w) != 0)
		die("%s", vs_write_fault(w)->err);
	vs_free(w);
	out_close(out);
	free(head);
	free(p);
}

/* Writes what was read before a fault, then reports the fault. */
static void
bifcm_decompress(struct input *in, struct vs_reader *r, struct out *out, const struct args *a)
{
	const struct vs_info *info = vs_info(r);
	const struct vs_index *x;
	struct fault f;
	int bad;

	out_write(out, info->head, info->nhead);
	if (!a->part)
		bad = vs_copy(r, a->o.threads, bifcm_put, out, &f);
	else
		bad = vs_walk(r, a->start, a->count, a->backward, a->o.threads, bifcm_put, out, &f);
	if (!bad && a->part && (x = vs_index(r, &f)) && !x->whole) {
		f = x->fault;
		bad = -1;
	}
	if (bad) {
		out_discard(out);
		die_fault(in->name, &f);
	}
}

static void
bifcm_expand(struct input *in, const struct args *a)
{
	struct fault f;
	struct vs_reader *r;
	struct out *out;

	if (a->part || a->action == LIST)
		input_spool(in);
	r = vs_open(in->fd, &f);
	if (!r)
		die_fault(in->name, &f);
	if (a->action == TEST) {
		if (vs_copy(r, a->o.threads, bifcm_ignore, NULL, &f) != 0)
			die_fault(in->name, &f);
		vs_close(r);
		return;
	}
	out = out_create(a->outname, out_mode_of(in->path));
	if (a->action == LIST) {
		bifcm_list_print(r, in, out, a->each);
		if (!vs_index(r, &f)->whole) {
			f = vs_index(r, &f)->fault;
			out_discard(out);
			die_fault(in->name, &f);
		}
	} else {
		bifcm_decompress(in, r, out, a);
	}
	out_close(out);
	vs_close(r);
}

/* Records of a block; after a comma, those of the first block, if different. */
static void
bifcm_blocks(struct vs_options *o, const char *s)
{
	const char *comma = strchr(s, ',');
	char *block = comma ? xasprintf("%.*s", (int)(comma - s), s) : xstrdup(s);

	o->block = (uint32_t)opt_size(block, 1, VC_MAX);
	o->first = comma ? (uint32_t)opt_size(comma + 1, 1, VC_MAX) : o->block;
	free(block);
}

/* Default sizes. */
static void
bifcm_sizes(struct vs_options *o)
{
	/* in memory a one-byte value takes eight bytes */
	o->first = vs_record_size(&o->layout) == 1 ? 2 * VS_FIRST : VS_FIRST;
	if (o->method >= 0)
		return;
	if (o->level < 4)       /* references are five columns */
		o->block = o->first = o->layout.ref ? VS_GROUP / 2 : VS_GROUP;
	else
		o->group = VS_GROUP;
}

static int
bifcm_method(const char *name)
{
	struct buf b = BUF_INIT;
	int m = vc_by_name(name);

	if (m >= 0)
		return m;
	for (unsigned i = 0; i < 256; i++)
		if (vc_name(i))
			buf_printf(&b, "%s%s", b.n ? ", " : "", vc_name(i));
	buf_u8(&b, 0);
	if (strcmp(name, "?") != 0)
		opt_wrong("not a method; there are %s", b.p ? (char *)b.p : "");
	printf("%s\n", b.p ? (char *)b.p : "");
	diag_flush();
	exit(0);
}

static unsigned
bifcm_threads(const char *s)
{
	unsigned n = (unsigned)opt_size(s, 0, VS_THREADS);
	long cpus = n ? 0 : sysconf(_SC_NPROCESSORS_ONLN);

	return n ? n : cpus < 1 ? 1 : cpus > (long)VS_THREADS ? VS_THREADS : (unsigned)cpus;
}

static void
bifcm_action(struct args *a, enum action w)
{
	if (a->action != COMPRESS && a->action != w)
		die_usage("only one of -d, -l and -t can be given");
	a->action = w;
}

/* Options of compression; 0: it is none of them. */
static int
option_compress(struct args *a, int c, int *layout)
{
	switch (c) {
	case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
		/* -10 is not level 1 and level 0 */
		if (*layout & 4)
			opt_wrong("only one level can be given, from -0 to -9");
		*layout |= 4;
		a->o.level = c - '0';
		break;
	case 'b':
		bifcm_blocks(&a->o, optarg);
		a->sizes = 1;
		break;
	case 'H':
		a->nhead = opt_size(optarg, 0, VS_HEAD_MAX);
		*layout |= 2;
		break;
	case 'm':
		a->o.method = bifcm_method(optarg);
		break;
	case 'r':
	case 'w':
		if (*layout & 1)
			die_usage("only one of -r and -w can be given, once");
		if (c == 'w' && (!*optarg || optarg[1] || !strchr("1248", *optarg)))
			opt_wrong("not a width; there are 1, 2, 4 and 8");
		if (vs_layout_parse(&a->o.layout, optarg) != 0)
			opt_wrong("not a layout; there are addr, "
			    "and up to eight widths of 1, 2, 4 or 8, separated by commas");
		*layout |= 1;
		break;
	default:
		return 0;
	}
	a->given |= 1;
	return 1;
}

static void
bifcm_option(struct args *a, int c, int *layout)
{
	if (option_compress(a, c, layout))
		return;
	switch (c) {
	case 'd':
		bifcm_action(a, DECOMPRESS);
		break;
	case 'l':
		bifcm_action(a, LIST);
		break;
	case 't':
		bifcm_action(a, TEST);
		break;
	case 'n':
		a->count = opt_size(optarg, 0, UINT64_MAX);
		a->part = 1;
		break;
	case 's':
		a->start = opt_size(optarg, 0, UINT64_MAX);
		a->part = 1;
		break;
	case 'R':
		a->backward = a->part = 1;
		break;
	case 'T':
		a->o.threads = bifcm_threads(optarg);
		break;
	case 'o':
		a->outname = optarg;
		break;
	case 'v':
		a->each = 1;
		break;
	}
}

int
main(int argc, char **argv)
{
	struct args a = { .o = { .level = LEVEL, .method = -1, .threads = 1 }, .count = UINT64_MAX };
	struct input in;
	int c, layout = 0;

	diag_init(argv[0], 1);
#ifdef M_MMAP_THRESHOLD
	/* memory of large allocations is returned to the system when freed */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
	vs_layout_parse(&a.o.layout, "8");
	while ((c = opt_next(&bifcm_tool, argc, argv)) != -1)
		bifcm_option(&a, c, &layout);
	opt_operands(argc, argv, 0, 1);
	if (a.given && a.action != COMPRESS)
		die_usage("levels, -b, -H, -m, -r and -w cannot be used with -d, -l and -t");
	if (a.part && a.action != DECOMPRESS)
		die_usage("-n, -s and -R can only be used with -d");
	if (a.each && a.action != LIST)
		die_usage("-v can only be used with -l");
	if (a.outname && a.action == TEST)
		die_usage("-o cannot be used with -t, which writes nothing");
	if (a.o.layout.ref && !(layout & 2)) {
		a.nhead = REF_HEADER;
		a.refs = 1;
	}
	if (!a.sizes)
		bifcm_sizes(&a.o);
	input_open(&in, argv[optind]);
	if (a.action != COMPRESS) {
		bifcm_expand(&in, &a);
		return 0;
	}
	bifcm_compress(&in, &a);
	return 0;
}
