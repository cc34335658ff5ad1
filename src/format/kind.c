/* What a file is, by its first bytes. */
#include <stdio.h>
#include <string.h>

#include "format/kind.h"

enum { MAGIC = 8 };

static const struct kind kinds[] = {
	{ "\x89TMREF\r\n", "a reference stream", "cachesim, addrconv and others read it" },
	{ "\x89" "AEOUT\r\n", "events of a run", "their program is named first" },
	{ "\x89" "AEPK\r\n\0", "packed events of a run", "their program is named first" },
	{ "\x89TMCAP\r\n", "a capture", "ws2addr makes references of it" },
	{ "\x89TMWET\r\n", "a compressed execution trace", "wetq and wetz -d read it" },
	{ "\x89TMBIF\r\n", "compressed by bifcm", "bifcm -d gives the stream back" },
	{ "\x89TMLAP\r\n", "a Laplace trace", "laplace-text prints it" },
};

const struct kind *
kind_of(const uint8_t *p, size_t n)
{
	for (size_t i = 0; n >= MAGIC && i < sizeof kinds / sizeof *kinds; i++)
		if (memcmp(p, kinds[i].magic, MAGIC) == 0)
			return &kinds[i];
	return NULL;
}

int
kind_foreign(char *text, size_t room, const uint8_t *p, size_t n, const char *wanted, const char *capture)
{
	const struct kind *k = kind_of(p, n);

	if (k)
		snprintf(text, room, "%s, not %s: %s", k->what, wanted,
		    strcmp(k->what, "a capture") == 0 ? capture : k->use);
	return k != NULL;
}
