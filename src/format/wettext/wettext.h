/*
 * Comprehensive tracing information as text, wettext(5): dependences and values of each statement,
 * instance by instance.
 */
#ifndef TM_FORMAT_WETTEXT_WETTEXT_H
#define TM_FORMAT_WETTEXT_WETTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fault.h"
#include "base/in.h"

#define WETTEXT_LINE   65536u           /* bytes of a line, including its end */
#define WETTEXT_WORDS  8u               /* of a value */
#define WETTEXT_PUT    192u             /* most bytes of any of these writers except wettext_put_block */
#define WETTEXT_PORTS  65536u           /* use ports of a statement */

/* Write a line to p and return its bytes. x: instance of the statement. */
size_t wettext_put_count(uint8_t *p, uint64_t n);                               /* the first line */
size_t wettext_put_size(uint8_t *p, uint64_t n);                                /* SIZE */
size_t wettext_put_dep(uint8_t *p, uint64_t x, uint64_t id, uint64_t instance);
size_t wettext_put_values(uint8_t *p, uint64_t n);                              /* VALUES */
size_t wettext_put_novalues(uint8_t *p);
/* the lowest word first */
size_t wettext_put_value(uint8_t *p, uint64_t x, const uint64_t *word, unsigned nword);
size_t wettext_put_order(uint8_t *p, uint64_t m);                               /* ORDER */
size_t wettext_put_step(uint8_t *p, uint64_t id, uint64_t count);

/*
 * Room for any of them after the contents of b; the caller adds to b->n. Without memory they write
 * to a dummy, and b->nomem is set.
 */
uint8_t *wettext_room(struct buf *b);

/* A name as one word: other bytes are written in octal, an empty name as ?. At most n bytes, n >= 8. */
size_t wettext_put_name(uint8_t *p, size_t n, const char *name);

struct wettext_block {
	uint64_t id, addr, line;
	uint32_t nport;
	const char *file, *func;        /* valid until the next call; as in the text */
};
struct wettext_dep { uint64_t x, id, instance; };
struct wettext_value {
	uint64_t x;
	/* nword of them, the lowest first; the highest is not 0, except for the number 0 */
	const uint64_t *word;
	uint32_t nword;
};
struct wettext_step { uint64_t id, count; };

enum wettext_got {
	WETTEXT_BAD = -1,               /* see wettext_fault */
	WETTEXT_END,
	WETTEXT_BLOCK,                  /* a statement begins */
	/* dependences of port `port`, as many as there is room for; returned again until `left` is 0 */
	WETTEXT_DEPS,
	WETTEXT_VALUES,                 /* values, in the same way */
	WETTEXT_ORDER                   /* steps of the trailer, in the same way */
};

struct wettext_rec {
	struct wettext_block block;     /* the statement, for all that follows */
	uint32_t port;
	int none;                       /* WETTEXT_VALUES: NO VALUES */
	/* the number after SIZE, VALUES or ORDER; the number of entries that follow */
	uint64_t total, left;
	const struct wettext_dep *dep;  /* n of them, valid until the next call */
	const struct wettext_value *value;
	const struct wettext_step *step;
	size_t n;
};

/*
 * Reader. It needs memory for each statement, none for instances. Besides the grammar it checks
 * that ids are those of statements and that instances are in range, as soon as that is known, at
 * the end at the latest.
 */
struct wettext;

enum wettext_how {
	/* one dependence for each instance and port, no trailer: the first version of the format */
	WETTEXT_STRICT = 1
};

struct wettext *wettext_open(struct in *in, unsigned how);      /* borrows in; NULL: no memory */
void wettext_close(struct wettext *r);
int wettext_next(struct wettext *r, struct wettext_rec *rec);   /* enum wettext_got */
uint64_t wettext_count(const struct wettext *r);                /* statements, after the first call */
/* is it, so far, exactly what the functions above write? */
int wettext_canonical(const struct wettext *r);
const struct fault *wettext_fault(const struct wettext *r);

#endif
