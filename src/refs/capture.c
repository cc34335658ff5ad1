/* References of a capture, by replaying it. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "format/ws/runs.h"
#include "refs/refs_internal.h"
#include "replay/guest/drive.h"

static void
refs_mapped(void *arg, const struct ws_rec_map *m)
{
	struct refs *s = arg;

	/* without memory, this file has no names */
	(void)wsource_map(s->source, m);
	s->nmapped++;
}

/* Gives n words, all of them references, with the events of loops between them. */
static int
refs_give_loops(struct refs *s, const uint64_t *w, size_t n)
{
	if (refs_loops_add(s->loops, w, n, &w, &n) != 0) {
		refs_fail_text(s, DIAG_NOOFF, "out of memory");
		return 1;
	}
	return refs_give_counted(s, w, n);
}

/*
 * A replay that drifts may use invalid addresses, whose words are no references: they are left out,
 * as in ws2addr's text formats.
 */
static int
refs_give_valid(struct refs *s, const uint64_t *w, size_t n)
{
	while (n) {
		size_t k = ref_valid_words(w, n);

		if (s->loops ? refs_give_loops(s, w, k) : refs_give(s, w, k))
			return 1;
		k += k < n;
		w += k;
		n -= k;
	}
	return 0;
}

/*
 * Before the mappings change: gives the words so far, so that take finds the code of each where it was
 * executed, and the names of the file that was mapped there then.
 */
static int
refs_record(void *arg, const struct ws_rec *rec)
{
	struct refs *s = arg;
	const uint64_t *w;
	size_t n;

	if (!s->r || s->ended)
		return 0;
	if (rec->kind != WS_MAP && rec->kind != WS_UNMAP && rec->kind != WS_MOVE && rec->kind != WS_PROT)
		return 0;
	w = drive_words_so_far(s->r, &n);
	if (n > s->ngiven && refs_give_valid(s, w + s->ngiven, n - s->ngiven) != 0)
		s->ended = 1;
	s->ngiven = n;
	return 0;
}

int
refs_open_capture(struct refs *s, const char *path)
{
	char others[WS_OTHERS_TEXT];
	struct fault f;

	if (ws_others(path, others))
		snprintf(s->warning, sizeof s->warning, "%s", others);

	if (s->q.loops && !(s->loops = refs_loops_new(path)))
		return refs_fail_text(s, DIAG_NOOFF, "out of memory");
	if (s->q.areas)
		s->areas = areas_of_capture(path);
	s->r = s->q.names ? replay_open_watched(path, refs_record, s, &f) : replay_open(path, &f);
	if (!s->r)
		return refs_fail(s, &f);
	replay_tasks(s->r, 1, 1);
	if (s->q.names) {
		s->source = wsource_new(path);
		if (s->source)
			replay_set_map_fn(s->r, refs_mapped, s);
	}
	return 0;
}

int
refs_run_capture(struct refs *s)
{
	const struct ws_early *early;
	char text[WS_EARLY_TEXT];
	const uint64_t *w;
	size_t n;
	int got = s->loops ? REPLAY_OK : replay_skip(s->r, s->q.from);

	replay_until(s->r, s->q.to);
	for (s->ngiven = 0; got == REPLAY_OK && (got = replay_refs(s->r, &w, &n)) == REPLAY_OK; s->ngiven = 0)
		if (s->ended || refs_give_valid(s, w + s->ngiven, n - s->ngiven) != 0)
			return 0;
	if (s->ended)
		return 0;
	if (s->loops && refs_loops_end(s->loops, &w, &n) == 0)
		refs_give(s, w, n);
	if (got == REPLAY_BAD)
		return refs_fail(s, replay_fault(s->r));
	if ((early = replay_early(s->r)) != NULL) {
		size_t n = strlen(s->warning);

		snprintf(s->warning + n, sizeof s->warning - n, "%s%s", n ? "; " : "", ws_early_text(early, text));
	}
	return 0;
}
