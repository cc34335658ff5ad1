/* wetq: questions about a captured run: statements, control flow, values, addresses, slices. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/num.h"
#include "base/spool.h"
#include "wetq.h"

#define SYNOPSIS "[-bcdr] [--forward] [-f point] [-I folder] [-n count] [-o file] [-w count] list | cf | values id | addrs id | " \
	"slice point | dot point | annotate point [capture]\n       wetq [-o file] arch [id] file"

static const struct question {
	const char *name;
	int words;                      /* behind it */
	void (*none)(struct job *j);
	void (*one)(struct job *j, const char *s);
} questions[] = {
	{ "list", 0, job_list, NULL },
	{ "cf", 0, job_flow, NULL },
	{ "values", 1, NULL, job_values },
	{ "addrs", 1, NULL, job_addrs },
	{ "slice", 1, NULL, job_slice },
	{ "dot", 1, NULL, job_dot },
	{ "annotate", 1, NULL, job_annotate },
};

static _Noreturn void
bad(struct job *j, const struct query_fault *f)
{
	if (j->out)
		out_drop(j->out);
	if (f->off != UINT64_MAX)
		die_at(j->path, f->off, f->rec == UINT64_MAX ? DIAG_NOREC : f->rec, "%s", f->err);
	die("%s: %s", j->path, f->err);
}

_Noreturn void
job_bad(struct job *j)
{
	bad(j, query_fault(j->q));
}

void
job_survey(struct job *j, int slices)
{
	if (query_survey(j->q, slices) != 0)
		job_bad(j);
}

static _Noreturn void
none(struct job *j, const char *what, const char *s)
{
	out_drop(j->out);
	die("%s: no %s %s", j->path, what, s);
}

/* The first n bytes of s are a statement */
static uint32_t
statement(struct job *j, const char *s, size_t n)
{
	char b[32];
	uint64_t v;

	if (n >= sizeof b)
		none(j, "statement", s);
	memcpy(b, s, n);
	b[n] = '\0';
	if (num_u64(b, 0, UINT64_MAX, &v) != 0)
		none(j, "statement", s);
	if (strncmp(b, "0x", 2) != 0) {
		int got = v <= UINT32_MAX ? query_know(j->q, (uint32_t)v) : 0;

		if (got < 0)
			job_bad(j);
		if (!got)
			none(j, "statement", s);
		return (uint32_t)v;
	}
	job_survey(j, 0);
	for (uint32_t id = 1; id <= query_nstmt(j->q); id++)
		if (query_stmt(j->q, id)->pc == v)
			return id;
	none(j, "statement", s);
}

uint32_t
job_id(struct job *j, const char *s)
{
	return statement(j, s, strlen(s));
}

uint64_t
job_point(struct job *j, const char *s, int slices)
{
	const char *mark = strchr(s, '#');
	uint64_t n, instance;
	int got;

	job_survey(j, slices);
	if (!mark) {
		if (num_u64(s, 1, query_length(j->q), &n) != 0)
			none(j, "instance", s);
		return n;
	}
	if (num_u64(mark + 1, 0, UINT64_MAX, &instance) != 0)
		none(j, "instance", s);
	got = query_position(j->q, statement(j, s, (size_t)(mark - s)), instance, &n);
	if (got < 0)
		job_bad(j);
	if (!got)
		none(j, "instance", s);
	return n;
}

static const struct question *
question(int n, char **word)
{
	for (size_t i = 0; n && i < sizeof questions / sizeof *questions; i++)
		if (strcmp(word[0], questions[i].name) == 0 && (n == questions[i].words + 1 || n == questions[i].words + 2))
			return &questions[i];
	die_usage(SYNOPSIS);
}

static void
answer(struct job *j, const struct question *k, char **word, const char *outname)
{
	struct query_fault f;
	char *copy = NULL;

	j->path = word[1 + k->words];
	if (!j->path || strcmp(j->path, "-") == 0)
		j->path = copy = spool_stdin();
	if ((j->q = query_open(j->path, &f)) == NULL)
		bad(j, &f);
	if (j->window)
		query_window_of(j->q, j->window);
	j->out = out_open(outname);
	if (k->none)
		k->none(j);
	else
		k->one(j, word[1]);
	out_close(j->out);
	query_close(j->q);
	free(copy);
}

int
main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "forward", no_argument, NULL, 'F' },
		{ NULL, 0, NULL, 0 }
	};
	struct job j = { .most = UINT64_MAX };
	const char *outname = NULL;
	int c, wrong = 0;

	diag_init(argv[0], 1);
	while ((c = getopt_long(argc, argv, "I:bcdf:n:o:rw:", longs, NULL)) != -1)
		switch (c) {
		case 'F': j.how |= QUERY_FORWARD; break;
		case 'I': j.folder = optarg; break;
		case 'b': j.backward = 1; break;
		case 'c': j.counts = 1; break;
		case 'd': j.how |= QUERY_DATA; break;
		case 'f': j.from = optarg; break;
		case 'n': wrong |= num_u64(optarg, 0, UINT64_MAX, &j.most) != 0; break;
		case 'o': outname = optarg; break;
		case 'r': j.how |= QUERY_RSP; break;
		case 'w': wrong |= num_size(optarg, 16, UINT64_C(1) << 40, &j.window) != 0; break;
		default: wrong = 1;
		}
	if (wrong)
		die_usage(SYNOPSIS);
	if (optind < argc && strcmp(argv[optind], "arch") == 0 && argc - optind >= 2 && argc - optind <= 3) {
		job_arch(argc - optind == 3 ? argv[optind + 1] : NULL, argv[argc - 1], outname);
		return 0;
	}
	answer(&j, question(argc - optind, argv + optind), argv + optind, outname);
	return 0;
}
