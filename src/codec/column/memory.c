/*
 * Memory that coding takes, at most: the sum of what the methods allocate, each with its largest block.
 * Tables of zstd have the sizes that its levels give them.
 */
#include <lzma.h>
#include <string.h>

#include "base/varint.h"
#include "codec/column/method.h"

#define ZSTD_MORE (4u << 20)    /* what zstd takes besides its tables */
#define BIDI_MORE (3u << 20)    /* tables of the bidirectional methods, at most... */
#define BIDI_EACH 40            /* ...and bytes for a value */
#define SAMPLES   (1u << 20)    /* samples, last values by key */

#define CM_ALL (VC_USES(VC_CM) | VC_USES(VC_CM_DELTA) | VC_USES(VC_CM_SIGNED) | VC_USES(VC_CM_SIGNED2))
#define BIDI_ALL (~(uint64_t)0 << VC_FCM1)

uint64_t
vc_methods(int level, int method)
{
	const uint64_t fast = VC_USES(VC_FAST) | VC_USES(VC_SCALED), more = VC_USES(VC_CM) | VC_USES(VC_LZ);

	if (method >= 0)
		return method == VC_SCALED ? fast | more : VC_USES(method);
	return level > 3 ? fast | more : level ? fast : 0;
}

static size_t
prime_values(const struct vc_shape *s)
{
	return s->first < VC_PRIME_MAX ? s->first : VC_PRIME_MAX;
}

/* A state of context mixing and its values, for one kind of them. */
static uint64_t
history_memory(const struct vc_shape *s, unsigned columns, int later)
{
	uint64_t n = later ? prime_values(s) + s->later : s->first;

	return 8 * n * (s->keyed ? 2 : 1) + cm_memory(cm_bits(later ? prime_values(s) : s->first, columns));
}

/* The kinds of context mixing that a column uses. */
static unsigned
kinds_used(const struct vc_shape *s)
{
	return (unsigned)__builtin_popcountll(s->methods & CM_ALL);
}

uint64_t
vc_prime_memory(const struct vc_shape *s, unsigned columns)
{
	uint64_t values = 8 * prime_values(s) * (s->keyed ? 2 : 1);
	uint64_t state = cm_memory(cm_bits(prime_values(s), columns));

	return values * (s->methods & VC_USES(VC_SCALED) ? 2 : 1) + kinds_used(s) * state;
}

uint64_t
vc_zstd_memory(size_t n, int level)
{
	unsigned bits = 11, hash = level > 7 ? 22 : 20, chain = level > 12 ? 24 : level > 7 ? 23 : 20;

	while (bits < 28 && (size_t)1 << (bits - 1) < n)
		bits++;
	hash = bits < hash ? bits : hash;
	chain = bits < chain ? bits : chain;
	return ((uint64_t)4 << hash) + ((uint64_t)4 << chain) + ZSTD_MORE;
}

uint64_t
vc_lzma_memory(size_t dict, int decoder)
{
	lzma_options_lzma opt;
	lzma_filter filter[2] = { { LZMA_FILTER_LZMA2, &opt }, { LZMA_VLI_UNKNOWN, NULL } };

	if (lzma_lzma_preset(&opt, 9 | LZMA_PRESET_EXTREME))
		return 0;
	opt.dict_size = dict < LZMA_DICT_SIZE_MIN ? LZMA_DICT_SIZE_MIN : (uint32_t)dict;
	return decoder ? lzma_raw_decoder_memusage(filter) : lzma_raw_encoder_memusage(filter);
}

/* The dictionary of lz for that many bytes, part of which may be from a primer. */
static size_t
lz_dict(size_t bytes, int later)
{
	size_t preset = bytes < VC_LZ_PRESET / VC_LZ_TIMES ? VC_LZ_TIMES * bytes : VC_LZ_PRESET;

	bytes += later ? preset : 0;
	return bytes < VC_LZ_DICT ? bytes : VC_LZ_DICT;
}

/* What the methods of a column take, without context mixing. */
static uint64_t
methods_memory(const struct vc_shape *s, int later, int decoder, int level)
{
	uint64_t n = later ? s->later : s->first, bytes = n * s->width, preset = s->first * s->width;
	uint64_t sum = SAMPLES;
	int lz = (s->methods & VC_USES(VC_LZ)) != 0;

	if (s->methods & (VC_USES(VC_FAST) | VC_USES(VC_LZ)))
		sum += bytes + (!later ? 0 : preset < VC_LZ_PRESET ? preset : VC_LZ_PRESET);
	if (s->methods & VC_USES(VC_SCALED))
		sum += n * (decoder ? s->width + VARINT_MAX : 24);
	if (s->methods & BIDI_ALL)
		sum += BIDI_MORE + BIDI_EACH * n;
	if (decoder)
		return sum + (lz ? vc_lzma_memory(lz_dict(bytes, later), 1) : 0);
	sum += 2 * bytes;               /* what a method makes, beside what another made */
	if (s->methods & VC_USES(VC_FAST))
		sum += vc_zstd_memory(bytes, vc_zstd_level(level > 3 ? 3 : level));
	return sum + (lz ? vc_lzma_memory(lz_dict(bytes < VC_LZ_LARGE ? bytes : VC_LZ_LARGE, later), 0) : 0);
}

uint64_t
vc_work_memory(const struct vc_shape *s, unsigned columns, int later, int decoder, int level)
{
	uint64_t mixing = 0, most = 0, other = 0, lz = 0, x, sum;

	for (unsigned c = 0; c < columns; c++) {
		unsigned kinds = kinds_used(&s[c]);

		if (!(later ? s[c].later : s[c].first))
			continue;
		x = history_memory(&s[c], columns, later);
		mixing += kinds * x;
		most = kinds && x > most ? x : most;
		x = methods_memory(&s[c], later, decoder, level);
		other = x > other ? x : other;
		x = s[c].methods & VC_USES(VC_LZ) && !decoder ?
		    vc_lzma_memory(lz_dict((later ? s[c].later : s[c].first) * s[c].width, later), 0) : 0;
		lz = x > lz ? x : lz;
	}
	/* an encoder has one more, for samples */
	if (!decoder && most)
		mixing += SAMPLES + cm_memory(cm_bits(VC_SAMPLE, columns));
	x = most * (columns < CM_HELD ? columns + 1 : CM_HELD);
	sum = (mixing < x || columns < CM_HELD ? mixing : x) + other;
	/* long columns of lz: other tables are freed before */
	return sum < lz + other ? lz + other : sum;
}
