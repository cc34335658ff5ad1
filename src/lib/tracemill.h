/*
 * libtracemill: reads what the tools of tracemill write, libtracemill(3).
 *
 * tracemill_open() recognizes a file by its content. What it holds is read from the front on, by
 * one of three functions:
 *
 *   TRACEMILL_REFS     references to memory: of a reference stream, ref(5), also one compressed by
 *                      bifcm; of a capture, ws(5), which is replayed; of a program compiled by aecc
 *                      and its events; of a lackey log and the other formats that addrconv(1) reads
 *   TRACEMILL_RECORDS  numbers: of a stream of values compressed by bifcm, bifcm(5)
 *   TRACEMILL_INSNS    executed instructions: of a whole execution trace, wet(5)
 *
 * The file is read by a process that tracemill_open() forks, so the caller's own is not confined
 * while a capture is replayed, and a damaged file cannot harm it. A handle may be used by one
 * thread at a time; several handles are independent of each other.
 *
 * Functions that return int return -1 on failure, and tracemill_error() says what is wrong; every
 * call after that fails, too, except tracemill_close().
 */
#ifndef TRACEMILL_H
#define TRACEMILL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tracemill;

enum tracemill_type { TRACEMILL_REFS = 1, TRACEMILL_RECORDS, TRACEMILL_INSNS };

#define TRACEMILL_UNKNOWN UINT64_MAX    /* of a length */
#define TRACEMILL_FIELDS  8             /* of a record, at most */

/*
 * Opens the file at path. "-" is standard input; no other descriptor of the caller is open in the
 * process that reads. events: for a program compiled by aecc, the file with the events of a run,
 * ae.out(5), or NULL for ae.out in the current folder; else NULL.
 *
 * NULL: no memory, or no process can be forked (errno). What is wrong with the file is reported by
 * the other functions; tracemill_type() is 0 then.
 */
struct tracemill *tracemill_open(const char *path, const char *events);
void tracemill_close(struct tracemill *t);      /* NULL: does nothing */

enum tracemill_type tracemill_type(const struct tracemill *t);
unsigned tracemill_fields(const struct tracemill *t);   /* numbers of a record; 1 if there are none */
/* records, or executed instructions; of references TRACEMILL_UNKNOWN */
uint64_t tracemill_length(const struct tracemill *t);

/* What is wrong: file, place and reason, one line. NULL: nothing. Valid until tracemill_close(). */
const char *tracemill_error(const struct tracemill *t);
/* After the end: why there is less than the whole run, such as a capture that was cut off. NULL: nothing. */
const char *tracemill_warning(const struct tracemill *t);

/* Kinds of references, ref(5): the first four have a size, the others are events between references. */
enum tracemill_kind {
	TRACEMILL_FETCH, TRACEMILL_LOAD, TRACEMILL_STORE, TRACEMILL_MODIFY,
	TRACEMILL_LOOP_ENTER, TRACEMILL_LOOP_BACK, TRACEMILL_LOOP_EXIT, TRACEMILL_TASK
};

struct tracemill_ref {
	uint64_t addr;                  /* sign-extended from 48 bits; of an event its number */
	unsigned size;                  /* bytes; of an event 0 */
	enum tracemill_kind kind;
};

/* The next reference. 1; 0 at the end; -1. */
int tracemill_next_ref(struct tracemill *t, struct tracemill_ref *r);

/*
 * The next references as words of ref(5), as many as are there: 1 or more, valid until the next
 * call; 0 at the end; -1. tracemill_word() takes a word apart.
 */
long tracemill_next_words(struct tracemill *t, const uint64_t **w);

static inline struct tracemill_ref
tracemill_word(uint64_t w)
{
	struct tracemill_ref r = {
		(uint64_t)((int64_t)(w << 16) >> 16), (unsigned)(w >> 48 & 255), (enum tracemill_kind)(w >> 56 & 7)
	};

	return r;
}

/* The next record: tracemill_fields() numbers. 1; 0 at the end; -1. */
int tracemill_next_record(struct tracemill *t, uint64_t v[TRACEMILL_FIELDS]);

struct tracemill_insn {
	uint64_t position;              /* in the run, from 1; 0 after tracemill_select() */
	uint64_t instance;              /* execution of the statement, from 0; after tracemill_select() only */
	uint32_t statement;             /* its number in the file, from 1 */
	uint64_t pc;
	/* after tracemill_select() only; valid until the next call */
	const uint64_t *value;          /* the words of what it computed, the lowest first */
	size_t nvalue;
	const uint64_t *ref;            /* its references: words for tracemill_word() */
	size_t nref;
};

/* The next executed instruction. 1; 0 at the end; -1. */
int tracemill_next_insn(struct tracemill *t, struct tracemill_insn *i);

/*
 * From here on only the executions of one statement, from the first on, with values and references;
 * 0: all again. 0; -1 if there is no such statement.
 */
int tracemill_select(struct tracemill *t, uint32_t statement);

/*
 * Goes to a place: the next reference is the fetch of the nth executed instruction, the next record
 * is the nth, both counted from 0; the next executed instruction is that at position n + 1, or
 * after tracemill_select() instance n. A place after the end is the end. What it costs is in
 * libtracemill(3). 0; -1.
 */
int tracemill_seek(struct tracemill *t, uint64_t n);

const char *tracemill_version(void);

/*
 * Where wscap --from TRACEMILL_BEGIN begins a capture, and --to TRACEMILL_END ends it: each is a nop of 8 bytes,
 * which wscap finds in the program's code. They need no library, and do nothing without wscap.
 */
#if defined(__x86_64__) && defined(__GNUC__)
#define TRACEMILL_BEGIN() __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0, 'T', 'M', 'b', '1'" ::: "memory")
#define TRACEMILL_END()   __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0, 'T', 'M', 'e', '1'" ::: "memory")
#else
#define TRACEMILL_BEGIN() ((void)0)
#define TRACEMILL_END()   ((void)0)
#endif

/*
 * Where a program of aecc begins and ends to record, see aert(7). A program that calls ae_start() records nothing
 * before. Code that aecc does not compile has nothing in their place.
 */
#ifdef __AECC__
void __ae_start(void);
void __ae_stop(void);
#define ae_start() __ae_start()
#define ae_stop()  __ae_stop()
#else
#define ae_start() ((void)0)
#define ae_stop()  ((void)0)
#endif

#ifdef __cplusplus
}
#endif

#endif
