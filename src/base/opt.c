/* The command line of a tool: parsed, and explained; see opt.h. */
#include "base/opt.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/num.h"
#include "base/out.h"

enum { MOST = 64, HELP = 0x10000, VERSION, COLUMN = 28 };

static char last[64];           /* the option that opt_next returned last, as it was given, without its value */
static const char *output;      /* the value of -o, if it must not be read */

static void
opt_usage(FILE *f, const struct opt *o)
{
	char text[80];
	int n = 0;

	n = o->key < 256 ? snprintf(text, sizeof text, "  -%c", o->key) : snprintf(text, sizeof text, "    ");
	if (o->name)
		n += snprintf(text + n, sizeof text - (size_t)n, "%s--%s", o->key < 256 ? ", " : "  ", o->name);
	if (o->value)
		n += snprintf(text + n, sizeof text - (size_t)n, "%s%s", o->name ? "=" : " ", o->value);
	if (n >= COLUMN)
		fprintf(f, "%s\n%*s%s\n", text, COLUMN, "", o->what);
	else
		fprintf(f, "%-*s%s\n", COLUMN, text, o->what);
}

/* Ends the tool when what was asked for is on standard output. */
static _Noreturn void
opt_end(void)
{
	diag_flush();
	exit(0);
}

static _Noreturn void
opt_help(const struct opt_tool *t)
{
	const char *form = t->synopsis;

	for (const char *before = "usage:"; *form; before = "   or:") {
		int n = (int)strcspn(form, "\n");

		printf("%s %s %.*s\n", before, diag_name(), n, form);
		form += n + (form[n] == '\n');
	}
	printf("%s\n\n", t->does);
	for (const struct opt *o = t->opt; o->key; o++)
		if (o->what)
			opt_usage(stdout, o);
	opt_usage(stdout, &(struct opt){ HELP, "help", NULL, "print this" });
	opt_usage(stdout, &(struct opt){ VERSION, "version", NULL, "print the version" });
	if (t->example)
		printf("\nexample: %s\nThe manual is %s(1).\n", t->example, diag_name());
	opt_end();
}

static _Noreturn void
opt_version(void)
{
	printf("%s (tracemill) %s\n", diag_name(), TM_VERSION);
	opt_end();
}

/* The table as getopt_long(3) has it */
static void
opt_tables(const struct opt_tool *t, char *letters, struct option *longs)
{
	size_t n = 0;

	if (t->program)
		*letters++ = '+';
	*letters++ = ':';       /* a value that is missing is not what an unknown option is */
	for (const struct opt *o = t->opt; o->key; o++) {
		if (o->key < 256) {
			*letters++ = (char)o->key;
			if (o->value)
				*letters++ = ':';
		}
		if (o->name && n < MOST)
			longs[n++] = (struct option){ o->name, o->value ? required_argument : no_argument, NULL, o->key };
	}
	if (!t->lenient) {
		longs[n++] = (struct option){ "help", no_argument, NULL, HELP };
		longs[n++] = (struct option){ "version", no_argument, NULL, VERSION };
	}
	longs[n] = (struct option){ 0 };
	*letters = '\0';
}

/* Is the word of the command line the long name of this key, or the beginning of it, maybe with a value? */
static int
opt_is_long(const struct opt_tool *t, int key, const char *word)
{
	size_t n;

	if (!word || strncmp(word, "--", 2) != 0)
		return 0;
	n = strcspn(word + 2, "=");
	for (const struct opt *o = t->opt; o->key; o++)
		if (o->key == key && o->name && n <= strlen(o->name) && strncmp(word + 2, o->name, n) == 0)
			return 1;
	return 0;
}

/* Remembers how the option was given: -n, or --range, without its value. */
static void
opt_remember(const struct opt_tool *t, int key, const char *word)
{
	if (opt_is_long(t, key, word) || key == 0 || key > 255)
		snprintf(last, sizeof last, "%.*s", (int)strcspn(word, "="), word);
	else
		snprintf(last, sizeof last, "-%c", key);
}

/* What is wrong with the long option that getopt_long(3) does not take */
static const char *
opt_reason(const struct opt_tool *t)
{
	size_t n = strlen(last), found = 0;

	for (const struct opt *o = t->opt; o->key && n > 2; o++)
		found += o->name && strncmp(last + 2, o->name, n - 2) == 0;
	return found > 1 ? "more than one option begins so" : found == 1 ? "it has no value" : "no such option";
}

int
opt_next(const struct opt_tool *t, int argc, char **argv)
{
	char letters[2 * MOST + 3];
	struct option longs[MOST + 3];
	const char *word;
	int c;

	opt_tables(t, letters, longs);
	opterr = 0;
	c = getopt_long(argc, argv, letters, longs, NULL);
	if (c == HELP)
		opt_help(t);
	if (c == VERSION)
		opt_version();
	if (t->lenient && (c == '?' || c == ':'))
		return '?';
	if (c == -1) {
		out_replaces(output);
		output = NULL;
		return c;
	}
	word = optind < 1 ? NULL : optind > 1 && argv[optind - 1] == optarg ? argv[optind - 2] : argv[optind - 1];
	opt_remember(t, c == '?' || c == ':' ? optopt : c, word);
	if (c == ':')
		die_usage("%s: its value is missing", last);
	if (c == '?')
		die_usage("%s: %s", last, strncmp(last, "--", 2) == 0 ? opt_reason(t) : "no such option");
	if (c == 'o' && !t->replaces && !t->lenient)
		output = optarg;
	return c;
}

void
opt_wrong(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	die_usage("%s%s%.200s: %s", last, optarg ? " " : "", optarg ? optarg : "", text);
}

uint64_t
opt_size(const char *s, uint64_t min, uint64_t max)
{
	uint64_t v;

	if (num_size(s, min, max, &v) != 0)
		opt_wrong("not a number from %llu to %llu%s", (unsigned long long)min, (unsigned long long)max,
		    max < 1024 ? "" : "; k, M and G after it are 1024, 1024k and 1024M");
	return v;
}

void
opt_operands(int argc, char **argv, int min, int max)
{
	if (argc - optind > max)
		die_usage("%.200s: one operand too many", argv[optind + max]);
	if (argc - optind < min)
		die_usage(argc == optind ? "no operand is given" : "an operand is missing");
}
