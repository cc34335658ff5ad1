/* Schemas as executables have them, ae-schema(5), with right checksums: the unit that is read is written the same, and as text. */
#include "base/buf.h"
#include "base/bytes.h"
#include "format/schema.h"
#include "format/schematext.h"
#include "fuzz.h"
#include "schemamend.h"

static int
zeros(void *arg, uint64_t addr, void *p, size_t n)
{
	(void)arg;
	memset(p, (int)(addr & 255), n);
	return addr < UINT64_C(1) << 47;
}

/* The text of a unit is the unit */
static void
text(const struct sch_unit *u)
{
	struct buf b = BUF_INIT;
	struct sch_text t = { .off = 0 };
	struct sch_unit v;
	size_t na, nb;
	uint8_t *a = sch_encode(u, &na), *c;

	sch_print(&b, u, NULL);
	t.p = (char *)b.p;
	t.n = b.n;
	if (sch_parse(&t, NULL, &v) != 1) {
		fprintf(stderr, "line %lu: %s\n", t.line, t.err);
		abort();
	}
	c = sch_encode(&v, &nb);
	if (!a || !c || na != nb || memcmp(a, c, na) != 0)
		abort();
	free(a);
	free(c);
	sch_free(&v);
	buf_free(&b);
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
		text(&u);
		sch_resolve(&u, zeros, NULL);
		sch_free(&u);
		at += (size_t)k;
	}
	if (k < 0 && (!err || off > n - at))
		abort();
	free(p);
	return 0;
}
