/* State and functions shared by the files of laplace-merge. */
#ifndef TM_MERGE_LAPLACE_MERGE_H
#define TM_MERGE_LAPLACE_MERGE_H

#include "base/buf.h"
#include "base/out.h"
#include "laplace/laplace.h"

/*
 * files.c: output files.  There are few buffers: the least recently written file loses its
 * buffer, and is appended to later, so no file stays open.  Until the end, all files are in a
 * temporary folder.
 */
struct files;
struct process;

struct file {
	uint8_t *p;                     /* the buffer, or NULL */
	size_t n;
	struct lap_last last;           /* state of the packed form */
	struct file *newer, *older;     /* list of files with buffers */
	struct files *all;
	/* relative to the folder; NULL: standard output or a file of -o; owned */
	char *path;
	uint64_t pid, first, end, nref, nevent;
	uint64_t off;                   /* bytes written */
	uint32_t sum;                   /* checksum of them */
	struct process *process;        /* NULL: the kernel's file */
	struct file *next;              /* all files, in the order of creation */
	struct file *sibling;           /* the next file of the process */
};

#define FILE_ROOM (96u << 10)           /* bytes of a buffer; a kernel record fits twice in half of it */

/* path: of the result, a folder or a tar file; the temporary folder is beside it. */
struct files *files_new(const char *path);
/* dir NULL: at the top */
struct file *files_add(struct files *a, const char *dir, const char *name, uint64_t pid);
void files_dir(struct files *a, const char *dir);       /* creates a folder in the temporary folder */
/* Writes the buffer. */
void file_flush(struct file *f);
void file_get_buffer(struct file *f);           /* assigns a buffer, which another file may lose */
void file_prepare_write(struct file *f);        /* call it before writing to the file */
struct file *files_first(const struct files *a);        /* the first file; others follow by `next` */
/* Path of the temporary folder. */
const char *files_folder(const struct files *a);
void files_done(struct files *a);       /* renames the result to its path and frees everything */

/* For --basic: a single file that is written to o. */
struct file *file_single(struct out *o);
void file_single_done(struct file *f);  /* does not close o */

/* Returns room for n bytes; the caller then adds what it wrote to f->n. */
static inline uint8_t *
file_room(struct file *f, size_t n)
{
	if (!f->p)
		file_get_buffer(f);
	if (FILE_ROOM - f->n < n)
		file_flush(f);
	return f->p + f->n;
}

/*
 * archive.c: writes the manifest and the files, in the order of files_first, to a tar file,
 * compressed by the suffix of its name.
 */
int archive_is_tar(const char *path);
void archive_write(struct out *o, const struct files *a);               /* closes o */

/* pass.c: reads both traces once */
#define NLEFT 64
struct job {
	const char *refname, *kernelname;
	int packed, basic, lenient, offsets;
	struct in *refin, *kernelin;
	struct lap_refs refs;
	struct lap_events events;
	struct lap_model *model;
	struct files *files;            /* NULL with --basic */
	struct file *single;            /* with --basic, else NULL */
	struct file *kernel;            /* references of the kernel, and what belongs to no task */
	struct process *process, **endprocess;  /* all processes */
	struct buf line;                /* an event in packed form */
	uint64_t reftime, kerneltime;
	int finished;                   /* the kernel trace has ended */
	struct lap_event next;          /* the next event */
	int have;
	/* --lenient: number of omitted records, by reason */
	struct { const char *what; uint64_t n; } left[NLEFT];
	size_t nleft;
};
void pass_run(struct job *j);   /* merges both traces to their ends; exits on a fault */
void pass_summary(const struct job *j); /* prints the omitted records to standard error */

/* manifest.c: folders of processes, and the file `manifest` at the top */
struct process {                        /* the user field of struct lap_proc; kept to the end, as files are */
	char *dir;
	struct file *first, *last;      /* linked by sibling */
	struct buf names;               /* lines of the manifest for programs that it executed */
	struct process *next;
};
struct process *process_new(struct job *j, uint64_t pid);       /* the caller does not free it */
/* creates the file of a task */
struct file *process_file(struct job *j, struct process *p, uint64_t pid);
void manifest_write(struct job *j);

#endif
