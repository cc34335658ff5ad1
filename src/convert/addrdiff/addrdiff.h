/* Parts of addrdiff: sources of references, regions that are shifted, conventions, the report. */
#ifndef TM_CONVERT_ADDRDIFF_H
#define TM_CONVERT_ADDRDIFF_H

#include <stddef.h>
#include <stdint.h>

#include "base/in.h"
#include "base/out.h"
#include "format/lackey/lackey.h"
#include "format/ref/ref.h"

#define CONTEXT_MAX 1000        /* references before and after a difference */
#define GROUP_MAX   256         /* references of one instruction that conventions are applied to */

/* The executable that both sides ran: what -e gives (prog.c) */
struct prog;
struct prog *prog_open(const char *path);               /* dies */
void prog_close(struct prog *p);
int prog_traced(const struct prog *p, uint64_t pc);     /* is this original instruction in a traced function? */
int prog_registers(const struct prog *p, uint64_t pc);  /* traced, and one that valgrind gives references which it has not? */
void prog_image(const struct prog *p, uint64_t *lo, uint64_t *hi);      /* the loaded image, in bytes */
unsigned prog_word(const struct prog *p);      /* bytes of its addresses */
const char *prog_where(struct prog *p, uint64_t pc);    /* "function at file:line", "function" or NULL; until the next call */

/* One of the two inputs */
struct side {
	struct in *in;
	int log;                /* a lackey log, not a stream */
	struct ref_reader ref;
	struct lackey lackey;
	const struct prog *prog;        /* keep only traced functions; NULL: everything.  Borrowed. */
	int keep;               /* the last instruction is one to keep */
	int keepdata;           /* and so are its references */
	int noloops;            /* drop loop and task events */
	uint64_t *w;            /* owned.  w[0..pos) history, w[pos..n) to be compared */
	size_t pos, n;
	uint64_t nref, ninst;   /* references and instructions before w[0] */
	int end;                /* nothing follows w[n] */
	int fault;              /* because of a fault in the input */
};

void side_open(struct side *s, const char *path);       /* dies */
void side_close(struct side *s);
void side_rest(struct side *s);         /* compressed input to its end; dies if it is damaged */
int side_more(struct side *s);          /* at least one word more behind w[n], keeping history: 1; at the end 0 */
uint64_t side_ref(const struct side *s, size_t i);      /* number of the reference w[i], from 1 */
uint64_t side_inst(const struct side *s, size_t i);     /* number of the instruction that w[i] is or belongs to, from 1 */
_Noreturn void side_die(const struct side *s);          /* tell the fault */

/* Regions of memory that lie elsewhere on the other side, each by one constant (shift.c) */
struct shift;
struct shift *shift_new(const struct prog *p, unsigned odd);    /* p may be NULL: no image is known; odd: see -a */
void shift_free(struct shift *t);
int shift_ok(struct shift *t, uint64_t a, uint64_t b);  /* may b stand for a (the native address)?  Learns a new region's constant. */
const char *shift_why(const struct shift *t);           /* after 0: why not */
void shift_print(const struct shift *t, struct out *out);       /* one line a region */

/* What is being compared */
struct diff {
	struct out *out;        /* what is told: standard output */
	struct side a, b;
	struct shift *shift;    /* NULL: addresses are equal */
	struct prog *prog;      /* NULL: none */
	int conventions;        /* apply ref(5)'s conventions where the sides differ */
	int deadloads;          /* a log may lack loads */
	int verbose, quiet;
	size_t context;
	uint64_t joined, dead;  /* instructions reconciled by conventions; loads that a log lacked */
};

/* Two words of the sides of which the address alone may differ: is it the same place by the shifts? */
static inline int
same_place(struct diff *d, uint64_t a, uint64_t b)
{
	/* the rules are about native addresses, which a log does not have */
	if (d->a.log && !d->b.log)
		return shift_ok(d->shift, ref_addr(b), ref_addr(a));
	return shift_ok(d->shift, ref_addr(a), ref_addr(b));
}

/*
 * At a difference a.w[a.pos], b.w[b.pos]: if the rest of the two instructions
 * is the same by the conventions, step over it and return 1; else 0.
 */
int match_instruction(struct diff *d);

/* Print the difference at a.pos, b.pos with its neighbours */
void report_difference(struct diff *d);

#endif
