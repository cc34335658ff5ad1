/* References of a program compiled by aecc, regenerated from the events of a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ae/pack/pack.h"
#include "ae/regen/msg.h"
#include "ae/regen/regen.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/src.h"
#include "refs/refs_internal.h"

int
refs_open_exe(struct refs *s, const char *path)
{
	if (exe_open(&s->exe, path) != 0) {
		s->path = src_name(path);
		return refs_fail_text(s, DIAG_NOOFF, s->exe.err);
	}
	s->has_exe = 1;
	return 0;
}

int
refs_open_program(struct refs *s)
{
	struct fault f = { .line = 0 };

	if (src_is_stdin(s->q.path))
		return refs_fail_text(s, DIAG_NOOFF, "a program must be named, not be standard input");
	if (refs_open_exe(s, s->q.path) != 0)
		return -1;
	if (exe_need_schema(&s->exe) != 0)
		return refs_fail_text(s, DIAG_NOOFF, s->exe.err);
	if (prog_load_exe(&s->prog, &s->exe) != 0) {
		fault_set(&f, s->exe.schema_off + s->prog.erroff, DIAG_NOREC, "bad schema: %s", s->prog.err);
		return refs_fail(s, &f);
	}
	s->has_prog = 1;
	return 0;
}

static int
refs_regenerated(void *arg, const uint64_t *w, size_t n)
{
	return refs_give_counted(arg, w, n);
}

static int
refs_bad_events(struct refs *s, const struct feed *f)
{
	if (!f->errname)
		return refs_fail_text(s, DIAG_NOOFF, f->err);
	s->path = s->events = xstrdup(f->errname);
	return refs_fail_text(s, f->erroff, f->err);
}

int
refs_run_program(struct refs *s)
{
	const char *err;
	struct regen *r = regen_new(&s->prog, 0, NULL, &err);
	const struct feed_job job = {
		.file = s->q.events ? s->q.events : "ae.out", .machine = s->exe.machine, .id = s->exe.id,
		.idlen = s->exe.idlen, .moves = s->exe.moves, .unpack = &unpack_how,
		.prog = &s->exe, .sink = refs_regenerated, .sinkarg = s, .quietmax = FEED_QUIET,
		.run = regen_thread, .arg = r
	};
	char note[FEED_NOTE];
	struct feed f;
	int bad;

	if (!r)
		return refs_fail_text(s, DIAG_NOOFF, err);
	regen_libraries(r, libs_add, &s->libs);
	bad = feed_tasks(&f, regen_state(r), &job);
	if (bad && !s->ended)
		refs_bad_events(s, &f);
	else if (feed_note(&f, note))
		snprintf(s->warning, sizeof s->warning, "%s", note);
	feed_close(&f);
	regen_free(r);
	return 0;
}
