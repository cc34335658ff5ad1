/* Parts of ws2laplace. */
#ifndef TM_CONVERT_WS2LAPLACE_H
#define TM_CONVERT_WS2LAPLACE_H

#include "base/buf.h"
#include "base/out.h"
#include "format/laplace/laplace.h"
#include "replay/guest/replay.h"

struct identity {
	uint64_t inode;
	uint32_t major, minor;
	int known;                      /* the capture has it; else it is made up from a name */
};

/* What a descriptor means; several may share it */
struct opened {
	struct identity id;
	char type;                      /* f p d s */
	uint64_t off;                   /* in the file */
	size_t ordinal;                 /* of the call that opened it, from 1 on; 0: none */
	unsigned refs;
};

/* A kernel record that waits until the references before it are written */
struct waiting {
	uint64_t icount;
	struct lap_event e;             /* name: below */
	char *name;                     /* owned */
	int private;                    /* mmap of a file whose pages are copied when they are written */
};

/* Pages of private mappings of files: which have been copied */
struct area {
	uint64_t lo, hi;                /* pages */
	uint8_t *copied;                /* owned: a byte for each */
};

struct job {
	const char *path;
	struct replay *r;               /* NULL while the first records come, and in the first pass */
	struct out *refs, *kernel;
	enum lap_form form;
	uint64_t pid, space, start;     /* of the records made; start: added to times */
	uint64_t icount;                /* instructions whose references are written */
	int scanning;                   /* the first pass: which files were mapped */

	struct opened **fd;             /* owned; by descriptor; NULL: closed, or not known */
	size_t nfd;
	struct identity *mapped;        /* owned; by ordinal: what mappings say of the file */
	size_t nordinal, capmapped;
	void *paths;                    /* tsearch's tree of struct path */
	struct ws_rec_sys call;         /* the last system call, whose effects come */
	uint64_t pair;                  /* address of two descriptors that the kernel is going to write, or 0 */

	struct waiting *queue;          /* owned; from head on */
	size_t head, nqueue, capqueue;
	struct area *area;              /* owned */
	size_t narea, caparea;
	uint64_t plain[512];            /* pages that need no copy (+ 1; 0: none), by their low bits */
	struct buf line;
};

/* main.c */
_Noreturn void job_bad(struct job *j, const struct replay_fault *f);

/* call.c: records of the capture to kernel records */
int call_record(void *arg, const struct ws_rec *rec);   /* a replay_record_fn */
void call_scan(struct job *j, int fd);                  /* the first pass over the file at fd */
void call_begin(struct job *j, const struct ws_header *h);      /* behind the first records: the program starts */

/* open.c: descriptors and identities */
struct opened *open_get(struct job *j, uint64_t fd);    /* made up if nothing is known of it; NULL: none at all */
struct opened *open_put(struct job *j, uint64_t fd, char type, struct identity id);     /* closes what was there, in silence */
void open_share(struct job *j, uint64_t from, uint64_t to);
int open_close(struct job *j, uint64_t fd, struct identity *id);        /* 1 if it was open */
struct identity open_made_up(const void *p, size_t n);  /* the same for the same bytes */
struct identity open_path(struct job *j, const char *path, size_t ordinal);     /* of a file that is named */
struct identity open_map(struct job *j, const struct ws_rec_map *m, const struct opened *o);
size_t open_next(struct job *j);                        /* ordinal of the next opening call */
void open_free(struct job *j);

/* emit.c: both traces */
void emit_later(struct job *j, struct lap_event e, const char *name, uint64_t icount, int private);
void emit_refs(struct job *j, const uint64_t *w, size_t n);
void emit_until(struct job *j, uint64_t icount);        /* kernel records up to there */
void emit_free(struct job *j);

#endif
