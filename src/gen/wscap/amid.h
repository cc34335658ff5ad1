/* Captures that begin in the middle of a run. */
#ifndef TM_GEN_WSCAP_AMID_H
#define TM_GEN_WSCAP_AMID_H

#include "gen/wscap/wscap.h"

/* amid.c: captures that begin in the middle of a run.  Functions return NULL, or why it cannot be captured. */
const char *amid_check(pid_t pid);      /* can this process be captured? */
/*
 * Writes header, START and memory of c->run; the process is at any stop but a syscall-entry stop.  Call
 * amid_settle before it is resumed.
 */
const char *amid_begin(struct cap *c);
/* what each thread has for itself; the loaded one, whose registers are returned */
const char *amid_own(struct cap *c, struct user_regs_struct *g);
void amid_settle(struct tracee *t);
/* gives back to a process what amid_begin has put aside */
void amid_restore(const struct cap *c, struct tracee *t);
void amid_detach(struct tracee *t);     /* the process continues, also in a call that was interrupted */
/* is the process in a call that the kernel makes again, or that failed only because the process was stopped? */
void amid_rseq_put(struct cap *c, const struct call *k);        /* will register what the call k would */
int amid_again(const struct user_regs_struct *g);
int amid_broken(const struct tracee *t, const struct user_regs_struct *g);
void amid_repeat(struct tracee *t, struct user_regs_struct *g);        /* it makes the call once more */
/* is a signal about to be delivered, or is that not known? */
int amid_pending(const struct tracee *t);
/* a number in /proc/PID/status: 0 or -1 */
int amid_status(pid_t pid, const char *field, int base, uint64_t *v);

/* vdso.c */
const char *vdso_read(struct cap *c, const struct tracee_maps *m, struct vdso *v);
void vdso_free(struct vdso *v);
int vdso_has(const struct vdso *v, uint64_t addr);
const char *vdso_leave(struct cap *c, const struct vdso *v);    /* runs the loaded thread out of the vDSO */
const char *vdso_patch(struct cap *c);
void vdso_restore(const struct cap *c, struct tracee *t);

/* image.c: a process that begins amid its run is read from a copy of it, if it is large and the system permits that */
void image_begin(struct cap *c);        /* makes the copy; the process stands, as for amid_begin */
/* 1: the pages of [lo, hi), private memory without a file, will be recorded; all mappings are */
int image_take(struct cap *c, uint64_t lo, uint64_t hi);
void image_place(struct cap *c);        /* they will be recorded here; before the first image_take */
void image_step(struct tree *a);        /* records some of them */
void image_finish(struct cap *c);       /* records the rest */
int image_waits(const struct cap *c);   /* are there some, and can they wait? */
void image_end(struct cap *c);          /* ends the copy */

/* attach.c */
struct cap *attach_seize(struct tree *a, pid_t pid);    /* stops a process; ends wscap if that is impossible */

#endif
