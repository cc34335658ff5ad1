/*
 * Prints what libtracemill gives, in the formats of the tools: dump [-e EVENTS] [-n FROM] [-s STATEMENT] [-w] FILE
 *
 * References as `ws2addr -f text`; records as decimal numbers; executed instructions as `position statement pc`,
 * with -s as `instance value...` and ` kind:addr,size`. -w: references come as words.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill.h>
#include <unistd.h>

static void
print_ref(struct tracemill_ref r)
{
	static const char *const kind[] = { "inst", "load", "store", "modify", "enter", "back", "exit", "task" };

	if (r.kind < TRACEMILL_LOOP_ENTER)
		printf("%s 0x%" PRIx64 " %u\n", kind[r.kind], r.addr, r.size);
	else
		printf("%s 0x%" PRIx64 "\n", kind[r.kind], r.addr);
}

static int
print_words(struct tracemill *t)
{
	const uint64_t *w;
	long n;

	while ((n = tracemill_next_words(t, &w)) > 0)
		for (long i = 0; i < n; i++)
			print_ref(tracemill_word(w[i]));
	return (int)n;
}

static int
print_refs(struct tracemill *t)
{
	struct tracemill_ref r;
	int got;

	while ((got = tracemill_next_ref(t, &r)) == 1)
		print_ref(r);
	return got;
}

static int
print_records(struct tracemill *t)
{
	uint64_t v[TRACEMILL_FIELDS];
	int got;

	while ((got = tracemill_next_record(t, v)) == 1)
		for (unsigned i = 0; i < tracemill_fields(t); i++)
			printf("%" PRIu64 "%c", v[i], i + 1 < tracemill_fields(t) ? ' ' : '\n');
	return got;
}

static int
print_insns(struct tracemill *t, int selected)
{
	struct tracemill_insn i;
	int got;

	while ((got = tracemill_next_insn(t, &i)) == 1) {
		if (!selected) {
			printf("%" PRIu64 " %" PRIu32 " %" PRIx64 "\n", i.position, i.statement, i.pc);
			continue;
		}
		printf("%" PRIu64, i.instance);
		for (size_t k = 0; k < i.nvalue; k++)
			printf(" %" PRIx64, i.value[k]);
		for (size_t k = 0; k < i.nref; k++)
			printf(" %c:%" PRIx64 ",%u", "irwm"[tracemill_word(i.ref[k]).kind & 3],
			    tracemill_word(i.ref[k]).addr, tracemill_word(i.ref[k]).size);
		printf("\n");
	}
	return got;
}

int
main(int argc, char **argv)
{
	const char *events = NULL, *from = NULL, *statement = NULL;
	struct tracemill *t;
	int words = 0, c, got = 0;

	while ((c = getopt(argc, argv, "e:n:s:w")) != -1)
		switch (c) {
		case 'e': events = optarg; break;
		case 'n': from = optarg; break;
		case 's': statement = optarg; break;
		case 'w': words = 1; break;
		default: return 2;
		}
	if (!argv[optind] || (t = tracemill_open(argv[optind], events)) == NULL)
		return 2;
	if (statement)
		got = tracemill_select(t, (uint32_t)strtoul(statement, NULL, 10));
	if (from && got == 0)
		got = tracemill_seek(t, strtoull(from, NULL, 10));
	if (got == 0)
		switch (tracemill_type(t)) {
		case TRACEMILL_REFS: got = words ? print_words(t) : print_refs(t); break;
		case TRACEMILL_RECORDS: got = print_records(t); break;
		case TRACEMILL_INSNS: got = print_insns(t, statement != NULL); break;
		default: got = -1;
		}
	fflush(stdout);
	if (tracemill_warning(t))
		fprintf(stderr, "warning: %s\n", tracemill_warning(t));
	if (tracemill_error(t))
		fprintf(stderr, "error: %s\n", tracemill_error(t));
	if ((got < 0) != (tracemill_error(t) != NULL))
		return 3;
	tracemill_close(t);
	return got < 0;
}
