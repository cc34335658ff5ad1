/*
 * The reference stream, ref(5): a 16-byte header, then one 64-bit word for each reference. Words in
 * memory are uint64_t; the file is little-endian.
 */
#ifndef TM_FORMAT_REF_REF_H
#define TM_FORMAT_REF_REF_H

#include <stddef.h>
#include <stdint.h>

#include "base/in.h"
#include "isa/reference.h"

/* Kinds: those of instructions (isa/reference.h), and events between them; kind.def has the text of each. */
enum ref_event { REF_ENTER = REF_NACCESS, REF_BACK, REF_EXIT, REF_TASK, REF_NKINDS };

#define REF_HEADER  16u         /* bytes */
#define REF_VERSION 1u

/* addr: bits 0 to 47; the bits above must be the sign extension of bit 47. size <= REF_SIZEMAX. */
static inline uint64_t
ref_make(unsigned kind, uint64_t addr, unsigned size)
{
	return (addr & 0xffffffffffffu) | (uint64_t)size << 48 | (uint64_t)kind << 56;
}

static inline unsigned ref_kind(uint64_t w) { return w >> 56 & 15; }
static inline unsigned ref_size(uint64_t w) { return w >> 48 & 255; }
static inline uint64_t ref_addr(uint64_t w) { return (uint64_t)((int64_t)(w << 16) >> 16); }

/* 1 if w is canonical: a known kind, bits 60 to 63 clear, a size exactly if the kind has one. */
static inline int
ref_valid(uint64_t w)
{
	unsigned kind = (unsigned)(w >> 56);

	return kind < REF_NKINDS && (kind < REF_ENTER) == (ref_size(w) != 0);
}

/*
 * Copies those of n words whose kinds are not in the set `drop` (bit k: kind k) to `to`, which may
 * be w. Returns their number.
 */
static inline size_t
ref_without(uint64_t *to, const uint64_t *w, size_t n, unsigned drop)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		to[m] = w[i];
		m += !(drop >> ref_kind(w[i]) & 1);
	}
	return m;
}

/* Adds to count[k] how many of n words are of kind k; words of kinds that do not exist are left out. */
void ref_count(uint64_t count[REF_NKINDS], const uint64_t *w, size_t n);

const char *ref_kind_name(unsigned kind);       /* "inst", ...; kind < REF_NKINDS */

/*
 * Sets of kinds that tools take by name, bit k for kind k: "data", "instructions", "all". The name of a set, or
 * NULL; and the set of a name: 0, or -1: there is none.
 */
const char *ref_set_name(unsigned kinds);
int ref_set(const char *name, unsigned *kinds);

/*
 * Reader. It returns arrays of checked words; a fault is reported only after every word before it
 * was returned.
 */
struct ref_reader {
	struct in *in;          /* borrowed */
	uint64_t nrec;          /* words returned */
	uint64_t off;           /* after -1: byte offset of the fault */
	const char *err;        /* after -1: the message; static or owned by in */
	size_t lent;            /* bytes that ref_next returned, to be skipped by the next call */
};

/* do the first n bytes (n >= 8) of a file begin like the magic? */
int ref_is_stream(const uint8_t *p, size_t n);
int ref_open(struct ref_reader *r, struct in *in);              /* reads the header; 0 or -1 */
long ref_read(struct ref_reader *r, uint64_t *w, size_t max);   /* 1 to max words; 0 at the end; -1 fault */
/*
 * The same without a copy where that is possible: *w are the words, in the buffer of the input or in
 * room[max]. They are valid until the next call.
 */
long ref_next(struct ref_reader *r, const uint64_t **w, uint64_t *room, size_t max);

/* How many of the n words come before the first that is not valid (n: all are). */
size_t ref_valid_words(const uint64_t *w, size_t n);

/*
 * Writers: functions into memory. dst must have REF_PUT_MAX bytes for each word. They return the
 * number of bytes written.
 */
enum ref_format {
	REF_ADDR,       /* the stream itself, without the header (ref_put_header()) */
	REF_LACKEY,     /* like valgrind --tool=lackey --trace-mem=yes; without loop and task events */
	REF_DIN,        /* Dinero: 0 read, 1 write, 2 fetch and the hexadecimal address; without events */
	REF_TEXT        /* one line for every word */
};
#define REF_PUT_MAX 40

int ref_format(const char *name);       /* "addr", "lackey", "din", "text"; -1 if unknown */
void ref_put_header(uint8_t dst[REF_HEADER]);
size_t ref_put(enum ref_format f, uint8_t *dst, const uint64_t *w, size_t n);

#endif
