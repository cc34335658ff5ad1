/*
 * refscat [-n FROM:TO] [-e EXE] [-m MOST] [-p] SOURCE [EVENTS]: writes the references of a source as text, as
 * ws2addr -f text does, at most MOST of them.  -p: for each fetch address the place instead, once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/helper.h"
#include "base/num.h"
#include "base/out.h"
#include "format/ref/ref.h"
#include "refs/refs.h"

struct cat {
	struct out *out;
	int places;
	uint64_t most;
	uint64_t *fetch;
	size_t nfetch;
};

static int
take(void *arg, const uint64_t *w, size_t n)
{
	struct cat *c = arg;

	for (size_t i = 0; i < n; i++) {
		if (!ref_valid(w[i]))
			die("not a valid word");
		if (c->most-- == 0)
			return 7;
		if (!c->places)
			out_commit(c->out, ref_put(REF_TEXT, out_reserve(c->out, REF_PUT_MAX), w + i, 1));
		else if (ref_kind(w[i]) == REF_INST) {
			c->fetch = realloc(c->fetch, (c->nfetch + 1) * sizeof *c->fetch);
			c->fetch[c->nfetch++] = w[i];
		}
	}
	return 0;
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
print_places(struct cat *c, struct refs *s)
{
	struct refs_place p;
	const char *why;

	if (c->nfetch)
		qsort(c->fetch, c->nfetch, sizeof *c->fetch, compare);
	for (size_t i = 0; i < c->nfetch; i++)
		refs_code(s, ref_addr(c->fetch[i]), ref_size(c->fetch[i]));
	while ((why = refs_complaint(s)) != NULL)
		warn("%s", why);
	for (size_t i = 0; i < c->nfetch; i++) {
		if (i && c->fetch[i] == c->fetch[i - 1])
			continue;
		refs_place(s, ref_addr(c->fetch[i]), &p);
		out_printf(c->out, "%llx %s %s %s:%d\n", (unsigned long long)ref_addr(c->fetch[i]),
		    p.object ? p.object : "?", p.func ? p.func : "?", p.file ? p.file : "?", p.line);
	}
}

int
main(int argc, char **argv)
{
	struct refs_source q = { .to = REFS_END };
	struct cat c = { .most = UINT64_MAX };
	struct refs *s;
	struct fault f;
	int o, got;

	diag_init("refscat", 1);
	while ((o = getopt(argc, argv, "e:m:n:p")) != -1)
		if (o == 'e')
			q.exe = optarg;
		else if (o == 'm')
			c.most = strtoull(optarg, NULL, 10);
		else if (o == 'p')
			c.places = q.names = 1;
		else if (o != 'n' || num_range(optarg, REFS_END, &q.from, &q.to) != 0)
			die("usage");
	q.path = argv[optind];
	q.events = argv[optind] ? argv[optind + 1] : NULL;
	helper_allow(q.names ? HELPER_ELF : 0);
	s = refs_open(&q);
	c.out = out_open(NULL);
	got = refs_run(s, take, &c, &f);
	if (c.places)
		print_places(&c, s);
	out_close(c.out);
	if (got == REFS_BAD)
		die_fault(refs_path(s), &f);
	if (refs_warning(s))
		warn("%s: %s", refs_path(s), refs_warning(s));
	refs_close(s);
	free(c.fetch);
	return got;
}
