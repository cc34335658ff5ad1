/*
 * The offline traces of DynamoRIO's drmemtrace: records of 12 bytes, which it calls trace_entry_t. A record
 * has a type (2 bytes), a size (2 bytes), and an address or a value (8 bytes).
 */
#ifndef TM_FORMAT_TRACE_DRMEMTRACE_H
#define TM_FORMAT_TRACE_DRMEMTRACE_H

#include "base/bytes.h"

#define DRMEM_RECORD 12u
#define DRMEM_CODE   8u                 /* bytes of code in an ENCODING, at most */

enum drmem_type {
	DRMEM_READ = 0, DRMEM_WRITE = 1,
	DRMEM_PREFETCH = 2, DRMEM_PREFETCH_INSTR = 9,           /* and those between: no access */
	DRMEM_INSTR = 10, DRMEM_JUMP = 11, DRMEM_JUMP_IND = 12, DRMEM_COND = 13, DRMEM_CALL = 14,
	DRMEM_CALL_IND = 15, DRMEM_RETURN = 16, DRMEM_BUNDLE = 17,
	DRMEM_FLUSH = 18, DRMEM_FLUSH_END = 21,                 /* and those between: no access */
	DRMEM_THREAD = 22, DRMEM_THREAD_EXIT = 23, DRMEM_PID = 24, DRMEM_HEADER = 25, DRMEM_FOOTER = 26,
	DRMEM_HARDWARE_PREFETCH = 27, DRMEM_MARKER = 28,
	DRMEM_NO_FETCH = 29, DRMEM_MAYBE_FETCH = 30, DRMEM_SYSENTER = 31,
	DRMEM_PREFETCH_MORE = 32, DRMEM_PREFETCH_LAST = 46,     /* and those between: no access */
	DRMEM_ENCODING = 47, DRMEM_TAKEN = 48, DRMEM_UNTAKEN = 49,
	DRMEM_NTYPES
};

/* The size of a MARKER: what its value is. */
enum drmem_marker {
	DRMEM_KERNEL_EVENT = 0, DRMEM_KERNEL_XFER = 1, DRMEM_TIMESTAMP = 2, DRMEM_CPU = 3, DRMEM_FILETYPE = 9,
	DRMEM_LINE = 10, DRMEM_VERSION = 12, DRMEM_PAGE = 18, DRMEM_CHUNK = 20, DRMEM_SYSCALL = 25,
	DRMEM_TARGET = 29, DRMEM_SIGNAL = 40
};

/* Bits of the file's type */
#define DRMEM_X86_64    0x40u
#define DRMEM_ENCODINGS 0x200u
#define DRMEM_SYSCALLS  0x400u

/* Versions: with encodings; with what branches did; the newest that is known. */
enum { DRMEM_HAS_ENCODINGS = 4, DRMEM_HAS_BRANCHES = 5, DRMEM_NEWEST = 7 };

#define DRMEM_EPOCH UINT64_C(11644473600000000)         /* 1970 in microseconds since 1601 */
#define DRMEM_TASK  1u                                  /* the process, and its first or only thread */

/* What the first two fields are together */
static inline uint32_t
drmem_head(unsigned type, unsigned size)
{
	return (uint32_t)type | (uint32_t)size << 16;
}

static inline uint8_t *
drmem_put(uint8_t *p, uint32_t head, uint64_t value)
{
	put_le32(p, head);
	put_le64(p + 4, value);
	return p + DRMEM_RECORD;
}

static inline uint8_t *
drmem_marker(uint8_t *p, enum drmem_marker what, uint64_t value)
{
	return drmem_put(p, drmem_head(DRMEM_MARKER, what), value);
}

/* The time, in microseconds since 1601, on a processor that is not known. */
static inline uint8_t *
drmem_time(uint8_t *p, uint64_t time)
{
	return drmem_marker(drmem_marker(p, DRMEM_TIMESTAMP, time), DRMEM_CPU, UINT64_MAX);
}

/* The records before the first instruction and after the last. */
struct drmem_file {
	unsigned version, type;
	unsigned line, page;            /* bytes */
	uint32_t thread;                /* the first, and in the end the last; 0: DRMEM_TASK */
	uint64_t time;                  /* of the start */
};
#define DRMEM_MOST (10u * DRMEM_RECORD)         /* bytes that each of these writes, at most */
uint8_t *drmem_put_start(uint8_t *p, const struct drmem_file *f);
uint8_t *drmem_put_end(uint8_t *p, const struct drmem_file *f);
/* The thread whose records follow, and its process: two records */
uint8_t *drmem_put_thread(uint8_t *p, uint32_t thread);

#endif
