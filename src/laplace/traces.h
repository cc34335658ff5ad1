/*
 * The folder that laplace-merge makes, laplace(5): its manifest, and the traces in it. Thousands of traces can be
 * read side by side: a file is open only while it is read, and the buffers of those that were not read for the
 * longest time are given up.
 */
#ifndef TM_LAPLACE_TRACES_H
#define TM_LAPLACE_TRACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "format/laplace/laplace.h"

/* A line `task` or `kernel` of the manifest */
struct lap_trace {
	char *path;                     /* below the folder: "p1/t1", "kernel"; owned */
	uint64_t pid;                   /* 0 of the kernel */
	uint64_t first, last;           /* times of the first and of the last record */
	uint64_t nref, nevent;
	size_t process;                 /* from 0, in the order of the manifest; the kernel's comes after the others */
	int kernel;
};

struct lap_folder {
	char *dir;                      /* owned */
	struct lap_trace *trace;        /* owned; in the order of the manifest */
	size_t n, room, nprocess;       /* nprocess: without the kernel's */
	char *where;                    /* after -1: the file at fault, for messages; owned */
	struct fault fault;
};

/* Reads the manifest: 0, or -1.  lap_folder_close comes after both. */
int lap_folder_open(struct lap_folder *f, const char *dir);
void lap_folder_close(struct lap_folder *f);

/*
 * A trace that is read.  item is the record that comes next; its event has no name.  A trace must be what the
 * manifest says: begin and end at these times, and have as many references and records.
 */
struct lap_cursor {
	const struct lap_trace *trace;
	struct lap_item item;
	struct lap_merged r;
	struct in *in;                  /* owned; NULL before the first read, and after the last record */
	uint64_t nref, nevent, time;
	uint64_t off;                   /* of the record */
	struct lap_cursor *newer, *older;       /* those with buffers */
	int listed;
};

struct lap_reader {
	struct lap_folder *f;           /* borrowed; has the fault after -1 */
	struct lap_cursor *newest, *oldest;
	size_t nlisted;
	char name[LAP_NAME_MAX];
};

#define LAP_BUFFERS 256u                /* of 2 * LAP_LINE_MAX bytes */

void lap_reader_init(struct lap_reader *q, struct lap_folder *f);
/* The next record into c->item: 1; 0 at the end; -1.  A cursor begins as { .trace = t }. */
int lap_cursor_next(struct lap_reader *q, struct lap_cursor *c);
void lap_cursor_close(struct lap_reader *q, struct lap_cursor *c);

static inline uint64_t
lap_item_time(const struct lap_item *it)
{
	return it->isevent ? it->event.time : it->touch.time;
}

/* Traces by their times: those of the same time in the order of the manifest. */
struct lap_order {
	struct lap_reader *q;           /* borrowed */
	struct lap_cursor *cursor;      /* owned */
	struct lap_cursor **heap;       /* owned; the earliest first */
	size_t n, ncursor;
	struct lap_cursor *now;         /* the one whose record was returned; it is heap[0] */
	uint64_t until;                 /* it goes on while its time is before this, */
	int tie;                        /* or the same */
};

/* kernel: also the kernel's own trace.  0, or -1: no memory */
int lap_order_init(struct lap_order *o, struct lap_reader *q, int kernel);
/* The next record of all is (*c)->item: 1; 0 at the end; -1 */
int lap_order_next(struct lap_order *o, struct lap_cursor **c);
void lap_order_free(struct lap_order *o);

#endif
