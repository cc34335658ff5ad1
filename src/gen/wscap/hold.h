/* Pages of mapped files that a process has not touched are not recorded. */
#ifndef TM_GEN_WSCAP_HOLD_H
#define TM_GEN_WSCAP_HOLD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct call;
struct cap;
struct places;
struct region;
struct scan;
struct tree;
struct ws_index;

#define HOLD_STEADY 60  /* seconds in which nobody has written to a file of which that is expected */

struct hold_file {                      /* a file that is mapped */
	uint64_t dev, ino;
	int fd;                         /* -1: it cannot be used */
	struct stat st;                 /* when it was opened */
	int old;                        /* it had not been written to for a while then */
	int memory;                     /* it is of tmpfs, and opened by hold_memory */
	int told;                       /* that it has changed since */
	struct scan *scan;              /* what was found in its code; owned */
	struct places *places;          /* where calls are made in it; owned, or NULL */
	struct ws_index *index;         /* what the store knows of it; owned, or NULL */
};

struct held {                           /* pages of a file that is mapped, private or to be read only */
	uint64_t lo, hi, offset;
	size_t place;                   /* in the capture: ws_hold */
	struct hold_file *file;
};

struct holds {
	struct held *p;                 /* owned */
	size_t n, cap;
};

struct hold {
	struct holds held;              /* pages that are not known to have been touched, by ascending address */
	struct holds due;               /* that have been, and are to be recorded */
	struct holds gone;              /* not seen to have been touched, and no longer mapped: see hold_lost */
	int on;                         /* the writer keeps groups */
	int all;                        /* `due` has pages that were not looked up */
	int final;                      /* the process executes nothing more */
	int closing;                    /* the last record tells where it came to its end */
	int pagemap;                    /* a descriptor; 0: not opened yet, -1: there is none */
	uint64_t reclaimed;             /* as of when the first of `held` and `gone` was mapped */
};

/*
 * r has been mapped, and its record written: 1: its contents from lo on will be recorded as far as is needed;
 * 0: the caller has to do it.  fresh: the process has had no time to write to it.
 */
int hold_map(struct cap *c, const struct region *r, uint64_t lo, const char *name, int fresh);
/*
 * Records all contents of a mapping that is new, from its file: 0: the caller has to do it.  late: the process may have
 * written to the memory meanwhile; then its file has been found steady before.
 */
int hold_put_all(struct cap *c, const struct region *r, int late);
/* Records the bytes of a file that are mapped at h. */
void hold_put(struct cap *c, const struct held *h);
/* opens the file of r, for hold_read; NULL: hold_map will not do it */
struct hold_file *hold_open(struct cap *c, const struct region *r, const char *name);
/*
 * The end of the pages from lo on, before hi, that are all the process's own copies of a file's pages, or all not: *own
 * says which.
 */
uint64_t hold_own(const struct cap *c, uint64_t lo, uint64_t hi, int *own);
/* hold_file.c: the file of a region; NULL: it cannot be used */
struct hold_file *hold_file(struct tree *a, const struct region *r, const char *name);
struct hold_file *hold_find(const struct tree *a, uint64_t dev, uint64_t ino);
/* The file of r, which is shared, is kept open if it is of tmpfs, until it has no name any more: it is memory itself. */
void hold_memory(struct tree *a, const struct region *r, const char *name);
void hold_memory_gone(struct tree *a);  /* closes those that have none */
int hold_many(const struct tree *a);    /* are so many open that the rest is for mappings? */
int hold_same(const struct hold_file *f);       /* is it as it was when it was opened? */
int hold_steady(const struct hold_file *f);     /* is that certain, whoever writes to it in which way? */
/* The file whose bytes the n bytes at addr were when they were mapped; NULL: there is none */
struct hold_file *hold_file_at(const struct cap *c, uint64_t addr, size_t n, uint64_t *offset);
/* The same, if it is steady */
struct hold_file *hold_steady_at(const struct cap *c, uint64_t addr, size_t n, uint64_t *offset);
/* Reads memory that is the file's, without touching it; other memory as tracee_read. */
size_t hold_read(struct cap *c, uint64_t addr, void *p, size_t n);
/* Opens pagemap, if that was not done; c is stopped.  0; -1: the kernel tells nothing there. */
int hold_begin(struct cap *c);
/*
 * The first page of [lo, hi) that may be other than zero: memory that nobody has touched is zero, if it is no file's.
 * *end: what may be so from there on, CHUNK at most, or hi if that is not known.  To read what is not touched would touch it.
 */
uint64_t hold_present(struct cap *c, uint64_t lo, uint64_t hi, uint64_t *end);
/* hold_call.c: at the entry of a call, before it is made */
void hold_call(struct cap *c, const struct call *k);
/* Somebody is about to change the bytes of a file: what the process has mapped of it is recorded before. */
void hold_changes(struct cap *c, uint64_t dev, uint64_t ino);
/* Are pages of this file not recorded yet? */
int hold_has(const struct cap *c, uint64_t dev, uint64_t ino);
void hold_rest(struct cap *c, uint64_t lo, uint64_t hi);        /* takes all pages of [lo, hi) for touched */
/* Looks which pages of [lo, hi) were touched, and remembers them. */
void hold_touched(struct cap *c, uint64_t lo, uint64_t hi);
void hold_cut(struct cap *c, uint64_t lo, uint64_t hi); /* [lo, hi) is something else now, or recorded */
void hold_final(struct cap *c);         /* the process will not execute anything, unless its execve fails */
/* Records what was touched, and writes what the writer has kept.  again: more will come. */
void hold_settle(struct cap *c, int again);
void hold_relieve(struct cap *c);       /* if that is much; not while scratch is in use */
void hold_free(struct cap *c);
void hold_index_close(struct tree *a);          /* before the store is closed */
void hold_close(struct tree *a);

/* pagemap.c */
#define PAGEMAP_PRESENT (3ull << 62)    /* of an entry: in memory, or swapped out or moving */
/*
 * The first page of [lo, hi) that is in memory by /proc/PID/pagemap, or that is not; hi: there is none.  What it does
 * not tell of is taken for one that is.
 */
uint64_t pagemap_next(int pagemap, uint64_t lo, uint64_t hi, int has);

#endif
