/* laplace-merge: processes, their folders and files, and the manifest that lists them. */
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "merge/laplace-merge/merge.h"

/* How often a number was used in names: within a process, or for processes (p NULL). */
struct used {
	const struct process *p;
	uint64_t pid;
	unsigned n;
};

static void *names;                     /* tsearch(3) tree of them */

static int
manifest_compare(const void *a, const void *b)
{
	const struct used *x = a, *y = b;

	if (x->p != y->p)
		return (uintptr_t)x->p < (uintptr_t)y->p ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* A name such as `p77`, or `p77.2` when the number is used again; owned by the caller. */
static char *
manifest_name(char letter, const struct process *p, uint64_t pid)
{
	struct used *u = xcalloc(1, sizeof *u), **at;

	u->p = p;
	u->pid = pid;
	at = tsearch(u, &names, manifest_compare);
	if (!at)
		die("out of memory");
	if (*at != u)
		free(u);
	if (++(*at)->n == 1)
		return xasprintf("%c%" PRIx64, letter, pid);
	return xasprintf("%c%" PRIx64 ".%x", letter, pid, (*at)->n);
}

struct process *
process_new(struct job *j, uint64_t pid)
{
	struct process *p = xcalloc(1, sizeof *p);

	p->dir = manifest_name('p', NULL, pid);
	files_dir(j->files, p->dir);
	*j->endprocess = p;
	j->endprocess = &p->next;
	return p;
}

struct file *
process_file(struct job *j, struct process *p, uint64_t pid)
{
	char *s = manifest_name('t', p, pid);
	struct file *f = files_add(j->files, p->dir, s, pid);

	free(s);
	f->process = p;
	*(p->first ? &p->last->sibling : &p->first) = f;
	p->last = f;
	return f;
}

static void
manifest_line(struct buf *b, const struct job *j, const char *what, const struct file *f)
{
	buf_printf(b, "%s %s", what, f->path + strlen(files_folder(j->files)) + 1);
	if (f->process)
		buf_printf(b, " %" PRIx64, f->pid);
	buf_printf(b, " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 "\n", f->first, f->end,
	    f->nref, f->nevent);
}

void
manifest_write(struct job *j)
{
	struct buf b = BUF_INIT;
	struct file *f;

	buf_printf(&b, "laplace-merge 1 %s\n", j->packed ? "packed" : "text");
	for (const struct process *p = j->process; p; p = p->next) {
		uint64_t first = UINT64_MAX, end = 0;

		for (f = p->first; f; f = f->sibling) {
			if (!f->nref && !f->nevent)
				continue;
			first = f->first < first ? f->first : first;
			end = f->end > end ? f->end : end;
		}
		buf_printf(&b, "process %s %" PRIx64 " %" PRIx64 "\n", p->dir, first, end);
		for (f = p->first; f; f = f->sibling)
			if (f->nref || f->nevent)
				manifest_line(&b, j, "task", f);
		buf_add(&b, p->names.p, p->names.n);
		b.nomem |= p->names.nomem;
	}
	if (j->kernel)
		manifest_line(&b, j, "kernel", j->kernel);
	for (size_t i = 0; i < j->nleft; i++)
		buf_printf(&b, "left %" PRIx64 " %s\n", j->left[i].n, j->left[i].what);
	buf_str(&b, "end\n");
	if (b.nomem)
		die("out of memory");
	f = files_add(j->files, NULL, "manifest", 0);
	for (size_t at = 0, k; at < b.n; at += k) {
		k = b.n - at < FILE_ROOM ? b.n - at : FILE_ROOM;
		memcpy(file_room(f, k), b.p + at, k);
		f->n += k;
	}
	buf_free(&b);
}
