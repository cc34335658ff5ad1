/* laplace-merge: a machine's references and kernel records to a trace for each process and task. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "merge/laplace-merge/merge.h"

#define SYNOPSIS "[-bls] [-o dir|file.tar[.gz|.xz|.zst]] refs kernel"

static void
laplace_merge_basic(struct job *j, const char *outname)
{
	struct out *o = out_open(outname);

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
	manifest_write(j);
	files_done(j->files);
}

int
main(int argc, char **argv)
{
	static const struct option longs[] = { { "basic", no_argument, NULL, 's' },
		{ "lenient", no_argument, NULL, 'l' }, { 0 } };
	struct job j = { .packed = 0 };
	const char *outname = NULL;
	int c, one = 0;

	diag_init(argv[0], 1);
	while ((c = getopt_long(argc, argv, "blo:s", longs, NULL)) != -1)
		switch (c) {
		case 'b': j.packed = 1; break;
		case 'l': j.lenient = 1; break;
		case 'o': outname = optarg; break;
		case 's': one = 1; break;
		default: die_usage(SYNOPSIS);
		}
	if (argc - optind != 2 || (!one && (!outname || !strcmp(outname, "-"))))
		die_usage(SYNOPSIS);
	if (!strcmp(argv[optind], "-") && !strcmp(argv[optind + 1], "-"))
		die("only one of the two can be standard input");
	j.refin = in_open(argv[optind]);
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
