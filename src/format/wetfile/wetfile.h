/*
 * Container of whole execution traces, wet(5): a header, sections of bytes with check sums, an
 * index. This layer does not know what is in a section.
 */
#ifndef TM_FORMAT_WETFILE_WETFILE_H
#define TM_FORMAT_WETFILE_WETFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/fault.h"
#include "format/ws/ws.h"

#define WETFILE_VERSION  2u
#define WETFILE_OLD      1u             /* older columns; no longer read */
#define WETFILE_HEADER   16u
#define WETFILE_SECTION  24u            /* bytes of a section's header */
#define WETFILE_END      16u            /* of the end mark */
#define WETFILE_MAX      (1u << 30)     /* bytes in a section */
#define WETFILE_SECTIONS (1u << 24)     /* sections, at most */
#define WETFILE_MAGIC    "\x89TMWET\r\n"
#define WETFILE_ENDMAGIC "\r\nTMWET\x89"

enum wetfile_kind { WETFILE_TEXT = 1, WETFILE_FULL, WETFILE_REPLAY, WETFILE_LOADS, WETFILE_PAPER };

/* Tags: four letters as a little-endian number. */
#define WETFILE_TAG(a, b, c, d) \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
enum wetfile_tag {
	WETFILE_CODE = WETFILE_TAG('C', 'O', 'D', 'E'),
	WETFILE_CAP  = WETFILE_TAG('C', 'A', 'P', ' '),
	WETFILE_KEY  = WETFILE_TAG('K', 'E', 'Y', ' '),
	WETFILE_PATH = WETFILE_TAG('P', 'A', 'T', 'H'),
	WETFILE_RANK = WETFILE_TAG('R', 'A', 'N', 'K'),
	WETFILE_DEP  = WETFILE_TAG('D', 'E', 'P', ' '),
	WETFILE_VAL  = WETFILE_TAG('V', 'A', 'L', ' '),
	WETFILE_ADDR = WETFILE_TAG('A', 'D', 'D', 'R'),
	WETFILE_NODE = WETFILE_TAG('N', 'O', 'D', 'E'),
	WETFILE_GRP  = WETFILE_TAG('G', 'R', 'P', ' '),
	WETFILE_EDGE = WETFILE_TAG('E', 'D', 'G', 'E'),
	WETFILE_ARCH = WETFILE_TAG('A', 'R', 'C', 'H'),
	WETFILE_TXT  = WETFILE_TAG('T', 'E', 'X', 'T'),
	WETFILE_PART = WETFILE_TAG('P', 'A', 'R', 'T'),
	WETFILE_RAW  = WETFILE_TAG('R', 'A', 'W', ' '),
	WETFILE_INDX = WETFILE_TAG('I', 'N', 'D', 'X')
};

/*
 * Writer. A sink returns 0, or an errno. The functions return 0, or -1: see *f; after that only
 * wetfile_free may be called.
 */
typedef int wetfile_sink(void *arg, const void *p, size_t n);
struct wetfile_writer;

struct wetfile_writer *wetfile_create(wetfile_sink *sink, void *arg, enum wetfile_kind kind, struct fault *f);
int wetfile_put(struct wetfile_writer *w, enum wetfile_tag tag, uint32_t segment, const void *p, size_t n);
/* the last section, if the capture ends early: see struct wetfile */
int wetfile_put_early(struct wetfile_writer *w, const struct ws_early *e);
int wetfile_finish(struct wetfile_writer *w);           /* the index */
const struct fault *wetfile_write_fault(const struct wetfile_writer *w);
uint64_t wetfile_written(const struct wetfile_writer *w);       /* bytes */
void wetfile_free(struct wetfile_writer *w);

/* Reader, of a file that can seek. */
struct wetfile_section {
	uint32_t tag, segment;
	uint64_t off, len;              /* of its payload */
};

struct wetfile {
	int fd;                         /* borrowed */
	unsigned kind;
	uint64_t size;                  /* bytes of the file */
	struct wetfile_section *section;        /* owned, in order of the file; without the index */
	size_t nsection;
	/* where the capture that it was made from ended early; its section is not in `section` */
	struct ws_early early;
	/* 1: there is a good index; 0: sections were found from the front, ... */
	int whole;
	struct fault fault;     /* ...and fault says what is wrong after the last one */
};

int wetfile_is(const void *p, size_t n);        /* are these the first bytes of such a file? */
int wetfile_open(struct wetfile *w, int fd, struct fault *f);   /* 0, or -1: not such a file */
void wetfile_close(struct wetfile *w);

/* Reads the payload of section i, checked, into b, whose contents it replaces. 0, or -1: see *f. */
int wetfile_load(const struct wetfile *w, size_t i, struct buf *b, struct fault *f);

#endif
