/* Between the files of questions about .wet files of kind text only. */
#ifndef TM_WET_QUERY_TEXT_INTERNAL_H
#define TM_WET_QUERY_TEXT_INTERNAL_H

#include "wet/query/full_internal.h"

struct qstep { uint32_t id, n; };
struct qtdep { uint32_t x, port; uint64_t on; };        /* on: number of an instance, as in struct qfull */

struct qtext {
	struct wetfile w;
	struct store_code code;         /* statements, as they come in the text: address, source, use ports (nmem) */
	uint32_t *place;                /* where each statement is in the text, by id - 1; owned */
	uint32_t *at;                   /* the id of each as they come; owned */
	struct qnames names;
	/* steps of the order; without one, instances 0 of all statements, then instances 1, and so on; owned */
	struct qstep *step;
	uint64_t *before;               /* statements before each, and all; owned */
	size_t nstep, capstep;
	int ordered;                    /* there is an order */
	uint64_t *first;                /* number of each statement's instance 0; owned */
	uint32_t *id;                   /* 1, 2, ..: paths of steps; owned */
	/* slices: the dependences, by statement as they come, port, X; where those of each statement's ports begin; owned */
	struct qtdep *dep;
	size_t ndep, capdep;
	size_t *port;                   /* the first of each port in dep, ports counted over all statements */
	uint32_t *firstport;            /* of each statement */
	uint32_t *whose;                /* of each dependence: the statement; owned; NULL: not needed yet */
	size_t *users;                  /* dependences by what they are on; owned; NULL: not needed yet */
	/* and values: of each statement the first in val, words of value i: word[val[i].at] to word[val[i + 1].at] */
	struct qtval { uint32_t x; size_t at; } *val;
	size_t nval, capval, *firstval;
	struct col word;
	int loaded;
	uint64_t nbit;
	/* while the file is read */
	struct query *q;
	size_t capnamed;
	uint32_t s, p;                  /* statements, ports so far */
};

int qtext_load(struct query *q);                /* dependences and values */
int qtext_slice(struct query *q, struct query_slice *s);
int qtext_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg);

#endif
