/*
 * The model of Laplace's address spaces against a plain one, which has a cell
 * for each page: random kernel records, right and wrong ones.  Two pages have
 * one canonical number exactly while they are the same memory, in each run of
 * records at all times.
 *
 *   laplacemodel [events [seed]]
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "../random.h"
#include "laplace/laplace.h"

#define NAREA  4
#define AREA   64u
#define NPAGE  (NAREA * AREA)
#define NSPACE 9
#define NPID   14
#define NFILE  10               /* keys of files; as many of shared memory follow */
#define NKEY   (NFILE + 4)
#define ROUND  100000

static const uint64_t area[NAREA] = { 0, 5000, UINT64_C(1) << 40, LAP_PAGES - AREA };

/* A generation of a file: its pages and their identities. */
struct inc {
	int bound;
	unsigned mapped;                /* cells of it */
	size_t n, cap;
	struct { uint64_t page, id; } *p;
};
struct cell {
	/* NULL: id is the page's identity, 0 for none; else the page of the file */
	struct inc *inc;
	uint64_t id;
};
static struct space { int there; unsigned ntask; struct cell c[NPAGE]; } spaces[NSPACE];
static struct task { int there, space; unsigned proc; } tasks[NPID];
static struct inc *files[NKEY];
static int running;
static uint64_t nextid, nextproc;
static size_t ninc;

static struct lap_model *m;
static uint64_t *canon_of;              /* by identity; 0: not seen */
static size_t ncanon;
static struct { uint64_t canon, id; } *id_of;   /* hash */
static size_t nid, idsize;
static uint64_t nbad, ngood;
static const char *trouble;

static uint64_t page_of(unsigned i) { return area[i / AREA] + i % AREA; }

/* ---- the plain model ---- */

static void
drop_inc(struct inc *f)
{
	if (f->bound || f->mapped)
		return;
	free(f->p);
	free(f);
	ninc--;
}

static void
set(struct cell *c, struct cell to)
{
	struct inc *old = c->inc;

	if (to.inc)
		to.inc->mapped++;
	*c = to;
	if (old) {
		old->mapped--;
		drop_inc(old);
	}
}

static uint64_t
identity(const struct cell *c)
{
	struct inc *f = c->inc;

	if (!f)
		return c->id;
	for (size_t i = 0; i < f->n; i++)
		if (f->p[i].page == c->id)
			return f->p[i].id;
	if (f->n == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 8;
		f->p = realloc(f->p, f->cap * sizeof *f->p);
	}
	f->p[f->n].page = c->id;
	return f->p[f->n++].id = nextid++;
}

static struct inc *
file(unsigned key)
{
	if (!files[key]) {
		files[key] = calloc(1, sizeof **files);
		files[key]->bound = 1;
		ninc++;
	}
	return files[key];
}

static void
unbind(unsigned key)
{
	struct inc *f = files[key];

	files[key] = NULL;
	if (f) {
		f->bound = 0;
		drop_inc(f);
	}
}

static void
wipe(struct space *s)
{
	for (unsigned i = 0; i < NPAGE; i++)
		set(&s->c[i], (struct cell){ 0 });
}

static void
leave(struct task *t)
{
	struct space *s;

	if (t->space < 0)
		return;
	s = &spaces[t->space];
	t->space = -1;
	if (--s->ntask == 0) {
		wipe(s);
		s->there = 0;
	}
}

static void
announce(unsigned pid)
{
	if (!tasks[pid].there)
		tasks[pid] = (struct task){ 1, -1, (unsigned)nextproc++ };
}

/* The first and the last page of it as indices; those between areas have none.  0: no range at all */
static int
range(uint64_t addr, uint64_t len, uint64_t *lo, uint64_t *hi)
{
	if (!len || addr + len - 1 < addr)
		return 0;
	*lo = addr >> 12;
	*hi = (addr + len - 1) >> 12;
	return 1;
}

static struct cell *
cell(struct space *s, uint64_t page)
{
	for (unsigned a = 0; a < NAREA; a++)
		if (page >= area[a] && page - area[a] < AREA)
			return &s->c[a * AREA + (page - area[a])];
	return NULL;
}

static int
mapped(const struct cell *c)
{
	return c && (c->inc || c->id);
}

static unsigned
key_of(const struct lap_event *e)
{
	return (unsigned)(e->f[LAP_INODE] * 2 + e->f[LAP_MINOR]);
}

static int
plain_map(struct space *s, const struct lap_event *e)
{
	uint64_t lo, hi, off = e->f[LAP_OFF] >> 12;
	struct inc *f = NULL;

	if (!range(e->f[LAP_ADDR], e->f[LAP_LEN], &lo, &hi))
		return 0;
	if (e->kind == LAP_K_MAPFILE) {
		if (hi - lo + 1 > LAP_PAGES - off)
			return 0;
		f = file(key_of(e));
	} else if (e->kind == LAP_K_ATTACH) {
		f = file(NFILE + (unsigned)e->f[LAP_SHM]);
		off = 0;
	}
	for (uint64_t p = lo; p <= hi; p++)
		set(cell(s, p), f ? (struct cell){ f, off + (p - lo) } : (struct cell){ NULL, nextid++ });
	return 1;
}

static int
plain_remap(struct space *s, const struct lap_event *e)
{
	static struct cell old[AREA];
	uint64_t lo, hi, olo = e->f[LAP_OLD] >> 12, ohi = olo, n, k;
	struct cell last;

	if (!range(e->f[LAP_ADDR], e->f[LAP_LEN], &lo, &hi))
		return 0;
	if (e->f[LAP_OLDLEN] && !range(e->f[LAP_OLD], e->f[LAP_OLDLEN], &olo, &ohi))
		return 0;
	for (uint64_t p = olo; p <= ohi; p++)
		if (!mapped(cell(s, p)))
			return 0;
	n = hi - lo + 1;
	k = ohi - olo + 1;
	if (!e->f[LAP_OLDLEN]) {
		struct cell c = *cell(s, olo);

		if (olo <= hi && lo < olo + n)
			return 0;
		for (uint64_t p = lo; p <= hi; p++)
			set(cell(s, p), c.inc ? (struct cell){ c.inc, c.id + (p - lo) } :
			    cell(s, olo + (p - lo)) ? *cell(s, olo + (p - lo)) : (struct cell){ 0 });
		return 1;
	}
	if (lo != olo && lo <= ohi && olo <= hi)
		return 0;
	for (uint64_t i = 0; i < k; i++) {
		old[i] = *cell(s, olo + i);
		if (old[i].inc)
			old[i].inc->mapped++;   /* holds it */
	}
	for (uint64_t i = 0; i < k; i++)
		set(cell(s, olo + i), (struct cell){ 0 });
	last = old[k - 1];
	for (uint64_t i = 0; i < n; i++)
		set(cell(s, lo + i), i < k ? old[i] : last.inc ?
		    (struct cell){ last.inc, last.id + (i - k + 1) } :
		    (struct cell){ NULL, nextid++ });
	for (uint64_t i = 0; i < k; i++)
		if (old[i].inc) {
			old[i].inc->mapped--;
			drop_inc(old[i].inc);
		}
	return 1;
}

static int
plain_memory(const struct lap_event *e)
{
	struct task *t = &tasks[e->f[LAP_PID]];
	struct space *s = t->there && t->space >= 0 ? &spaces[t->space] : NULL;
	uint64_t lo, hi;

	if (!s)
		return 0;
	switch (e->kind) {
	case LAP_K_UNMAP:
		if (!range(e->f[LAP_ADDR], e->f[LAP_LEN], &lo, &hi))
			return 0;
		for (unsigned i = 0; i < NPAGE; i++)
			if (page_of(i) >= lo && page_of(i) <= hi)
				set(&s->c[i], (struct cell){ 0 });
		return 1;
	case LAP_K_COPY:
		if (!mapped(cell(s, e->f[LAP_ADDR] >> 12)))
			return 0;
		set(cell(s, e->f[LAP_ADDR] >> 12), (struct cell){ NULL, nextid++ });
		return 1;
	case LAP_K_REMAP:
		return plain_remap(s, e);
	default:
		return plain_map(s, e);
	}
}

static int
plain_assign(struct task *t, unsigned pid, unsigned to)
{
	struct space *s = &spaces[to];
	unsigned mine = 0;
	int other = -1;

	announce(pid);
	if (t->space == (int)to)
		return 1;
	s->there = 1;
	for (int i = 0; i < NPID; i++) {
		if (tasks[i].there && tasks[i].space == (int)to)
			other = i;
		mine += tasks[i].there && tasks[i].proc == t->proc;
	}
	s->ntask++;
	leave(t);
	t->space = (int)to;
	if (other >= 0)
		t->proc = tasks[other].proc;
	else if (mine > 1)
		t->proc = (unsigned)nextproc++;
	return 1;
}

static int
plain_duplicate(const struct lap_event *e)
{
	struct space *a = &spaces[e->f[LAP_SPACE]], *b = &spaces[e->f[LAP_DUP]];
	uint64_t lo, hi;

	if (!a->there || a == b || e->f[LAP_END] <= e->f[LAP_ADDR] ||
	    !range(e->f[LAP_ADDR], e->f[LAP_END] - e->f[LAP_ADDR], &lo, &hi))
		return 0;
	b->there = 1;
	for (unsigned i = 0; i < NPAGE; i++)
		if (page_of(i) >= lo && page_of(i) <= hi)
			set(&b->c[i], a->c[i]);
	return 1;
}

static void
plain_truncate(const struct lap_event *e)
{
	struct inc *f = files[key_of(e)];
	uint64_t from = (e->f[LAP_OFF] >> 12) + ((e->f[LAP_OFF] & 4095) != 0);

	for (size_t i = 0; f && i < f->n;)
		if (f->p[i].page >= from)
			f->p[i] = f->p[--f->n];
		else
			i++;
}

/* 1, or 0: the record is wrong */
static int
plain(const struct lap_event *e)
{
	unsigned pid = (unsigned)e->f[LAP_PID];
	struct task *t = &tasks[pid];

	switch (e->kind) {
	case LAP_K_SCHEDULE:
		announce(pid);
		running = (int)pid;
		return 1;
	case LAP_K_FORK:
		if (t->there || e->f[LAP_PARENT] == pid)
			return 0;
		announce((unsigned)e->f[LAP_PARENT]);
		announce(pid);
		return 1;
	case LAP_K_EXEC:
		announce(pid);
		if (t->space >= 0 && spaces[t->space].ntask == 1) {
			wipe(&spaces[t->space]);
		} else if (t->space >= 0) {
			spaces[t->space].ntask--;
			t->space = -1;
		}
		return 1;
	case LAP_K_EXIT:
		if (!t->there)
			return 0;
		leave(t);
		t->there = 0;
		if (running == (int)pid)
			running = -1;
		return 1;
	case LAP_K_ASSIGN: return plain_assign(t, pid, (unsigned)e->f[LAP_SPACE]);
	case LAP_K_DUPLICATE: return plain_duplicate(e);
	case LAP_K_UNMAPALL: wipe(&spaces[e->f[LAP_SPACE]]); return 1;
	case LAP_K_DELETE: unbind(key_of(e)); return 1;
	case LAP_K_TRUNCATE: plain_truncate(e); return 1;
	case LAP_K_DESTROY:
		if (t->there)
			unbind(NFILE + (unsigned)e->f[LAP_SHM]);
		return t->there;
	case LAP_K_READ: case LAP_K_WRITE: case LAP_K_OPEN: case LAP_K_CLOSE: case LAP_K_ACCEPT:
		return t->there;
	case LAP_K_FINISH: return 1;
	default: return plain_memory(e);
	}
}

/* ---- random records ---- */

/* A range within an area, its ends anywhere in its first and last page */
static void
some_range(uint64_t *addr, uint64_t *len, unsigned most)
{
	unsigned a = (unsigned)rnd_below(NAREA), lo = (unsigned)rnd_below(AREA),
	    n = 1 + (unsigned)rnd_below(rnd_below(4) ? 8 : most);
	uint64_t into = rnd_below(2) ? 0 : rnd_below(4096), cut = rnd_below(2) ? 0 : rnd_below(4096);

	if (n > AREA - lo)
		n = AREA - lo;
	if (n == 1 && into + cut >= 4096)
		cut = 0;
	*addr = (area[a] + lo) * 4096 + into;
	*len = (uint64_t)n * 4096 - into - cut;
}

static uint64_t
some_offset(void)
{
	static const uint64_t base[] = { 0, 0, 0, (1 << 20) - 20, (3 << 20) - 4, UINT64_C(1) << 51 };

	return (base[rnd_below(6)] + rnd_below(40)) * 4096 + (rnd_below(2) ? 0 : rnd_below(4096));
}

static struct lap_event
random_event(void)
{
	static const char kinds[] = "SSSSFFXTTAAADDDMMMMMMmmmmmm@@@@@@UUUUuCCCCCCCCCCss/<>()-tta";
	static const char tags[] = {
#define K(name, tag, meaning, fields) tag,
#include "format/laplace/tag.def"
#undef K
	};
	struct lap_event e = { .name = "" };
	char tag = kinds[rnd_below(sizeof kinds - 1)];

	e.kind = (enum lap_kind)((const char *)memchr(tags, tag, sizeof tags) - tags);
	e.f[LAP_PID] = running >= 0 && rnd_below(2) ? (uint64_t)running : rnd_below(NPID);
	e.f[LAP_PARENT] = rnd_below(NPID);
	e.f[LAP_SPACE] = rnd_below(NSPACE);
	e.f[LAP_DUP] = rnd_below(NSPACE);
	e.f[LAP_INODE] = rnd_below(NFILE / 2);
	e.f[LAP_MINOR] = rnd_below(2);
	e.f[LAP_SHM] = rnd_below(NKEY - NFILE);
	e.f[LAP_OFF] = some_offset();
	some_range(&e.f[LAP_ADDR], &e.f[LAP_LEN], AREA);
	some_range(&e.f[LAP_OLD], &e.f[LAP_OLDLEN], 24);
	if (tag == '@' && rnd_below(3) == 0)
		e.f[LAP_ADDR] = e.f[LAP_OLD];
	if (tag == '@' && e.f[LAP_ADDR] == e.f[LAP_OLD]) {      /* grows in its area only */
		uint64_t room = AREA;

		while (room > 1 && !cell(spaces, (e.f[LAP_ADDR] >> 12) + room - 1))
			room--;
		if ((e.f[LAP_ADDR] & 4095) + e.f[LAP_LEN] > room * 4096)
			e.f[LAP_LEN] = room * 4096 - (e.f[LAP_ADDR] & 4095);
	}
	if (tag == '@' && rnd_below(12) == 0)
		e.f[LAP_OLDLEN] = 0;
	if (tag == 'U' && rnd_below(6) == 0)
		e.f[LAP_LEN] = (uint64_t)6000 * 4096 > ~e.f[LAP_ADDR] ? ~e.f[LAP_ADDR] :
		    (uint64_t)6000 * 4096;
	e.f[LAP_END] = e.f[LAP_ADDR] + e.f[LAP_LEN] - 1 + (e.f[LAP_ADDR] + e.f[LAP_LEN] != 0);
	if (rnd_below(3)) {
		e.f[LAP_ADDR] = tag == 'D' ? 0 : e.f[LAP_ADDR];
		e.f[LAP_END] = UINT64_MAX;
	}
	if (rnd_below(200) == 0)
		e.f[LAP_LEN] = e.f[LAP_ADDR] < 4 || rnd_below(2) ? 0 : UINT64_MAX - rnd_below(2);
	return e;
}

/* ---- both ---- */

static void
know(uint64_t id, uint64_t canon)
{
	size_t i;

	if (id >= ncanon) {
		size_t n = ncanon ? 2 * ncanon : 1 << 20;

		while (n <= id)
			n *= 2;
		canon_of = realloc(canon_of, n * sizeof *canon_of);
		memset(canon_of + ncanon, 0, (n - ncanon) * sizeof *canon_of);
		ncanon = n;
	}
	if (canon_of[id]) {
		if (canon_of[id] != canon)
			trouble = "a page has another number than before";
		return;
	}
	canon_of[id] = canon;
	if (2 * ++nid > idsize) {
		size_t old = idsize;
		void *was = id_of;

		idsize = idsize ? 2 * idsize : 1 << 20;
		id_of = calloc(idsize, sizeof *id_of);
		for (size_t k = 0; k < old; k++) {
			uint64_t *x = (uint64_t *)was + 2 * k;

			for (i = x[0] * 0x9e3779b97f4a7c15u >> 20 & (idsize - 1); x[0] &&
			    id_of[i].canon; i = (i + 1) & (idsize - 1))
				;
			if (x[0]) {
				id_of[i].canon = x[0];
				id_of[i].id = x[1];
			}
		}
		free(was);
	}
	for (i = canon * 0x9e3779b97f4a7c15u >> 20 & (idsize - 1); id_of[i].canon; i = (i + 1) & (idsize - 1))
		if (id_of[i].canon == canon) {
			trouble = "two pages of memory have one number";
			return;
		}
	id_of[i].canon = canon;
	id_of[i].id = id;
}

static void
look(unsigned space, unsigned i)
{
	struct space *s = &spaces[space];
	struct lap_space *ls = lap_model_space(m, space);
	uint64_t canon;
	int got;

	if (!ls != !s->there) {
		trouble = "an address space is there in one model only";
		return;
	}
	if (!ls)
		return;
	got = lap_model_page(m, ls, page_of(i), &canon);
	if (got != mapped(&s->c[i]))
		trouble = "a page is mapped in one model only";
	else if (got)
		know(identity(&s->c[i]), canon);
}

static void
look_at_all(void)
{
	struct lap_sizes z = lap_model_sizes(m);
	size_t ntask = 0, nspace = 0, pages = 0;

	for (unsigned s = 0; s < NSPACE; s++)
		for (unsigned i = 0; i < NPAGE; i++) {
			look(s, i);
			pages += mapped(&spaces[s].c[i]);
		}
	for (int i = 0; i < NPID; i++)
		ntask += tasks[i].there;
	for (int i = 0; i < NSPACE; i++)
		nspace += spaces[i].there;
	if (z.tasks != ntask || z.spaces != nspace || z.files != ninc || z.nodes > pages)
		trouble = "more or fewer tasks, spaces, files or nodes than there should be";
}

static void
look_at_tasks(struct lap_task *owner)
{
	struct lap_task *t = lap_model_running(m);

	if (!t != (running < 0) || (t && (t->pid != (uint64_t)running ||
	    !t->space != (tasks[running].space < 0) ||
	    (t->space && t->space->id != (uint64_t)tasks[running].space)))) {
		trouble = "another task runs, or in another address space";
		return;
	}
	if (!t)
		return;
	if (!t->proc->user)
		t->proc->user = (void *)(uintptr_t)(tasks[running].proc + 1);
	if (t->proc->user != (void *)(uintptr_t)(tasks[running].proc + 1))
		trouble = "a task is in another process";
	(void)owner;
}

static int
step(int check)
{
	struct lap_event e = random_event();
	struct lap_task *owner;
	int want = plain(&e), got = lap_model_event(m, &e, &owner) == 0;

	ngood += (uint64_t)want;
	nbad += !want;
	if (want != got) {
		trouble = "a record is right in one model only";
		printf("# %c: %s\n", *lap_kind_meaning(e.kind), got ? "taken" : lap_model_error(m)->what);
		for (const char *f = lap_kind_fields(e.kind); *f; f++)
			if (lap_letter_field(*f) < LAP_NFIELDS)
				printf("# %c %" PRIx64 "\n", *f, e.f[lap_letter_field(*f)]);
	}
	look_at_tasks(owner);
	for (int i = 0; i < 12 && !trouble; i++)
		look((unsigned)rnd_below(NSPACE), (unsigned)rnd_below(NPAGE));
	if (check && !trouble)
		look_at_all();
	return trouble == NULL;
}

static void
fresh(void)
{
	for (int i = 0; i < NSPACE; i++) {
		wipe(&spaces[i]);
		spaces[i].there = 0;
		spaces[i].ntask = 0;
	}
	for (unsigned i = 0; i < NKEY; i++)
		unbind(i);
	memset(tasks, 0, sizeof tasks);
	if (ncanon)
		memset(canon_of, 0, ncanon * sizeof *canon_of);
	if (idsize)
		memset(id_of, 0, idsize * sizeof *id_of);
	nid = 0;
	nextid = nextproc = 1;
	running = -1;
	lap_model_free(m);
	m = lap_model_new();
}

int
main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000, i;

	rnd_state = argc > 2 ? strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15u | 1 : 88172645463325252u;
	for (i = 0; i < n && !trouble; i++) {
		if (i % ROUND == 0)
			fresh();
		step(i % 50 == 0);
	}
	if (trouble)
		printf("# event %" PRIu64 ": %s\n", i - 1, trouble);
	printf("# %" PRIu64 " records, %" PRIu64 " refused\n", ngood + nbad, nbad);
	CHECK("the model has the canonical pages of the plain one", !trouble);
	CHECK("most records are right ones, and some are not", ngood > n / 3 && nbad > n / 100);
	fresh();
	CHECK("nothing is left", ninc == 0);
	lap_model_free(m);
	free(canon_of);
	free(id_of);
	return check_end();
}
