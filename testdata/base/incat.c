/* The smallest filter: copies its decompressed input to its output; base.t drives it. */
#include <string.h>

#include "base/diag.h"
#include "base/in.h"
#include "base/out.h"

int
main(int argc, char **argv)
{
	struct out *out;
	struct in *in;
	const uint8_t *p;
	size_t n;

	diag_init(argv[0], 1);
	if (argc > 3)
		die_usage("wanted: [input [output]]");
	in = in_open(argc > 1 ? argv[1] : NULL);
	out = out_open(argc > 2 ? argv[2] : NULL);
	while (p = in_peek(in, 1, &n), n) {
		out_write(out, p, n);
		in_skip(in, n);
	}
	if (in_error(in))
		die_at(in_name(in), in_off(in), DIAG_NOREC, "%s", in_error(in));
	in_close(in);
	out_close(out);
	return 0;
}
