/*
 * hotlines: the ten cache lines that a run touches most, from any trace that libtracemill reads:
 *
 *     gcc -O2 hotlines.c $(pkg-config --cflags --libs tracemill) -o hotlines
 *     wscap -o ls.ws ls; ./hotlines ls.ws
 */
#include <inttypes.h>
#include <stdio.h>
#include <tracemill.h>

#define LINE  64u
#define SLOTS (1u << 20)                /* lines that it can count, a power of 2 */

static struct { uint64_t line, n; } table[SLOTS];

/* Counts one access; 0 if the table is full. */
static int
count(uint64_t line)
{
	uint64_t at = line * UINT64_C(0x9e3779b97f4a7c15) >> 44;

	for (unsigned tries = 0; tries < SLOTS; tries++, at = (at + 1) % SLOTS)
		if (!table[at].n || table[at].line == line) {
			table[at].line = line;
			table[at].n++;
			return 1;
		}
	return 0;
}

int
main(int argc, char **argv)
{
	struct tracemill *t = tracemill_open(argc > 1 ? argv[1] : "-", NULL);
	struct tracemill_ref r;
	int got;

	if (!t) {
		perror("hotlines");
		return 1;
	}
	while ((got = tracemill_next_ref(t, &r)) == 1)
		if (r.kind >= TRACEMILL_LOAD && r.kind <= TRACEMILL_MODIFY && !count(r.addr / LINE)) {
			fprintf(stderr, "hotlines: more than %u lines\n", SLOTS);
			return 1;
		}
	if (tracemill_error(t)) {
		fprintf(stderr, "hotlines: %s\n", tracemill_error(t));
		return 1;
	}
	for (int i = 0; i < 10; i++) {
		size_t best = 0;

		for (size_t k = 1; k < SLOTS; k++)
			if (table[k].n > table[best].n)
				best = k;
		if (table[best].n)
			printf("%10" PRIu64 " 0x%" PRIx64 "\n", table[best].n, table[best].line * LINE);
		table[best].n = 0;
	}
	tracemill_close(t);
	return 0;
}
