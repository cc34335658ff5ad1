/* wetq: questions about a captured run: statements, control flow, values, addresses, slices. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/helper.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/spool.h"
#include "convert/wetq/wetq.h"

#define SYNOPSIS "[-bcdr] [--forward] [-f point] [-I folder] [-n count] [-o file] [-w count] " \
	"list | cf | values id | addrs id | " \
	"slice point | dot point | annotate point [file]\n" \
	"       wetq -i [-I folder] [-o file] [-w count] file\n" \
	"       wetq [-o file] arch [id] file"

static const struct question {
	const char *name;
	int words;                      /* number of arguments */
	int (*none)(struct job *j);
	int (*one)(struct job *j, const char *s);
} questions[] = {
	{ "list", 0, job_list, NULL },
	{ "cf", 0, job_flow, NULL },
	{ "values", 1, NULL, job_values },
	{ "addrs", 1, NULL, job_addrs },
	{ "slice", 1, NULL, job_slice },
	{ "dot", 1, NULL, job_dot },
	{ "annotate", 1, NULL, job_annotate },
};

static const struct question *
wetq_question(int n, char **word)
{
	for (size_t i = 0; n && i < sizeof questions / sizeof *questions; i++)
		if (strcmp(word[0], questions[i].name) == 0 &&
		    (n == questions[i].words + 1 || n == questions[i].words + 2))
			return &questions[i];
	return NULL;
}

static int
wetq_ask(struct job *j, const struct question *k, char **word)
{
	return k->none ? k->none(j) : k->one(j, word[1]);
}

struct command { const char *outname; int many; };

/* Parses the number of an option. */
static int
wetq_number(uint64_t *v, char o, const char *s, uint64_t least, int size, const struct command *c)
{
	if ((size ? num_size(s, least, UINT64_C(1) << 40, v) : num_u64(s, least, UINT64_MAX, v)) == 0)
		return 0;
	if (!c)
		return 1;
	warn("-%c %s: not a number of at least %d", o, s, (int)least);
	exit(2);
}

/*
 * Parses the options of a question, if any: 0, or -1.  c: receives options for the whole
 * program; NULL: those are errors.
 */
static int
wetq_options(struct job *j, int argc, char **argv, struct command *c)
{
	static const struct option longs[] = {
		{ "forward", no_argument, NULL, 'F' },
		{ NULL, 0, NULL, 0 }
	};
	int o, wrong = 0;

	optind = 0;
	opterr = c != NULL;
	while ((o = getopt_long(argc, argv, "I:bcdf:in:o:rw:", longs, NULL)) != -1) {
		if (!c && o != '?' && strchr("Iiow", o)) {
			wrong = 1;
			continue;
		}
		switch (o) {
		case 'F': j->flags |= QUERY_FORWARD; break;
		case 'I': j->folder = optarg; break;
		case 'b': j->backward = 1; break;
		case 'c': j->counts = 1; break;
		case 'd': j->flags |= QUERY_DATA; break;
		case 'f': j->from = optarg; break;
		case 'i': c->many = 1; break;
		case 'n': wrong |= wetq_number(&j->most, 'n', optarg, 0, 0, c); break;
		case 'o': c->outname = optarg; break;
		case 'r': j->flags |= QUERY_RSP; break;
		case 'w': wrong |= wetq_number(&j->window, 'w', optarg, 16, 1, c); break;
		default: die_usage(SYNOPSIS);
		}
	}
	return wrong ? -1 : 0;
}

#define WORDS 32                /* words of a question at most */

/* Answers the question in a line, or reports what is wrong with it. */
static void
one_line(const struct job *all, char *line)
{
	struct job j = *all;
	char *said = xstrdup(line);
	char *word[WORDS + 2] = { (char *)"wetq" };
	const struct question *k = NULL;
	int n = 1;

	for (char *s = strtok(line, " \t\r\n"); s && n <= WORDS; s = strtok(NULL, " \t\r\n"))
		word[n++] = s;
	if (n == 1) {
		free(said);
		return;
	}
	said[strcspn(said, "\r\n")] = '\0';
	if (n <= WORDS && wetq_options(&j, n, word, NULL) == 0)
		k = wetq_question(n - optind, word + optind);
	if (!k || n - optind != k->words + 1)
		warn("no question: %.200s", said);
	else if (wetq_ask(&j, k, word + optind) != 0)
		warn_at(j.path, j.fault.off, j.fault.rec, "%s", j.fault.err);
	job_warn_sources(&j);
	out_str(j.out, "\n");
	out_flush(j.out);
	free(said);
}

static void
wetq_lines(struct job *j)
{
	char *line = NULL;
	size_t cap = 0;

	while (getline(&line, &cap, stdin) > 0)
		one_line(j, line);
	if (ferror(stdin))
		die_sys("standard input");
	free(line);
}

void
job_early(const char *name, const struct ws_early *e)
{
	char text[WS_EARLY_TEXT];

	if (e && e->is)
		warn("%s: %s", name, ws_early_text(e, text));
}

static _Noreturn void
wetq_bad(struct job *j, const struct fault *f)
{
	if (j->out)
		out_discard(j->out);
	die_fault(j->path, f);
}

int
main(int argc, char **argv)
{
	struct job j = { .most = UINT64_MAX };
	struct command c = { 0 };
	const struct question *k = NULL;
	struct fault f;
	char *copy = NULL;
	const char *file;

	diag_init(argv[0], 1);
	if (wetq_options(&j, argc, argv, &c) != 0)
		die_usage(SYNOPSIS);
	argc -= optind;
	argv += optind;
	if (!c.many && (argc == 2 || argc == 3) && strcmp(argv[0], "arch") == 0) {
		job_arch(argc == 3 ? argv[1] : NULL, argv[argc - 1], c.outname);
		return 0;
	}
	if (c.many ? argc != 1 || j.backward || j.counts || j.from || j.flags || j.most != UINT64_MAX :
		(k = wetq_question(argc, argv)) == NULL)
		die_usage(SYNOPSIS);
	j.path = file = c.many ? argv[0] : argv[1 + k->words];
	if (!file && k->words && !strchr("@0123456789", argv[1][0]) && access(argv[1], R_OK) == 0) {
		warn("%s %s: that is the file; which %s?", argv[0], argv[1],
		    k->one == job_values || k->one == job_addrs ? "statement" : "point");
		return 2;
	}
	if (!c.many && (!file || strcmp(file, "-") == 0)) {
		file = copy = spool_stdin();
		j.path = "standard input";
	}
	j.file = file;
	helper_allow(HELPER_ELF | HELPER_TEMP | (c.many || k->one == job_annotate ? HELPER_TEXT : 0));
	if ((j.q = query_open(file, &f)) == NULL)
		wetq_bad(&j, &f);
	if (j.window)
		query_set_window(j.q, j.window);
	j.out = out_open(c.outname);
	if (c.many) {
		job_early(j.path, query_early(j.q));
		wetq_lines(&j);
	} else {
		int e = wetq_ask(&j, k, argv);

		job_warn_sources(&j);
		if (e != 0)
			wetq_bad(&j, &j.fault);
	}
	out_close(j.out);
	if (!c.many)
		job_early(j.path, query_early(j.q));
	query_close(j.q);
	free(copy);
	return 0;
}
