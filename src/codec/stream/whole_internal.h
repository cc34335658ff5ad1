/* Whole blocks of a value stream: trials of LZMA and zstd on the bytes of a unit. */
#ifndef TM_CODEC_STREAM_WHOLE_INTERNAL_H
#define TM_CODEC_STREAM_WHOLE_INTERNAL_H

#include "codec/stream/stream_internal.h"

#define ZMAGIC   4               /* bytes of zstd's magic, which are left out */

/* The number of LZMA's dictionary sizes, 2^i or 3 * 2^i, that is enough for n bytes. */
uint32_t vs_whole_dict(size_t n);
/* 0, or -1 without memory: the size, in *size, by a run of zstd that finds repetitions over all distances */
int vs_whole_quick(const uint8_t *p, size_t n, size_t *size);

/* What is to be tried on a unit, in bits. */
enum { VS_TRY_LZMA = 1, VS_TRY_ZSTD = 2, VS_TRY_BYTES = 4, VS_TRY_ALL = 7 };

/* What is to be tried on a unit whose blocks take `size` bytes? -1: no memory. */
int vs_trials_which(struct vs_trials *s, size_t size);

/* LZMA and zstd of the unit, as `which` has it; what is best is in *best with its method. 0, or -1 without memory. */
int vs_trials_best(struct vs_trials *s, int which, size_t size, struct buf *best, unsigned *method);

#endif
