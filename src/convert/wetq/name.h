/* Names of variables that instances read, wrote or computed, as the debugging information has them. */
#ifndef TM_CONVERT_WETQ_NAME_H
#define TM_CONVERT_WETQ_NAME_H

#include "convert/wetq/wetq.h"

struct name {
	uint64_t n;                     /* position of the instance, of statement id */
	uint64_t ref;                   /* its reference, a word of ref.h; 0: its value in a register */
	uint32_t id;
	int after;                      /* it is looked up as of after the instance */
	int part;                       /* only a part of the variable */
	char *name, *value;             /* owned; NULL: none; value: NULL if part */
};

struct names {
	struct job *j;
	struct texts *texts;            /* borrowed */
	struct name *name;              /* owned */
	size_t n, cap, found;
};

/* Ask for the name of what an instance reads, writes, or computes in a register: names_find finds them all. */
void names_ask_read(struct names *t, uint64_t n, uint32_t id, uint64_t ref);
void names_ask_write(struct names *t, uint64_t n, uint32_t id, uint64_t ref);
void names_ask_value(struct names *t, uint64_t n, uint32_t id);
/* the one that says most of an instance: what it stores; what it loads, if it does no more; what it computes */
void names_ask(struct names *t, uint64_t n, uint32_t id, uint64_t reads, uint64_t writes);
/* the same, of an instance whose references are not known: 0, or -1 with the job's fault */
int names_ask_instance(struct names *t, uint32_t id, uint64_t instance);
/* The only reference of an instance that reads, REF_LOAD, or writes, REF_STORE; 0: there is none, or more than one */
uint64_t names_reference(const struct query_insn *e, unsigned kind);
/* The run is replayed once, from its beginning.  Without registers, as in most .wet files, nothing has a name. */
void names_find(struct names *t);
/* the first of names [i, i + n) that was found; NULL: none */
const struct name *names_first(const struct names *t, size_t i, size_t n);
void names_free(struct names *t);

/* Appends `part of p->next`; and the fields `variable` and `variable_value` of JSON.  m: NULL: none */
void name_text(const struct name *m, struct buf *b);
struct json;
void name_json(const struct name *m, struct json *o);

#endif
