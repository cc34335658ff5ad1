/*
 * wsplain in out: a capture as of the plainest x86-64 processor, on an unnamed
 * system at the beginning of time: it replays on every one, and is the same
 * wherever it is made.  For programs that use no more.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "format/ws/ws.h"

#define LEGACY 576u             /* bytes of x87 and SSE state and the header after them */
#define BV     512u
#define EDX1   0x07808100u      /* cx8 cmov mmx fxsr sse sse2 */

static const struct ws_cpuid cpuid[] = {
	{ 0, 0, 1, 0x756e6547, 0x6c65746e, 0x49656e69 },
	{ 1, 0, 0x000106a0, 0, 0, EDX1 },
};

static void
plain(const uint8_t **image, size_t *n, uint8_t room[LEGACY])
{
	size_t k = *n < LEGACY ? *n : LEGACY;

	memset(room, 0, LEGACY);
	if (k)
		memcpy(room, *image, k);
	put_le64(room + BV, get_le64(room + BV) & 3);
	while (k && !room[k - 1])
		k--;
	*image = k ? room : NULL;
	*n = k;
}

int
main(int argc, char **argv)
{
	static uint8_t room[LEGACY];
	const char *args[] = { "./tiny", NULL };
	struct ws_header h;
	struct fault f;
	struct ws_reader *r;
	struct ws_writer *w;
	struct ws_rec rec;
	int in, out, got;

	if (argc != 3)
		return 2;
	in = open(argv[1], O_RDONLY);
	out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	r = ws_open(in, &f);
	if (!r || out < 0)
		return 2;
	h = *ws_head(r);
	h.xcr0 = 3;
	h.when = 0;
	h.brand = h.kernel = "";
	h.exe = "/tiny";
	h.argv = args;
	h.argc = 1;
	h.cpuid = cpuid;
	h.ncpuid = sizeof cpuid / sizeof cpuid[0];
	w = ws_create(ws_write_fd, &out, &h, WS_PLAIN, &f);
	if (!w)
		return 2;
	while ((got = ws_next(r, &rec)) == 1) {
		if (rec.kind == WS_START || rec.kind == WS_KEY)
			plain(&rec.u.state.xsave, &rec.u.state.nxsave, room);
		if (rec.kind == WS_MAP) {
			rec.u.map.dev = rec.u.map.ino = 0;
			rec.u.map.name = strchr(rec.u.map.name, '/') ? "/tiny" : rec.u.map.name;
		}
		if (ws_put(w, &rec) != 0)
			return 3;
	}
	if (got != 0 || ws_finish(w) != 0)
		return 3;
	ws_free(w);
	ws_close(r);
	return 0;
}
