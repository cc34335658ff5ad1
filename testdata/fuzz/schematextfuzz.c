/* Texts of schemas, ae-schema(5): a unit that is parsed is printed as a text of the same unit. */
#include "format/schema/text.h"
#include "unittext.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct sch_text t = { .p = (const char *)data, .n = n };
	struct sch_unit u;
	int got;

	while ((got = sch_parse(&t, NULL, &u)) == 1) {
		unit_text(&u);
		sch_free(&u);
	}
	if (got < 0 && (!t.err[0] || !memchr(t.err, 0, sizeof t.err) || !t.line))
		abort();
	return 0;
}
