/*
 * Shared libraries with traced functions.
 *
 * A library that aecc linked contains lib/join.c, which calls __ae_join before the library's constructors, whether
 * the program was linked with it or opens it later. The executable exports that function; where it does not, the
 * library runs untraced. The functions of a file get the next free numbers, its entries are changed as those of the
 * executable were, and the event file has a record that says so, before any event of the library. Numbers are not
 * used again when a library is closed.
 *
 * The thunk of a function knows only the traced code of its own file. What comes from elsewhere comes to __ae_enter,
 * which looks in ae_range whether it is traced code of another file.
 */
#include "ae/runtime/call.h"

/* the files of ae_range; NULL: the executable, and libraries that were closed */
static struct ae_module *module[AE_NMODULE];
static uintptr_t nnumber;       /* numbers given to functions */
static int njoined, ending;

struct ae_range ae_range[AE_NMODULE];
struct ae_range *ae_range_end;

#pragma GCC visibility push(hidden)
void __ae_enter(void), __ae_again(void), __ae_back(void), __ae_land(void);
#pragma GCC visibility pop

static void core(void **to)
{
#if AE_LIBRARIES
#define CORE(name) *to++ = (void *)(uintptr_t)name;
#include "ae/runtime/core.def"
#undef CORE
#else
	(void)to;
#endif
}

/* A place in ae_range for the library; NULL: no room */
static struct ae_range *place(void)
{
	struct ae_range *r;

	if (!ae_range_end) {
		ae_range[0].begin = (uintptr_t)ae_self.text;
		ae_range[0].size = (uintptr_t)(ae_self.textend - ae_self.text);
		nnumber = (uintptr_t)(ae_self.fnend - ae_self.fn);
		__atomic_store_n(&ae_range_end, ae_range + 1, __ATOMIC_RELEASE);
	}
	for (r = ae_range + 1; r < ae_range_end; r++)
		if (!module[r - ae_range])
			return r;
	return r < ae_range + AE_NMODULE ? r : NULL;
}

/* Why the library is not traced; NULL: it is. *err: the file cannot be written. Callers hold the lock. */
static const char *trace(struct ae_module *m, int *err)
{
	struct ae_range *r = place();
	uintptr_t n = (uintptr_t)(m->fnend - m->fn);

	if (!r)
		return "too many shared libraries";
	if (nnumber >= AE_MAXFN)
		return "too many functions";
	m->first = nnumber;
	r->begin = (uintptr_t)m->text;
	__atomic_store_n(&r->size, (uintptr_t)(m->textend - m->text), __ATOMIC_RELEASE);
	if (r == ae_range_end)
		__atomic_store_n(&ae_range_end, r + 1, __ATOMIC_RELEASE);
	*err = ae_file_module(m);
	if (*err)
		return NULL;
	if (ae_patch(m, 0) != 0)
		return "its code cannot be changed";
	nnumber += n;
	module[r - ae_range] = m;
	njoined++;
	return NULL;
}

int __ae_join(struct ae_module *m)
{
	const char *why = NULL;
	struct ae_set mask;
	int err = 0;

	if (!ae_on)
		return 0;
	if (m->version != AE_LIBRARY || !ae_current(m)) {
		AE_SAY(m->path, ": of another version of aecc than the program: untraced");
		return 0;
	}
	if (!ae_alike(m)) {
		AE_SAY(m->path, ": of a compiler that reserves a register for tracing, and the program is not, or the other way "
		    "round: untraced");
		return 0;
	}
	core(m->core);
	mask = ae_block();
	if (ae_rec && ae_kin() == AE_SELF)
		why = m->context ? "uses makecontext or swapcontext" : trace(m, &err);
	if (err)
		ae_rec_fail(err);
	ae_unblock(mask);
	if (why)
		AE_SAY(m->path, ": ", why, ": untraced");
	return 1;
}

void __ae_part(struct ae_module *m)
{
	struct ae_set mask;
	int i, last = 0;

	if (!ae_on)
		return;
	mask = ae_block();
	for (i = 1; i < AE_NMODULE; i++)
		if (module[i] == m) {
			last = --njoined == 0 && ending;
			if (!ending) {
				__atomic_store_n(&ae_range[i].size, 0, __ATOMIC_RELEASE);
				module[i] = NULL;
			}
		}
	ae_unblock(mask);
	if (last)
		ae_end(AE_EXIT);
}

int ae_module_again(void)
{
	int i, err = 0;

	for (i = 1; i < AE_NMODULE && !err; i++)
		if (module[i])
			err = ae_file_module(module[i]);
	return err;
}

int ae_module_wait(void)
{
	ending = njoined != 0;
	return ending;
}
