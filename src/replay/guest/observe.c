/* Access to the internals of a replay, for the verifier and other checks. */
#include "isa/x86/decode.h"
#include "replay/guest/replay_internal.h"

struct replay *
replay_open_watched(const char *path, replay_record_fn *fn, void *arg, struct fault *f)
{
	struct drive_watch w = {.record = fn, .arg = arg};
	struct replay *r = drive_open(path, &w, f);

	if (r && drive_start(r) != 0) {
		*f = r->fault;
		replay_close(r);
		return NULL;
	}
	return r;
}

const uint8_t *
replay_xsave(const struct replay *r)
{
	return r->x.cpu.xsave;
}

const struct ws_rec_map *
replay_map(const struct replay *r, size_t i)
{
	return i < r->mem.n ? &r->mem.area[i].m : NULL;
}

uint8_t *
replay_memory(struct replay *r, uint64_t addr)
{
	return mem_find(&r->mem, addr) ? rp_host(addr) : NULL;
}

int
replay_amd(const struct ws_header *h)
{
	struct ws_cpuid c = ws_cpuid_find(h->cpuid, h->ncpuid, 0, 0);

	return x86_amd(c.ebx, c.edx, c.ecx);
}
