/* Decodes files of kind loads: computes the values of a segment by executing its statements again. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/confine.h"
#include "wet/file/full/reader.h"
#include "wet/file/full/reexecute.h"

struct exec {
	struct store_read *r;
	struct col word;                /* stored words */
	struct col at, kind, given;     /* columns of exceptions */
	/* of each statement: index in word of its next words; owned, as the arrays below */
	uint64_t *next;
	uint32_t *told, *left;          /* how often its words are stored, in all and still to come */
	uint32_t *done;                 /* executions so far; owned */
	size_t nat, ngiven;             /* exceptions used so far */
	uint64_t exc, n;                /* statement of the next exception; statements so far */
	uint64_t sum;
};

static const int signals[] = { SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP };
#define NSIGNAL (sizeof signals / sizeof *signals)
static sigjmp_buf back;

static void
loads_decode_caught(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static const char *
loads_decode_fail(struct exec *t, const char *why)
{
	t->exc = UINT64_MAX;
	return why;
}

/* Returns the n words of the next exception; NULL: they are missing. */
static const uint64_t *
loads_decode_given(struct exec *t, unsigned n)
{
	const uint64_t *w = t->given.v + t->ngiven;

	if (t->given.n - t->ngiven < n)
		return NULL;
	t->ngiven += n;
	t->nat++;
	t->exc = t->nat < t->at.n ? t->exc + t->at.v[t->nat] : UINT64_MAX;
	return w;
}

/* Applies exceptions that set registers before the next statement. */
static const char *
loads_decode_settle(struct exec *t)
{
	while (t->exc == t->n && t->kind.v[t->nat] != LOAD_DEFINED && t->kind.v[t->nat] != LOAD_LOADED) {
		int forget = t->kind.v[t->nat] == LOAD_FORGET;
		uint16_t at = 0;
		unsigned n = forget ? 2 : load_state_offset((unsigned)t->kind.v[t->nat] - 1, &at);
		const uint64_t *w = loads_decode_given(t, n);

		if (!w)
			return loads_decode_fail(t, "words of registers are missing");
		if (forget) {
			loadmem_forget(&t->r->load->mem, w[0], w[1]);
			continue;
		}
		memcpy((uint8_t *)&t->r->load->st + at, w, 8u * n);
		t->r->load->st.mxcsr = load_mxcsr(t->r->load->st.mxcsr);
	}
	return NULL;
}

/*
 * Stores the words of statement s at w.  1: as predicted or stored; 0: from an exception; -1:
 * they are missing.
 */
static int
loads_decode_words(struct exec *t, uint32_t s, uint64_t *w)
{
	const struct load_stmt *v = &t->r->load->stmt[s];
	const uint64_t *g;
	int known = load_known(t->r->load, s, w);

	if (known && v->nload && t->exc == t->n && t->kind.v[t->nat] == LOAD_LOADED) {
		if ((g = loads_decode_given(t, v->nstored)) == NULL)
			return -1;
		memcpy(w, g, 8u * v->nstored);
		return 0;
	}
	if (known || !v->nstored)
		return 1;
	if (t->left[s] == 0)
		return -1;
	t->left[s]--;
	for (unsigned j = 0; j < v->nstored; j++)
		w[j] = t->word.v[t->next[s] + j * t->told[s]];
	t->next[s]++;
	return 1;
}

static const char *
loads_decode_statement(struct exec *t, uint32_t s)
{
	struct store_read *r = t->r;
	const struct load_stmt *v = &r->load->stmt[s];
	const struct store_place *p = &r->place[s];
	uint64_t w[LOAD_WORDS], val[8], *to = r->vals.val.v + p->at + t->done[s]++;
	const uint64_t *g;
	int right = loads_decode_words(t, s, w);

	if (right < 0)
		return loads_decode_fail(t, "words that were loaded are missing");
	load_execute(r->load, s, w, right);
	if (t->exc == t->n) {
		if (t->kind.v[t->nat] != LOAD_DEFINED || (g = loads_decode_given(t, v->ndefword)) == NULL)
			return loads_decode_fail(t, "words of registers are missing");
		load_set(r->load, s, g);
	}
	t->n++;
	load_value(r->load, s, val);
	for (unsigned j = 0; j < load_nval(v); j++) {
		to[j * p->n] = val[j];
		t->sum = load_sum(t->sum, val[j]);
	}
	return NULL;
}

static const char *
loads_decode_paths(struct exec *t)
{
	struct store_read *r = t->r;

	for (size_t i = 0; i < r->path.n; i++) {
		const struct store_path *p = &r->code.path[r->path.v[i]];

		for (uint32_t k = 0; k < p->n; k++) {
			const char *err = t->exc == t->n ? loads_decode_settle(t) : NULL;

			if (err || (err = loads_decode_statement(t, r->code.seq[p->first + k])) != NULL)
				return err;
		}
	}
	return loads_decode_settle(t);
}

/* Runs with handlers for the signals that invalid code may raise; a signal is reported as an error. */
static const char *
loads_decode_guarded(struct exec *t)
{
	struct sigaction was[NSIGNAL], act = { .sa_handler = loads_decode_caught, .sa_flags = SA_NODEFER };
	const char *err;

	for (size_t i = 0; i < NSIGNAL; i++)
		sigaction(signals[i], &act, &was[i]);
	if (sigsetjmp(back, 1) == 0)
		err = loads_decode_paths(t);
	else
		err = "an instruction that this processor does not execute";
	for (size_t i = 0; i < NSIGNAL; i++)
		sigaction(signals[i], &was[i], NULL);
	return err;
}

/* Reads the columns of the section, except the words. */
static int
loads_decode_exceptions(struct exec *t, struct col_reader *c, uint64_t *sum)
{
	if (col_get(c, &t->at, SIZE_MAX, STORE_SEGMENT, NULL) != 0 ||
	    col_get(c, &t->kind, t->at.n, LOAD_FORGET, NULL) != 0 ||
	    col_get(c, &t->given, SIZE_MAX, UINT64_MAX, NULL) != 0 || col_get_number(c, UINT64_MAX, sum) != 0)
		return -1;
	t->exc = t->at.n ? t->at.v[0] : UINT64_MAX;
	return 0;
}

/* Reads how often each statement has words; computes their positions and keys. */
static const char *
loads_decode_layout(struct exec *t, struct col_reader *c, struct col *key)
{
	struct store_read *r = t->r;
	struct col n = { 0 };
	uint64_t at = 0, k = 0;
	const char *err = NULL;

	if (col_get_upto(c, &n, r->code.nstmt, STORE_SEGMENT, NULL) != 0)
		err = c->err;
	for (size_t s = 0; !err && s < r->code.nstmt; s++) {
		unsigned words = r->load->stmt[s].nstored;

		t->next[s] = at;
		if (!words || !r->place[s].n)
			continue;
		if (k == n.n || n.v[k] > r->place[s].n)
			err = "words that no statement has";
		else {
			t->told[s] = t->left[s] = (uint32_t)n.v[k++];
			at += t->told[s] * (uint64_t)words;
		}
	}
	if (!err && (k != n.n || at > COL_MAX))
		err = "words that no statement has";
	if (!err && col_room(key, at) != 0)
		err = "no memory";
	for (size_t s = 0; !err && s < r->code.nstmt; s++)
		for (unsigned j = 0; j < r->load->stmt[s].nstored; j++)
			for (uint32_t i = 0; i < t->told[s]; i++)
				key->v[key->n++] = (uint64_t)s << 4 | j;
	col_free(&n);
	return err;
}

static int
loads_decode_spent(const struct exec *t)
{
	for (size_t s = 0; s < t->r->code.nstmt; s++)
		if (t->left[s])
			return 0;
	return t->exc == UINT64_MAX && t->ngiven == t->given.n;
}

int
store_load_values(struct store_read *r, struct col_reader *c, uint64_t nval)
{
	struct exec t = { .r = r,
		.next = calloc(r->code.nstmt + 1, sizeof *t.next),
		.done = calloc(r->code.nstmt + 1, sizeof *t.done),
		.told = calloc(r->code.nstmt + 1, sizeof *t.told),
		.left = calloc(r->code.nstmt + 1, sizeof *t.left) };
	struct col key = { 0 };
	uint64_t sum = 0;
	const char *err;

	r->vals.val.n = 0;
	load_begin(r->load);
	err = !t.next || !t.done || !t.told || !t.left || col_room(&r->vals.val, nval) != 0 ? "no memory" :
	    loads_decode_layout(&t, c, &key);
	if (!err &&
	    (col_get(c, &t.word, key.n, UINT64_MAX, &key) != 0 || loads_decode_exceptions(&t, c, &sum) != 0))
		err = c->err ? c->err : "no memory";
	/* from here on, instructions of the file are executed */
	if (!err && confine_process(NULL, NULL, &err) == 0)
		err = loads_decode_guarded(&t);
	if (!err && r->load->mem.nomem)
		err = "no memory";
	if (!err && !loads_decode_spent(&t))
		err = "words after those of the last statement";
	if (!err && t.sum != sum)
		err = "the values are not those that were there "
			    "(of another processor, or the file is not right)";
	r->vals.val.n = nval;
	c->err = err;
	free(t.next);
	free(t.done);
	free(t.told);
	free(t.left);
	col_free(&t.word);
	col_free(&t.at);
	col_free(&t.kind);
	col_free(&t.given);
	col_free(&key);
	return err ? -1 : 0;
}

int
store_load_open(struct store_read *r)
{
	int e = 0;

	for (size_t s = 0; !e && s < r->code.nstmt; s++) {
		const struct store_stmt *v = &r->code.stmt[s];

		e = load_add(r->load, v->addr, v->b, v->len);
		if (!e && load_nval(&r->load->stmt[s]) != v->nval)
			e = 1;
	}
	return e;
}
