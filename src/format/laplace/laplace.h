/*
 * Laplace traces, laplace(5): raw references, the kernel trace, and the merge of both. Each value
 * has one encoding; readers reject others.
 *
 * Readers return everything before a fault first. After a fault the caller may ask them to continue
 * after the faulty record.
 */
#ifndef TM_FORMAT_LAPLACE_LAPLACE_H
#define TM_FORMAT_LAPLACE_LAPLACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/in.h"

#define LAP_NTYPES   6u         /* r w i R W I */
#define LAP_KERNEL   3u         /* types from here on are the kernel's own references */
#define LAP_PAGEBITS 12u
#define LAP_PAGES    (UINT64_C(1) << (64 - LAP_PAGEBITS))       /* pages of an address space */
#define LAP_NAME_MAX 16384u     /* bytes of a name, not escaped */
#define LAP_LINE_MAX 65536u     /* bytes of a kernel record, including its newline */

extern const char lap_types[];  /* "rwiRWI" */

/* Raw references. */
struct lap_ref {
	uint64_t time, space, addr;
	uint8_t type;                   /* < LAP_NTYPES */
	uint8_t len;                    /* not 0 */
};

enum lap_form { LAP_CLASSIC, LAP_WIDE, LAP_TEXT };

#define LAP_HEADER      16u     /* bytes; in the wide form and in packed merges */
#define LAP_CLASSIC_REC 18u
#define LAP_WIDE_REC    26u
#define LAP_TRAILER         5u  /* bytes at the end of a packed merge */
#define LAP_REF_MAX     96u     /* room that writers need for one reference, in any form */

struct lap_refs {
	struct in *in;                  /* borrowed */
	enum lap_form form;
	uint64_t nrec;                  /* records returned or left out */
	uint64_t off;                   /* after -1: byte of the fault */
	const char *err;                /* after -1: the message; static, or in_error's */
};

/* recognizes the form, reads a header; 0 or -1 */
int lap_refs_open(struct lap_refs *r, struct in *in);
long lap_refs_read(struct lap_refs *r, struct lap_ref *v, size_t max);  /* 1 to max; 0 at the end; -1 fault */
/* after -1: leaves the record out. 0, or -1 if the input has no more */
int lap_refs_skip(struct lap_refs *r);

int lap_fits_classic(const struct lap_ref *v);
/* the kinds of files that have a header */
enum lap_header { LAP_H_REFS, LAP_H_MERGED, LAP_H_OFFSETS };
void lap_put_header(uint8_t dst[LAP_HEADER], enum lap_header kind);
/* the message for a file that begins with the n bytes at p, and not as one of these; valid until the next call */
const char *lap_foreign(const uint8_t *p, size_t n);
/* v must fit the form; returns the bytes written */
size_t lap_put_ref(enum lap_form f, uint8_t *dst, const struct lap_ref *v);

/* The kernel trace. */
enum lap_field {
#define F(name, letter, bits) LAP_##name,
#include "format/laplace/tag.def"
#undef F
	LAP_NFIELDS
};
enum lap_kind {
#define K(name, tag, meaning, fields) LAP_K_##name,
#include "format/laplace/tag.def"
#undef K
	LAP_NKINDS
};

struct lap_event {
	enum lap_kind kind;
	uint64_t time;
	uint64_t f[LAP_NFIELDS];        /* fields that the kind has; the others are 0 */
	char type;                      /* f p d s, if the kind has it */
	const char *name;               /* bytes without NUL, not escaped; "" if the kind has none */
	size_t nname;
};

/* Parses a line without its newline; name goes to room[LAP_NAME_MAX]. NULL, or a static message. */
const char *lap_parse_event(struct lap_event *e, const uint8_t *p, size_t n, char *room);
void lap_print_event(struct buf *b, const struct lap_event *e);         /* including its newline */
const char *lap_kind_meaning(enum lap_kind k);
const char *lap_kind_fields(enum lap_kind k);                           /* their letters */
/* LAP_NFIELDS: not a number's letter */
enum lap_field lap_letter_field(char letter);
unsigned lap_field_bits(enum lap_field f);

struct lap_events {
	struct in *in;                  /* borrowed */
	uint64_t nrec, off;             /* like those of lap_refs */
	const char *err;
	/* after 1: the record as written, with its newline; valid as long as the event */
	const uint8_t *line;
	size_t nline;
	char name[LAP_NAME_MAX];
};

void lap_events_open(struct lap_events *r, struct in *in);
/* 1, valid until the next call; 0 at the end; -1 fault */
int lap_events_read(struct lap_events *r, struct lap_event *e);
int lap_events_skip(struct lap_events *r);                              /* like lap_refs_skip */

/* Merged traces: kernel records, and references with pages instead of addresses. */
struct lap_touch {
	uint64_t time, page, canon;     /* page < LAP_PAGES */
	uint8_t type, len;
	uint16_t at;                    /* offset in the page, plus 1; 0: the trace has no offsets */
};
struct lap_item {
	int isevent;
	struct lap_touch touch;
	struct lap_event event;
};

struct lap_last {                       /* packed form: the values that the next record is coded against */
	uint64_t time;
	int offsets;                    /* are there offsets? */
	struct { uint64_t page, canon; uint8_t len; uint16_t end; } of[LAP_NTYPES];     /* end: offset after it */
};

/* text, including its newline */
size_t lap_print_touch(uint8_t *dst, const struct lap_touch *t);
/* Times must not decrease, and l->offsets says whether the references have offsets; the same holds below. */
size_t lap_pack_touch(struct lap_last *l, uint8_t *dst, const struct lap_touch *t);
void lap_pack_event(struct lap_last *l, struct buf *b, const struct lap_event *e);
/* the check sum of a packed trace; begin with 0 */
uint32_t lap_sum(uint32_t sum, const void *p, size_t n);
/* sum: of the header and all records */
void lap_pack_end(uint8_t dst[LAP_TRAILER], uint32_t sum);

struct lap_merged {
	struct in *in;                  /* borrowed */
	int packed;                     /* the version of the packed form, or 0 */
	int offsets;                    /* do references have offsets? -1: not known before the first one of a text */
	uint32_t sum;                   /* of the bytes read */
	/* like those of lap_refs, but reading cannot continue after a fault */
	uint64_t nrec, off;
	const char *err;
	struct lap_last last;
	char *name;                     /* borrowed */
};

/*
 * Packed if the header is there, else text; 0 or -1. room[LAP_NAME_MAX] is for names; readers may share it if
 * no name is needed when another one has read.
 */
int lap_merged_open(struct lap_merged *r, struct in *in, char *room);
int lap_merged_read(struct lap_merged *r, struct lap_item *it);         /* like lap_events_read */
int lap_is_packed(const uint8_t *p, size_t n);          /* are these the first bytes of a packed merge? */

#endif
