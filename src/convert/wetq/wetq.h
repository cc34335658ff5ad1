/* Parts of wetq. */
#ifndef TM_CONVERT_WETQ_H
#define TM_CONVERT_WETQ_H

#include "base/out.h"
#include "wet/query/query.h"

struct job {
	const char *path, *file;        /* the file, for diagnostics; where it is */
	const char *folder;             /* where sources are, or NULL */
	struct query *q;
	struct out *out;
	unsigned how;                   /* of slices */
	int backward, counts;
	uint64_t most, window;          /* statements, lines; instances at a time, 0: as many as query.h says */
	const char *from;               /* a point of the run, or NULL */
	struct query_fault fault;       /* why a question has no answer */
};

/* Functions that return int give 0, or -1: see j->fault; what came before has been written. */
int job_bad(struct job *j);                     /* -1, as query_fault says */
void job_early(const char *name, const struct ws_early *e);     /* e not NULL: says it if the capture ends early */
int job_survey(struct job *j, int slices);
unsigned job_complain(struct job *j);           /* says of which files that the program mapped nothing is known; how many */
int job_point(struct job *j, const char *s, int slices, uint64_t *n);   /* ID#INSTANCE, ID (its last one, which is said), or @POSITION; surveyed then */

/* Instances [from, to] of a statement: ID or 0xADDRESS, and behind it #INSTANCE, #FROM-TO or nothing */
struct range { uint32_t id; int one; uint64_t from, to; };
int job_range(struct job *j, const char *s, struct range *r);

/* answer.c */
int job_list(struct job *j);
int job_flow(struct job *j);
int job_values(struct job *j, const char *id);
int job_addrs(struct job *j, const char *id);

/* slice.c */
int job_slice(struct job *j, const char *point);
int job_dot(struct job *j, const char *point);

/* annotate.c */
int job_annotate(struct job *j, const char *point);

/* arch.c: labels of a statement of a .wet file; id NULL: counts of all */
void job_arch(const char *id, const char *path, const char *outname);

/* put.c */
size_t put_dec(uint8_t *p, uint64_t v);
size_t put_hex(uint8_t *p, uint64_t v);                 /* no 0x */
size_t put_value(uint8_t *p, const uint64_t *word, uint32_t n);         /* as wettext(5) has it */
void put_where(struct job *j, uint32_t id);             /* ` file function line` and the line's end */

#endif
