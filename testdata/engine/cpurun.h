/* Guest code given as hexadecimal digits, run by the replay's processor.  Included once a test. */
#ifndef TM_TESTDATA_ENGINE_CPURUN_H
#define TM_TESTDATA_ENGINE_CPURUN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "replay/cpu/emit_internal.h"

#define CODE 0x400000u
#define DATA 0x7ffff7000000u    /* folds: its upper bits are not in the host's address */

static struct rp_core *core;
static struct rp_run x;
static uint8_t state[RP_XSAVE] __attribute__((aligned(64)));
static uint64_t words[1 << 17];

static void
map(uint64_t a, size_t n)
{
	if (mmap(rp_host(a), n, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		exit(2);
}

/* Code as hexadecimal digits, and registers to start with */
static void
code(const char *hex)
{
	uint8_t *p = rp_host(CODE);
	unsigned v;
	int n;

	for (; sscanf(hex, "%2x%n", &v, &n) == 1; hex += n)
		*p++ = (uint8_t)v;
	memset(&x, 0, sizeof x);
	memset(state, 0, sizeof state);
	memcpy(state + 24, "\x80\x1f", 2);
	x.cpu.xsave = state;
	x.cpu.rip = CODE;
	x.cpu.rflags = 0x202;
	x.cpu.r[4] = DATA + 0x8000;
	x.out = words;
	x.end = words + sizeof words / sizeof *words;
	x.limit = UINT64_MAX;
	x.xcr0 = 7;
}

static enum rp_stop
go(int mode)
{
	return rp_run(core, &x, (enum rp_mode)mode);
}

#endif
