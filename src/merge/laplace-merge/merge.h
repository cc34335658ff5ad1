/* Parts of laplace-merge. */
#ifndef TM_MERGE_LAPLACE_MERGE_H
#define TM_MERGE_LAPLACE_MERGE_H

#include "base/buf.h"
#include "base/out.h"
#include "laplace/laplace.h"

/*
 * files.c: where records go.  Buffers are few; the file that was not written
 * to for longest gives its own up and is appended to later, so no file stays
 * open.  All are in a folder of their own until the end.
 */
struct files;
struct process;

struct file {
	uint8_t *p;                     /* of a buffer, or NULL */
	size_t n;
	struct lap_last last;           /* packed form */
	struct file *newer, *older;     /* those with buffers */
	struct files *all;
	char *path;                     /* owned; below the folder; NULL: standard output or a file of -o */
	uint64_t pid, first, end, nref, nevent;
	uint64_t off;                   /* bytes written */
	uint32_t sum;                   /* of them */
	struct process *process;        /* NULL: the kernel's */
	struct file *next;              /* all files, in the order in which they came */
	struct file *sibling;           /* the next one of the process */
};

#define FILE_ROOM (96u << 10)           /* of a buffer; a kernel record fits twice in half of it */

/* path: the result, a folder or a tar file; a folder for what is being made lies beside it */
struct files *files_new(const char *path);
struct file *files_add(struct files *a, const char *dir, const char *name, uint64_t pid);       /* dir NULL: at the top */
void files_dir(struct files *a, const char *dir);
void file_flush(struct file *f);
void file_take(struct file *f);         /* gets a buffer, which another may lose */
void file_touch(struct file *f);        /* is going to be written to */
struct file *files_first(const struct files *a);
const char *files_folder(const struct files *a);
void files_done(struct files *a);       /* the result gets its name; everything is freed */

/* For --basic: one file that goes to o */
struct file *file_single(struct out *o);
void file_single_done(struct file *f);  /* o is left open */

/* n bytes to write to; then f->n is what there is */
static inline uint8_t *
file_room(struct file *f, size_t n)
{
	if (!f->p)
		file_take(f);
	if (FILE_ROOM - f->n < n)
		file_flush(f);
	return f->p + f->n;
}

/* archive.c: the folder's files, as files_first lists them and the manifest first, to a tar file compressed as its name ends */
int archive_wanted(const char *path);
void archive_write(struct out *o, const struct files *a);               /* and closes o */

/* pass.c: both traces, once */
#define NLEFT 64
struct job {
	const char *refname, *kernelname;
	int packed, basic, lenient;
	struct in *refin, *kernelin;
	struct lap_refs refs;
	struct lap_events events;
	struct lap_model *model;
	struct files *files;            /* NULL: basic */
	struct file *single;            /* basic; else NULL */
	struct file *kernel;            /* the kernel's own references, and what belongs to no task */
	struct process *process, **endprocess;  /* all there were */
	struct buf line;                /* of an event, packed */
	uint64_t reftime, kerneltime;
	int finished;                   /* the end of the kernel trace was read */
	struct lap_event next;          /* the event that comes */
	int have;
	struct { const char *what; uint64_t n; } left[NLEFT];   /* --lenient: left out, by what was wrong */
	size_t nleft;
};
void pass_run(struct job *j);
void pass_summary(const struct job *j); /* what was left out, to standard error */

/* manifest.c: folders of processes, and a file `manifest` at the top */
struct process {                        /* user of struct lap_proc; kept to the end, as files are */
	char *dir;
	struct file *first, *last;      /* by sibling */
	struct buf names;               /* programs that were executed: lines of the manifest */
	struct process *next;
};
struct process *process_new(struct job *j, uint64_t pid);
struct file *process_file(struct job *j, struct process *p, uint64_t pid);
void manifest_write(struct job *j);

#endif
