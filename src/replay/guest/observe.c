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

/* Looks the leaf up in the header's table. */
struct ws_cpuid
replay_cpuid(const struct ws_header *h, uint32_t leaf, uint32_t sub)
{
	static const struct ws_cpuid none;

	/* a leaf beyond the last basic one answers as the last basic one */
	if (leaf < 0x80000000u && h->ncpuid && h->cpuid[0].leaf == 0 && leaf > h->cpuid[0].eax)
		leaf = h->cpuid[0].eax;
	for (size_t i = 0; i < h->ncpuid; i++)
		if (h->cpuid[i].leaf == leaf && (h->cpuid[i].sub == sub ||
		    (h->cpuid[i].sub == 0 && (i + 1 == h->ncpuid || h->cpuid[i + 1].leaf != leaf))))
			return h->cpuid[i];
	return none;
}

int
replay_amd(const struct ws_header *h)
{
	struct ws_cpuid c = replay_cpuid(h, 0, 0);

	return x86_amd(c.ebx, c.edx, c.ecx);
}
