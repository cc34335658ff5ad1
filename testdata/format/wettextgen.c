/*
 * Texts of wettext(5) by chance: any ids, sizes, orders, lists.
 *
 * wettextgen text SEED              a text
 * wettextgen loose SEED             the same, with other blanks, zeros, upper case, line ends
 * wettextgen check FROM TO          texts FROM to TO, both ways: to .wet and back; says which are not the
 * same wettextgen small SEED             a text that can be asked of: dependences are on what came before
 * wettextgen ask SEED               questions about that, for wetq -i
 * wettextgen answer SEED            their answers
 * wettextgen circ SEED N            its last N dependences
 *
 * Text and answers come of the same tables, and of no code of the library.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wet/file/file.h"
#include "wet/print/print.h"

#define WORDS 8

struct dep { uint64_t x, instance; size_t on; };
struct port { struct dep *dep; size_t n; };
struct stmt {
	uint64_t id, addr, line, count;
	char file[64], func[64];
	struct port *port;
	size_t nport, place;            /* place: of its block in the text */
	uint64_t (*val)[WORDS];         /* count of them; NULL: no values */
	uint64_t seen;                  /* executions that the text speaks of */
};
struct gen {
	struct stmt *s;                 /* by ids */
	size_t n, *block;               /* block: statements as the text has them */
	size_t *seq, nseq;              /* the run */
	uint64_t *inst;                 /* the instance at each place of it */
	uint64_t (*step)[2], nstep;
	int ordered, small;
};

static uint64_t state;

static uint64_t
chance(void)
{
	uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t
below(uint64_t n)
{
	return chance() % n;
}

/* Mostly small, now and then of any size */
static uint64_t
number(void)
{
	return below(4) ? below(300) : below(3) ? chance() >> below(64) : UINT64_MAX;
}

static void *
room(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p)
		exit(2);
	return p;
}

static void
name(char *to, int small)
{
	static const char plain[] = "abcXYZ019._/";
	size_t n = 1 + below(below(5) ? 12 : 60);

	for (size_t i = 0; i < n; i++) {
		char c = small || below(6) ? plain[below(sizeof plain - 1)] : (char)(33 + below(223));

		to[i] = c == 127 ? '?' : c;
	}
	to[n] = '\0';
	if (below(6) == 0)
		strcpy(to, "?");
}

static int
by_id(const void *a, const void *b)
{
	const struct stmt *p = a, *q = b;

	return p->id < q->id ? -1 : p->id > q->id;
}

static void
ids(struct gen *g)
{
	unsigned how = (unsigned)below(5);
	uint64_t base = how == 1 ? UINT64_MAX - g->n - below(3) + 1 : how == 2 ? chance() >> 1 : 1;
	size_t n = 1;

	for (size_t i = 0; i < g->n; i++)
		g->s[i].id = how < 3 ? base + i : how == 3 ? chance() >> below(60) : below(g->n * 3);
	qsort(g->s, g->n, sizeof *g->s, by_id);
	for (size_t i = 1; i < g->n; i++)       /* each once */
		if (g->s[i].id != g->s[n - 1].id)
			g->s[n++].id = g->s[i].id;
	g->n = g->n ? n : 0;
	g->block = room(g->n, sizeof *g->block);
	for (size_t i = 0; i < g->n; i++)
		g->block[i] = i;
	if (below(2))
		for (size_t i = g->n; i > 1; i--) {
			size_t k = below(i), t = g->block[k];

			g->block[k] = g->block[i - 1];
			g->block[i - 1] = t;
		}
	for (size_t i = 0; i < g->n; i++)
		g->s[g->block[i]].place = i;
}

static void
run(struct gen *g)
{
	size_t steps = !g->ordered || !g->n ? 0 : below(40) ? below(60) : 5000;

	g->step = room(steps, sizeof *g->step);
	g->seq = room(steps * 8, sizeof *g->seq);
	g->inst = room(steps * 8, sizeof *g->inst);
	for (size_t i = 0; i < steps; i++) {
		size_t at = below(g->n), n = 1 + below(8), k = 1;

		while (k < n && at + k < g->n && g->s[at + k].id == g->s[at].id + k)
			k++;
		for (size_t j = 0; j < k; j++) {
			g->inst[g->nseq] = g->s[at + j].count++;
			g->seq[g->nseq++] = at + j;
		}
		g->step[g->nstep][0] = g->s[at].id;
		g->step[g->nstep++][1] = k;
	}
	for (size_t i = 0; i < g->n && !g->ordered; i++)
		g->s[i].count = below(40) ? below(9) : 4090 + below(12);
}

static void
values(struct stmt *s)
{
	if (below(2))
		return;
	s->val = room(s->count, sizeof *s->val);
	for (uint64_t x = 0; x < s->count; x++)
		for (size_t w = below(3) ? 1 : below(WORDS + 1); w-- > 0;)
			s->val[x][w] = number();
}

/* What instance x of statement s depends on: at when it was executed, if that is known */
static int
depends(const struct gen *g, size_t at, struct dep *d)
{
	size_t on = g->n;

	if (g->small && g->ordered) {
		size_t when = at ? below(at) : 0;

		*d = (struct dep){ d->x, g->inst[when], g->seq[when] };
		return at != 0;
	}
	for (unsigned i = 0; i < 8 && (on == g->n || !g->s[on].count); i++)
		on = below(3) ? below(g->n) : (size_t)d->on;
	if (!g->s[on].count)
		return 0;
	d->instance = d->on == on && d->instance + 1 < g->s[on].count &&
	    below(3) ? d->instance + 1 : below(g->s[on].count);
	d->on = on;
	if (!g->small && !g->ordered && !g->s[on].val && below(8) == 0)
		d->instance = below(2) ? UINT64_MAX - 1 : chance() >> 1;
	return 1;
}

static void
list(struct gen *g, struct stmt *s, struct port *p)
{
	unsigned often = (unsigned)below(4);
	struct dep d = { 0 };

	p->dep = room(s->count * 4 + 1, sizeof *p->dep);
	for (size_t at = 0; often && at < (g->ordered ? g->nseq : s->count); at++) {
		if (g->ordered && (g->seq[at] != (size_t)(s - g->s) || g->inst[at] >= s->count))
			continue;
		d.x = g->ordered ? g->inst[at] : at;
		for (size_t k = below(often) ? 1 : below(5); k-- > 0;)
			if (depends(g, at, &d))
				p->dep[p->n++] = d;
	}
	if (!g->small && !g->ordered && !s->val && below(10) == 0 && depends(g, 0, &d)) {
		d.x = UINT64_MAX - 1 - below(3);
		p->dep[p->n++] = d;
	}
}

static void
generate(struct gen *g, uint64_t seed, int small)
{
	state = seed;
	*g = (struct gen){ .small = small, .ordered = (int)below(3) != 0 };
	g->n = below(20) == 0 ? 0 : below(12) ? 1 + below(12) : 1 + below(small ? 40 : 900);
	g->s = room(g->n, sizeof *g->s);
	ids(g);
	run(g);
	for (size_t i = 0; i < g->n; i++) {
		struct stmt *s = &g->s[i];

		s->addr = number();
		s->line = small ? below(10000) : number();
		name(s->file, small);
		name(s->func, small);
		values(s);
		s->nport = 1 + below(below(10) ? 3 : 40);
		s->port = room(s->nport, sizeof *s->port);
	}
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->s[i].nport; k++)
			list(g, &g->s[i], &g->s[i].port[k]);
}

static void
forget(struct gen *g)
{
	for (size_t i = 0; i < g->n; i++) {
		for (size_t k = 0; k < g->s[i].nport; k++)
			free(g->s[i].port[k].dep);
		free(g->s[i].port);
		free(g->s[i].val);
	}
	free(g->s);
	free(g->block);
	free(g->seq);
	free(g->inst);
	free(g->step);
}

static void
hex(FILE *f, const uint64_t *word)
{
	size_t n = WORDS;

	while (n > 1 && !word[n - 1])
		n--;
	fprintf(f, "%" PRIx64, word[n - 1]);
	while (--n)
		fprintf(f, "%016" PRIx64, word[n - 1]);
}

static void
text(const struct gen *g, FILE *f)
{
	fprintf(f, "%zu\n", g->n);
	for (size_t i = 0; i < g->n; i++) {
		const struct stmt *s = &g->s[g->block[i]];

		fprintf(f, "%" PRIu64 " %zu %" PRIx64 " %s %s %" PRIu64 "\n", s->id, s->nport, s->addr,
		    s->file, s->func, s->line);
		for (size_t k = 0; k < s->nport; k++) {
			fprintf(f, "SIZE %zu\n", s->port[k].n);
			for (const struct dep *d = s->port[k].dep; d < s->port[k].dep + s->port[k].n; d++)
				fprintf(f, "    %" PRIu64 ":%" PRIu64 " %" PRIu64 "\n", d->x, g->s[d->on].id,
				    d->instance);
		}
		if (!s->val)
			fprintf(f, "NO VALUES\n");
		else
			fprintf(f, "VALUES %" PRIu64 "\n", s->count);
		for (uint64_t x = 0; s->val && x < s->count; x++) {
			fprintf(f, "    %" PRIu64 ":", x);
			hex(f, s->val[x]);
			fprintf(f, "\n");
		}
	}
	if (g->ordered)
		fprintf(f, "ORDER %" PRIu64 "\n", g->nstep);
	for (size_t i = 0; i < g->nstep; i++)
		fprintf(f, "%" PRIu64 " %" PRIu64 "\n", g->step[i][0], g->step[i][1]);
}

static char *
written(const struct gen *g, size_t *n)
{
	char *p = NULL;
	FILE *f = open_memstream(&p, n);

	text(g, f);
	fclose(f);
	return p;
}

/* The same text in another form that is valid. */
static char *
loose(const struct gen *g, size_t *n)
{
	char *p = written(g, n), *q = NULL;
	unsigned word = 0, colon = 0, blank = 0;
	size_t m;
	FILE *f = open_memstream(&q, &m);

	for (size_t i = 0; i < *n; i++) {
		char c = p[i];

		if (c == ' ' && blank == 0 && word == 0)        /* the indent of an entry */
			fprintf(f, "%s", below(2) ? " " : "\t ");
		else if (c == ' ' && !blank)
			fprintf(f, "%s", below(9) ? " " : " \t");
		else if (c == '\n')
			fprintf(f, "%s", i + 1 == *n &&
			    below(2) ? "" : below(9) ? "\n" : below(2) ? " \r\n" : "  \n");
		else if (c != ' ')
			putc(colon && c >= 'a' && c <= 'f' && below(2) ? c - 32 : c, f);
		blank = c == ' ';
		word = c == '\n' ? 0 : word + (c == ' ');
		colon = c == '\n' ? 0 : colon ||
		    (c == ':' && word >= 4 && p[i + 1] != ' ' &&
		    strchr("0123456789abcdef", p[i + 1]) != NULL &&
		    memchr(p + i, ' ', strcspn(p + i, "\n")) == NULL);
	}
	fclose(f);
	free(p);
	*n = m;
	return q;
}

static int
keep(void *arg, const void *p, size_t n)
{
	buf_add(arg, p, n);
	return 0;
}

static int
in_memory(const void *p, size_t n)
{
	int fd = memfd_create("text", 0);

	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		exit(2);
	return fd;
}

/* 0: out of the .wet file comes the same */
static int
there_and_back(const char *p, size_t n, size_t entries, int level)
{
	struct store_opts o = { .level = level, .entries = entries };
	struct buf wet = BUF_INIT, back = BUF_INIT;
	struct fault wf = { 0 };
	struct fault f = { 0 };
	struct wetfile_writer *w = wetfile_create(keep, &wet, WETFILE_TEXT, &wf);
	struct wetfile file;
	char path[64];
	int fd = in_memory(p, n), e = 1;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (store_text(path, w, &o, &f) != 0)
		printf("line %" PRIu64 ": %s\n", f.off, f.err);
	else {
		close(fd);
		fd = in_memory(wet.p, wet.n);
		if (wetfile_open(&file, fd, &wf) == 0) {
			e = store_print_text(&file, keep, &back, &wf) != 0 || back.n != n ||
			    memcmp(back.p, p, n) != 0;
			wetfile_close(&file);
		}
		if (e)
			printf("%s\n", wf.err[0] ? wf.err : "another text");
	}
	close(fd);
	wetfile_free(w);
	buf_free(&wet);
	buf_free(&back);
	return e;
}

static int
check(uint64_t from, uint64_t to)
{
	int bad = 0;

	for (uint64_t seed = from; seed <= to; seed++) {
		struct gen g;
		size_t n, entries;
		char *p;
		int how;

		generate(&g, seed, 0);
		how = below(8) == 0;
		entries = below(3) ? 0 : 1 + below(50);
		p = how ? loose(&g, &n) : written(&g, &n);
		if (there_and_back(p, n, entries, below(10) ? 1 : (int)below(10))) {
			printf("seed %" PRIu64 "%s, sections of %zu\n", seed, how ? " loose" : "", entries);
			bad = 1;
		}
		free(p);
		forget(&g);
	}
	return bad;
}

/* Answers */

/* Executions as the text speaks of them */
static void
spoken_of(struct gen *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct stmt *s = &g->s[i];

		if ((g->ordered || s->val) && s->seen < s->count)
			s->seen = s->count;
		for (size_t k = 0; k < s->nport && !g->ordered; k++)
			for (const struct dep *d = s->port[k].dep; d < s->port[k].dep + s->port[k].n; d++) {
				s->seen = s->seen > d->x ? s->seen : d->x + 1;
				if (g->s[d->on].seen <= d->instance)
					g->s[d->on].seen = d->instance + 1;
			}
	}
}

/* An instance; when: its place in the run, or what stands for that without an order */
struct inst { size_t s; uint64_t x; int in; };

/* All instances, as slices have them: in order, or by their numbers and then ids */
static struct inst *
instances(const struct gen *g, size_t *n)
{
	struct inst *v;
	uint64_t most = 0;

	*n = g->nseq;
	for (size_t i = 0; i < g->n && !g->ordered; i++) {
		*n += g->s[i].seen;
		most = g->s[i].seen > most ? g->s[i].seen : most;
	}
	v = room(*n, sizeof *v);
	for (size_t i = 0; i < g->nseq; i++)
		v[i] = (struct inst){ g->seq[i], g->inst[i], 0 };
	*n = g->nseq;
	for (uint64_t x = 0; x < most; x++)
		for (size_t i = 0; i < g->n; i++)
			if (x < g->s[i].seen)
				v[(*n)++] = (struct inst){ i, x, 0 };
	return v;
}

/* Where in v each instance of each statement is: at[s][x]; the caller frees it by unplaced */
static size_t **
places(const struct gen *g, const struct inst *v, size_t n)
{
	size_t **at = room(g->n, sizeof *at);

	for (size_t s = 0; s < g->n; s++)
		at[s] = room(g->s[s].seen, sizeof **at);
	for (size_t i = 0; i < n; i++)
		at[v[i].s][v[i].x] = i;
	return at;
}

static void
unplaced(const struct gen *g, size_t **at)
{
	for (size_t s = 0; s < g->n; s++)
		free(at[s]);
	free(at);
}

/*
 * One round: what is in the slice brings in what it depends on, or what depends on it; did anything
 * come in?
 */
static int
grow(const struct gen *g, struct inst *v, size_t **at, int data, int forward)
{
	int more = 0;

	for (size_t i = 0; i < g->n; i++) {
		const struct stmt *s = &g->s[i];

		for (size_t k = (size_t)data; k < s->nport; k++)
			for (const struct dep *d = s->port[k].dep; d < s->port[k].dep + s->port[k].n; d++) {
				struct inst *on = &v[at[d->on][d->instance]], *in = &v[at[i][d->x]];

				if ((forward ? on : in)->in && !(forward ? in : on)->in)
					more = (forward ? in : on)->in = 1;
			}
	}
	return more;
}

static void
slice(const struct gen *g, size_t s, uint64_t x, int data, int forward, int counts)
{
	size_t n;
	struct inst *v = instances(g, &n);
	size_t **at = places(g, v, n);

	v[at[s][x]].in = 1;
	while (grow(g, v, at, data, forward))
		;
	unplaced(g, at);
	for (size_t i = 0; i < n && !counts; i++) {
		const struct inst *e = &v[forward ? i : n - 1 - i];

		if (!e->in)
			continue;
		printf("%" PRIu64 "#%" PRIu64 " %" PRIx64, g->s[e->s].id, e->x, g->s[e->s].addr);
		if (g->s[e->s].val) {
			printf(" =");
			hex(stdout, g->s[e->s].val[e->x]);
		}
		printf("\n");
	}
	for (size_t i = 0; i < g->n && counts; i++) {
		uint64_t in = 0;

		for (size_t k = 0; k < n; k++)
			in += v[k].in && v[k].s == i;
		if (in)
			printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIx64 " %s %s %" PRIu64 "\n",
			    g->s[i].id, in, g->s[i].seen, g->s[i].addr,
			    g->s[i].file, g->s[i].func, g->s[i].line);
	}
	free(v);
}

static void
flow(const struct gen *g, size_t from, int back)
{
	for (size_t i = from; i < g->nseq; i += back ? SIZE_MAX : 1)
		printf("%" PRIu64 "\n", g->s[g->seq[i]].id);
}

/* One question, or its answer */
static void
question(const struct gen *g, unsigned what, int answer)
{
	size_t s = below(g->n), at = g->nseq ? below(g->nseq) : 0;
	const struct stmt *t;
	uint64_t x;
	int data = (int)below(2), forward = (int)below(2), back = (int)below(2), counts = what == 5;

	if (g->ordered && g->nseq)
		s = g->seq[at];
	t = &g->s[s];
	x = g->ordered && g->nseq ? g->inst[at] : t->seen ? below(t->seen) : 0;
	switch (what) {
	case 0:
		if (!answer)
			printf("list\n");
		for (size_t i = 0; answer && i < g->n; i++)
			printf("%" PRIu64 " %" PRIu64 " %" PRIx64 " %s %s %" PRIu64 "\n", g->s[i].id,
			    g->s[i].seen, g->s[i].addr, g->s[i].file, g->s[i].func,
			    g->s[i].line);
		break;
	case 1: case 2:
		if (!g->ordered || !g->nseq)
			return;
		if (!answer && what == 1)
			printf("%scf\n", back ? "-b " : "");
		else if (!answer)
			printf("%s-f %" PRIu64 "#%" PRIu64 " cf\n", back ? "-b " : "", t->id, x);
		else
			flow(g, what == 2 ? at : back ? g->nseq - 1 : 0, back);
		break;
	case 3:
		if (!answer)
			printf("values %" PRIu64 "\n", t->id);
		for (uint64_t i = 0; answer && t->val && i < t->count; i++) {
			printf("    %" PRIu64 ":", i);
			hex(stdout, t->val[i]);
			printf("\n");
		}
		break;
	default:
		if (g->ordered ? !g->nseq : !t->seen)
			return;
		if (answer)
			slice(g, s, x, data, forward, counts);
		else
			printf("-r%s%s%s slice %" PRIu64 "#%" PRIu64 "\n", data ? "d" : "", counts ? "c" :
			    "", forward ? " --forward" : "", t->id, x);
	}
	if (answer)
		printf("\n");
}

static void
questions(const struct gen *g, int answer)
{
	for (unsigned i = 0; i < 24 && g->n; i++)
		question(g, i ? (unsigned)below(6) : 0, answer);
}

static int
later(const void *a, const void *b)
{
	const uint64_t *p = a, *q = b;

	for (unsigned i = 0; i < 3; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}

static void
circ(const struct gen *g, size_t most)
{
	uint64_t (*d)[7];
	size_t n = 0, k = 0;

	for (size_t i = 0; i < g->n; i++)
		for (size_t p = 0; p < g->s[i].nport; p++)
			n += g->s[i].port[p].n;
	d = room(n, sizeof *d);
	for (size_t b = 0; b < g->n; b++) {
		const struct stmt *s = &g->s[g->block[b]];

		for (size_t p = 0; p < s->nport; p++)
			for (const struct dep *e = s->port[p].dep; e < s->port[p].dep + s->port[p].n; e++,
			    k++) {
				size_t when = 0;

				while (g->ordered &&
				    (g->seq[when] != (size_t)(s - g->s) || g->inst[when] != e->x))
					when++;
				d[k][0] = g->ordered ? when : e->x;
				d[k][1] = b;
				d[k][2] = k;
				d[k][3] = s->addr;
				d[k][4] = e->x;
				d[k][5] = g->s[e->on].addr;
				d[k][6] = e->instance;
			}
	}
	qsort(d, n, sizeof *d, later);
	for (size_t i = n > most ? n - most : 0; i < n; i++)
		printf("0x%" PRIx64 "#%" PRIu64 " --> 0x%" PRIx64 "#%" PRIu64 "\n", d[i][3], d[i][4], d[i][5],
		    d[i][6]);
	free(d);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	int small = strcmp(what, "text") != 0 && strcmp(what, "loose") != 0;
	struct gen g;
	size_t n;
	char *p;

	if (strcmp(what, "check") == 0 && argc == 4)
		return check(seed, strtoull(argv[3], NULL, 10));
	generate(&g, seed, small);
	spoken_of(&g);
	if (strcmp(what, "text") == 0 || strcmp(what, "small") == 0)
		text(&g, stdout);
	else if (strcmp(what, "loose") == 0) {
		p = loose(&g, &n);
		fwrite(p, 1, n, stdout);
		free(p);
	} else if (strcmp(what, "ask") == 0 || strcmp(what, "answer") == 0)
		questions(&g, what[1] == 'n');
	else if (strcmp(what, "circ") == 0 && argc == 4)
		circ(&g, strtoull(argv[3], NULL, 10));
	else
		return 2;
	forget(&g);
	return fflush(stdout) != 0;
}
