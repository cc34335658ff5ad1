/* The working set over time: how many different lines are accessed in each window of a run. */
#include <inttypes.h>
#include <stdlib.h>

#include "apps/addrmrc/addrmrc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "format/ref/ref.h"

struct window {
	struct out *out;                /* borrowed, as the next two */
	const struct mrc_options *options;
	const struct mrc_params *params;
	struct json json;
	unsigned shift;
	int begun;                      /* is the head printed? */
	struct hash_set lines;          /* of this window: their numbers, plus 1 */
	uint64_t last;                  /* the one accessed last */
	uint64_t begin, accesses, ninst;
};

struct window *
window_new(struct out *out, const struct mrc_options *o, const struct mrc_params *p)
{
	struct window *w = xcalloc(1, sizeof *w);

	w->out = out;
	w->options = o;
	w->params = p;
	w->shift = (unsigned)__builtin_ctzll(p->line);
	return w;
}

static void
print_head(struct window *w)
{
	const char *unit = w->options->by_instructions ? "instructions" : "accesses";

	w->begun = 1;
	if (w->options->format == MRC_CSV) {
		out_str(w->out, "begin,accesses,lines,bytes\n");
	} else if (w->options->format == MRC_JSON) {
		json_begin(&w->json, w->out);
		json_string(&w->json, "kinds", ref_set_name(w->params->kinds));
		json_u64(&w->json, "line", w->params->line);
		json_u64(&w->json, "window", w->options->window);
		json_string(&w->json, "unit", unit);
		json_array(&w->json, "windows");
	} else {
		out_printf(w->out, "accesses (%s) to lines of %" PRIu64 " bytes, in windows of %" PRIu64 " %s\n\n",
		    ref_set_name(w->params->kinds), w->params->line, w->options->window, unit);
		out_printf(w->out, "%16s %16s %12s %16s\n", "begin", "accesses", "lines", "bytes");
	}
}

static void
print_window(struct window *w)
{
	uint64_t lines = w->lines.n, bytes = lines * w->params->line;

	if (w->options->format == MRC_CSV) {
		out_printf(w->out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", w->begin, w->accesses, lines,
		    bytes);
	} else if (w->options->format == MRC_JSON) {
		json_object(&w->json, NULL);
		json_u64(&w->json, "begin", w->begin);
		json_u64(&w->json, "accesses", w->accesses);
		json_u64(&w->json, "lines", lines);
		json_u64(&w->json, "bytes", bytes);
		json_end(&w->json);
	} else {
		out_printf(w->out, "%16" PRIu64 " %16" PRIu64 " %12" PRIu64 " %16" PRIu64 "\n", w->begin, w->accesses,
		    lines, bytes);
	}
}

static void
next_window(struct window *w)
{
	print_window(w);
	w->begin += w->options->window;
	w->accesses = w->ninst = w->last = 0;
	hash_set_clear(&w->lines);
}

static inline void
access_line(struct window *w, uint64_t key)
{
	if (!w->options->by_instructions && w->accesses == w->options->window)
		next_window(w);
	w->accesses++;
	if (key == w->last)
		return;
	w->last = key;
	if (hash_set_add(&w->lines, key) < 0)
		die("no memory");
}

int
window_take(void *arg, const uint64_t *r, size_t n)
{
	struct window *w = arg;

	if (!w->begun)
		print_head(w);
	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(r[i]);
		uint64_t line, last;

		/* what an instruction accesses comes after its fetch */
		if (kind == REF_INST && w->options->by_instructions && w->ninst++ == w->options->window) {
			next_window(w);
			w->ninst = 1;
		}
		if (!(w->params->kinds >> kind & 1))
			continue;
		for (reuse_lines_of(r[i], w->shift, &line, &last); line <= last; line++)
			access_line(w, line + 1);
	}
	return 0;
}

void
window_end(struct window *w, int bad)
{
	if (!w->begun && !bad)
		print_head(w);
	if (w->accesses || w->ninst)
		print_window(w);
	if (w->begun && w->options->format == MRC_JSON) {
		json_end(&w->json);
		json_end(&w->json);
	}
	hash_set_free(&w->lines);
	free(w);
}
