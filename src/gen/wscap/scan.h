/* Instructions in code whose results the processor makes up. */
#ifndef TM_GEN_WSCAP_SCAN_H
#define TM_GEN_WSCAP_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "replay/ptrace/tracee.h"

struct cap;
struct region;

struct scan_found {
	uint64_t at;                    /* bytes from the start of the code */
	struct tracee_decode_random d;
	int is;                         /* 1: it is an instruction; 0: that is not known; -1: it is not */
	int unlikely;                   /* is it 0, and everything around speaks against it? */
};

/* What was found in code: of a file that does not change, for all who map it. */
struct scan {
	struct scan *next;              /* of the same file */
	uint64_t offset, size;          /* the code in it */
	int notsc, nocpuid;             /* rdtsc, cpuid were not looked for */
	struct scan_found *found;       /* owned */
	size_t n, cap;
};

/* r: executable.  The result is valid until the next call, or as long as its file is known. */
const struct scan *scan_region(struct cap *c, const struct region *r, const char *name);
void scan_free(struct scan *s);         /* a list */
#endif
