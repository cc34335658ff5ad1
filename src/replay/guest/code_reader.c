/* Reads the code of a replayed program from its memory. */
#include <sys/mman.h>

#include "replay/guest/code_reader.h"

void
wcode_replay_invalidate(struct wcode_replay *r)
{
	r->lo = r->hi = 0;
}

size_t
wcode_read_replay(void *arg, uint64_t addr, void *p, size_t n, int exec)
{
	struct wcode_replay *r = arg;

	if (addr < r->lo || addr >= r->hi) {
		const struct ws_rec_map *m;

		r->lo = r->hi = 0;
		for (size_t i = 0; (m = replay_map(r->r, i)) != NULL; i++)
			if (addr >= m->addr && addr - m->addr < m->len) {
				r->lo = m->addr;
				r->hi = m->addr + m->len;
				r->exec = (m->prot & PROT_EXEC) != 0;
			}
	}
	if (addr < r->lo || addr >= r->hi || (exec && !r->exec))
		return 0;
	if (n > r->hi - addr)
		n = r->hi - addr;
	return replay_read(r->r, addr, p, n);
}
