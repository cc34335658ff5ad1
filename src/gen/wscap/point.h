/* Where the region begins and ends that is captured: --from and --to. */
#ifndef TM_GEN_WSCAP_POINT_H
#define TM_GEN_WSCAP_POINT_H

#include "gen/wscap/wscap.h"

/* where.c */
int where_parse(struct where *w, const char *text);     /* 0 or -1 */

/* functions.c */
void functions_find(struct cap *c, const struct where *w, struct found *f);
uint64_t functions_resolve(struct cap *c, uint64_t resolver);   /* 0: it cannot be */

/* point.c */

/* Finds the places in the program that c executes now; late: it is past its start. */
void point_program(struct cap *c, int late);
/*
 * The process is at s: 1 if it is what is waited for; else it has executed the instruction, or *sig is a signal
 * that came instead.
 */
int point_hit(struct cap *c, struct site *s, int *sig);
int point_signal(struct cap *c, int sig);               /* the same for a signal */
struct site *point_passed(const struct cap *c, uint64_t rip);   /* the site whose breakpoint ends at rip, or NULL */
void point_back(struct tracee *t, struct user_regs_struct *g);  /* from there to where its instruction begins */
void point_end(struct tree *a);

/* wait.c: runs the process to where its region begins */
void wait_region(struct cap *c);
/* the place cannot be used, and nothing is captured: the program goes on alone, and wscap ends with it */
_Noreturn void wait_fail(struct cap *c, const char *option, const struct where *w, const char *why);

#endif
