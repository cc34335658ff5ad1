/*
 * The window of guest memory.  It must hold nothing of this process: what replayed code cannot leave, it could read and
 * write otherwise.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "replay/cpu/emit_internal.h"

uint64_t rp_base, rp_mask;

/*
 * In order of preference.  Linux puts a program at 0x55..., its libraries and stack at 0x7f...; without a limit of its
 * stack the libraries are at 0x14..., and with the legacy layout (setarch -L) at 0x2a... .  The first window begins
 * where AddressSanitizer's shadow ends, as a program with it replays captures, too.
 */
static const struct { uint64_t base, mask; } window[] = {
	{ 0x100080000000, 0x3fffffffffff },
	{ 0x200000000000, 0x1fffffffffff },
	{ 0x300000000000, 0x1fffffffffff },
};
#define NWINDOW (sizeof window / sizeof *window)

/* Bit k: this process has memory in window k, or in the guard after it.  Without /proc none of it is known. */
static unsigned
window_taken(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned taken = 0;
	uint64_t lo, hi;
	int begins = 1;

	while (f && fgets(line, sizeof line, f)) {
		/* the rest of a long line is a part of a name */
		if (begins && sscanf(line, "%" SCNx64 "-%" SCNx64, &lo, &hi) == 2)
			for (unsigned k = 0; k < NWINDOW; k++)
				if (lo <= window[k].base + window[k].mask + RP_GUARD && hi > window[k].base)
					taken |= 1u << k;
		begins = strchr(line, '\n') != NULL;
	}
	if (f)
		fclose(f);
	return taken;
}

int
rp_window(void)
{
	unsigned taken;

	if (rp_mask)            /* the processor's GS base has it for good */
		return 0;
	taken = window_taken();
	for (unsigned k = 0; k < NWINDOW && !rp_mask; k++)
		if (!(taken >> k & 1)) {
			rp_base = window[k].base;
			rp_mask = window[k].mask;
		}
	return rp_mask ? 0 : -1;
}

/*
 * Chunks of the window that are inaccessible until they are touched: bit k of closed is chunk k.  An open chunk may hold
 * anything, a closed one lies in one area.
 */
static uint64_t closed[((UINT64_C(1) << 46) / RP_CHUNK + 63) / 64];
static size_t nclosed;

int
rp_closed(uint64_t addr)
{
	uint64_t k = (addr & rp_mask) / RP_CHUNK;

	return nclosed && (closed[k / 64] >> k % 64 & 1);
}

static int
window_protect(uint64_t k, uint64_t n, int prot)
{
	return mprotect(rp_host(k * RP_CHUNK), n * RP_CHUNK, prot);
}

static void
window_mark(uint64_t k, int on)
{
	closed[k / 64] = (closed[k / 64] & ~(UINT64_C(1) << k % 64)) | (uint64_t)on << k % 64;
	nclosed = on ? nclosed + 1 : nclosed - 1;
}

int
rp_touched(uint64_t addr)
{
	uint64_t k = (addr & rp_mask) / RP_CHUNK;

	if (!rp_closed(addr) || window_protect(k, 1, PROT_READ | PROT_WRITE) != 0)
		return 0;
	window_mark(k, 0);
	return 1;
}

void
rp_close(uint64_t addr, uint64_t len)
{
	uint64_t lo = addr & rp_mask, from = (lo + RP_CHUNK - 1) / RP_CHUNK, end = (lo + len) / RP_CHUNK;

	if (from < end && window_protect(from, end - from, PROT_NONE) == 0)
		for (uint64_t k = from; k < end; k++)
			window_mark(k, 1);
}

void
rp_forget(uint64_t addr, uint64_t len)
{
	uint64_t lo = addr & rp_mask, last = (lo + len - 1) / RP_CHUNK;

	if (!nclosed)
		return;
	(void)rp_touched(lo);
	(void)rp_touched(lo + len - 1);
	for (uint64_t k = lo / RP_CHUNK; k <= last; k++)
		if (rp_closed(k * RP_CHUNK))
			window_mark(k, 0);
}
