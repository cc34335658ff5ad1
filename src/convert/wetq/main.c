/* wetq: answer questions about a captured run: statements, control flow, values, addresses, slices. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/heap.h"
#include "base/helper.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/spool.h"
#include "base/src.h"
#include "convert/wetq/wetq.h"
#include "format/ws/runs.h"

enum { FORWARD = 256, JSON };

/* What -t follows; -d is the second one */
static const struct type { const char *name; unsigned flags; } types[] = {
	{ "thin", QUERY_THIN | QUERY_DATA },
	{ "data", QUERY_DATA },
	{ "control", QUERY_CONTROL },
	{ "full", 0 },
};

static const struct opt wetq_opts[] = {
	{ 'a', "all", NULL, "why: copies and functions of libraries as well" },
	{ 'b', "backward", NULL, "cf: backward, from the end or -f to the beginning" },
	{ 'c', "counts", NULL, "slice: its statements with counts, not its instances" },
	{ 'd', "data", NULL, "slice, dot, annotate: data dependences only" },
	{ 'f', "from", "POINT", "cf: begin at POINT" },
	{ FORWARD, "forward", NULL, "slice, dot, annotate: what depends on the point" },
	{ 'i', "interactive", NULL, "answer the questions on standard input, one on a line" },
	{ 'I', "include", "FOLDER", "annotate: where source files with relative names are" },
	{ JSON, "json", NULL, "the answer as JSON; not for html, walk" },
	{ 'n', "lines", "N", "at most N lines" },
	OPT_OUTPUT,
	{ 'r', "stack-pointer", NULL,
	    "slice, dot, annotate: follow dependences by the stack pointer as well" },
	{ 't', "type", "TYPE", "follow dependences: thin (why, html, walk, dice), data, control or full (others)" },
	{ 'w', "window", "N", "backward answers hold at most N instances in memory (8M)" },
	{ 0 },
};

/* Of a question on standard input */
static const struct opt_tool wetq_line = { .opt = wetq_opts, .lenient = 1 };

static const struct opt_tool wetq_tool = {
	.does = "Answers questions about a run, from a capture or a .wet file: which instructions ran, with\n"
	    "which values and addresses, and what an instance depends on. A point is FILE:LINE#K or FUNCTION#K,\n"
	    "counted from 0; ID#K, of a statement that list prints; VARIABLE@POINT or *ADDRESS@POINT, who wrote\n"
	    "that last; out:BYTE, who stored this byte of the output; crash; @N, place N in the run.",
	.synopsis = "[option ...] list | cf | values id | addrs id [file]\n"
	    "[option ...] why point | html point | deps point | uses point | at point [file]\n"
	    "[option ...] walk point file\n"
	    "[option ...] who variable[@point] | who *address[@point] | whynot source:line [file]\n"
	    "[option ...] slice point | dot point | annotate point [file]\n"
	    "[option ...] dice wrong right [file]\n"
	    "[option ...] -i file\n"
	    "[-o file] arch [id] file",
	.example = "wscap -o p.ws ./p; wetq why p.c:12 p.ws",
	.opt = wetq_opts,
};

static const struct question {
	const char *name;
	int words;                      /* number of arguments */
	int json;                       /* it has its answer as JSON, too: all but pages and conversations */
	int (*none)(struct job *j);
	int (*one)(struct job *j, const char *s);
	int (*two)(struct job *j, const char *s, const char *t);
} questions[] = {
	{ "list", 0, 1, job_list, NULL, NULL },
	{ "cf", 0, 1, job_flow, NULL, NULL },
	{ "values", 1, 1, NULL, job_values, NULL },
	{ "addrs", 1, 1, NULL, job_addrs, NULL },
	{ "why", 1, 1, NULL, job_why, NULL },
	{ "html", 1, 0, NULL, job_html, NULL },
	{ "walk", 1, 0, NULL, job_walk, NULL },
	{ "deps", 1, 1, NULL, job_deps, NULL },
	{ "uses", 1, 1, NULL, job_uses, NULL },
	{ "at", 1, 1, NULL, job_at, NULL },
	{ "who", 1, 1, NULL, job_who, NULL },
	{ "whynot", 1, 1, NULL, job_whynot, NULL },
	{ "slice", 1, 1, NULL, job_slice, NULL },
	{ "dot", 1, 1, NULL, job_dot, NULL },
	{ "annotate", 1, 1, NULL, job_annotate, NULL },
	{ "dice", 2, 1, NULL, NULL, job_dice },
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

/* An option that the question has no use for: what it is for; NULL: there is none. */
static const char *
wetq_unfit(const struct job *j, const struct question *k)
{
	if (j->json && !k->json)
		return "--json is for all questions but html and walk";
	if ((j->backward || j->from) && k->none != job_flow)
		return "-b and -f are for cf";
	if (j->counts && k->one != job_slice)
		return "-c is for slice";
	if (j->all && k->one != job_why)
		return "-a is for why";
	if (j->flags & QUERY_FORWARD && k->one != job_slice && k->one != job_dot && k->one != job_annotate)
		return "--forward is for slice, dot and annotate";
	return NULL;
}

static int
wetq_ask(struct job *j, const struct question *k, char **word)
{
	return k->none ? k->none(j) : k->one ? k->one(j, word[1]) : k->two(j, word[1], word[2]);
}

#define QTYPES (QUERY_THIN | QUERY_DATA | QUERY_CONTROL)

static int
wetq_reads_source(const struct question *k)
{
	static const char *const reads[] = { "annotate", "why", "html", "walk", "deps", "uses", "whynot", "dice" };

	for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
		if (strcmp(k->name, reads[i]) == 0)
			return 1;
	return 0;
}

struct command { const char *outname; int many; };

/* Parses the number of an option. */
static int
wetq_number(uint64_t *v, const char *s, uint64_t least, int size, const struct command *c)
{
	if ((size ? num_size(s, least, UINT64_C(1) << 40, v) : num_u64(s, least, UINT64_MAX, v)) == 0)
		return 0;
	if (!c)
		return 1;
	opt_wrong("not a number of at least %d", (int)least);
}

/* Parses the value of -t. */
static int
wetq_type(struct job *j, const char *s, const struct command *c)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(s, types[i].name) == 0) {
			j->flags = (j->flags & ~(unsigned)QTYPES) | types[i].flags;
			j->typed = 1;
			return 0;
		}
	if (!c)
		return 1;
	opt_wrong("not a type of dependences; there are thin, data, control and full");
}

/*
 * Parses the options of a question, if any: 0, or -1.  c: receives options for the whole
 * program; NULL: those are errors.
 */
static int
wetq_options(struct job *j, int argc, char **argv, struct command *c)
{
	int o, wrong = 0;

	optind = 0;
	while ((o = opt_next(c ? &wetq_tool : &wetq_line, argc, argv)) != -1) {
		if (!c && (o == '?' || o == 'I' || o == 'i' || o == 'o' || o == 'w')) {
			wrong = 1;
			continue;
		}
		switch (o) {
		case JSON: j->json = 1; break;
		case 'a': j->all = 1; break;
		case FORWARD: j->flags |= QUERY_FORWARD; break;
		case 'I': j->folder = optarg; break;
		case 'b': j->backward = 1; break;
		case 'c': j->counts = 1; break;
		case 'd': wrong |= wetq_type(j, "data", c); break;
		case 'f': j->from = optarg; break;
		case 'i': c->many = 1; break;
		case 'n': wrong |= wetq_number(&j->most, optarg, 0, 0, c); break;
		case 'o': c->outname = optarg; break;
		case 'r': j->flags |= QUERY_RSP; break;
		case 't': wrong |= wetq_type(j, optarg, c); break;
		case 'w': wrong |= wetq_number(&j->window, optarg, 16, 1, c); break;
		}
	}
	return wrong ? -1 : 0;
}

#define WORDS 32                /* words of a question at most */

/* Answers the question in a line, or reports what is wrong with it. */
static void
one_line(struct job *all, char *line)
{
	struct job j = *all;            /* which it gives back its places */
	char *said = xstrdup(line);
	char *word[WORDS + 2] = { (char *)"wetq" };
	const struct question *k = NULL;
	const char *unfit;
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
		warn("no question: %.200s; see wetq --help", said);
	else if ((unfit = wetq_unfit(&j, k)) != NULL)
		warn("%s", unfit);
	else if (wetq_ask(&j, k, word + optind) != 0)
		warn_at(j.path, j.fault.off, j.fault.rec, "%s", j.fault.err);
	job_warn_sources(&j);
	all->places = j.places;
	out_str(j.out, "\n");
	out_flush(j.out);
	free(said);
}

static void
wetq_lines(struct job *j)
{
	char *line = NULL;
	size_t cap = 0;

	src_opened(STDIN_FILENO);
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
	char *copy = NULL, others[WS_OTHERS_TEXT];
	const char *file, *unfit;

	diag_init(argv[0], 1);
	heap_large();
	wetq_options(&j, argc, argv, &c);
	argc -= optind;
	argv += optind;
	if (!c.many && (argc == 2 || argc == 3) && strcmp(argv[0], "arch") == 0) {
		job_arch(argc == 3 ? argv[1] : NULL, argv[argc - 1], c.outname, j.json);
		return 0;
	}
	if (c.many && (j.backward || j.counts || j.from || j.flags || j.typed || j.all || j.json || j.most !=
	    UINT64_MAX))
		die_usage("with -i, the options of a question are given with it, on standard input");
	if (c.many && argc != 1)
		die_usage("-i takes one operand, the file");
	if (!c.many && (k = wetq_question(argc, argv)) == NULL)
		die_usage(argc ? "%s: no question, or not with that many words" : "no question is asked",
		    argv[0]);
	if (!c.many && (unfit = wetq_unfit(&j, k)) != NULL)
		die_usage("%s", unfit);
	file = c.many ? argv[0] : argv[1 + k->words];
	if (!file && k->words && !strchr("@0123456789", argv[1][0]) && access(argv[1], R_OK) == 0) {
		warn("%s %s: that is the file; which %s?", argv[0], argv[1],
		    k->one == job_values || k->one == job_addrs ? "statement" : "point");
		return 2;
	}
	j.path = src_name(file);
	if (c.many && src_is_stdin(file))
		die_usage("-i reads the questions from standard input: the file must be another");
	if (!c.many && k->one == job_walk && src_is_stdin(file))
		die_usage("walk reads commands from standard input: the file must be another");
	if (src_is_stdin(file))
		file = copy = spool_stdin();
	j.file = file;
	j.many = c.many;
	if (ws_others(file, others))
		warn("%s: %s", j.path, others);
	if (!c.many)
		progress_start(j.path);
	helper_allow(HELPER_ELF | HELPER_TEMP | (c.many || wetq_reads_source(k) ? HELPER_TEXT : 0));
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
	job_places_free(&j);
	query_close(j.q);
	free(copy);
	return 0;
}
