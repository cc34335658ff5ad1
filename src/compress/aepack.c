/* aepack: pack the events of a run by what the program is going to do. */
#include "ae/pack/pack.h"
#include "base/diag.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/src.h"

static const struct opt aepack_opts[] = {
	{ 'd', "unpack", NULL, "write the event file that a packed one was made of" },
	OPT_OUTPUT,
	{ 0 },
};

static const struct opt_tool aepack_tool = {
	.does = "Packs the events of a run of a program compiled by aecc.",
	.synopsis = "[-d] [-o file] program [ae.out]",
	.example = "aecc -O2 prog.c -o prog; ./prog; aepack -o ae.pk prog ae.out; ae2addr prog ae.pk | head",
	.opt = aepack_opts,
};

static void
aepack_write(void *out, const void *p, size_t n)
{
	out_write(out, p, n);
}

static void
aepack_unpack(struct in *in, struct exe *x, struct out *out)
{
	void *u = unpack_new(in, x);
	static uint8_t b[1 << 16];
	const struct fault *f;
	struct fault fault;
	size_t n;

	if (!u)
		die("out of memory");
	while ((n = unpack_read(u, b, sizeof b)) > 0)
		out_write(out, b, n);
	f = unpack_fault(u);
	if (f)
		fault = *f;
	unpack_free(u);
	out_end(out, in_name(in), f ? &fault : NULL, NULL);
}

static void
aepack_pack(struct in *in, struct exe *x, struct out *out)
{
	struct fault f;
	int bad;

	bad = pack_file(in, x, aepack_write, out, &f);
	if (bad)
		out_clear_buffer(out);
	out_end(out, in_name(in), bad ? &f : NULL, NULL);
}

int
main(int argc, char **argv)
{
	const char *outname = NULL;
	struct exe x;
	struct out *out;
	struct in *in;
	int c, unpack = 0;

	diag_init(argv[0], 1);
	while ((c = opt_next(&aepack_tool, argc, argv)) != -1) {
		if (c == 'd')
			unpack = 1;
		else
			outname = optarg;
	}
	opt_operands(argc, argv, 1, 2);
	if (exe_open(&x, argv[optind]) != 0 || exe_need_schema(&x) != 0)
		die("%s: %s", src_name(argv[optind]), x.err);
	in = in_open(argv[optind + 1]);
	out = out_open(outname);
	out_binary(out, unpack ? "an event file" : "a packed event file");
	progress_start(in_name(in));
	if (unpack)
		aepack_unpack(in, &x, out);
	else
		aepack_pack(in, &x, out);
	in_close(in);
	exe_close(&x);
	return 0;
}
