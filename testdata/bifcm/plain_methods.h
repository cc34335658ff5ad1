/* The plain decoder: METHODS of bifcm(5), in its order. */
#include "plain_bidi.h"

static void
stored(const uint8_t *p, size_t len, struct column *c)
{
	if (len != c->n * c->w)
		reject("stored: length");
	for (size_t i = 0; i < c->n; i++)
		for (unsigned k = 0; k < c->w; k++)
			c->v[i] |= (uint64_t)*p++ << 8 * k;
}

static void
decode(unsigned method, const uint8_t *p, size_t len, struct column *c, const struct column *first)
{
	(void)first;
	switch (method) {
	case 0:
		stored(p, len, c);
		break;
	default:
		if (method < 32 || method > 43)
			reject("method");
		bidirectional(method - 32, p, len, c);
	}
}
