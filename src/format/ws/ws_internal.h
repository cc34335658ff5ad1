/* Internal to captures: what writer and reader share. ws(5) describes the bytes. */
#ifndef TM_FORMAT_WS_WS_INTERNAL_H
#define TM_FORMAT_WS_WS_INTERNAL_H

#include <string.h>

#include "base/buf.h"
#include "base/varint.h"
#include "format/ws/ws.h"

#define WS_VERSION    1u
#define WS_HEAD       24u               /* bytes of the file header before its body */
#define WS_BODY_MAX   (8u << 20)        /* bytes of that body */
#define WS_GROUP_HEAD 104u
#define WS_GROUP_MAX  (32u << 20)       /* bytes of a group, unpacked */
#define WS_INDEX_MAX  (16u << 20)       /* bytes of an index */
#define WS_MARK       16u               /* bytes of the end mark */
#define WS_SYS_SLOTS  512u
#define WS_PAGE       4096u             /* granularity of all mappings */

extern const uint8_t ws_magic[8], ws_magic_end[8];
extern const uint8_t ws_magic_group[4], ws_magic_index[4], ws_magic_run[4], ws_magic_piece[4],
    ws_magic_pages[4], ws_magic_kept[4];

uint64_t ws_crc(const void *p, size_t n, uint64_t crc);         /* CRC-64 as in xz(1); begin with 0 */

struct ws_cur {                         /* bytes to be read; integers are those of varint.h */
	const uint8_t *p, *end;
	const char *err;                /* the first fault; after it everything reads as zero */
};
uint64_t ws_get(struct ws_cur *c);
uint64_t ws_get_max(struct ws_cur *c, uint64_t max, const char *err);
const uint8_t *ws_get_bytes(struct ws_cur *c, size_t n);        /* NULL, and err, if there are fewer */

/* The values that a record is coded against: all zero (and empty) at the start of a group. */
struct ws_history {
	uint64_t mem_end, map_end, page_end, tsc;
	uint32_t aux;
	uint64_t dev, ino;
	struct buf name, id;            /* of the last MAP; name includes its NUL unless it is empty */
	struct buf note;                /* in the reader: the last NOTE */
	struct ws_regs regs;
	struct ws_past_sys {
		uint64_t pc, arg[6], ret;
	} sys[WS_SYS_SLOTS];
};
void ws_history_clear(struct ws_history *a);
void ws_history_free(struct ws_history *a);

/* Registers by number: 16 to 19 are rip, rflags, fsbase, gsbase. */
static inline uint64_t *
ws_reg(struct ws_regs *g, int i)
{
	return i < 16 ? &g->r[i] : i == 16 ? &g->rip : i == 17 ? &g->rflags : i == 18 ? &g->fsbase :
	    &g->gsbase;
}

static inline unsigned ws_slot(uint64_t nr) { return nr < WS_SYS_SLOTS ? (unsigned)nr : WS_SYS_SLOTS - 1; }

/* How the `ret` of a SYS is coded: the first of these that applies. */
enum { WS_RET_SAME, WS_RET_ARG2, WS_RET_ZERO, WS_RET_DELTA };
/* Flags in the head byte of a MAP, MEM, TSC, SIG, KEY; the kind is in its low 4 bits. */
enum { WS_H_SAMEFILE = 0x10 };
/* FROM: 0 all zero, else 1 + where; PAGES: the bytes are pages of the file */
enum { WS_H_FROM = 0x30, WS_H_LINES = 0x40, WS_H_PAGES = 0x80 };
enum { WS_H_AUX = 0x10, WS_H_NEWAUX = 0x20 };
/* of a SIG: ICOUNT, or any of the others */
enum { WS_H_ICOUNT = 0x10, WS_H_STACK = 0x20, WS_H_WORDS = 0x40 };
enum { WS_H_INSN = 0x30, WS_H_FAILED = 0x40 };          /* of a RAND */
enum { WS_H_INSTANCES = 0x10, WS_H_THREAD = 0x20 };     /* of a KEY */

/*
 * Encode / decode one record into / from the WS_NSTREAMS streams. MEM: the writer has already
 * stored its bytes.
 */
void ws_encode(struct ws_history *a, struct buf *s, const struct ws_rec *rec);
/* 0 or -1: err in s[*bad] */
int ws_decode(struct ws_history *a, struct ws_cur *s, struct ws_rec *rec, unsigned *bad);

/* NULL, or why it is not a valid record. */
const char *ws_check(const struct ws_rec *rec);
/* NULL, or why it may not follow the records before it. Advances the state. */
struct ws_check_order {
	int started, inkey, ended;
};
const char *ws_check_order(struct ws_check_order *f, enum ws_kind kind, int first);

/* Convert branch targets of the code at addr from relative to absolute and back, in place. */
void ws_x86_absolute(uint8_t *p, size_t n, uint64_t addr);
void ws_x86_relative(uint8_t *p, size_t n, uint64_t addr);

/*
 * Compression of one stream. pack: into *out; returns the method used, or -1 without memory; *z is what zstd
 * keeps from call to call, NULL at first, for ws_pack_free.
 * unpack: 0 or a message.
 */
int ws_pack(enum ws_level level, enum ws_stream s, const uint8_t *p, size_t n, struct buf *out, void **z);
void ws_pack_free(void *z);
const char *ws_unpack(unsigned method, const uint8_t *p, size_t n, uint8_t *out, size_t nout);

struct ws_ghead {                       /* header of a group */
	struct ws_group g;
	struct ws_sizes z;
	uint64_t crc;                   /* of the payload */
};
void ws_put_ghead(uint8_t p[WS_GROUP_HEAD], const struct ws_ghead *h);
const char *ws_get_ghead(const uint8_t p[WS_GROUP_HEAD], struct ws_ghead *h);   /* all but g.off */

void ws_put_header(struct buf *b, const struct ws_header *h);           /* b must be empty */
const char *ws_check_header(const struct ws_header *h);
/* the body; NULL: see c->err */
struct ws_header_copy *ws_get_header(struct ws_cur *c);
const struct ws_header *ws_header_copy(const struct ws_header_copy *h);
void ws_header_free(struct ws_header_copy *h);

/* index and end mark */
void ws_put_index(struct buf *b, const struct ws_group *g, size_t n, uint64_t off);
/* Decodes the body of an index; groups begin at `first`. NULL: see c->err. */
struct ws_group *ws_get_index(struct ws_cur *c, uint64_t first, size_t *n);


#endif
