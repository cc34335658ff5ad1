/*
 * many CAPTURE STREAM WET BIF NOTHING: two handles read the same references in turns, others are open beside them;
 * no handler of this process runs in the processes that read, nothing it has buffered is written twice, and no
 * process or descriptor is left.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tracemill.h>
#include <unistd.h>

static int fail(const char *what) { fprintf(stderr, "%s\n", what); return 1; }
static void at_exit(void) { printf("end\n"); }

static int
descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static int
compare(struct tracemill *a, struct tracemill *b)
{
	struct tracemill_ref r, s;
	int got = 1, other = 1;

	while (got == 1 && other == 1) {
		got = tracemill_next_ref(a, &r);
		other = tracemill_next_ref(b, &s);
		if (got != other || (got == 1 && (r.addr != s.addr || r.size != s.size || r.kind != s.kind)))
			return 1;
	}
	return got != 0;
}

int
main(int argc, char **argv)
{
	int before = descriptors();
	struct tracemill *t[5];
	uint64_t v[TRACEMILL_FIELDS];
	struct tracemill_insn insn;
	struct tracemill_ref r;

	if (argc != 6)
		return 2;
	atexit(at_exit);
	signal(SIGCHLD, SIG_IGN);               /* nobody waits for them but the kernel */
	printf("same ");                        /* stays in the buffer */
	for (int i = 0; i < 5; i++)
		if ((t[i] = tracemill_open(argv[i + 1], NULL)) == NULL)
			return fail("not opened");
	if (compare(t[0], t[1]) != 0)
		return fail("they differ");
	if (tracemill_next_insn(t[2], &insn) != 1 || insn.position != 1 || tracemill_next_record(t[3], v) != 1)
		return fail("the others");
	if (tracemill_type(t[4]) != 0 || tracemill_next_ref(t[4], &r) != -1 || !tracemill_error(t[4]))
		return fail("what is not there");
	if (tracemill_next_ref(t[3], &r) != -1 || !strstr(tracemill_error(t[3]), "no references"))
		return fail("another kind");
	/* a place before, and one that is left before its end */
	if (tracemill_seek(t[0], 10) != 0 || tracemill_seek(t[1], 10) != 0 || compare(t[0], t[1]) != 0)
		return fail("they differ after a seek");
	if (tracemill_seek(t[0], 0) != 0 || tracemill_next_ref(t[0], &r) != 1)
		return fail("the front");
	for (int i = 0; i < 5; i++)
		tracemill_close(t[i]);
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
		return fail("a process is left");
	if (descriptors() != before)
		return fail("a descriptor is left");
	printf("references\n");
	return 0;
}
