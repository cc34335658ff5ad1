/* The table of formats, and how their content is recognized. */
#include <string.h>

#include "format/ref/ref.h"
#include "format/trace/trace_internal.h"

#define DATA (1u << REF_LOAD | 1u << REF_STORE | 1u << REF_MODIFY)
#define REFS (DATA | 1u << REF_INST)
#define ALL  (REFS | 1u << REF_ENTER | 1u << REF_BACK | 1u << REF_EXIT | 1u << REF_TASK)

const struct trace_info trace_info[TRACE_NFORMATS] = {
#define T(NAME, name, reads, writes, kinds, most, binary) [TRACE_##NAME] = { name, reads, writes, kinds, most, binary },
#include "format/trace/format.def"
#undef T
};

int
trace_format(const char *name)
{
	for (int i = TRACE_ANY + 1; i < TRACE_NFORMATS; i++)
		if (strcmp(name, trace_info[i].name) == 0)
			return i;
	return -1;
}

/* The formats that are told by a whole line, in this order: the first that can read it. */
static const enum trace_format told[] = {
	TRACE_CSV, TRACE_TEXT, TRACE_DIN, TRACE_PINATRACE, TRACE_RAMULATOR2, TRACE_RAMULATOR, TRACE_DRAMSIM3, TRACE_QEMU,
};

enum trace_format
trace_recognize(const uint8_t *p, size_t n)
{
	uint8_t copy[TRACE_PEEK];
	uint64_t w[TRACE_MARGIN];
	struct trace_reader r;
	const uint8_t *nl;

	if (trace_npy_is(p, n))
		return TRACE_NPY;
	if (trace_drmem_is(p, n))
		return TRACE_DRMEM;
	/* what there is ends with a line */
	n = n < sizeof copy ? n + 1 : sizeof copy;
	memcpy(copy, p, n - 1);
	copy[n - 1] = '\n';
	p = copy;
	nl = memchr(p, '\n', n);
	/* addresses may follow each other without kinds: pinatrace has a comment before them */
	while (nl && *p == '#') {
		n -= (size_t)(nl + 1 - p);
		p = nl + 1;
		nl = memchr(p, '\n', n);
	}
	for (size_t i = 0; nl && i < sizeof told / sizeof *told; i++) {
		memset(&r, 0, sizeof r);
		r.size = TRACE_SIZE;
		if (trace_line(&r, told[i], p, w) && !r.err)
			return told[i];
	}
	return TRACE_ANY;
}
