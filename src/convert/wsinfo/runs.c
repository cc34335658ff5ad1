/* wsinfo: lists the runs of a capture of several processes. */
#include <inttypes.h>
#include <stdio.h>

#include "convert/wsinfo/wsinfo.h"
#include "format/ws/runs.h"

/* How a run ended: from the last group of its capture. */
static void
runs_end(struct ws_reader *r, char *text, size_t room)
{
	struct ws_rec rec;
	size_t n;
	int whole;

	snprintf(text, room, "?");
	if (!ws_groups(r, &n, &whole) || !whole || !n || ws_seek_group(r, n - 1) != 0)
		return;
	while (ws_next(r, &rec) == 1)
		if (rec.kind == WS_END)
			snprintf(text, room, rec.u.end.how == WS_EXITED || rec.u.end.how == WS_KILLED ? "%s %" PRIu32 :
			    "%s", ws_how_name(rec.u.end.how), rec.u.end.status);
}

static void
runs_time(struct out *o, uint64_t ns)
{
	if (ns == WS_UNKNOWN)
		out_str(o, "          ?");
	else
		out_printf(o, " %6" PRIu64 ".%03" PRIu64, ns / 1000000000, ns / 1000000 % 1000);
}

static void
runs_line(struct out *o, int fd, const struct ws_runs *t, size_t n)
{
	const struct ws_run *run = ws_runs_get(t, n);
	struct fault f;
	struct ws_reader *r = ws_open_run(fd, n, &f);
	char end[32] = "?";

	if (r)
		runs_end(r, end, sizeof(end));
	out_printf(o, "%4zu %7" PRIu64 " %-5s %5" PRIu32, n, run->pid, ws_began_name(run->began), run->parent);
	runs_time(o, run->start);
	runs_time(o, run->end);
	out_printf(o, " %10" PRIu64 " %-11s", ws_runs_bytes(t, n), end);
	for (size_t i = 0; r && i < ws_head(r)->argc; i++) {
		out_str(o, " ");
		print_word(o, ws_head(r)->argv[i]);
	}
	out_str(o, "\n");
	ws_close(r);
}

int
runs_print(struct out *o, int fd, struct fault *f)
{
	int whole;
	struct ws_runs *t = ws_runs_read(fd, &whole, f);
	size_t n = t ? ws_runs_count(t) : 0, nproc = 0;

	for (size_t i = 1; i <= n; i++)
		nproc += ws_runs_get(t, i)->began != WS_EXEC;
	if (!t)
		return -1;
	out_printf(o, "runs          %zu, of %zu processes\n", n, nproc);
	blocks_print(o, fd);
	out_str(o, "\n");
	out_str(o, " run     pid began  from      start        end      bytes ended       arguments\n");
	for (size_t i = 1; i <= n; i++)
		runs_line(o, fd, t, i);
	ws_runs_free(t);
	return whole ? 0 : -1;
}
