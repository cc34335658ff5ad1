/* Texts of schemas, ae-schema(5): a unit that is parsed is printed as a text of the same unit. */
#include "base/buf.h"
#include "format/schematext.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct sch_text t = { .p = (const char *)data, .n = n };
	struct sch_unit u, v;
	int got;

	while ((got = sch_parse(&t, NULL, &u)) == 1) {
		struct buf b = BUF_INIT;
		struct sch_text back = { .off = 0 };
		size_t na, nb;
		uint8_t *a = sch_encode(&u, &na), *c;

		sch_print(&b, &u, NULL);
		back.p = (char *)b.p;
		back.n = b.n;
		if (sch_parse(&back, NULL, &v) != 1) {
			fprintf(stderr, "line %lu: %s\n", back.line, back.err);
			abort();
		}
		c = sch_encode(&v, &nb);
		if (!a || !c || na != nb || memcmp(a, c, na) != 0)
			abort();
		free(a);
		free(c);
		sch_free(&u);
		sch_free(&v);
		buf_free(&b);
	}
	if (got < 0 && (!t.err[0] || !memchr(t.err, 0, sizeof t.err) || !t.line))
		abort();
	return 0;
}
