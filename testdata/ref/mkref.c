/*
 * Text to reference stream: fixtures of tests are written as text.  Lines are those of `-f text` ("load
 * 0x1000 8"), and "raw 0x..." for a word that no writer makes.  mkref FORMAT writes another format instead.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/out.h"
#include "format/ref/ref.h"

static uint64_t
parse(const char *line)
{
	char kind[16];
	uint64_t addr;
	unsigned size = 0, k;

	if (sscanf(line, "%15s %" SCNx64 " %u", kind, &addr, &size) < 2)
		die("bad line: %s", line);
	if (!strcmp(kind, "raw"))
		return addr;
	for (k = 0; k < REF_NKINDS; k++)
		if (!strcmp(kind, ref_kind_name(k)))
			return ref_make(k, addr, size);
	die("bad kind: %s", kind);
}

int
main(int argc, char **argv)
{
	enum ref_format f = REF_ADDR;
	struct out *out;
	char line[128];
	uint64_t w;

	diag_init(argv[0], 1);
	if (argc > 1) {
		if (ref_format(argv[1]) < 0)
			die("%s: no such format", argv[1]);
		f = (enum ref_format)ref_format(argv[1]);
	}
	out = out_open(NULL);
	if (f == REF_ADDR) {
		ref_put_header(out_reserve(out, REF_HEADER));
		out_commit(out, REF_HEADER);
	}
	while (fgets(line, sizeof(line), stdin)) {
		w = parse(line);
		out_commit(out, ref_put(f, out_reserve(out, REF_PUT_MAX), &w, 1));
	}
	out_close(out);
	return 0;
}
