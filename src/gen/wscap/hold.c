/*
 * Contents of mapped files are recorded when the process has touched them.  A page that it has never had in
 * its page tables was read by nobody: not by the program, nor by a system call for it.  Which pages it had is
 * read from /proc/PID/pagemap before a call that takes some away, once in a while, and at the end.  Until then
 * the writer keeps what comes after the mapping, so that the pages can stand right after it.  Their bytes come
 * from the file.
 *
 * The kernel may take a page away by itself, when memory is short, and then nobody can tell: if it has looked
 * for pages to take, whatever process they are of, all is recorded.  So it is if the process is gone before we
 * looked.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/mem.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/hold.h"
#include "gen/wscap/wscap.h"

#define LEAST     (64u << 10)   /* bytes of a mapping that is not recorded at once */
#define LEAST_W   (256u << 10)  /* the same if it is writable: most of it will be written to */
#define KEPT_MOST (256u << 10)  /* bytes that the writer keeps */
#define ENTRIES   1024u         /* of pagemap, read at once */
#define OF_FILE   (1ull << 61)  /* it is the file's, not a copy that the process has written to */

/* A number that is another one after the kernel has looked for pages to take away; 0: it does not tell. */
static uint64_t
hold_reclaimed(void)
{
	char text[16384];
	int fd = open("/proc/vmstat", O_RDONLY | O_CLOEXEC), known = 0;
	uint64_t sum = 1;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	for (const char *p = text; *p; p += *p == '\n') {
		int scan = !strncmp(p, "pgscan_file ", 12);     /* since Linux 5.8, also of control groups */

		known |= scan;
		/* a file's pages become a huge page without one by one being looked at */
		if (scan || !strncmp(p, "nr_file_hugepages ", 18) ||
		    !strncmp(p, "nr_shmem_hugepages ", 19))
			sum = sum * 1000003 + strtoull(strchr(p, ' '), NULL, 10);
		while (*p && *p != '\n')
			p++;
	}
	return known ? sum : 0;
}

static int
hold_tells_of(const struct cap *c, uint64_t addr)
{
	uint8_t b[8];

	return pread(c->hold.pagemap, b, 8, (off_t)(addr / PAGE * 8)) == 8 && get_le64(b) & PAGEMAP_PRESENT;
}

/* Does pagemap tell what is there? The stack is, or, where a child has not used its own yet, the code. */
static int
hold_tells(struct cap *c)
{
	struct user_regs_struct g;

	return !tracee_regs(&c->t, &g) && (hold_tells_of(c, g.rsp) || hold_tells_of(c, g.rip));
}

int
hold_begin(struct cap *c)
{
	struct tree *a = c->all;

	if (a->nohold || c->hold.pagemap < 0)
		return -1;
	if (!c->hold.pagemap) {
		c->hold.pagemap = tracee_open(c->pid, "pagemap", O_RDONLY);
		if (c->hold.pagemap >= 0 && hold_tells(c))
			return 0;
		if (c->hold.pagemap >= 0)
			close(c->hold.pagemap);
		c->hold.pagemap = -1;
	}
	return c->hold.pagemap < 0 ? -1 : 0;
}

uint64_t
hold_present(struct cap *c, uint64_t lo, uint64_t hi, uint64_t *end)
{
	size_t i = region_at(&c->reg, lo);
	const struct region *r = &c->reg.p[i];

	*end = hi;
	if (i == c->reg.n || r->lo > lo || r->ino || r->shared || hold_begin(c))
		return lo;
	if (hi > r->hi)
		hi = r->hi;
	lo = pagemap_next(c->hold.pagemap, lo, hi, 1);
	if (hi - lo > CHUNK)
		hi = lo + CHUNK;
	*end = pagemap_next(c->hold.pagemap, lo, hi, 0);
	return lo;
}

static void
hold_add(struct holds *t, const struct held *h)
{
	struct held *last = t->n ? &t->p[t->n - 1] : NULL;

	if (h->lo >= h->hi)
		return;
	if (last && last->hi == h->lo && last->file == h->file && last->place == h->place &&
	    last->offset + (last->hi - last->lo) == h->offset) {
		last->hi = h->hi;
		return;
	}
	t->p = mem_xgrow(t->p, &t->cap, t->n + 1, sizeof(*t->p));
	t->p[t->n++] = *h;
}

/* The part of h in [lo, hi), with its offset. */
static struct held
held_part(const struct held *h, uint64_t lo, uint64_t hi)
{
	struct held k = *h;

	if (lo > k.lo) {
		k.offset += lo - k.lo;
		k.lo = lo;
	}
	if (hi < k.hi)
		k.hi = hi;
	return k;
}

/*
 * The entries of pagemap from lo on, at most ENTRIES of them; returns their number.  Where there are none, as
 * the process is gone, or all is 1, they are those of pages that were touched.
 */
static size_t
hold_entries(const struct cap *c, uint64_t lo, uint64_t hi, int all, uint64_t *e)
{
	size_t n = (size_t)((hi - lo) / PAGE < ENTRIES ? (hi - lo) / PAGE : ENTRIES), got = 0;

	while (!all && got < n * 8) {
		ssize_t k = pread(c->hold.pagemap, (uint8_t *)e + got, n * 8 - got,
		    (off_t)(lo / PAGE * 8 + got));

		if (k <= 0)
			break;
		got += (size_t)k;
	}
	for (size_t i = got / 8; i < n; i++)
		e[i] = PAGEMAP_PRESENT | OF_FILE;
	return n;
}

/* Pages that are looked at together: of one protection, `n` of them from `from` on; those to distribute are [lo, hi). */
struct look { uint64_t from, lo, hi; size_t n; uint64_t e[ENTRIES]; };

/* Was page i touched, or one beside it? */
static int
look_is(const struct look *k, size_t i)
{
	uint64_t beside = (i ? k->e[i - 1] : 0) | (i + 1 < k->n ? k->e[i + 1] : 0);

	return ((k->e[i] | beside) & PAGEMAP_PRESENT) != 0;
}

/* Looks at h from `at` on. */
static void
look_read(const struct cap *c, const struct held *h, uint64_t at, int all, struct look *k)
{
	size_t i = region_at(&c->reg, at);
	const struct region *r = &c->reg.p[i];
	uint64_t lo = h->lo, hi = h->hi, end;

	if (i < c->reg.n && r->lo <= at) {
		all |= (r->prot & PROT_EXEC) != 0;
		lo = r->lo;
		hi = r->hi;
	}
	k->lo = at;
	k->hi = h->hi < hi ? h->hi : hi;
	k->from = at > lo ? at - PAGE : at;
	end = k->hi < hi ? k->hi + PAGE : k->hi;
	k->n = hold_entries(c, k->from, end, all, k->e);
	/* of the last one it is not known what is beside it */
	if (k->from + k->n * PAGE < end)
		k->hi = k->from + (k->n - 1) * PAGE;
}

/*
 * Distributes the pages of h: those that were touched to `due`, the others to `rest`.  Who reads the capture also
 * wants what the program could have executed, and the rest of a table that it read from (a switch's): all pages of
 * code are due, and those beside one that was touched.
 */
static void
hold_look(const struct cap *c, const struct held *h, int all, struct holds *due, struct holds *rest)
{
	static struct look k;

	for (uint64_t at = h->lo; at < h->hi; at = k.hi) {
		look_read(c, h, at, all, &k);
		while (at < k.hi) {
			size_t i = (size_t)((at - k.from) / PAGE), n = (size_t)((k.hi - k.from) / PAGE), from = i;
			int is = look_is(&k, i);
			struct held part;

			while (i < n && look_is(&k, i) == is)
				i++;
			part = held_part(h, at, at + (i - from) * PAGE);
			hold_add(is ? due : rest, &part);
			at += (i - from) * PAGE;
		}
	}
}

/* Has the kernel taken pages away? Then those that were not seen are due, too. */
static int
hold_lost(struct hold *d)
{
	int all = hold_reclaimed() != d->reclaimed;

	for (size_t i = 0; all && i < d->gone.n; i++)
		hold_add(&d->due, &d->gone.p[i]);
	d->gone.n = 0;
	d->all |= all;
	return all;
}

/* Distributes the pages of [lo, hi). */
static void
hold_sort(struct cap *c, uint64_t lo, uint64_t hi, int all)
{
	struct hold *d = &c->hold;
	struct holds rest = {NULL, 0, 0};

	for (size_t i = 0; i < d->held.n; i++) {
		const struct held *h = &d->held.p[i];
		struct held k = held_part(h, 0, lo);

		if (h->hi <= lo || h->lo >= hi) {
			hold_add(&rest, h);
			continue;
		}
		hold_add(&rest, &k);
		k = held_part(h, lo, hi);
		hold_look(c, &k, all, &d->due, &rest);
		k = held_part(h, hi, UINT64_MAX);
		hold_add(&rest, &k);
	}
	free(d->held.p);
	d->held = rest;
}

void
hold_touched(struct cap *c, uint64_t lo, uint64_t hi)
{
	if (c->hold.held.n && !c->hold.final)
		hold_sort(c, lo, hi, 0);
}

/* The same for all pages, also those that the kernel may have taken away. */
static void
hold_look_all(struct cap *c)
{
	struct hold *d = &c->hold;

	if ((d->held.n || d->gone.n) && !d->final)
		hold_sort(c, 0, UINT64_MAX, hold_lost(d));
}

/* [lo, hi) is not held any more; what was is added to `gone`, unless that is NULL. */
static void
hold_drop(struct cap *c, uint64_t lo, uint64_t hi, struct holds *gone)
{
	struct holds rest = {NULL, 0, 0}, *t = &c->hold.held;
	size_t i;

	for (i = 0; i < t->n && (t->p[i].hi <= lo || t->p[i].lo >= hi); i++)
		;
	if (i == t->n)
		return;
	for (i = 0; i < t->n; i++) {
		struct held k = held_part(&t->p[i], 0, lo);

		hold_add(&rest, &k);
		if (gone) {
			k = held_part(&t->p[i], lo, hi);
			hold_add(gone, &k);
		}
		k = held_part(&t->p[i], hi, UINT64_MAX);
		hold_add(&rest, &k);
	}
	free(t->p);
	*t = rest;
}

void
hold_cut(struct cap *c, uint64_t lo, uint64_t hi)
{
	hold_drop(c, lo, hi, &c->hold.gone);
}

void
hold_rest(struct cap *c, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < c->hold.held.n; i++) {
		struct held h = held_part(&c->hold.held.p[i], lo, hi);

		if (h.lo < h.hi)
			hold_add(&c->hold.due, &h);
	}
	hold_drop(c, lo, hi, NULL);
}

/* Does the process write to the file through another mapping? */
static int
hold_shared(const struct cap *c, const struct region *r)
{
	for (size_t i = 0; i < c->reg.n; i++)
		if (c->reg.p[i].shared && share_writes(&c->reg.p[i]) && c->reg.p[i].ino == r->ino && c->reg.p[i].dev == r->dev)
			return 1;
	return 0;
}

uint64_t
hold_own(const struct cap *c, uint64_t lo, uint64_t hi, int *own)
{
	static uint64_t e[ENTRIES];
	size_t n = hold_entries(c, lo, hi, 0, e), i = 0;

	*own = e[0] & PAGEMAP_PRESENT && !(e[0] & OF_FILE);
	while (i < n && (e[i] & PAGEMAP_PRESENT && !(e[i] & OF_FILE)) == *own)
		i++;
	return lo + i * PAGE;
}

/* Pages that the process has written to before it was captured, or the kernel for it, are recorded now. */
static void
hold_put_own(struct cap *c, const struct held *h)
{
	for (uint64_t at = h->lo, end; at < h->hi; at = end) {
		int own;

		end = hold_own(c, at, h->hi, &own);
		if (own) {
			put_pages(c, at, end);
			hold_drop(c, at, end, NULL);
		}
	}
}

struct hold_file *
hold_open(struct cap *c, const struct region *r, const char *name)
{
	struct hold_file *f;

	if (c->all->touch || c->all->store || !c->w || c->all->failed || (r->shared && share_writes(r)) || !r->ino ||
	    r->hi - r->lo < (r->prot & PROT_WRITE ? LEAST_W : LEAST))
		return NULL;
	f = hold_file(c->all, r, name);
	/* who maps a file shared may expect that others write to it */
	return f && (f->old || !r->shared) && !hold_begin(c) ? f : NULL;
}

int
hold_map(struct cap *c, const struct region *r, uint64_t lo, const char *name, int fresh)
{
	struct hold *d = &c->hold;
	struct hold_file *f = hold_open(c, r, name);
	struct held h;
	size_t i;

	if (c->all->store)
		return stored_map(c, r, lo, name, fresh);
	if (!f || hold_shared(c, r) || !hold_same(f))
		return 0;
	if (!d->held.n && !d->gone.n && (d->reclaimed = hold_reclaimed()) == 0) {
		c->all->nohold = 1;
		return 0;
	}
	h = (struct held){lo, r->hi, r->offset + (lo - r->lo), 0, f};
	if (ws_hold(c->w, &h.place)) {
		put_failed(c, 0);
		return 0;
	}
	d->on = 1;
	hold_cut(c, h.lo, h.hi);
	d->held.p = mem_xgrow(d->held.p, &d->held.cap, d->held.n + 1, sizeof(h));
	for (i = d->held.n++; i && d->held.p[i - 1].lo > h.lo; i--)
		d->held.p[i] = d->held.p[i - 1];
	d->held.p[i] = h;
	if (!fresh)
		hold_put_own(c, &h);
	return 1;
}

static int
held_order(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Has somebody written to the file? */
static void
hold_check(struct cap *c, struct hold_file *f)
{
	char text[128];

	if (f->told || hold_same(f))
		return;
	f->told = 1;
	snprintf(text, sizeof(text), "a file was changed while it was mapped (inode %llu): "
	    "the capture has its later contents", (unsigned long long)f->ino);
	warn("%s", text);
	put_note(c, text);
}

void
hold_put(struct cap *c, const struct held *h)
{
	int inside = !stored_wanted(c), steady = !inside && hold_steady(h->file);

	for (uint64_t at = h->lo, k; at < h->hi && c->w && !c->all->failed; at += k) {
		struct ws_rec r = {.kind = WS_MEM, .u.mem.addr = at};
		struct stored_place place = {h->file->dev, h->file->ino, h->offset + (at - h->lo), 0};
		size_t most = inside ? GROUP : CHUNK;
		uint8_t *p;
		ssize_t got;

		k = h->hi - at < most ? h->hi - at : most;
		place.n = (size_t)k;
		if (steady && stored_again(c, at, &place))
			continue;
		p = inside ? ws_reserve(c->w, at, (size_t)k) : c->all->scratch;
		if (!p) {
			put_failed(c, 0);
			return;
		}
		got = pread(h->file->fd, p, (size_t)k, (off_t)place.offset);
		if (got <= 0)
			return;         /* it is shorter: there is no memory */
		r.u.mem.n = (size_t)(got + PAGE - 1) / PAGE * PAGE;
		memset(p + got, 0, r.u.mem.n - (size_t)got);
		if (inside) {
			r.u.mem.p = p;
			put_untimed(c, &r);
			continue;
		}
		if (steady)
			stored_note(c, at, &place);
		put_scratch(c, at, r.u.mem.n);
		stored_note(c, 0, NULL);
	}
}

int
hold_put_all(struct cap *c, const struct region *r, int late)
{
	struct hold_file *f = hold_find(c->all, r->dev, r->ino);

	if (!f || f->fd < 0 || r->shared || (!hold_steady(f) && !(late && r->prot & PROT_WRITE)))
		return 0;
	hold_check(c, f);
	hold_put(c, &(struct held){r->lo, r->hi, r->offset, 0, f});
	return 1;
}

/* all places are this one from now on */
static void
hold_again(struct cap *c)
{
	struct hold *d = &c->hold;
	size_t place;

	if (!d->held.n)
		return;
	if (ws_hold(c->w, &place)) {
		put_failed(c, 0);
		return;
	}
	d->on = 1;
	for (size_t i = 0; i < d->held.n; i++)
		d->held.p[i].place = place;
}

void
hold_settle(struct cap *c, int again)
{
	struct hold *d = &c->hold;

	image_finish(c);
	/* nothing may stand between a record of the end and the end */
	if (!d->on || !c->w || c->all->failed || (again && d->closing))
		return;
	hold_look_all(c);
	d->on = 0;
	if (ws_end_group(c->w))
		put_failed(c, 0);
	c->all->plain = !d->all;        /* compression takes longer than all the rest */
	if (d->all)
		c->all->level = WS_QUICK;
	ws_set_level(c->w, d->all ? WS_QUICK : WS_PLAIN);
	d->all = 0;
	if (d->due.n > 1)
		qsort(d->due.p, d->due.n, sizeof(*d->due.p), held_order);
	for (size_t i = 0; i < d->due.n && !c->all->failed; i++) {
		const struct held *h = &d->due.p[i];

		if ((!i || h->place != h[-1].place) && ws_fill(c->w, h->place))
			put_failed(c, 0);
		hold_check(c, h->file);
		hold_put(c, h);
	}
	d->due.n = 0;
	c->all->plain = 0;
	ws_pages_flush(c->all->pages);
	if (!c->all->failed && ws_fill(c->w, SIZE_MAX))
		put_failed(c, 0);
	ws_set_level(c->w, c->all->level);
	c->since = 0;
	if (again)
		hold_again(c);
}

void
hold_relieve(struct cap *c)
{
	if (c->hold.on && c->w && ws_held(c->w) > KEPT_MOST && !image_waits(c))
		hold_settle(c, 1);
}

static int
holds_has(const struct holds *t, const struct hold_file *f)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->p[i].file == f)
			return 1;
	return 0;
}

int
hold_has(const struct cap *c, uint64_t dev, uint64_t ino)
{
	const struct hold_file *f = hold_find(c->all, dev, ino);

	return f && f->fd >= 0 &&
	    (holds_has(&c->hold.held, f) || holds_has(&c->hold.due, f) || holds_has(&c->hold.gone, f));
}

void
hold_final(struct cap *c)
{
	hold_look_all(c);
	c->hold.final = 1;
}

void
hold_free(struct cap *c)
{
	if (c->hold.pagemap > 0)
		close(c->hold.pagemap);
	free(c->hold.held.p);
	free(c->hold.due.p);
	free(c->hold.gone.p);
	memset(&c->hold, 0, sizeof(c->hold));
}
