/*
 * Growable byte buffer for layers that may not exit. Running out of memory sets `nomem`, after
 * which additions do nothing; so one test at the end is enough.
 */
#ifndef TM_BASE_BUF_H
#define TM_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *p;             /* owned; NULL while empty */
	size_t n, cap;
	int nomem;
};

#define BUF_INIT { NULL, 0, 0, 0 }

void buf_free(struct buf *b);                           /* frees the bytes; the buffer is empty again */
/*
 * Space for n bytes after the end, or NULL without memory. The caller adds the number of bytes that
 * it used to b->n.
 */
uint8_t *buf_reserve(struct buf *b, size_t n);
void buf_add(struct buf *b, const void *p, size_t n);
void buf_str(struct buf *b, const char *s);             /* without the final NUL */
void buf_u8(struct buf *b, uint8_t v);
void buf_le16(struct buf *b, uint16_t v);
void buf_le32(struct buf *b, uint32_t v);
void buf_le64(struct buf *b, uint64_t v);
void buf_varint(struct buf *b, uint64_t v);             /* encoded as in varint.h */
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Makes room for at least `need` elements of `size` bytes in an array that has room for *cap, by
 * doubling. array is the address of the pointer to the array. 0, or -1 without memory, and nothing
 * has changed. mem_xgrow (mem.h) exits instead.
 */
int buf_grow(void *array, size_t *cap, size_t need, size_t size);

#endif
