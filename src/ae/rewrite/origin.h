/* Where a register's value comes from: the only instruction that can have set it. */
#ifndef TM_AE_REWRITE_ORIGIN_H
#define TM_AE_REWRITE_ORIGIN_H

#include "ae/rewrite/file.h"

struct origin {
	const struct afunc *fn;
	unsigned reg;
	uint32_t found;         /* the defining instruction, or NONE so far */
	int many;               /* several definitions reach, or the value at entry does */
	int twice;              /* one that reaches has the address of a function that returns twice */
	uint8_t *seen;          /* blocks searched from their ends */
	uint32_t *todo, ntodo;
};

/* fn, which must outlive it, has its control-flow graph. */
void origin_begin(struct origin *s, const struct afunc *fn);
void origin_end(struct origin *s);
/* The only instruction that can set register reg as it is before instruction i, or NONE. */
uint32_t origin_find(struct origin *s, uint32_t i, unsigned reg);

/* Does instruction a change register r? */
int origin_changes(const struct machine *m, const struct ainsn *a, unsigned r);

/* The symbol whose address instruction a, a lea of nothing else, puts into register r; or NULL */
const struct sym *origin_address(const struct file *f, const struct ainsn *a, unsigned r);

#endif
