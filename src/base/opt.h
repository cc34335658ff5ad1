/*
 * The command line of a tool. One table of its options is what is parsed, what --help prints, and
 * what the messages name. Every tool has --help and --version, which print to standard output and
 * end it with status 0.
 */
#ifndef TM_BASE_OPT_H
#define TM_BASE_OPT_H

#include <inttypes.h>
#include <stdint.h>
#include <unistd.h>             /* optarg, optind */

struct opt {
	int key;                /* the letter; above 255: the option has only a long name */
	const char *name;       /* the long name; NULL: it has only a letter */
	const char *value;      /* what --help calls its value, as "FILE"; NULL: it has none */
	const char *what;       /* what it does, in a line of --help; NULL: it is not listed */
};

/* What several tools have means the same in all of them. */
#define OPT_OUTPUT  { 'o', "output", "FILE", "write to FILE, not to standard output" }
#define OPT_FORMAT  { 'f', "format", "FORMAT", "addr (a reference stream, the default), lackey, din or text" }
#define OPT_RANGE   { 'n', "range", "FROM:TO", "from instruction FROM, counted from 0, up to before TO" }
#define OPT_SYMBOL  { 's', "symbol", "NAME", "only the first call of the function NAME" }
#define OPT_NOINST  { 'i', "no-instructions", NULL, "leave instruction fetches out" }
#define OPT_NOLOOPS { 'l', "no-loops", NULL, "leave loop events out" }
#define OPT_QUIET_LIMIT \
	{ 'm', "quiet-limit", "N", "take more than N references without an event for an endless loop (2^40)" }
#define OPT_PARENT  { 'p', "parent", "FILE", "for a forked child: the event file of its parent" }
/* -0 to -9, of which --help has one line */
#define OPT_LEVELS(what) \
	{ '0', NULL, NULL, what }, { '1', NULL, NULL, NULL }, { '2', NULL, NULL, NULL }, \
	{ '3', NULL, NULL, NULL }, { '4', NULL, NULL, NULL }, { '5', NULL, NULL, NULL }, \
	{ '6', NULL, NULL, NULL }, { '7', NULL, NULL, NULL }, { '8', NULL, NULL, NULL }, { '9', NULL, NULL, NULL }

#define OPT_BAD_FORMAT "not a format; there are addr, lackey, din and text; addrconv(1) writes others"
#define OPT_BAD_RANGE  "not a range FROM:TO, of which one may be left out, with FROM before TO"
/* of a range that begins after the end: a format of one uint64_t */
#define OPT_EMPTY_RANGE "nothing is in this range: the run has %" PRIu64 " instructions"
#define OPT_BAD_SIZE   "not a size of at least 1; k, M and G after the number are 1024, 1024k and 1024M"

struct opt_tool {
	const char *does;       /* what the tool does: a sentence */
	const char *synopsis;   /* what may come after its name; several forms in a line each */
	const char *example;    /* a pipeline, the first of its page; NULL: it has no page of its own */
	const struct opt *opt;  /* ends with key 0 */
	int program;            /* the first operand begins the command line of another program */
	int replaces;           /* -o may name what is read */
	int lenient;            /* a wrong option is returned as '?' without a word, and --help is no option */
};

/*
 * The next option's key, with optarg and optind as getopt_long(3) sets them; -1 after the last: from then on, the
 * file of -o must not be read (out_replaces).
 * An option that is wrong is reported and ends the tool. optind = 0 begins with another argv.
 */
int opt_next(const struct opt_tool *t, int argc, char **argv);

/* `tool: -o value: message` about the option that opt_next returned last; ends the tool. */
_Noreturn void opt_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The number s, with or without a suffix, in the value of that option; not from min to max: ends the tool. */
uint64_t opt_size(const char *s, uint64_t min, uint64_t max);

/* After the last option: ends the tool if there are not min to max operands. */
void opt_operands(int argc, char **argv, int min, int max);

#endif
