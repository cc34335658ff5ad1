/*
 * A target of a fuzzer: LLVMFuzzerTestOneInput reads its input as a stranger's
 * file is read, and aborts if what comes out contradicts itself.  Built with
 * -DLIBFUZZER by `make fuzz`; else a program that reads the files it is given
 * (a finding again, AFL: NAME @@).
 */
#ifndef TESTDATA_FUZZ_H
#define TESTDATA_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#ifndef LIBFUZZER
#ifndef FUZZ_OWN_MAIN
#define fuzz_files main
#endif

int fuzz_files(int argc, char **argv);

int
fuzz_files(int argc, char **argv)
{
	int bad = argc < 2;

	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		uint8_t *b = malloc(1u << 22);
		size_t n = f && b ? fread(b, 1, 1u << 22, f) : 0;
		/* the input ends where the allocation ends, so that a sanitizer sees reads after it */
		uint8_t *p = malloc(n ? n : 1);

		if (!f || !b || !p) {
			fprintf(stderr, "%s: cannot be read\n", argv[i]);
			return 1;
		}
		memcpy(p, b, n);
		fclose(f);
		free(b);
		LLVMFuzzerTestOneInput(p, n);
		free(p);
	}
	printf("%sok 1 - %d files\n", bad ? "not " : "", argc - 1);
	return bad || fflush(stdout) != 0;
}
#endif

/* What is read in pieces: sizes by the input's own bytes, so that their ends are anywhere */
static inline size_t
fuzz_piece(const uint8_t *data, size_t n, uint64_t at, size_t most)
{
	return n ? 1 + data[at % n] % most : 1;
}

#endif
