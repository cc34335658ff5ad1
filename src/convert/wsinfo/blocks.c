/* wsinfo: the pages that a capture has once, what it needs of a store, and the files that it keeps. */
#include <inttypes.h>
#include <stdlib.h>

#include "convert/wsinfo/wsinfo.h"
#include "format/ws/kept.h"
#include "format/ws/store.h"

/* The files that are kept for their names; each is unpacked, to see whether it can be. */
static void
kept_print(struct out *o, const struct ws_runs *t, int fd)
{
	for (size_t i = 0; i < ws_kept_count(t); i++) {
		struct ws_kept k = ws_kept_get(t, i);
		const char *why = NULL;

		free(ws_kept_load(t, fd, i, &why));
		out_str(o, "names of      ");
		print_word(o, k.path);
		out_printf(o, ", %" PRIu64 " bytes%s%s\n", k.bytes, why ? ": " : "", why ? why : "");
	}
}

void
blocks_print(struct out *o, int fd)
{
	uint64_t pages = 0, bytes = 0, away = 0;
	size_t n, stored = 0;
	struct fault f;
	int whole;
	struct ws_runs *t = ws_runs_read(fd, &whole, &f);
	struct ws_block_info b;

	n = t ? ws_blocks(t) : 0;
	for (size_t i = 0; i < n; i++) {
		ws_block_info(t, i, &b);
		stored += b.stored != 0;
		away += b.stored ? b.pages : 0;
		pages += b.stored ? 0 : b.pages;
		bytes += b.bytes;
	}
	if (n)
		out_printf(o, "pages         %" PRIu64 " in the file, in %" PRIu64 " bytes\n", pages, bytes);
	if (stored)
		out_printf(o, "store         %" PRIu64 " pages, in %zu blocks\n", away, stored);
	if (stored && !getenv(WS_STORE_ENV))
		out_printf(o, "missing       all of these: " WS_STORE_ENV " must name the folder of the store\n");
	for (size_t i = 0; stored && getenv(WS_STORE_ENV) && i < n; i++) {
		const char *why = ws_block_check(t, i);

		if (why)
			out_printf(o, "missing       %s\n", why);
	}
	if (t)
		kept_print(o, t, fd);
	ws_runs_free(t);
}
