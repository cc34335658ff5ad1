/* Parts of wetq. */
#ifndef TM_CONVERT_WETQ_H
#define TM_CONVERT_WETQ_H

#include "base/out.h"
#include "engine/wet/query.h"

struct job {
	const char *path, *folder;      /* the capture, for diagnostics; where sources are, or NULL */
	struct query *q;
	struct out *out;
	unsigned how;                   /* of slices */
	int backward, counts;
	uint64_t most, window;          /* statements, lines; instances at a time, 0: as many as query.h says */
	const char *from;               /* a point of the run, or NULL */
};

_Noreturn void job_bad(struct job *j);          /* as query_fault says, after what came before was written */
void job_survey(struct job *j, int slices);
uint32_t job_id(struct job *j, const char *s);                  /* a statement: its id, or 0xADDRESS */
uint64_t job_point(struct job *j, const char *s, int slices);   /* ID#INSTANCE, or a position; surveyed then */

/* answer.c */
void job_list(struct job *j);
void job_flow(struct job *j);
void job_values(struct job *j, const char *id);
void job_addrs(struct job *j, const char *id);

/* slice.c */
void job_slice(struct job *j, const char *point);
void job_dot(struct job *j, const char *point);

/* annotate.c */
void job_annotate(struct job *j, const char *point);

/* arch.c: labels of a statement of a .wet file; id NULL: counts of all */
void job_arch(const char *id, const char *path, const char *outname);

/* put.c */
size_t put_dec(uint8_t *p, uint64_t v);
size_t put_hex(uint8_t *p, uint64_t v);                 /* no 0x */
size_t put_value(uint8_t *p, const uint64_t *word, uint32_t n);         /* as wettext(5) has it */
void put_where(struct job *j, uint32_t id);             /* ` file function line` and the line's end */

#endif
