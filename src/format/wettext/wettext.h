/*
 * Comprehensive tracing information as text, wettext(5): for each statement
 * its dependences and values, instance by instance.
 */
#ifndef TM_FORMAT_WETTEXT_WETTEXT_H
#define TM_FORMAT_WETTEXT_WETTEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/in.h"

#define WETTEXT_LINE   65536u           /* bytes of a line, with its end */
#define WETTEXT_WORDS  8u               /* of a value */
#define WETTEXT_PUT    192u             /* the most that any of these writes but wettext_put_block */
#define WETTEXT_PORTS  65536u           /* use ports of a statement */

/*
 * Lines, to p; how many bytes.  x: instance of the statement.
 */
size_t wettext_put_count(uint8_t *p, uint64_t n);                               /* the first line */
size_t wettext_put_size(uint8_t *p, uint64_t n);                                /* SIZE */
size_t wettext_put_dep(uint8_t *p, uint64_t x, uint64_t id, uint64_t instance);
size_t wettext_put_values(uint8_t *p, uint64_t n);                              /* VALUES */
size_t wettext_put_novalues(uint8_t *p);
size_t wettext_put_value(uint8_t *p, uint64_t x, const uint64_t *word, unsigned nword);         /* the lowest word first */
size_t wettext_put_order(uint8_t *p, uint64_t m);                               /* ORDER */
size_t wettext_put_step(uint8_t *p, uint64_t id, uint64_t count);

/* Where any of them may write, behind what is in b; the caller adds to b->n.  Without memory it is written to nowhere, and b->nomem is set. */
uint8_t *wettext_room(struct buf *b);

/* A name in one word: what cannot stand in one is written in octal, nothing at all as ?.  At most n bytes, n >= 8. */
size_t wettext_put_name(uint8_t *p, size_t n, const char *name);

struct wettext_block {
	uint64_t id, addr, line;
	uint32_t nport;
	const char *file, *func;        /* until the next call, as they are in the text */
};
struct wettext_dep { uint64_t x, id, instance; };
struct wettext_value {
	uint64_t x;
	const uint64_t *word;           /* nword of them, the lowest first; the highest is not 0 but for the number 0 */
	uint32_t nword;
};
struct wettext_step { uint64_t id, count; };

enum wettext_got {
	WETTEXT_BAD = -1,               /* see wettext_fault */
	WETTEXT_END,
	WETTEXT_BLOCK,                  /* a statement begins */
	WETTEXT_DEPS,                   /* of its port `port`, as many as there is room for; comes again until `left` is 0 */
	WETTEXT_VALUES,                 /* the same */
	WETTEXT_ORDER                   /* the same of the trailer */
};

struct wettext_rec {
	struct wettext_block block;     /* the statement, for all that follows */
	uint32_t port;
	int none;                       /* WETTEXT_VALUES: NO VALUES */
	uint64_t total, left;           /* as SIZE, VALUES, ORDER say; what is still to come */
	const struct wettext_dep *dep;  /* n of them, until the next call */
	const struct wettext_value *value;
	const struct wettext_step *step;
	size_t n;
};

struct wettext_fault {
	uint64_t line;                  /* from 1 */
	char err[160];
};

/*
 * Reader.  Memory: some for each statement, none for instances.  Besides the
 * text's grammar it checks, as soon as that can be known, that ids are those
 * of statements and instances are in range: at the end at the latest.
 */
struct wettext;

enum wettext_how {
	WETTEXT_STRICT = 1              /* one dependence for each instance and port, no trailer: as the format was first described */
};

struct wettext *wettext_open(struct in *in, unsigned how);      /* in is the caller's; NULL: no memory */
void wettext_close(struct wettext *r);
int wettext_next(struct wettext *r, struct wettext_rec *rec);   /* enum wettext_got */
uint64_t wettext_count(const struct wettext *r);                /* statements, after the first call */
int wettext_canonical(const struct wettext *r);                 /* is it, so far, byte for byte what the functions above write? */
const struct wettext_fault *wettext_fault(const struct wettext *r);

#endif
