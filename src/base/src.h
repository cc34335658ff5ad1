/* Bytes of a file at any offset, of a pipe in order, or of memory, with one read function. */
#ifndef TM_BASE_SRC_H
#define TM_BASE_SRC_H

#include <stddef.h>
#include <stdint.h>

/* A source may be some pieces of a file: they are read as if nothing were between them. */
struct src_piece {
	uint64_t at;                    /* offset in the source: the sum of the pieces before */
	uint64_t off, n;                /* offset in the file, bytes */
};

struct src {
	int fd;                         /* borrowed */
	const uint8_t *mem;             /* borrowed; NULL: fd is used */
	int seeks;
	uint64_t size;                  /* in bytes, if it can seek */
	uint64_t pos;                   /* of a pipe: bytes read so far */
	int error;                      /* errno of the last read that failed */
	const struct src_piece *piece;  /* borrowed; NULL: the source is the whole file */
	size_t npiece;
};

/* The name of an input in messages: path, or "standard input" for NULL, "-", /dev/stdin and the like. */
const char *src_name(const char *path);
int src_is_stdin(const char *path);     /* is it one of these? */

/*
 * Opens a file for reading: a descriptor, or -1 with errno. A folder gives EISDIR (open(2) would
 * succeed, and the later error would be less clear).
 */
int src_open(const char *path);
int src_fd(struct src *s, int fd);      /* 0 or an errno */

/*
 * From now on, opened(fd) is called for each file that is opened for reading: by out.h, whose files must not be
 * read. src_open and src_fd do so; whoever opens files by other means, or reads standard input, calls src_opened.
 */
void src_watch(void (*opened)(int fd));
void src_opened(int fd);
void src_mem(struct src *s, const void *p, size_t n);

/* From now on, s is these pieces of a file that can seek or of memory; they are inside it. */
void src_pieces(struct src *s, const struct src_piece *p, size_t n);
uint64_t src_place(const struct src *s, uint64_t off);  /* where off is in the file */

/* Reads the bytes at off (of a pipe: the next ones). Fewer than n at the end or at an error. */
size_t src_read(struct src *s, uint64_t off, void *p, size_t n);

#endif
