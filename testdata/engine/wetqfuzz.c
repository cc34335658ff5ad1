/*
 * Questions to .wet files that are broken: all of them get an answer or a fault.
 * wetqfuzz FILE ...               reads files as a fuzzer's inputs: with right checksums
 * wetqfuzz cut FILE STEP          every STEP-th prefix: a fault
 * wetqfuzz flip FILE STEP         every STEP-th byte with a bit changed: a fault
 * wetqfuzz deep FILE STEP         the same, with checksums that are right: a fault or not, nothing else
 */
#include <sys/mman.h>
#include <unistd.h>

#define FUZZ_OWN_MAIN
#include "../format/wetmend.h"
#include "../fuzz/fuzz.h"
#include "wet/query/query.h"

static uint64_t sum;                    /* everything that is handed over is looked at */

static int
path(void *arg, const struct query_path *p)
{
	(void)arg;
	for (uint32_t i = p->from; i < p->to; i++)
		sum += p->id[i];
	return 0;
}

static int
insn(void *arg, const struct query_insn *e)
{
	(void)arg;
	for (uint32_t i = 0; i < e->nval; i++)
		sum += e->val[i];
	for (size_t i = 0; i < e->nref; i++)
		sum += e->ref[i];
	return 0;
}

static int
dep(void *arg, const struct query_dep *d)
{
	(void)arg;
	sum += d->on + d->onn + d->port;
	return 0;
}

static int
slices(struct query *q, uint64_t n)
{
	uint64_t *count = calloc(query_nstmt(q) + 1u, sizeof *count);
	int bad = 0;

	for (unsigned flags = QUERY_RSP; flags <= (QUERY_RSP | QUERY_DATA | QUERY_FORWARD) && !bad; flags++) {
		struct query_slice s = { .n = n, .flags = flags, .fn = insn, .count = count };

		bad = query_slice(q, &s) != 0 || query_deps(q, &s, dep, NULL) != 0;
	}
	free(count);
	return bad;
}

/* All kinds of questions: 0, or -1: one of them had a fault */
static int
questions(struct query *q)
{
	uint64_t n;
	int bad = query_survey(q, 1) != 0 || query_flow(q, 1, UINT64_MAX, 0, path, NULL) != 0 ||
	    query_flow(q, query_length(q), UINT64_MAX, 1, path, NULL) != 0;

	if (query_length(q))
		bad |= slices(q, query_length(q)) != 0 || slices(q, query_length(q) / 2 + 1) != 0;
	for (uint32_t id = 1; id <= query_nstmt(q) && !bad; id += 1 + query_nstmt(q) / 5) {
		const char *file, *func;
		int line;

		query_source(q, id, &file, &func, &line);
		sum += (file ? strlen(file) : 0) + (func ? strlen(func) : 0);
		bad = query_position(q, id, 0, &n) < 0 ||
		    query_insns(q, id, 0, UINT64_MAX, QUERY_VALUES, insn, NULL) != 0 ||
		    query_insn_at(q, id, 1, QUERY_VALUES, insn, NULL) < 0;
		query_insns(q, id, 0, UINT64_MAX, QUERY_VALUES | QUERY_REFS, insn, NULL);
	}
	return bad ? -1 : 0;
}

static int
read_all(const uint8_t *p, size_t n, char err[280])
{
	int fd = memfd_create("wet", 0), e = -1;
	struct fault f = { .err = "" };
	struct query *q;
	char name[64];

	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		exit(2);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if ((q = query_open(name, &f)) != NULL && (e = questions(q)) != 0)
		f = *query_fault(q);
	query_close(q);
	close(fd);
	memcpy(err, f.err, sizeof f.err);
	return e;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *p = malloc(n + 1);
	char err[280];

	memcpy(p, data, n);
	mend(p, n);
	/* captures are for others */
	if (n > 8 && wetfile_is(p, 8) && p[10] != WETFILE_REPLAY)
		read_all(p, n, err);
	free(p);
	return 0;
}

#ifndef LIBFUZZER
int
main(int argc, char **argv)
{
	int broken = argc == 4 && (!strcmp(argv[1], "cut") || !strcmp(argv[1], "flip") ||
	    !strcmp(argv[1], "deep"));
	FILE *f = broken ? fopen(argv[2], "rb") : NULL;
	uint8_t *p = malloc(1 << 22), *t = malloc(1 << 22);
	size_t n = f ? fread(p, 1, 1 << 22, f) : 0, step = argc > 3 ? strtoul(argv[3], NULL, 10) : 1, bad = 0;
	char err[280];

	if (!broken)
		return fuzz_files(argc, argv);
	if (n == 0 || step == 0)
		return 2;
	if (read_all(p, n, err) != 0) {
		printf("as it is: %s\n", err);
		return 1;
	}
	for (size_t i = 0; i < n; i += step) {
		size_t len = strcmp(argv[1], "cut") == 0 ? i : n;
		int deep = strcmp(argv[1], "deep") == 0, e;

		memcpy(t, p, n);
		if (len == n)
			t[i] ^= (uint8_t)(1u << (i * 7 + i / 8) % 8);
		if (deep)
			mend(t, n);
		if (len < 11 || (len == n && i < 11 && deep))
			continue;       /* no .wet file, or of another kind */
		e = read_all(t, len, err);
		if ((!deep && (e == 0 || !err[0])) || (e && !err[0])) {
			printf("%s at %zu: %s\n", argv[1], i, e ? "a fault without a word" : "not noticed");
			bad++;
		}
	}
	fclose(f);
	free(p);
	free(t);
	return bad != 0;
}
#endif
