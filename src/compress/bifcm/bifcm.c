/* bifcm: compress streams of values, and read them forward, backward or from any place */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/src.h"
#include "compress/bifcm/bifcm.h"
#include "format/ref/ref.h"

static const struct opt bifcm_opts[] = {
	OPT_LEVELS("to -9: from storing only to smallest (6)"),
	{ 'b', "block", "N[,FIRST]", "values or records in a block, and in the first one" },
	{ 'c', "stdout", NULL, "write to standard output, and keep the files" },
	{ 'd', "decompress", NULL, "decompress: FILE.bif becomes FILE" },
	{ 'f', "force", NULL, "overwrite files; replace links; compress to a terminal" },
	{ 'H', "header", "BYTES", "store the first BYTES of the input separately" },
	{ 'k', "keep", NULL, "keep the files" },
	{ 'l', "list", NULL, "list sizes; with -v all that a compressed file contains" },
	{ 'M', "memory", "SIZE", "take at most SIZE bytes of memory, or refuse; k, M and G may follow" },
	{ 'm', "method", "METHOD", "code all columns by METHOD; ? for METHOD prints their names" },
	{ 'n', "count", "N", "with -d: write at most N records" },
	OPT_OUTPUT,
	{ 'q', "quiet", NULL, "no warnings about files that are left as they are" },
	{ 'R', "reverse", NULL, "with -d: write the records in reverse order" },
	{ 'r', "record", "LAYOUT", "records of fields: their widths (4,8); addr, a reference stream; auto" },
	{ 's', "start", "N", "with -d: leave out the first N records" },
	{ 'S', "suffix", ".SUF", "the suffix of compressed files (.bif)" },
	{ 'T', "threads", "N", "use N threads; 0: one for each processor (1)" },
	{ 't', "test", NULL, "decompress, compare all checksums, and write nothing" },
	{ 'v', "verbose", NULL, "say what was done; with -l: columns, twice: also blocks" },
	{ 'w', "width", "BYTES", "values of 1, 2, 4 or 8 bytes (8)" },
	{ 0 },
};

static const struct opt_tool bifcm_tool = {
	.does = "Compresses the output of these tools, or any stream of integers of a fixed width.\n"
	    "Any part of the result can be read, in both directions.",
	.synopsis = "[-0..-9cfkqv] [-b n] [-H n] [-M n] [-m how] [-r layout | -w n] [-S s] [-T n] "
	    "[-o file] [file ...]\n"
	    "-d [-cfkqv] [-R] [-s start] [-n count] [-M n] [-S s] [-T n] [-o file] [file ...]\n"
	    "-l [-qv] [-o file] [file ...]\n"
	    "-t [-v] [-M n] [-T n] [file ...]",
	.example = "ae2addr prog ae.out | bifcm -r addr -o prog.bif; bifcm -dc prog.bif | addrdiff - other.refs",
	.opt = bifcm_opts,
};

#define LEVEL 6                 /* the default level */
#define SUFFIX ".bif"

struct sizes *bifcm_sizes_found;

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

void
bifcm_sizes(struct vs_options *o)
{
	unsigned many = o->layout.nfield > 8 ? o->layout.nfield / 8 + 1 : 1;

	/* in memory a one-byte value takes eight bytes */
	o->first = vs_record_size(&o->layout) == 1 ? 2 * VS_FIRST : VS_FIRST / many;
	if (o->method >= 0)
		return;
	if (o->level < 4)       /* references are five columns */
		o->block = o->first = o->layout.ref ? VS_GROUP / 2 : VS_GROUP / many;
	else
		o->group = VS_GROUP / many;
	o->unit = o->level > 8 ? VS_UNIT : 0;
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

static void
bifcm_level(struct args *a, int c)
{
	if (a->levelled)
		die_usage("-%c and -%c: only one level can be given, from -0 to -9; there is no -10", a->levelled, c);
	a->levelled = c;
	a->o.level = c - '0';
}

static void
bifcm_layout(struct args *a, int c)
{
	struct fault f;

	if (a->laid_out)
		die_usage("only one of -r and -w can be given, once");
	if (c == 'w' && (!*optarg || optarg[1] || !strchr("1248", *optarg)))
		opt_wrong("not a width; there are 1, 2, 4 and 8");
	a->guess = c == 'r' && !strcmp(optarg, "auto");
	if (!a->guess && vs_layout_parse(&a->o.layout, optarg, &f) != 0)
		opt_wrong("%s", f.err);
	a->laid_out = 1;
}

/* Options of compression; 0: it is none of them. */
static int
option_compress(struct args *a, int c)
{
	switch (c) {
	case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
		bifcm_level(a, c);
		break;
	case 'b':
		bifcm_blocks(&a->o, optarg);
		a->sizes = 1;
		break;
	case 'H':
		a->nhead = opt_size(optarg, 0, VS_HEAD_MAX);
		a->headed = 1;
		break;
	case 'm':
		a->o.method = bifcm_method(optarg);
		break;
	case 'r':
	case 'w':
		bifcm_layout(a, c);
		break;
	default:
		return 0;
	}
	a->given = 1;
	return 1;
}

/* Options of a part; 0: it is none of them. */
static int
option_part(struct args *a, int c)
{
	switch (c) {
	case 'n':
		a->count = opt_size(optarg, 0, UINT64_MAX);
		break;
	case 's':
		a->start = opt_size(optarg, 0, UINT64_MAX);
		break;
	case 'R':
		a->backward = 1;
		break;
	default:
		return 0;
	}
	a->part = 1;
	return 1;
}

static void
bifcm_option(struct args *a, int c)
{
	if (option_compress(a, c) || option_part(a, c))
		return;
	switch (c) {
	case 'd': bifcm_action(a, DECOMPRESS); break;
	case 'l': bifcm_action(a, LIST); break;
	case 't': bifcm_action(a, TEST); break;
	case 'c': a->to_stdout = 1; break;
	case 'f': a->force = 1; break;
	case 'k': a->keep = 1; break;
	case 'o': a->outname = optarg; break;
	case 'q': a->quiet = 1; break;
	case 'S':
		if (!*optarg || strchr(optarg, '/'))
			opt_wrong("not a suffix of file names: it is empty or contains /");
		a->suffix = optarg;
		break;
	case 'M': a->memory = opt_size(optarg, 1, UINT64_MAX); break;
	case 'T': a->o.threads = bifcm_threads(optarg); break;
	case 'v': a->verbose++; break;
	}
}

/* Options that exclude each other; n: the number of operands */
static void
bifcm_check(const struct args *a, int n)
{
	if (a->given && a->action != COMPRESS)
		die_usage("levels, -b, -H, -m, -r and -w cannot be used with -d, -l and -t");
	if (a->part && a->action != DECOMPRESS)
		die_usage("-n, -s and -R can only be used with -d");
	if (a->memory && a->action == LIST)
		die_usage("-M cannot be used with -l, which decompresses nothing");
	if (a->outname && a->action == TEST)
		die_usage("-o cannot be used with -t, which writes nothing");
	if (a->outname && a->to_stdout)
		die_usage("only one of -c and -o can be given");
	if (a->outname && n > 1)
		die_usage("-o: one output for %d files; without -o each has its own", n);
	if (a->to_stdout && a->action == COMPRESS && n > 1)
		die_usage("-c: %d compressed files in one output could not be told apart; without -c each has its own",
		    n);
}

/* What follows from the options. */
static void
bifcm_derive(struct args *a)
{
	if (a->o.layout.ref && !a->headed) {
		a->nhead = REF_HEADER;
		a->refs = 1;
	}
	if (!a->sizes)
		bifcm_sizes(&a->o);
	/* a part does not replace the whole */
	if (a->part && !a->outname)
		a->to_stdout = 1;
}

/* A file that stays, to the one output, which is created when the first file is open. */
static enum status
bifcm_pass(const struct args *a, const char *path, struct out **out, int listed)
{
	struct input in;
	struct job j = { .a = a, .in = &in, .outfd = -1, .listed = listed };
	enum status status;

	if (input_open(&in, path) != 0)
		return FAILED;
	if (!*out && a->action != TEST) {
		*out = out_create(a->outname, out_mode_of(in.path));
		if (a->action == COMPRESS && !a->force)
			out_binary(*out, "a compressed stream");
	}
	j.out = *out;
	status = work_run(&j);
	input_close(&in);
	return status;
}

/* All files: an error wins over a warning. */
static enum status
bifcm_files(const struct args *a, int n, char **paths)
{
	static struct sizes sum;
	struct out *out = NULL;
	enum status all = DONE;

	for (int i = 0; i < n; i++) {
		int stays = a->to_stdout || a->outname || a->action == LIST || a->action == TEST ||
		    src_is_stdin(paths[i]);
		enum status s;

		*bifcm_sizes_found = (struct sizes){ 0 };
		s = stays ? bifcm_pass(a, paths[i], &out, sum.file != 0) : replace_file(a, paths[i]);
		sum.file += bifcm_sizes_found->file;
		sum.bytes += bifcm_sizes_found->bytes;
		if (all != FAILED && s != DONE)
			all = s;
	}
	if (out && a->action == LIST && n > 1 && !a->verbose && sum.file)
		bifcm_list_totals(out, &sum);
	if (out && all == FAILED)
		out_discard(out);
	else if (out)
		out_close(out);
	return all;
}

int
main(int argc, char **argv)
{
	static char standard[] = "-", *one[] = { standard };
	struct args a = { .o = { .level = LEVEL, .method = -1, .threads = 1 }, .count = UINT64_MAX,
	    .suffix = SUFFIX };
	struct fault f;
	int c, n;

	diag_init(argv[0], FAILED);
#ifdef M_MMAP_THRESHOLD
	/* memory of large allocations is returned to the system when freed */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
	vs_layout_parse(&a.o.layout, "8", &f);
	while ((c = opt_next(&bifcm_tool, argc, argv)) != -1)
		bifcm_option(&a, c);
	n = argc - optind;
	bifcm_check(&a, n);
	bifcm_derive(&a);
	a.several = n > 1;
	bifcm_sizes_found = mmap(NULL, sizeof *bifcm_sizes_found, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (bifcm_sizes_found == MAP_FAILED)
		die_sys("memory");
	return bifcm_files(&a, n ? n : 1, n ? argv + optind : one);
}
