/*
 * Laplace traces, laplace(5): raw references, the kernel trace, and what a
 * merge makes of both.  One value has one encoding; readers reject others.
 *
 * Readers hand over everything before a fault first.  After a fault they may
 * go on behind the record that is at fault, if the caller asks for it.
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
#define LAP_PAGES    (UINT64_C(1) << (64 - LAP_PAGEBITS))       /* of an address space */
#define LAP_NAME_MAX 16384u     /* bytes of a name, not escaped */
#define LAP_LINE_MAX 65536u     /* bytes of a kernel record, with its newline */

extern const char lap_types[];  /* "rwiRWI" */

/* Raw references */
struct lap_ref {
	uint64_t time, space, addr;
	uint8_t type;                   /* < LAP_NTYPES */
	uint8_t len;                    /* not 0 */
};

enum lap_form { LAP_CLASSIC, LAP_WIDE, LAP_TEXT };

#define LAP_HEADER      16u     /* bytes; of the wide form and of packed merges */
#define LAP_CLASSIC_REC 18u
#define LAP_WIDE_REC    26u
#define LAP_TRAILER         5u      /* bytes at the end of a packed merge */
#define LAP_REF_MAX     96u     /* room that writers need for a reference, in any form */

struct lap_refs {
	struct in *in;                  /* borrowed */
	enum lap_form form;
	uint64_t nrec;                  /* records handed over or left out */
	uint64_t off;                   /* after -1: byte of the fault */
	const char *err;                /* after -1: what is wrong; static, or in_error's */
};

int lap_refs_open(struct lap_refs *r, struct in *in);                   /* finds out the form, reads a header; 0 or -1 */
long lap_refs_read(struct lap_refs *r, struct lap_ref *v, size_t max);  /* 1 to max; 0 at the end; -1 fault */
int lap_refs_skip(struct lap_refs *r);  /* after -1: leaves the record out.  0, or -1: the input has no more */

int lap_fits_classic(const struct lap_ref *v);
void lap_put_header(uint8_t dst[LAP_HEADER], int merged);               /* of a packed merge, or of wide references */
size_t lap_put_ref(enum lap_form f, uint8_t *dst, const struct lap_ref *v);     /* one that fits; bytes */

/* The kernel trace */
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
	uint64_t f[LAP_NFIELDS];        /* those that the kind has; others 0 */
	char type;                      /* f p d s, if the kind has it */
	const char *name;               /* bytes without NUL, not escaped; "" if the kind has none */
	size_t nname;
};

/* From a line without its newline; name goes to room[LAP_NAME_MAX].  NULL, or what is wrong (static). */
const char *lap_parse_event(struct lap_event *e, const uint8_t *p, size_t n, char *room);
void lap_print_event(struct buf *b, const struct lap_event *e);         /* with its newline */
const char *lap_kind_meaning(enum lap_kind k);
const char *lap_kind_fields(enum lap_kind k);                           /* their letters */
enum lap_field lap_letter_field(char letter);                           /* LAP_NFIELDS: none of the numbers */
unsigned lap_field_bits(enum lap_field f);

struct lap_events {
	struct in *in;                  /* borrowed */
	uint64_t nrec, off;             /* as in lap_refs */
	const char *err;
	const uint8_t *line;            /* after 1: the record as it is written, with its newline; valid as the event is */
	size_t nline;
	char name[LAP_NAME_MAX];
};

void lap_events_open(struct lap_events *r, struct in *in);
int lap_events_read(struct lap_events *r, struct lap_event *e);         /* 1, valid until the next call; 0 at the end; -1 fault */
int lap_events_skip(struct lap_events *r);                              /* as lap_refs_skip */

/* Merged traces: kernel records, and references with pages instead of addresses */
struct lap_touch {
	uint64_t time, page, canon;     /* page < LAP_PAGES */
	uint8_t type, len;
};
struct lap_item {
	int isevent;
	struct lap_touch touch;
	struct lap_event event;
};

struct lap_last {                       /* packed form: what the next record is told against */
	uint64_t time;
	struct { uint64_t page, canon; uint8_t len; } of[LAP_NTYPES];
};

size_t lap_print_touch(uint8_t *dst, const struct lap_touch *t);                        /* text, with its newline */
size_t lap_pack_touch(struct lap_last *l, uint8_t *dst, const struct lap_touch *t);     /* times never go back; as all below */
void lap_pack_event(struct lap_last *l, struct buf *b, const struct lap_event *e);
uint32_t lap_sum(uint32_t sum, const void *p, size_t n);                /* the check sum of a packed trace; begin with 0 */
void lap_pack_end(uint8_t dst[LAP_TRAILER], uint32_t sum);                  /* sum: of the header and all records */

struct lap_merged {
	struct in *in;                  /* borrowed */
	int packed;                     /* the version of that form, or 0 */
	uint32_t sum;                   /* of what was read */
	uint64_t nrec, off;             /* as in lap_refs; after a fault there is no going on */
	const char *err;
	struct lap_last last;
	char name[LAP_NAME_MAX];
};

int lap_merged_open(struct lap_merged *r, struct in *in);               /* packed if it has the header, else text; 0 or -1 */
int lap_merged_read(struct lap_merged *r, struct lap_item *it);         /* as lap_events_read */
int lap_is_packed(const uint8_t *p, size_t n);          /* the first bytes of a packed merge? */

#endif
