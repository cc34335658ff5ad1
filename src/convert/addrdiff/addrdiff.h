/* Types and functions shared by the files of addrdiff: inputs, shifted regions, conventions, the report. */
#ifndef TM_CONVERT_ADDRDIFF_H
#define TM_CONVERT_ADDRDIFF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/in.h"
#include "base/out.h"
#include "format/lackey/lackey.h"
#include "format/ref/ref.h"

#define CONTEXT_MAX 1000        /* maximum number of references shown before and after a difference */
#define GROUP_MAX   256         /* maximum references of an instruction to which conventions are applied */

/*
 * prog.c: the executable that both sides ran, and its shared libraries, from options -e. Files after the first one
 * are at addresses of our own.
 */
struct prog;
struct prog *prog_open(const char *path, struct prog *before);  /* the first is before, or NULL; exits on failure */
const struct prog *prog_next(const struct prog *p);
uint64_t prog_at(const struct prog *p);                 /* what its addresses are more than those of the file */
void prog_close(struct prog *p);
int prog_traced(const struct prog *p, uint64_t pc);     /* is this instruction in a traced function? */
/* is it a traced instruction that accesses registers only, for which valgrind reports references? */
int prog_registers(const struct prog *p, uint64_t pc);
void prog_image(const struct prog *p, uint64_t *lo, uint64_t *hi);      /* addresses in the file */
int prog_moves(const struct prog *p);                                   /* is it position independent? */
unsigned prog_word(const struct prog *p);                               /* bytes of an address */
/* "function at file:line", "function" or NULL; valid until the next call */
const char *prog_where(struct prog *p, uint64_t pc);

/* One of the two inputs. */
struct side {
	struct in *in;
	pid_t pid;              /* of a capture: the process that replays it, and writes what `in` reads; 0: there is none */
	int log;                /* a lackey log, not a reference stream */
	struct ref_reader ref;
	struct lackey lackey;
	const struct prog *prog;        /* keep only traced functions; NULL: everything; borrowed */
	int keep;               /* the last instruction is kept */
	int keepdata;           /* its references are kept */
	const uint64_t *load;   /* for each file of prog: what its addresses are more than in the file; NULL: nothing */
	int noloops;            /* drop loop and task events */
	uint64_t from, to;      /* only these instructions, counted from 0 among those that are kept */
	uint64_t seen;          /* instructions that were kept, before `from` too */
	uint64_t refs_before, insts_before;     /* numbers of those before `from` */
	uint64_t *w;            /* owned; w[0..pos) is history, w[pos..n) is to be compared */
	size_t pos, n;
	uint64_t nref, ninst;   /* number of references and instructions before w[0] */
	int end;                /* nothing follows w[n] */
	int fault;              /* because the input has a fault */
};

/* exits on failure; quiet: nothing is said of a capture that ends early */
void side_open(struct side *s, const char *path, int quiet);
void side_close(struct side *s);
void side_read_to_end(struct side *s);  /* reads compressed input to its end; exits if it is damaged */
/* reads at least one word after w[n], keeping history: 1; 0: at the end */
int side_more(struct side *s);
uint64_t side_ref(const struct side *s, size_t i);      /* number of reference w[i], from 1 */
uint64_t side_inst(const struct side *s, size_t i);     /* number of the instruction of w[i], from 1 */
_Noreturn void side_die(const struct side *s);          /* reports the fault and exits */

/*
 * shift.c: regions of memory that are at other addresses on the other side, each shifted by one
 * constant.
 */
struct shift;
/* p NULL: the image is not known; odd: the number of option -a */
struct shift *shift_new(const struct prog *p, unsigned odd);
void shift_free(struct shift *t);
/* May b correspond to a (the native address)? Learns the constant of a new region. */
int shift_ok(struct shift *t, uint64_t a, uint64_t b);
const char *shift_why(const struct shift *t);           /* after 0: the reason */
void shift_print(const struct shift *t, struct out *out);       /* a line for each region */

/* State of the comparison. */
struct diff {
	struct out *out;        /* standard output */
	struct side a, b;
	struct shift *shift;    /* NULL: addresses must be equal */
	struct prog *prog;      /* NULL: no executable is known */
	int conventions;        /* apply the conventions of ref(5) where the sides differ */
	int deadloads;          /* a log may lack loads */
	int verbose, quiet;
	size_t context;
	uint64_t joined, dead;  /* instructions made equal by conventions; loads that a log lacked */
};

/* Do two words, which may differ only in their addresses, mean the same place, given the shifts? */
static inline int
same_place(struct diff *d, uint64_t a, uint64_t b)
{
	/* the shifts are relative to native addresses, which a log does not have */
	if (d->a.log && !d->b.log)
		return shift_ok(d->shift, ref_addr(b), ref_addr(a));
	return shift_ok(d->shift, ref_addr(a), ref_addr(b));
}

/*
 * At the difference a.w[a.pos], b.w[b.pos]: if the rest of the two instructions is equal by the
 * conventions, skips it and returns 1; else 0.
 */
int match_instruction(struct diff *d);

/* Prints the difference at a.pos, b.pos with its neighbours. */
void report_difference(struct diff *d);

#endif
