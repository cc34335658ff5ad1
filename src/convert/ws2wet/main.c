/* ws2wet: print the statements, dependences and values of a captured run */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/helper.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/spool.h"
#include "base/src.h"
#include "convert/ws2wet/ws2wet.h"
#include "format/ws/runs.h"

enum { MAIN = 256, STRICT };

static const struct opt ws2wet_opts[] = {
	{ MAIN, "main", NULL, "only statements of the program's own file" },
	{ STRICT, "strict", NULL, "the format as it was first described, without ORDER" },
	{ 'm', "memory", "BYTES", "hold at most BYTES of lists in memory at once (1G)" },
	{ 'n', "range", "FROM:TO", "from statement FROM of the run, counted from 0, up to before TO" },
	OPT_OUTPUT,
	OPT_SYMBOL,
	{ 0 },
};

static const struct opt_tool ws2wet_tool = {
	.does = "Replays a capture and writes, as text, each executed instruction with its values and dependences.",
	.synopsis = "[--main] [--strict] [-m bytes] [-n from:to | -s symbol] [-o file] [capture]",
	.example = "wscap -o p.ws ./p; ws2wet -s main p.ws | wet2circ | tail",
	.opt = ws2wet_opts,
};

static void
ws2wet_run(struct job *j, const char *outname)
{
	char *copy = NULL, text[WS_EARLY_TEXT], others[WS_OTHERS_TEXT];

	j->name = src_name(j->path);
	progress_start(j->name);
	if (src_is_stdin(j->path))
		j->path = copy = spool_stdin();
	if (ws_others(j->path, others))
		warn("%s: %s", j->name, others);
	if ((j->source = wsource_new(j->path)) == NULL)
		job_nomem();
	wsource_inlined(j->source);
	j->out = out_open(outname);
	job_code(j);
	job_count(j);
	job_names(j);
	job_text(j);
	if (!j->strict)
		job_order(j);
	if (j->bad)
		job_bad(j, &j->fault);
	out_close(j->out);
	if (j->early.is)
		warn("%s: %s", j->name, ws_early_text(&j->early, text));
	table_free(&j->table);
	wsource_free(j->source);
	wcode_free(&j->code);
	stmts_free(&j->stmts);
	free(j->count);
	free(j->byid);
	free(copy);
}

int
main(int argc, char **argv)
{
	struct job j = { .to = WS_UNKNOWN, .budget = UINT64_C(1) << 30 };
	const char *outname = NULL;
	int c;

	diag_init(argv[0], 1);
	while ((c = opt_next(&ws2wet_tool, argc, argv)) != -1)
		switch (c) {
		case MAIN: j.main_only = 1; break;
		case STRICT: j.strict = 1; break;
		case 'm':
			if (num_size(optarg, 1, UINT64_C(1) << 46, &j.budget) != 0)
				opt_wrong(OPT_BAD_SIZE);
			break;
		case 'n':
			if (num_range(optarg, WS_UNKNOWN, &j.from, &j.to) != 0)
				opt_wrong(OPT_BAD_RANGE);
			break;
		case 'o': outname = optarg; break;
		case 's': j.symbol = optarg; break;
		}
	opt_operands(argc, argv, 0, 1);
	if (j.symbol && (j.from || j.to != WS_UNKNOWN))
		die_usage("only one of -n and -s can be given");
	j.path = argv[optind];
	helper_allow(HELPER_ELF);
	ws2wet_run(&j, outname);
	return 0;
}
