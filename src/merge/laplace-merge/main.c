/* laplace-merge: split a machine's references and kernel records into a trace for each process and task. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/src.h"
#include "merge/laplace-merge/merge.h"

enum { OFFSETS = 256 };

static const struct opt laplace_merge_opts[] = {
	{ 'b', "binary", NULL, "write packed traces, not text" },
	{ 'l', "lenient", NULL, "leave out records that are wrong, and count them" },
	{ 'o', "output", "NAME", "the result: a folder, or an archive NAME.tar, .tar.gz, .tar.xz or .tar.zst" },
	{ OFFSETS, "offsets", NULL, "keep the offset in the page of each reference" },
	{ 's', "basic", NULL, "one stream of all references and kernel records, to standard output or -o" },
	{ 0 },
};

static const struct opt_tool laplace_merge_tool = {
	.does = "Splits the references and kernel records of a machine into a trace for each process and task.",
	.synopsis = "[-bl] [--offsets] -o dir|file.tar[.gz|.xz|.zst] refs kernel\n[-bl] [--offsets] -s [-o file] refs kernel",
	.example = "ws2laplace -k kernel -o refs ls.ws; laplace-merge -o traces refs kernel",
	.opt = laplace_merge_opts,
};

static void
laplace_merge_basic(struct job *j, const char *outname)
{
	struct out *o = out_open(outname);

	if (j->packed)
		out_binary(o, "a packed trace");
	j->single = file_single(o);
	pass_run(j);
	file_single_done(j->single);
	out_close(o);
}

static void
by_process(struct job *j, const char *outname)
{
	j->files = files_new(outname);
	j->endprocess = &j->process;
	pass_run(j);
	progress_stop();        /* the files are read again for an archive */
	manifest_write(j);
	files_done(j->files);
}

/*
 * What writes the references into a pipe may write the kernel trace first (ws2laplace does): the file has
 * its name and is complete when references come.  A named pipe may be written at the same time instead.
 */
static void
wait_for_references(struct job *j, const char *kernel)
{
	struct stat st;
	size_t have;

	if (stat(kernel, &st) != 0 || S_ISREG(st.st_mode))
		in_peek(j->refin, 1, &have);
}

int
main(int argc, char **argv)
{
	struct job j = { .packed = 0 };
	const char *outname = NULL;
	int c, one = 0;

	diag_init(argv[0], 1);
	while ((c = opt_next(&laplace_merge_tool, argc, argv)) != -1)
		switch (c) {
		case 'b': j.packed = 1; break;
		case 'l': j.lenient = 1; break;
		case 'o': outname = optarg; break;
		case 's': one = 1; break;
		case OFFSETS: j.offsets = 1; break;
		}
	opt_operands(argc, argv, 2, 2);
	if (!one && (!outname || !strcmp(outname, "-")))
		die_usage("-o with the name of a folder or an archive is missing");
	if (src_is_stdin(argv[optind]) && src_is_stdin(argv[optind + 1]))
		die("only one of the two can be standard input");
	progress_start(NULL);
	j.refin = in_open(argv[optind]);
	wait_for_references(&j, argv[optind + 1]);
	j.kernelin = in_open(argv[optind + 1]);
	j.model = lap_model_new();
	if (!j.model)
		die("out of memory");
	if (one)
		laplace_merge_basic(&j, outname);
	else
		by_process(&j, outname);
	pass_summary(&j);
	lap_model_free(j.model);
	buf_free(&j.line);
	in_close(j.refin);
	in_close(j.kernelin);
	return 0;
}
