/* State and functions shared by the files of ws2laplace. */
#ifndef TM_CONVERT_WS2LAPLACE_H
#define TM_CONVERT_WS2LAPLACE_H

#include "base/buf.h"
#include "base/out.h"
#include "format/laplace/laplace.h"
#include "replay/guest/replay.h"

struct identity {
	uint64_t inode;
	uint32_t major, minor;
	int known;                      /* from the capture; otherwise made up from a name */
};

/* An open file; several descriptors may share it. */
struct opened {
	struct identity id;
	char type;                      /* type of the file: f p d s */
	uint64_t off;                   /* offset in the file */
	size_t ordinal;                 /* of the call that opened it, from 1 on; 0: none */
	unsigned refs;
};

/* A kernel record that is written after the references before it. */
struct waiting {
	uint64_t icount;
	struct lap_event e;             /* its name is in the next field */
	char *name;                     /* owned */
	int private;                    /* mmap of a file whose pages are copied on write */
};

/* Pages of a private mapping of a file, and which of them have been copied. */
struct area {
	uint64_t lo, hi;                /* pages */
	uint8_t *copied;                /* a byte for each page; owned */
};

struct job {
	const char *path;
	struct replay *r;               /* NULL at the first records, and in the first pass */
	struct out *refs, *kernel;      /* NULL: this trace is not wanted */
	enum lap_form form;
	uint64_t pid, space, start;     /* of the output records; start is added to times */
	uint64_t icount;                /* instructions whose references are written */
	int scanning;                   /* the first pass: finds which files are mapped */

	struct opened **fd;             /* by descriptor; NULL: closed, or unknown; owned */
	size_t nfd;
	struct identity *mapped;        /* by ordinal: identities of files, from mappings; owned */
	size_t nordinal, capmapped;
	void *paths;                    /* tsearch(3) tree of struct path */
	struct ws_rec_sys call;         /* the last system call, whose effects follow */
	uint64_t pair;                  /* address of two descriptors that the kernel will write, or 0 */

	struct waiting *queue;          /* pending records, from head on; owned */
	size_t head, nqueue, capqueue;
	struct area *area;              /* owned */
	size_t narea, caparea;
	uint64_t plain[512];            /* cache of pages that need no copy (+ 1; 0: none), by low bits */
	struct buf line;
};

/* main.c */

/* Reports the fault and exits. */
_Noreturn void job_bad(struct job *j, const struct fault *f);

/* call.c: converts records of the capture to kernel records */
int call_record(void *arg, const struct ws_rec *rec);   /* a replay_record_fn */
/* the first pass over a run of the file at fd, as ws_open_run */
void call_scan(struct job *j, int fd, size_t run);
/* call it after the first records: the program starts */
void call_begin(struct job *j, const struct ws_header *h);

/* open.c: descriptors and identities of files */
struct opened *open_get(struct job *j, uint64_t fd);    /* made up if unknown; NULL: invalid descriptor */
/* replaces what was there, without a record */
struct opened *open_set(struct job *j, uint64_t fd, char type, struct identity id);
void open_share(struct job *j, uint64_t from, uint64_t to);     /* descriptor `to` becomes a copy of `from` */
int open_close(struct job *j, uint64_t fd, struct identity *id);        /* 1: it was open */
struct identity open_made_up(const void *p, size_t n);  /* equal bytes give equal identities */
/* identity of a file by its name */
struct identity open_path(struct job *j, const char *path, size_t ordinal);
/* identity of a mapped file; o: what it was mapped from, or NULL */
struct identity open_map(struct job *j, const struct ws_rec_map *m, const struct opened *o);
size_t open_next(struct job *j);                        /* ordinal of the next opening call */
void open_free(struct job *j);

/* emit.c: both output traces */
void emit_queue(struct job *j, struct lap_event e, const char *name, uint64_t icount, int private);
/* writes n references, with the kernel records that come before them */
void emit_refs(struct job *j, const uint64_t *w, size_t n);
void emit_until(struct job *j, uint64_t icount);        /* writes kernel records up to icount */
void emit_free(struct job *j);

#endif
