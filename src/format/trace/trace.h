/*
 * Traces of memory references in the formats of other tools, addrconv(1): as text in lines, as an
 * array of NumPy, and of drmemtrace. A reader makes words of ref(5) of them; a writer makes them of words, in memory.
 *
 * format.def has the table of formats.
 */
#ifndef TM_FORMAT_TRACE_TRACE_H
#define TM_FORMAT_TRACE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/in.h"

enum trace_format {
	TRACE_ANY,              /* not known: recognized by content */
#define T(NAME, ...) TRACE_##NAME,
#include "format/trace/format.def"
#undef T
	TRACE_NFORMATS
};

struct trace_info {
	const char *name;
	int reads, writes;
	unsigned kinds;                 /* bit k: it can express kind k of ref(5); a writer leaves the others out */
	size_t most;                    /* bytes that trace_put makes of a word, at most */
	const char *binary;             /* what it is, if it is not text */
};
extern const struct trace_info trace_info[TRACE_NFORMATS];

int trace_format(const char *name);     /* -1: unknown */

/* The format of text, an array or a drmemtrace that begins with these n bytes; TRACE_ANY: none of them. */
enum trace_format trace_recognize(const uint8_t *p, size_t n);
#define TRACE_PEEK 4096u                /* enough bytes for that */

/* What the formats without sizes have: 4 bytes, as Dinero takes it. */
#define TRACE_SIZE 4u

/*
 * Reader. Words before a fault are returned before it. The columns of a table are found by their names,
 * in a CSV file's first line, or in an array's type.
 */
enum trace_column { TRACE_KIND, TRACE_ADDRESS, TRACE_BYTES, TRACE_NCOLUMNS };
#define TRACE_LINE   65536u             /* bytes of a line, at most; a power of 2 */
#define TRACE_MARGIN 256u               /* words that a line makes, at most */

struct trace_reader {
	struct in *in;                  /* borrowed */
	enum trace_format format;
	unsigned size;                  /* of references of formats that have none */
	uint64_t nrec;                  /* words returned */
	uint64_t line;                  /* lines read */
	/* pinatrace: of the instruction of the last line; UINT64_MAX: none. drmemtrace: after the last instruction */
	uint64_t pc;
	const char *err;                /* what is wrong with the line that is being read */
	struct fault fault;             /* after -1 */
	int failed;
	int ncolumn;                    /* csv */
	int8_t column[16];              /* csv: which each is, or -1 */
	struct { uint32_t off, bytes; } field[TRACE_NCOLUMNS];  /* npy: bytes 0: it has none */
	uint32_t item;                  /* npy: bytes of an element */
	uint64_t left;                  /* npy: elements; drmemtrace: 1 more than the thread, 0: none yet */
	int words;                      /* npy: elements are words of ref(5) */
	int ended;                      /* drmemtrace: after a footer */
};

/* size: 0, or as above; 0, or -1 after a fault */
int trace_open(struct trace_reader *r, struct in *in, enum trace_format format, unsigned size);
long trace_read(struct trace_reader *r, uint64_t *w, size_t max);       /* max >= TRACE_MARGIN */

/*
 * Writer: what formats say beside the reference itself. Zeroed, with line set, is the beginning.
 */
struct trace_writer {
	uint64_t line;                  /* bytes of a cache line, TRACE_LINE_MIN or more: libcachesim, oracle */
	int nofetch;                    /* fetches are not written, but count as time */
	uint64_t fetched;               /* instructions so far: the time */
	uint64_t pc;                    /* of the last one */
	int moved;                      /* drmemtrace-refs: pc has not been written yet */
};
#define TRACE_LINE_MIN 8u
size_t trace_put_head(enum trace_format f, uint8_t *dst);       /* at most 256 bytes */
size_t trace_put_tail(enum trace_format f, uint8_t *dst);       /* after the last word, the same */
/* dst has trace_info[f].most bytes for each word; the number of bytes written */
size_t trace_put(struct trace_writer *t, enum trace_format f, uint8_t *dst, const uint64_t *w, size_t n);

/*
 * What oracle's records have at the end, after time, number of a line and size: the number of the next record of
 * the same line, which is not known when the record is written: then it is TRACE_NEVER, as if there was none.
 */
#define TRACE_RECORD 24u
#define TRACE_NEVER  UINT64_MAX

/* An array's header: 128 bytes, for so many elements. */
#define TRACE_NPY_HEADER 128u
#define TRACE_NPY_ITEM   10u
void trace_put_npy_header(uint8_t dst[TRACE_NPY_HEADER], uint64_t n);

#endif
