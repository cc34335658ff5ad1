/* wsinfo: print what a capture contains */
#include "base/opt.h"
#include "convert/wsinfo/wsinfo.h"

#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/progress.h"
#include "base/src.h"
#include "format/ws/runs.h"

static const struct opt wsinfo_opts[] = {
	{ 'l', "list", NULL, "list the records, one on a line" },
	{ 0 },
};

static const struct opt_tool wsinfo_tool = {
	.does = "Says what is in a capture: the program, how it ended, its system calls, its records.",
	.synopsis = "[-l] [file]",
	.example = "wscap -o ls.ws ls; wsinfo ls.ws",
	.opt = wsinfo_opts,
};

static int
wsinfo_runs(const char *name, int fd)
{
	struct out *o = out_open(NULL);
	struct fault f;

	if (runs_print(o, fd, &f) != 0) {
		out_discard(o);
		die_fault(name, &f);
	}
	out_close(o);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *name;
	struct ws_reader *r;
	struct fault f;
	struct ws_rec rec;
	struct ws_early early = { 0 };
	char text[WS_EARLY_TEXT], others[WS_OTHERS_TEXT];
	struct tally *t;
	struct out *o;
	uint64_t bytes = 0, n = 0;
	size_t run = 0;
	int c, fd = STDIN_FILENO, list = 0, got;

	diag_init(argv[0], 1);
	while ((c = opt_next(&wsinfo_tool, argc, argv)) != -1)
		list = c == 'l';
	opt_operands(argc, argv, 0, 1);
	name = src_name(argv[optind]);
	if (!src_is_stdin(argv[optind])) {
		fd = ws_open_path(argv[optind], &run);
		if (fd < 0)
			die_sys("%s", name);
	}
	if (!list && ws_runs_of_path(argv[optind]))
		return wsinfo_runs(name, fd);
	if (ws_others(argv[optind], others))
		warn("%s: %s", name, others);
	r = ws_open_run(fd, run, &f);
	if (!r)
		die_fault(name, &f);
	o = out_open(NULL);
	progress_start(name);
	progress_input(fd);
	t = tally_new();
	if (!list)
		blocks_print(o, fd);
	while ((got = ws_next(r, &rec)) == 1) {
		if (list)
			list_rec(o, n++, &rec);
		else
			tally_rec(t, r, &rec);
		if (ws_next_off(r) != bytes)
			progress_read((size_t)(ws_next_off(r) - bytes));
		bytes = ws_next_off(r);
		ws_early_rec(&early, &rec);
	}
	if (got == 0)
		bytes = ws_next_off(r);
	if (!list)
		tally_print(t, o, ws_head(r), bytes, got == 0);
	if (got < 0) {
		out_discard(o);
		die_fault(name, ws_fault(r));
	}
	out_close(o);
	if (early.is)
		warn("%s: %s", name, ws_early_text(&early, text));
	tally_free(t);
	ws_close(r);
	return 0;
}
