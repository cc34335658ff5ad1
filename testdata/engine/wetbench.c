/*
 * wetbench FILE.ws ...: the static code of captures, and how fast dynamic
 * control dependence is followed.
 * wetbench -p FILE.ws: a sum of all parents.
 * wetbench -k FILE.ws: the same, and every thousand runs the state is saved, forgotten and restored.
 * wetbench -s FILE.ws: jumps of the program itself with tables: address, targets.
 * wetbench -e FILE.ws: indirect jumps that are no tail calls: from, to, which is 0 if there may be more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cfg/control.h"
#include "replay/guest/code_reader.h"
#include "replay/itrace/code_finder.h"

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
collect(const char *path, struct wcode *c, uint64_t *n)
{
	struct fault f;
	struct wcode_replay m = { 0 };
	struct visit *v = visit_open(path, VISIT_CONTROL, &f);
	struct wcode_visit *t = wcode_visit_new(c);
	struct visit_batch b;
	int got;

	if (!v) {
		printf("%s: %s\n", path, f.err);
		return -1;
	}
	m.r = visit_replay(v);
	wcode_init(c, wcode_read_replay, &m);
	*n = 0;
	while ((got = visit_batch(v, &b)) == REPLAY_OK) {
		wcode_replay_invalidate(&m);
		*n += b.ninsn;
		if (wcode_visit_batch(t, &b) != 0)
			return -1;
	}
	wcode_visit_free(t);
	visit_close(v);
	return got == REPLAY_END ? 0 : -1;
}

static struct control *
again(struct control *t, const struct wcode *c)
{
	struct buf b = BUF_INIT;

	control_save(t, &b);
	control_free(t);
	t = control_new(c);
	if (b.nomem || control_load(t, b.p, b.n) != 0 || control_load(t, b.p, b.n - 1) == 0 ||
	    control_load(t, b.p, b.n) != 0)
		exit(3);
	buf_free(&b);
	return t;
}

static int
follow(const char *path, const struct wcode *c, int want, uint64_t *sum)
{
	static uint64_t parent[64];
	struct fault f;
	struct visit *v = visit_open(path, want == 2 ? VISIT_WRITERS : 0, &f);
	struct control *t = control_new(c);
	struct visit_batch b;
	unsigned long runs = 0;

	while (v && visit_batch(v, &b) == REPLAY_OK)
		for (size_t i = 0; i < b.nrun && want; i++) {
			if (want == 3 && ++runs % 1000 == 0)
				t = again(t, c);
			if (control_run(t, b.run[i].at, b.run[i].ninsn, b.run[i].n, b.word + b.run[i].word,
			    parent) != 0)
				return -1;
			for (uint32_t k = 0; k < b.run[i].ninsn; k++)
				*sum += parent[k];
		}
	control_free(t);
	visit_close(v);
	return 0;
}

static int
parents(const char *path, int how)
{
	struct wcode c;
	uint64_t n, sum = 0;

	if (collect(path, &c, &n) != 0 || wcode_analyse(&c) != 0 || follow(path, &c, how, &sum) != 0)
		return 1;
	printf("%llu statements, %llx\n", (unsigned long long)n, (unsigned long long)sum);
	wcode_free(&c);
	return 0;
}

static void
exe_mapped(void *arg, const struct ws_rec_map *m)
{
	uint64_t *at = arg;

	if (m->type == WS_EXE) {
		at[0] = m->addr;
		at[1] = m->addr + m->len;
	}
}

static int
switches(const char *path)
{
	struct wcode c;
	struct fault f;
	uint64_t n, at[2] = { 0 };
	struct replay *r;

	if (collect(path, &c, &n) != 0 || wcode_analyse(&c) != 0)
		return 1;
	if ((r = replay_open(path, &f)) == NULL)
		return 1;
	replay_set_map_fn(r, exe_mapped, at);
	replay_close(r);
	for (size_t i = 0; i < c.n; i++) {
		size_t k = 0;

		for (size_t e = 0; e < c.nedge; e++)
			k += c.edge[e].from == i;
		if (c.node[i].flags & CODE_TABLE && c.node[i].pc >= at[0] && c.node[i].pc < at[1])
			printf("%llx %zu\n", (unsigned long long)c.node[i].pc, k);
	}
	wcode_free(&c);
	return 0;
}

static int
edges(const char *path)
{
	struct wcode c;
	uint64_t n;

	if (collect(path, &c, &n) != 0 || wcode_analyse(&c) != 0)
		return 1;
	for (size_t i = 0; i < c.nedge; i++)
		printf("%llx %llx\n", (unsigned long long)c.node[c.edge[i].from].pc,
		    (unsigned long long)c.edge[i].to);
	for (size_t i = 0; i < c.n; i++)
		if (c.node[i].kind == CODE_INDIRECT && !(c.node[i].flags & CODE_TABLE))
			printf("%llx 0\n", (unsigned long long)c.node[i].pc);
	wcode_free(&c);
	return 0;
}

int
main(int argc, char **argv)
{
	uint64_t n, sum = 0;

	if (argc == 3 && argv[1][0] == '-')
		return argv[1][1] == 'p' ? parents(argv[2], 1) : argv[1][1] == 'k' ? parents(argv[2], 3) :
		    argv[1][1] == 'e' ? edges(argv[2]) : switches(argv[2]);

	printf("%12s %8s %8s %8s %8s %6s %6s %6s %6s %6s\n", "instructions", "executed", "reached",
	    "branches", "switches", "code s", "pdom s", "M/s", "+cd", "+wr");
	for (int i = 1; i < argc; i++) {
		struct wcode c;
		double t0 = now(), t1, t2, t3, t4, t5;
		size_t run = 0, branch = 0, table = 0;

		sum = 0;

		if (collect(argv[i], &c, &n) != 0)
			return 1;
		t1 = now();
		if (wcode_analyse(&c) != 0)
			return 1;
		t2 = now();
		for (size_t k = 0; k < c.n; k++) {
			run += c.node[k].flags & CODE_RUN;
			branch += (c.node[k].flags & CODE_BRANCH) != 0;
			table += (c.node[k].flags & CODE_TABLE) != 0;
		}
		follow(argv[i], &c, 0, &sum);
		t3 = now();
		follow(argv[i], &c, 1, &sum);
		t4 = now();
		follow(argv[i], &c, 2, &sum);
		t5 = now();
		printf("%12llu %8zu %8zu %8zu %8zu %6.2f %6.2f %6.0f %6.0f %6.0f  %llx %s\n",
		    (unsigned long long)n, run, c.n - run, branch, table, t1 - t0, t2 - t1,
		    1e-6 * (double)n / (t3 - t2), 1e-6 * (double)n / (t4 - t3), 1e-6 * (double)n / (t5 - t4),
		    (unsigned long long)sum, argv[i]);
		fflush(stdout);
		wcode_free(&c);
	}
	return 0;
}
