/* For the targets that read schemas: a unit, its text, and the unit of that */
#ifndef TESTDATA_UNITTEXT_H
#define TESTDATA_UNITTEXT_H

#include "base/buf.h"
#include "format/schema/schema.h"
#include "format/schema/text.h"
#include "fuzz.h"

/* The text of a unit is the unit */
static void
unit_text(const struct sch_unit *u)
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

#endif
