/* The table of the output formats, and what each cannot express. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "convert/addrconv/addrconv.h"

const struct conv_format conv_format[] = {
	{ "addr", TRACE_ADDR, NULL, "nothing" },
	{ "text", TRACE_TEXT, NULL, "nothing" },
	{ "csv", TRACE_CSV, NULL, "nothing" },
	{ "npy", TRACE_NPY, NULL, "nothing" },
	{ "lackey", TRACE_LACKEY, NULL, "loop and task events" },
	{ "din", TRACE_DIN, NULL, "sizes, modifies (a read and a write), events" },
	{ "pinatrace", TRACE_PINATRACE, NULL, "sizes, modifies, events, instructions without data" },
	{ "ramulator", TRACE_RAMULATOR, NULL, "sizes, modifies, events, instructions" },
	{ "ramulator2", TRACE_RAMULATOR2, NULL, "sizes, modifies, events, instructions" },
	{ "dramsim3", TRACE_DRAMSIM3, NULL, "sizes, modifies, events, instructions except as time" },
	{ "gem5", TRACE_GEM5, NULL, "modifies (a read and a write), events" },
	{ "vpc", TRACE_VPC, NULL, "kinds, sizes, instructions without data, their addresses above 2^32, events" },
	{ "libcachesim", TRACE_CACHESIM, NULL, "kinds, addresses within a line, sizes, events" },
	{ "oracle", TRACE_ORACLE, NULL, "kinds, addresses within a line, sizes, events, time above 2^32" },
	{ "drmemtrace-refs", TRACE_DRMEMREFS, NULL, "what instructions are, modifies (a read and a write), events" },
	{ "champsim", TRACE_ANY, conv_champsim, "sizes, operands beyond 2 written and 4 read registers" },
	{ "cvp", TRACE_ANY, conv_cvp, "instructions with several accesses as one, vectors beyond 16 bytes, x87" },
	{ "cbp2025", TRACE_ANY, conv_cbp2025, "as cvp, and registers beyond the third that are read" },
	{ "elastic", TRACE_ANY, conv_elastic, "values, registers, the times that operations take" },
	{ "drmemtrace", TRACE_ANY, conv_drmemtrace, "times, prefetches, the check that ends a string instruction" },
	{ "branches", TRACE_ANY, conv_branches, "all other instructions, data" },
	{ "bt9", TRACE_ANY, conv_bt9, "all other instructions but how many, data" },
	{ "bbv", TRACE_ANY, conv_bbv, "order within an interval, data, the last interval" },
	{ "callgrind", TRACE_ANY, conv_callgrind, "order, data, addresses" },
	{ "folded", TRACE_ANY, conv_folded, "order, data, addresses, lines" },
};
const unsigned conv_nformat = sizeof conv_format / sizeof *conv_format;

const struct conv_format *
conv_find(const char *name)
{
	for (unsigned i = 0; i < conv_nformat; i++)
		if (strcmp(name, conv_format[i].name) == 0)
			return &conv_format[i];
	return NULL;
}

void
conv_list(void)
{
	printf("%-15s %-5s %-5s %-12s %s\n", "format", "read", "write", "needs", "cannot express");
	for (unsigned i = 0; i < conv_nformat; i++) {
		const struct conv_format *f = &conv_format[i];
		int t = trace_format(f->name), reads = t >= 0 && trace_info[t].reads;

		printf("%-15s %-5s %-5s %-12s %s\n", f->name, reads ? "yes" : "no", "yes",
		    f->run ? "a capture" : "references", f->loses);
	}
	/* those that are only read */
	for (int i = TRACE_ANY + 1; i < TRACE_NFORMATS; i++)
		if (!trace_info[i].writes && !conv_find(trace_info[i].name))
			printf("%-15s %-5s %-5s %-12s %s\n", trace_info[i].name, "yes", "no", "-", "-");
	diag_flush();
}
