/*
 * References from anything: whatever a consumer of references may be given is recognized by its
 * content, and its references come in batches of valid words, ref(5).
 *
 *   a reference stream, ref(5), or a log of valgrind's lackey: a file or standard input
 *   a trace in the format of another tool, addrconv(1): text or an array, the same
 *   a capture, ws(5): replayed in this process, which is confined then (base/confine.h)
 *   a program compiled by aecc, with the event file of a run: regenerated in this process
 *
 * All but an executable may be compressed, in an archive, or standard input.
 *
 * It also gives the function and the source line of an instruction: in a capture, from the files
 * that the program mapped; else from the program, or from the executable that the caller names.
 */
#ifndef TM_REFS_REFS_H
#define TM_REFS_REFS_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/in.h"
#include "format/trace/trace.h"
#include "refs/areas.h"

/* what the operands and options of a tool say; strings are borrowed until refs_close */
struct refs_source {
	const char *path;       /* NULL or "-": standard input */
	struct in *in;          /* that file, of which nothing was consumed, and which is refs_close's then; or NULL */
	const char *events;     /* of a program; NULL: ae.out in the current folder */
	const char *exe;        /* for names, if references come without any; or NULL */
	uint64_t from, to;      /* instructions, counted from 0; to REFS_END: to the end */
	int loops;              /* are events of loops wanted? A capture is replayed twice for them */
	enum trace_format format;       /* of a trace, if it is not to be recognized; TRACE_ANY */
	unsigned size;          /* of references of formats that have none; 0: TRACE_SIZE */
	/* will refs_place or refs_in_function be called?  Then helper_allow(HELPER_ELF) comes first */
	int names;
	int areas;              /* will refs_areas be called? The records of a capture are read once more for it */
};
#define REFS_END UINT64_MAX

/*
 * Receives n > 0 words that are valid until it returns; each is valid (ref_valid). A value other
 * than 0 ends the run.
 */
typedef int refs_fn(void *arg, const uint64_t *w, size_t n);

struct refs;

int refs_is_capture(const char *path);          /* as it is, not compressed */

/*
 * Opens the source. Never NULL: what is wrong with it is reported by refs_run. One capture at a time
 * can be open in a process.
 */
struct refs *refs_open(const struct refs_source *q);
void refs_close(struct refs *s);

/*
 * Gives all references to take, once. 0; what take returned if that is not 0; or REFS_BAD with *f,
 * after every reference before the fault: refs_path is then the file at fault.
 */
#define REFS_BAD INT32_MIN
int refs_run(struct refs *s, refs_fn *take, void *arg, struct fault *f);
const char *refs_path(const struct refs *s);    /* for diagnostics; valid until refs_close */

/* After refs_run: a warning about the references, such as a capture that ends early; NULL: none. */
const char *refs_warning(const struct refs *s);

/* Has the source, in principle, names of functions and lines? */
int refs_named(const struct refs *s);
/* a complaint, where that has none of a stream's addresses */
#define REFS_ELSEWHERE "the executable of -e has other addresses: a position-independent one is loaded where the " \
	"system likes; a capture has its names"

/*
 * After refs_run, for each instruction of n bytes at pc that refs_place will be asked for: a file
 * that has other code there than was executed is not used.
 */
void refs_code(struct refs *s, uint64_t pc, unsigned n);
/* A file of which there are no names, and why; each once, after refs_code. NULL: no more. */
const char *refs_complaint(struct refs *s);

/* Strings live as long as s. NULL, 0: not known. */
struct refs_place {
	const char *object;     /* the file that the code was mapped from, a path */
	const char *func;       /* of a stripped library: of its exported functions */
	const char *file;       /* relative to the folder of the compilation, where it is below that */
	int line;
};
void refs_place(struct refs *s, uint64_t pc, struct refs_place *p);
/* `file:line`, without the folder, or the address; returns text */
#define REFS_PLACE_TEXT 300
const char *refs_place_text(struct refs *s, uint64_t pc, char text[REFS_PLACE_TEXT]);

/*
 * In a call of take: is the instruction of n bytes at pc in a function that has this name, perhaps among
 * others? The answer for a pc may be another one when the number of files mapped so far is.
 */
int refs_in_function(struct refs *s, uint64_t pc, unsigned n, const char *name);
unsigned refs_nmapped(const struct refs *s);
int refs_has_function(struct refs *s, const char *name);        /* after refs_run: is there one at all? */

/* The areas of memory that have names, owned by s; NULL: none are known, as of all but captures. */
struct areas *refs_areas(const struct refs *s);

#endif
