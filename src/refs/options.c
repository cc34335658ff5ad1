/* The command line of tools that take references. */
#include <limits.h>

#include "base/diag.h"
#include "base/helper.h"
#include "base/num.h"
#include "base/progress.h"
#include "base/src.h"
#include "refs/options.h"

int
refs_option(int c, struct refs_source *q, struct refs_words *w)
{
	switch (c) {
	case 'e':
		q->exe = optarg;
		return 1;
	case 'n':
		if (num_range(optarg, REFS_END, &q->from, &q->to) != 0)
			opt_wrong(OPT_BAD_RANGE);
		return 1;
	case 'o':
		w->outname = optarg;
		return 1;
	case REFS_PARTIAL:
		w->partial = 1;
		return 1;
	case REFS_MERGE:
		w->merge = 1;
		return 1;
	}
	return 0;
}

const char *
refs_operands(struct refs_source *q, const struct refs_words *w, int argc, char **argv)
{
	opt_operands(argc, argv, w->merge, w->merge ? INT_MAX : 2);
	if (w->partial && w->merge)
		return "--partial and --merge exclude each other";
	if (w->merge && (q->from || q->to != REFS_END))
		return "--merge comes without -n, which is in the partial results";
	if (w->merge)
		return NULL;
	q->path = argv[optind];
	q->events = argc - optind > 1 ? argv[optind + 1] : NULL;
	return NULL;
}

void
refs_begin(const struct refs_source *q)
{
	helper_allow(q->names || q->exe ? HELPER_ELF : 0);
	progress_start(src_name(q->path));
	progress_limit(q->to);
}
