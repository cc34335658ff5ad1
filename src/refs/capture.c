/* References of a capture, by replaying it. */
#include <stdio.h>

#include "refs/refs_internal.h"

static void
refs_mapped(void *arg, const struct ws_rec_map *m)
{
	struct refs *s = arg;

	/* without memory, this file has no names */
	(void)wsource_map(s->source, m);
}

int
refs_open_capture(struct refs *s, const char *path)
{
	struct fault f;

	s->r = replay_open(path, &f);
	if (!s->r)
		return refs_fail(s, &f);
	if (s->q.names) {
		s->source = wsource_new();
		if (s->source)
			replay_set_map_fn(s->r, refs_mapped, s);
	}
	return 0;
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

		if (refs_give(s, w, k) != 0)
			return 1;
		k += k < n;
		w += k;
		n -= k;
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
	int got = replay_skip(s->r, s->q.from);

	replay_until(s->r, s->q.to);
	while (got == REPLAY_OK && (got = replay_refs(s->r, &w, &n)) == REPLAY_OK)
		if (refs_give_valid(s, w, n) != 0)
			return 0;
	if (got == REPLAY_BAD)
		return refs_fail(s, replay_fault(s->r));
	if ((early = replay_early(s->r)) != NULL)
		snprintf(s->warning, sizeof s->warning, "%s", ws_early_text(early, text));
	return 0;
}
