/* ws2laplace: outputs references and kernel records, merged by instruction. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "convert/ws2laplace/ws2laplace.h"
#include "format/ref/ref.h"

#define PLAIN (sizeof ((struct job *)0)->plain / sizeof (uint64_t))

static void
write_event(struct job *j, const struct lap_event *e)
{
	if (!j->kernel)
		return;
	j->line.n = 0;
	lap_print_event(&j->line, e);
	if (j->line.nomem)
		die("out of memory");
	out_write(j->kernel, j->line.p, j->line.n);
}

void
emit_queue(struct job *j, struct lap_event e, const char *name, uint64_t icount, int private)
{
	struct waiting *w;

	if (j->head && j->head == j->nqueue)
		j->head = j->nqueue = 0;
	j->queue = mem_xgrow(j->queue, &j->capqueue, j->nqueue + 1, sizeof *j->queue);
	w = &j->queue[j->nqueue++];
	e.time = j->start + icount;
	if (e.time < j->start)
		die("the last time is beyond 64 bits");
	*w = (struct waiting){ .icount = icount, .e = e, .name = xstrdup(name ? name : ""),
		.private = private };
	w->e.nname = strnlen(w->name, LAP_NAME_MAX);
}

/* Removes [lo, hi) from the private mappings of files. */
static void
ws2laplace_forget(struct job *j, uint64_t lo, uint64_t hi)
{
	memset(j->plain, 0, sizeof j->plain);
	for (size_t i = 0; i < j->narea; i++) {
		struct area *a = &j->area[i];

		if (a->hi <= lo || hi <= a->lo)
			continue;
		if (a->lo < lo && hi < a->hi) {
			struct area b = { hi, a->hi, xmalloc(a->hi - hi) };

			memcpy(b.copied, a->copied + (hi - a->lo), b.hi - b.lo);
			a->hi = lo;
			j->area = mem_xgrow(j->area, &j->caparea, j->narea + 1, sizeof *j->area);
			j->area[j->narea++] = b;
			return;
		}
		if (a->lo < lo) {
			a->hi = lo;
		} else if (hi < a->hi) {
			memmove(a->copied, a->copied + (hi - a->lo), a->hi - hi);
			a->lo = hi;
		} else {
			free(a->copied);
			*a = j->area[--j->narea];
			i--;
		}
	}
}

static void
ws2laplace_remember(struct job *j, uint64_t lo, uint64_t hi, const uint8_t *copied)
{
	struct area a = { lo, hi, xcalloc(hi - lo, 1) };

	if (copied)
		memcpy(a.copied, copied, hi - lo);
	j->area = mem_xgrow(j->area, &j->caparea, j->narea + 1, sizeof *j->area);
	j->area[j->narea++] = a;
}

/* Moves the list of copied pages; pages that mremap adds are not copied yet. */
static void
ws2laplace_move(struct job *j, uint64_t from, uint64_t n, uint64_t to, uint64_t m)
{
	uint8_t *copied = NULL;

	for (size_t i = 0; i < j->narea && !copied; i++) {
		const struct area *a = &j->area[i];

		if (a->lo <= from && from + n <= a->hi) {
			copied = xcalloc(m, 1);
			memcpy(copied, a->copied + (from - a->lo), n < m ? n : m);
		}
	}
	ws2laplace_forget(j, from, from + n);
	ws2laplace_forget(j, to, to + m);
	if (copied)
		ws2laplace_remember(j, to, to + m, copied);
	free(copied);
}

static void
ws2laplace_follow(struct job *j, const struct waiting *w)
{
	uint64_t lo = w->e.f[LAP_ADDR] >> 12, hi = lo + (w->e.f[LAP_LEN] >> 12);

	switch (w->e.kind) {
	case LAP_K_MAPFILE: case LAP_K_MAP: case LAP_K_ATTACH: case LAP_K_UNMAP:
		ws2laplace_forget(j, lo, hi);
		if (w->private)
			ws2laplace_remember(j, lo, hi, NULL);
		break;
	case LAP_K_REMAP:
		ws2laplace_move(j, w->e.f[LAP_OLD] >> 12, w->e.f[LAP_OLDLEN] >> 12, lo, hi - lo);
		break;
	default:
		break;
	}
}

/* A page of a private mapping becomes the program's own at its first write. */
static void
ws2laplace_written(struct job *j, uint64_t page, uint64_t icount)
{
	for (size_t i = 0; i < j->narea; i++) {
		struct area *a = &j->area[i];

		if (page < a->lo || page >= a->hi)
			continue;
		if (!a->copied[page - a->lo]) {
			struct lap_event e = { .kind = LAP_K_COPY, .time = j->start + icount, .name = "" };

			e.f[LAP_PID] = j->pid;
			e.f[LAP_ADDR] = page << 12;
			write_event(j, &e);
			a->copied[page - a->lo] = 1;
		}
	}
	j->plain[page % PLAIN] = page + 1;
}

static void
emit_touch(struct job *j, uint64_t addr, uint64_t n, uint64_t icount)
{
	for (uint64_t p = addr >> 12; n && p <= (addr + n - 1) >> 12; p++)
		if (j->plain[p % PLAIN] != p + 1)
			ws2laplace_written(j, p, icount);
}

void
emit_until(struct job *j, uint64_t icount)
{
	while (j->head < j->nqueue && j->queue[j->head].icount <= icount) {
		struct waiting *w = &j->queue[j->head++];

		if (w->e.kind == LAP_K_COPY) {
			emit_touch(j, w->e.f[LAP_ADDR], w->e.f[LAP_LEN], w->icount);
		} else {
			w->e.name = w->name;
			write_event(j, &w->e);
			ws2laplace_follow(j, w);
		}
		free(w->name);
	}
}

static inline uint8_t *
ws2laplace_put(const struct job *j, uint8_t *p, unsigned type, uint64_t time, uint64_t w)
{
	struct lap_ref v = { .time = time, .space = j->space, .addr = ref_addr(w), .type = (uint8_t)type,
	    .len = (uint8_t)ref_size(w) };

	return p + lap_put_ref(j->form, p, &v);
}

void
emit_refs(struct job *j, const uint64_t *w, size_t n)
{
	uint64_t next = j->head < j->nqueue ? j->queue[j->head].icount : UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);
		uint8_t *p, *q;
		uint64_t time;

		if (kind > REF_MODIFY)
			continue;               /* a replay produces no other kinds */
		if (kind == REF_INST) {
			if (next <= j->icount) {
				emit_until(j, j->icount);
				next = j->head < j->nqueue ? j->queue[j->head].icount : UINT64_MAX;
			}
			j->icount++;
		}
		if (kind >= REF_STORE && j->kernel)
			emit_touch(j, ref_addr(w[i]), ref_size(w[i]), j->icount - 1);
		time = j->start + j->icount - 1;
		if (j->form == LAP_CLASSIC && ref_addr(w[i]) >> 32)
			die("instruction %llu: an address of more than 32 bits, which needs the wide form",
			    (unsigned long long)(j->icount - 1));
		if (!j->refs)
			continue;
		q = p = out_reserve(j->refs, 2 * LAP_REF_MAX);
		if (kind != REF_STORE)
			q = ws2laplace_put(j, q, kind == REF_INST ? 2 : 0, time, w[i]);
		if (kind >= REF_STORE)
			q = ws2laplace_put(j, q, 1, time, w[i]);
		out_commit(j->refs, (size_t)(q - p));
	}
}

void
emit_free(struct job *j)
{
	while (j->head < j->nqueue)
		free(j->queue[j->head++].name);
	free(j->queue);
	while (j->narea)
		free(j->area[--j->narea].copied);
	free(j->area);
	buf_free(&j->line);
}
