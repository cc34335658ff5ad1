/* Memory that is hidden from a process until it is used. */
#ifndef TM_GEN_WSCAP_TOUCH_H
#define TM_GEN_WSCAP_TOUCH_H

#include "gen/wscap/fast.h"
#include "gen/wscap/wscap.h"

/* borrow.c: memory that a child of vfork does not use */
#define ALTSTACK_UNKNOWN UINT64_MAX
/* The bytes from which on a mapping may be hidden from the child that a call makes; 0: none.  Is r so large, for c's child? */
unsigned borrow_may(const struct cap *c, uint64_t flags);
int borrow_large(const struct cap *c, const struct region *r);
/*
 * c is such a child, which stands at its beginning: 1: r will be hidden from lo on, as far as it can be; 0: it is recorded
 * as always.  borrow_hide_all hides what these have left to it.
 */
int borrow_hide(struct cap *c, const struct region *r, uint64_t lo);
void borrow_hide_all(struct cap *c);
void borrow_save(struct cap *c, uint64_t lo, uint64_t hi);      /* the child is about to use it */
void borrow_call(struct cap *c, const struct call *k);          /* its call, which may take memory from it and its parent */
void borrow_show(struct cap *c);        /* the memory is as before: c is the child, or its parent after that */
void borrow_leave(struct cap *c);       /* the child of c, or that it is about to make, is not seen any more */
void borrow_altstack(struct cap *c, const struct call *k);      /* the program has called sigaltstack */

/* touch.c: --first-touch */
/* Is memory hidden from the program? */
static inline int
touch_hides(const struct cap *c)
{
	return c->all->touch || c->hidden.n;
}
#define TOUCH_PROTECTS 64u
/* Protections that are to be changed; with a recorder that is done at once. */
struct protects {
	size_t n;
	struct fast_protect p[TOUCH_PROTECTS];
};
/* adds one; if there are too many, it makes those that it has first */
void touch_protects_add(struct cap *c, struct protects *t, uint64_t lo, uint64_t hi, int prot);
/* makes them, and has none any more; what could not be changed has a result that is not 0 */
void touch_protects_make(struct cap *c, struct protects *t);
/* mappings have their own protections again */
void touch_show(struct cap *c, struct protects *t, uint64_t lo, uint64_t hi);
void touch_hide(struct cap *c, uint64_t lo, uint64_t hi);
int touch_fault(struct cap *c, uint64_t addr);          /* 1: the fault was caused by hidden memory */
void touch_all(struct cap *c);                          /* makes all hidden memory accessible */
/* At the call's entry: makes accessible what it uses.  1: the call will be made again. */
int touch_call(struct cap *c, const struct call *k);
/* at the call's end; 1: it failed because of hidden memory, and will be made again */
int touch_again(struct cap *c, const struct call *k);
/* the program has changed the protection: hides it again */
void touch_protected(struct cap *c, uint64_t lo, uint64_t hi);

#endif
