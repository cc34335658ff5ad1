/* Bytes of a file from any place, of a pipe in order, of memory. */
#ifndef TM_BASE_SRC_H
#define TM_BASE_SRC_H

#include <stddef.h>
#include <stdint.h>

struct src {
	int fd;                         /* borrowed */
	const uint8_t *mem;             /* borrowed; NULL: fd */
	int seeks;
	uint64_t size;                  /* if it seeks */
	uint64_t pos;                   /* of a pipe: bytes read */
	int error;                      /* errno of the last read that failed */
};

/*
 * A file to read, by its path: -1 with errno, which of a folder is EISDIR
 * (open(2) would let one be opened, and what reads it would say what it is not)
 */
int src_open(const char *path);
int src_fd(struct src *s, int fd);        /* 0 or an errno */
void src_mem(struct src *s, const void *p, size_t n);

/* The bytes at off (of a pipe: those that come next); fewer than n at the end and at an error */
size_t src_read(struct src *s, uint64_t off, void *p, size_t n);

#endif
