/*
 * Schemas as executables have them, ae-schema(5), with right checksums: the unit that is read is
 * written the same, and as text.
 */
#include "base/buf.h"
#include "base/bytes.h"
#include "format/schema/schema.h"
#include "fuzz.h"
#include "schemamend.h"
#include "unittext.h"

static int
zeros(void *arg, uint64_t addr, void *p, size_t n)
{
	(void)arg;
	memset(p, (int)(addr & 255), n);
	return addr < UINT64_C(1) << 47;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *p = malloc(n + 1);
	struct sch_unit u;
	const char *err = NULL;
	size_t off, at = 0, len;
	long k;

	memcpy(p, data, n);
	schema_mend(p, n);
	while ((k = sch_decode(p + at, n - at, &u, &err, &off)) > 0) {
		uint8_t *again = sch_encode(&u, &len);

		if (again && (len > (size_t)k || memcmp(again, p + at, len) != 0))
			abort();
		free(again);
		unit_text(&u);
		sch_resolve(&u, zeros, NULL);
		sch_free(&u);
		at += (size_t)k;
	}
	if (k < 0 && (!err || off > n - at))
		abort();
	free(p);
	return 0;
}
