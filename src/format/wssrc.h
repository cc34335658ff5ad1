/* Captures: where their bytes come from: a file, a pipe, memory. */
#ifndef TM_FORMAT_WSSRC_H
#define TM_FORMAT_WSSRC_H

#include <stddef.h>
#include <stdint.h>

struct ws_src {
	int fd;                         /* borrowed */
	const uint8_t *mem;             /* borrowed; NULL: fd */
	int seeks;
	uint64_t size;                  /* if it seeks */
	uint64_t pos;                   /* of a pipe: bytes read */
	int error;                      /* errno of the last read that failed */
};

int ws_src_fd(struct ws_src *s, int fd);        /* 0 or an errno */
void ws_src_mem(struct ws_src *s, const void *p, size_t n);

/* The bytes at off (of a pipe: those that come next); fewer than n at the end and at an error */
size_t ws_src_read(struct ws_src *s, uint64_t off, void *p, size_t n);

#endif
