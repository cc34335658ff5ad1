/* laplace-merge: merges both traces by their timestamps. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "merge/laplace-merge/merge.h"

#define BATCH 1024              /* references read at once */
#define PAGE  (1u << LAP_PAGEBITS)

/* The running task: the address space and file of its references. */
struct runs {
	struct lap_space *space;        /* NULL: no task runs */
	struct file *file;
};

/* --lenient: counts and omits a record. */
static void
merge_omit(struct job *j, const char *what)
{
	size_t i = 0;

	while (i < j->nleft && strcmp(j->left[i].what, what) != 0)
		i++;
	if (i == NLEFT)
		i--;
	if (i == j->nleft) {
		j->left[i].what = what;
		j->nleft++;
	}
	j->left[i].n++;
}

/* On a fault, a single output is written as far as it goes; folders are not. */
static _Noreturn void
merge_stop(struct job *j, const char *name, uint64_t off, uint64_t rec, const struct lap_wrong *w)
{
	if (j->single && j->single->p)
		file_flush(j->single);
	if (w->hasnum)
		die_at(name, off, rec, "%s: %" PRIx64, w->what, w->num);
	die_at(name, off, rec, "%s", w->what);
}

static void
bad_event(struct job *j, const struct lap_wrong *w)
{
	if (!j->lenient || w->fatal)
		merge_stop(j, in_name(j->kernelin), j->events.off, j->events.nrec - 1, w);
	merge_omit(j, w->what);
}

/* Reads the next kernel record, if there is one. */
static void
next_event(struct job *j)
{
	int got;

	for (j->have = 0; !j->have;) {
		const char *what = NULL;

		got = lap_events_read(&j->events, &j->next);
		if (got == 0 && j->finished)
			return;
		if (got == 0) {
			j->events.off = in_off(j->kernelin);
			what = "truncated: no record e at the end";
		} else if (got < 0) {
			what = j->events.err;
		} else if (j->finished) {
			what = "a record after the end of the trace";
		} else if (j->next.time < j->kerneltime) {
			what = "a time before that of an earlier record";
		}
		if (!what) {
			j->have = 1;
			break;
		}
		if (!j->lenient || (got < 0 && in_error(j->kernelin) == what))
			merge_stop(j, in_name(j->kernelin), j->events.off, j->events.nrec - (got > 0),
			    &(struct lap_wrong){ .what = what });
		merge_omit(j, what);
		if (got == 0 || (got < 0 && lap_events_skip(&j->events) != 0))
			return;
	}
	j->kerneltime = j->next.time;
	j->finished = j->next.kind == LAP_K_FINISH;
}

static struct file *
kernel_file(struct job *j)
{
	if (!j->kernel)
		j->kernel = files_add(j->files, NULL, "kernel", 0);
	return j->kernel;
}

static struct file *
file_of(struct job *j, struct lap_task *t)
{
	if (j->single)
		return j->single;
	if (!t)
		return kernel_file(j);
	if (!t->user) {
		if (!t->proc->user)
			t->proc->user = process_new(j, t->proc->pid);
		t->user = process_file(j, t->proc->user, t->pid);
	}
	return t->user;
}

static void
merge_begin(struct job *j, struct file *f, uint64_t time)
{
	f->first = time;
	if (j->packed) {
		lap_put_header(file_room(f, LAP_HEADER), j->offsets ? LAP_H_OFFSETS : LAP_H_MERGED);
		f->n += LAP_HEADER;
		f->last.offsets = j->offsets;
	}
}

/* Writes the trailer, which marks the file as complete. */
static void
merge_end(struct file *f)
{
	if (f->p)
		file_flush(f);
	lap_pack_end(file_room(f, LAP_TRAILER), f->sum);
	f->n += LAP_TRAILER;
}

static void
end_all(struct job *j)
{
	if (!j->packed)
		return;
	if (j->single) {
		if (!j->single->nref && !j->single->nevent)
			merge_begin(j, j->single, 0);
		merge_end(j->single);
		return;
	}
	for (struct file *f = files_first(j->files); f; f = f->next)
		if (f->nref || f->nevent)
			merge_end(f);
}

/* The manifest has the program's name as it is in the record, whose last field it is. */
static void
note_program(struct job *j, const struct file *f)
{
	const char *line = (const char *)j->events.line;
	const char *name = memrchr(line, ' ', j->events.nline);
	struct buf *b = f->process ? &f->process->names : NULL;

	if (!b || !name)
		return;
	buf_printf(b, "program %s %" PRIx64 " %" PRIx64, f->process->dir, f->pid, j->next.time);
	buf_add(b, name, (size_t)(line + j->events.nline - name));
}

static void
put_event(struct job *j, struct file *f)
{
	const uint8_t *p = j->events.line;
	size_t n = j->events.nline;

	file_prepare_write(f);
	if (!f->nref && !f->nevent)
		merge_begin(j, f, j->next.time);
	if (j->packed) {
		j->line.n = 0;
		lap_pack_event(&f->last, &j->line, &j->next);
		if (j->line.nomem)
			die("out of memory");
		p = j->line.p;
		n = j->line.n;
	}
	memcpy(file_room(f, n), p, n);
	f->n += n;
	f->end = j->next.time;
	f->nevent++;
	if (j->next.kind == LAP_K_EXEC)
		note_program(j, f);
}

/* Applies the kernel records up to the time. */
static void
events_until(struct job *j, uint64_t time, struct runs *now)
{
	struct lap_task *t;

	while (j->have && j->next.time <= time) {
		if (lap_model_event(j->model, &j->next, &t) != 0)
			bad_event(j, lap_model_error(j->model));
		else
			put_event(j, file_of(j, t));
		next_event(j);
	}
	t = lap_model_running(j->model);
	now->space = t ? t->space : NULL;
	now->file = NULL;
	if (now->space) {
		now->file = file_of(j, t);
		file_prepare_write(now->file);
	}
}

static inline void
merge_put(struct job *j, struct file *f, const struct lap_ref *v, uint64_t addr, uint64_t canon, unsigned len)
{
	struct lap_touch t = {
		.time = v->time, .page = addr >> LAP_PAGEBITS, .canon = canon, .type = v->type, .len = (uint8_t)len,
		.at = (uint16_t)(j->offsets ? addr % PAGE + 1 : 0)
	};
	uint8_t *p;

	if (!f->nref && !f->nevent)
		merge_begin(j, f, v->time);
	p = file_room(f, LAP_REF_MAX);
	f->n += j->packed ? lap_pack_touch(&f->last, p, &t) : lap_print_touch(p, &t);
	f->end = v->time;
	f->nref++;
}

/*
 * Finds a page.  Where nothing is mapped, it is the kernel's memory, which is the same in all
 * address spaces.
 */
static const char *
merge_find(struct job *j, struct lap_space *s, const struct lap_ref *v, uint64_t page, uint64_t *canon)
{
	int got = s ? lap_model_page(j->model, s, page, canon) : 0;

	if (got < 0)
		return lap_model_error(j->model)->what;
	if (got == 0 && v->type < LAP_KERNEL)
		return "a page that is not mapped";
	if (got == 0)
		*canon = page;
	return NULL;
}

/* NULL, or the reason of failure.  A reference to two pages becomes two, each with its own bytes. */
static const char *
merge_reference(struct job *j, const struct lap_ref *v, const struct runs *now)
{
	struct lap_space *s = now->space;
	struct file *f = now->file;
	uint64_t page = v->addr >> LAP_PAGEBITS, canon[2];
	unsigned room = PAGE - (unsigned)(v->addr & (PAGE - 1));
	const char *why;

	if (v->type >= LAP_KERNEL) {
		if (!s || s->id != v->space)
			s = lap_model_space(j->model, v->space);
		f = j->single ? j->single : kernel_file(j);
		file_prepare_write(f);
	} else if (!s || s->id != v->space) {
		return !lap_model_space(j->model, v->space) ? "an address space that nobody announced" :
		    lap_model_running(j->model) ? "an address space that is not that of the running task" :
		    "no task runs";
	}
	if ((why = merge_find(j, s, v, page, &canon[0])))
		return why;
	if (v->len <= room) {
		merge_put(j, f, v, v->addr, canon[0], v->len);
		return NULL;
	}
	if (page == LAP_PAGES - 1)
		return "beyond the end of memory";
	if ((why = merge_find(j, s, v, page + 1, &canon[1])))
		return why;
	merge_put(j, f, v, v->addr, canon[0], room);
	merge_put(j, f, v, (page + 1) << LAP_PAGEBITS, canon[1], v->len - room);
	return NULL;
}

/* Every reference has only one encoding, so the ones already read give the offset of the faulty one. */
static void
bad_reference(struct job *j, const struct lap_ref *v, long i, long n, const char *why)
{
	struct lap_wrong w = { .what = why, .num = v[i].addr, .hasnum = v[i].time >= j->reftime };
	uint8_t room[LAP_REF_MAX];
	uint64_t off = in_off(j->refin);

	if (j->lenient && !lap_model_error(j->model)->fatal) {
		merge_omit(j, why);
		return;
	}
	for (long k = i; k < n; k++)
		off -= lap_put_ref(j->refs.form, room, &v[k]);
	merge_stop(j, in_name(j->refin), off, j->refs.nrec - (uint64_t)(n - i), &w);
}

static void
merge_batch(struct job *j, const struct lap_ref *v, long n, struct runs *now)
{
	for (long i = 0; i < n; i++) {
		const char *why;

		if (v[i].time < j->reftime) {
			bad_reference(j, v, i, n, "a time before that of an earlier record");
			continue;
		}
		j->reftime = v[i].time;
		if (j->have && j->next.time <= v[i].time)
			events_until(j, v[i].time, now);
		if ((why = merge_reference(j, &v[i], now)))
			bad_reference(j, v, i, n, why);
	}
}

void
pass_run(struct job *j)
{
	struct lap_ref v[BATCH];
	struct runs now = { NULL, NULL };
	long n = lap_refs_open(&j->refs, j->refin);

	if (n < 0)
		die_at(in_name(j->refin), j->refs.off, DIAG_NOREC, "%s", j->refs.err);
	lap_events_open(&j->events, j->kernelin);
	next_event(j);
	for (;;) {
		n = lap_refs_read(&j->refs, v, BATCH);
		if (n == 0)
			break;
		if (n > 0) {
			merge_batch(j, v, n, &now);
			continue;
		}
		if (!j->lenient || in_error(j->refin) == j->refs.err)
			merge_stop(j, in_name(j->refin), j->refs.off, j->refs.nrec,
			    &(struct lap_wrong){ .what = j->refs.err });
		merge_omit(j, j->refs.err);
		if (lap_refs_skip(&j->refs) != 0)
			break;
	}
	events_until(j, UINT64_MAX, &now);
	end_all(j);
}

void
pass_summary(const struct job *j)
{
	for (size_t i = 0; i < j->nleft; i++)
		warn("left out: %" PRIu64 " records: %s", j->left[i].n, j->left[i].what);
}
