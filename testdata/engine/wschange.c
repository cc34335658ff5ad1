/*
 * wschange in out what: a capture with one thing changed, made anew with right
 * check sums.  what: 0xADDR, the lowest bit of that byte where MEM has it
 * first; @N, the hash of the N-th system call, counted from 0; cpuid, a
 * processor with everything; none, keyframes do not say their instances; one,
 * they have one more.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/ws/ws.h"

static int
fail(const char *what)
{
	fprintf(stderr, "wschange: %s\n", what);
	return 1;
}

int
main(int argc, char **argv)
{
	static uint8_t copy[WS_MEM_MAX];
	static struct ws_cpuid cpuid[WS_CPUID_MAX];
	struct fault f;
	struct ws_header h;
	struct ws_reader *r;
	struct ws_writer *w;
	struct ws_rec rec;
	uint64_t addr = WS_UNKNOWN, sys = WS_UNKNOWN, nsys = 0;
	int in, out, got, done = 0;

	if (argc != 4)
		return fail("which?");
	in = open(argv[1], O_RDONLY);
	out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	r = ws_open(in, &f);
	if (!r)
		return fail(f.err);
	h = *ws_head(r);
	if (strcmp(argv[3], "cpuid") == 0) {
		memcpy(cpuid, h.cpuid, h.ncpuid * sizeof *cpuid);
		for (size_t i = 0; i < h.ncpuid; i++)
			if (cpuid[i].leaf == 7 && cpuid[i].sub == 0)
				cpuid[i].edx = done = -1;
		h.cpuid = cpuid;
		h.brand = "A Better One";
	} else if (argv[3][0] == '@') {
		sys = strtoull(argv[3] + 1, NULL, 10);
	} else if (strcmp(argv[3], "none") != 0 && strcmp(argv[3], "one") != 0) {
		addr = strtoull(argv[3], NULL, 16);
	}
	w = ws_create(ws_write_fd, &out, &h, WS_QUICK, &f);
	if (!w)
		return fail(f.err);
	while ((got = ws_next(r, &rec)) == 1) {
		if (rec.kind == WS_MEM && !done && addr - rec.u.mem.addr < rec.u.mem.n) {
			if (rec.u.mem.p)
				memcpy(copy, rec.u.mem.p, rec.u.mem.n);
			copy[addr - rec.u.mem.addr] ^= 1;
			rec.u.mem.p = copy;
			done = 1;
		} else if (rec.kind == WS_SYS && nsys++ == sys) {
			rec.u.sys.hash ^= 1;
			done = 1;
		} else if (rec.kind == WS_KEY &&
		    (strcmp(argv[3], "none") == 0 || strcmp(argv[3], "one") == 0)) {
			rec.u.state.instances = argv[3][0] == 'n' ? WS_UNKNOWN : rec.u.state.instances + 1;
			done = 1;
		}
		if (ws_put(w, &rec) != 0)
			return fail(ws_write_fault(w)->err);
	}
	if (got < 0)
		return fail(ws_fault(r)->err);
	if (ws_finish(w) != 0)
		return fail(ws_write_fault(w)->err);
	ws_free(w);
	ws_close(r);
	return done ? 0 : fail("nothing was changed");
}
