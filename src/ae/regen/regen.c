/* A regeneration by the interpreter, regen.h: what it is made of, and from where to where it goes. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ae/regen/interp_internal.h"

#define STACK_WANT ((size_t)16 << 30)   /* bytes of address space; memory is used as needed */
#define STACK_LEAST ((size_t)1 << 20)

static int
regen_lower(struct regen *r)
{
	r->lowered = 1;
	return code_lower(r->c, r->g, r->counts, r->model, r->watched);
}

/* Lowers the program for the addresses that it had in this run; f->status if that fails */
static int
regen_lowered(struct regen *r, struct feed *f)
{
	if (r->lowered && r->g->loaded == r->s.base)
		return 0;
	prog_move(r->g, r->s.base);
	code_free(r->c);
	if (regen_lower(r) == 0)
		return 0;
	f->err = r->c->err;
	f->errname = NULL;
	return f->status = -1;
}

static struct regen *
regen_alloc(const char **err)
{
	struct regen *r = calloc(1, sizeof *r);
	size_t n;

	*err = "out of memory";
	for (n = STACK_WANT; r && n >= STACK_LEAST; n /= 2) {
		void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);

		if (p != MAP_FAILED) {
			r->stack = p;
			r->nstack = n / 8;
			return r;
		}
	}
	if (r)
		*err = "no memory for a stack";
	free(r);
	return NULL;
}

struct regen *
regen_new(struct prog *g, int count, const uint8_t *watch, const char **err)
{
	struct regen *r = regen_alloc(err);

	if (!r)
		return NULL;
	r->c = calloc(1, sizeof *r->c);
	if (!r->c) {
		*err = "out of memory";
		regen_free(r);
		return NULL;
	}
	r->g = g;
	r->counts = count;
	r->watched = watch;
	r->watch = watch != NULL;
	/* the code of a program that moves has its addresses: see regen_lowered */
	if (!g->moves && regen_lower(r) != 0) {
		*err = r->c->err;
		regen_free(r);
		return NULL;
	}
	return r;
}

struct regen *
regen_also(const struct regen *of, const char **err)
{
	struct regen *r = regen_alloc(err);

	if (!r)
		return NULL;
	r->g = of->g;
	r->library = of->library;
	r->libraryarg = of->libraryarg;
	r->lowered = of->lowered;
	r->c = of->c;
	r->borrows = r->points = 1;
	return r;
}

void
regen_free(struct regen *r)
{
	if (!r)
		return;
	if (r->stack)
		munmap(r->stack, r->nstack * 8);
	if (r->c && !r->borrows) {
		code_free(r->c);
		free(r->c);
	}
	free(r);
}

void
regen_libraries(struct regen *r, regen_library *add, void *arg)
{
	r->library = add;
	r->libraryarg = arg;
}

void
regen_watch(struct regen *r, const uint8_t *watch)
{
	r->watched = watch;
}

const uint64_t *
regen_counts(const struct regen *r)
{
	return r->count;
}

const struct regen_site *
regen_sites(const struct regen *r, size_t *n)
{
	*n = r->c->nwhere;
	return r->c->where;
}

int
regen_called(const struct regen *r)
{
	return r->called;
}

struct ae_state *
regen_state(struct regen *r)
{
	return &r->s;
}

void
regen_follow(struct regen *r, const struct regen_model *m)
{
	r->model = m;
	r->counts = 1;
	r->lowered = 0;
	memset(&r->at, 0, sizeof r->at);
}

uint64_t
regen_point(const struct regen *r)
{
	return r->point;
}

void
regen_points(struct regen *r)
{
	r->points = 1;
}

int
regen_resume(struct regen *r, struct feed *f)
{
	r->point = 0;
	if (!r->at.r)
		return regen_run(r, f);
	if (setjmp(f->out) == 0)
		interp_run(r, f);
	return f->status;
}

int
regen_run(struct regen *r, struct feed *f)
{
	if (regen_lowered(r, f) != 0)
		return f->status;
	memset(r->stack, 0, FRAME * sizeof *r->stack);
	if (!f->later) {
		memset(r->count, 0, sizeof r->count);
		for (uint32_t i = 0; i < r->c->nwhere; i++)
			r->c->where[i].events = r->c->where[i].bytes = 0;
	}
	r->called = 0;
	f->mute = r->watch;
	if (setjmp(f->out) == 0)
		interp_run(r, f);
	return f->status;
}

int
regen_thread(void *r, struct feed *f)
{
	return regen_run(r, f);
}
