/*
 * tally: an application of the regenerator, to be linked with what aec writes: counts the events of a run.
 *
 *   tally [-c] ae.out       -c: one call for each event, to a routine with a case statement, as in the paper's table
 *
 * Prints instructions, data references and loop events.
 */
#include <ae.h>
#include <stdio.h>
#include <string.h>

static unsigned long long inst, data, loop;

static int
batch(void *arg, const uint64_t *refs, size_t n)
{
	uint64_t i0 = 0, l0 = 0;

	(void)arg;
	for (size_t i = 0; i < n; i++) {
		uint64_t kind = refs[i] >> 56;

		i0 += kind == AE_ISSUE_INST;
		l0 += kind >= AE_LOOP_ENTRY;
	}
	inst += i0;
	loop += l0;
	data += n - i0 - l0;
	return 0;
}

static void
one(int kind, uint64_t addr, unsigned aux)
{
	(void)addr;
	(void)aux;
	switch (kind) {
	case AE_ISSUE_INST:
		inst++;
		break;
	case AE_READ_MEM:
	case AE_WRITE_MEM:
	case AE_MODIFY_MEM:
		data++;
		break;
	default:
		loop++;
	}
}

int
main(int argc, char **argv)
{
	int each = argc > 2 && strcmp(argv[1], "-c") == 0;
	const char *file = argv[argc - 1];

	if (argc < 2) {
		fprintf(stderr, "usage: tally [-c] ae.out\n");
		return 2;
	}
	if ((each ? ae_recreate(file, one) : ae_recreate_batch(file, batch, NULL)) != 0) {
		fprintf(stderr, "tally: %s\n", ae_error());
		return 1;
	}
	printf("%llu %llu %llu\n", inst, data, loop);
	return 0;
}
