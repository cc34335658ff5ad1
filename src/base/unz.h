/*
 * Streaming decompression of gzip, bzip2, xz and zstd with the formats' own libraries: all bytes
 * before a fault are delivered, and every check sum that the format has is verified (libarchive's
 * gzip does neither).
 */
#ifndef TM_BASE_UNZ_H
#define TM_BASE_UNZ_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct unz;
enum unz_kind { UNZ_NONE, UNZ_GZIP, UNZ_BZIP2, UNZ_XZ, UNZ_ZSTD };

enum unz_kind unz_kind(const uint8_t *p, size_t n);     /* by the magic in the first n bytes */

/* The message of a reader that needs to seek if these first bytes are of a compressed file; else NULL. */
const char *unz_refuse(const uint8_t *p, size_t n);

/* Reads compressed bytes: their number, 0 at the end, -1 with errno. */
typedef ssize_t unz_source(void *arg, void *p, size_t n);

/* Begins to decompress. The nhead bytes at head were read already; they are copied. */
struct unz *unz_new(enum unz_kind kind, unz_source *source, void *arg, const uint8_t *head, size_t nhead);
void unz_free(struct unz *z);
ssize_t unz_read(struct unz *z, void *p, size_t n);     /* 1 to n bytes; 0 at the end; -1: see unz_error */
const char *unz_error(const struct unz *z);             /* after -1; static or owned by z */

#endif
