/* Pages of mapped files that a process has not touched are not recorded. */
#ifndef TM_GEN_WSCAP_HOLD_H
#define TM_GEN_WSCAP_HOLD_H

#include <stddef.h>
#include <stdint.h>

struct call;
struct cap;
struct region;
struct tree;

struct held {                           /* pages of a file that is mapped private */
	uint64_t lo, hi, offset;
	size_t place;                   /* in the capture: ws_hold */
	int fd;
};

struct holds {
	struct held *p;                 /* owned */
	size_t n, cap;
};

struct hold {
	struct holds held;              /* pages that are not known to have been touched, by ascending address */
	struct holds due;               /* that have been, and are to be recorded */
	int on;                         /* the writer keeps groups */
	int all;                        /* `due` has pages that were not looked up */
	int final;                      /* the process executes nothing more */
	int closing;                    /* the last record tells where it came to its end */
	int pagemap;                    /* a descriptor; 0: not opened yet, -1: there is none */
	uint64_t reclaimed;             /* as of when the first of `held` was mapped */
};

/*
 * r has been mapped, and its record written: 1: its contents from lo on will be recorded as far as is needed;
 * 0: the caller has to do it.  fresh: the process has had no time to write to it.
 */
int hold_map(struct cap *c, const struct region *r, uint64_t lo, const char *name, int fresh);
/* opens the file of r, for hold_read: 1; 0: hold_map will not do it */
int hold_open(struct cap *c, const struct region *r, const char *name);
/* Reads memory that is the file's, without touching it; other memory as tracee_read. */
size_t hold_read(struct cap *c, uint64_t addr, void *p, size_t n);
/* hold_call.c: at the entry of a call, before it is made */
void hold_call(struct cap *c, const struct call *k);
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
void hold_close(struct tree *a);
#endif
