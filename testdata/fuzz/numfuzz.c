/* Numbers of command lines, and of text: what is taken is what is written. */
#include <inttypes.h>

#include "base/num.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *s = malloc(n + 1), back[64];
	uint64_t v = 0, from = 3, to = 5;

	memcpy(s, data, n);
	s[n] = 0;
	if (num_u64(s, 2, UINT64_MAX - 1, &v) == 0) {
		const char *p = s;

		if (v < 2 || v > UINT64_MAX - 1)
			abort();
		snprintf(back, sizeof back, s[0] == '0' && (s[1] | 32) == 'x' ? "%" PRIx64 : "%" PRIu64, v);
		p += s[0] == '0' && (s[1] | 32) == 'x' ? 2 : 0;
		while (*p == '0')
			p++;
		for (size_t i = 0; back[i]; i++)
			if (back[i] != (p[i] >= 'A' && p[i] <= 'F' ? p[i] | 32 : p[i]))
				abort();
	}
	if (num_size(s, 1, 1u << 30, &v) == 0 && (v < 1 || v > 1u << 30))
		abort();
	if (num_range(s, 100, &from, &to) == 0 && (from > to || to >= 100))
		abort();
	if (num_hex((const char *)data, n, &v) > n || num_dec((const char *)data, n, &v) > n)
		abort();
	free(s);
	return 0;
}
