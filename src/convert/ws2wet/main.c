/* ws2wet: a capture to the statements, dependences and values of its run */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/helper.h"
#include "base/num.h"
#include "base/spool.h"
#include "convert/ws2wet/ws2wet.h"

#define SYNOPSIS "[--main] [--strict] [-m bytes] [-n from:to | -s symbol] [-o file] [capture]"

static void
ws2wet_run(struct job *j, const char *outname)
{
	char *copy = NULL, text[WS_EARLY_TEXT];

	j->name = j->path;
	if (!j->path || strcmp(j->path, "-") == 0) {
		j->path = copy = spool_stdin();
		j->name = "standard input";
	}
	if ((j->source = wsource_new()) == NULL)
		job_nomem();
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
		warn("%s: %s", copy ? "standard input" : j->path, ws_early_text(&j->early, text));
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
	static const struct option longs[] = {
		{ "main", no_argument, NULL, 'M' },
		{ "strict", no_argument, NULL, 'S' },
		{ NULL, 0, NULL, 0 }
	};
	struct job j = { .to = WS_UNKNOWN, .budget = UINT64_C(1) << 30 };
	const char *outname = NULL;
	int c, bad = 0;

	diag_init(argv[0], 1);
	while ((c = getopt_long(argc, argv, "m:n:o:s:", longs, NULL)) != -1)
		switch (c) {
		case 'M': j.main_only = 1; break;
		case 'S': j.strict = 1; break;
		case 'm': bad |= num_size(optarg, 1, UINT64_C(1) << 46, &j.budget) != 0; break;
		case 'n': bad |= num_range(optarg, WS_UNKNOWN, &j.from, &j.to) != 0; break;
		case 'o': outname = optarg; break;
		case 's': j.symbol = optarg; break;
		default: die_usage(SYNOPSIS);
		}
	if (bad || argc - optind > 1 || (j.symbol && (j.from || j.to != WS_UNKNOWN)))
		die_usage(SYNOPSIS);
	j.path = argv[optind];
	helper_allow(HELPER_ELF);
	ws2wet_run(&j, outname);
	return 0;
}
