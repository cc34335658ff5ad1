/* ae2addr: events of a run to a reference stream or text. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/out.h"
#include "engine/regen/regen.h"
#include "format/exe.h"
#include "format/ref.h"

#define SYNOPSIS "[-il] [-f addr|lackey|din|text] [-o file] [-p file] program [ae.out]"

struct sink {
	struct out *out;
	enum ref_format fmt;
	int drop[REF_NKINDS];           /* kinds that are not wanted */
	int dropping;
	uint64_t keep[AE_BATCH];
};

static size_t
filter(struct sink *s, const uint64_t *w, size_t n)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		s->keep[m] = w[i];
		m += !s->drop[ref_kind(w[i])];
	}
	return m;
}

static int
take(void *arg, const uint64_t *w, size_t n)
{
	struct sink *s = arg;

	if (s->dropping) {
		n = filter(s, w, n);
		w = s->keep;
	}
	while (n) {
		size_t k = n < OUT_ROOM / REF_PUT_MAX ? n : OUT_ROOM / REF_PUT_MAX;

		out_used(s->out, ref_put(s->fmt, out_room(s->out, k * REF_PUT_MAX), w, k));
		w += k;
		n -= k;
	}
	return 0;
}

static void
load(struct prog *g, struct exe *x, const char *path)
{
	if (exe_open(x, path) != 0 || exe_need_schema(x) != 0)
		die("%s: %s", path, x->err);
	if (prog_load_exe(g, x) != 0)
		die_at(path, x->schema_off + g->erroff, DIAG_NOREC, "bad schema: %s", g->err);
}

/* Regenerate; what was wrong is told after what came before it was written. */
static void
run(struct exe *x, const struct prog *g, struct sink *s, const char *events, const char *parent)
{
	struct feed f;
	const char *err;
	struct regen *r = regen_new(g, 0, &err);
	int bad;

	if (!r)
		die("%s", err);
	bad = feed_open(&f, regen_state(r), events, parent, x->machine, x->id, x->idlen);
	f.sink = take;
	f.sinkarg = s;
	if (!bad)
		bad = regen_run(r, &f);
	if (bad) {
		out_drop(s->out);
		if (f.errname)
			die_at(f.errname, f.erroff, DIAG_NOREC, "%s", f.err);
		die("%s", f.err);
	}
	out_close(s->out);
	feed_close(&f);
	regen_free(r);
}

int
main(int argc, char **argv)
{
	struct sink s = {.fmt = REF_ADDR};
	const char *outname = NULL, *parent = NULL;
	struct exe x;
	struct prog g;
	int c, fmt;

	diag_init(argv[0], 1);
	while ((c = getopt(argc, argv, "f:ilo:p:")) != -1) {
		switch (c) {
		case 'f':
			fmt = ref_format(optarg);
			if (fmt < 0)
				die_usage(SYNOPSIS);
			s.fmt = (enum ref_format)fmt;
			break;
		case 'i':
			s.drop[REF_INST] = s.dropping = 1;
			break;
		case 'l':
			s.drop[REF_ENTER] = s.drop[REF_BACK] = s.drop[REF_EXIT] = s.dropping = 1;
			break;
		case 'o':
			outname = optarg;
			break;
		case 'p':
			parent = optarg;
			break;
		default:
			die_usage(SYNOPSIS);
		}
	}
	if (argc - optind < 1 || argc - optind > 2)
		die_usage(SYNOPSIS);
	load(&g, &x, argv[optind]);
	s.out = out_open(outname);
	if (s.fmt == REF_ADDR) {
		ref_put_header(out_room(s.out, REF_HEADER));
		out_used(s.out, REF_HEADER);
	}
	run(&x, &g, &s, argv[optind + 1], parent);
	prog_free(&g);
	exe_close(&x);
	return 0;
}
