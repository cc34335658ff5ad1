/*
 * rdtsc in captured processes: what it tells is recorded.  Where it faults and has done so often, it is the time of the kernel in
 * ticks, which the recorder in a process can tell, too (fast_core.c).
 */
#include <time.h>
#include <x86intrin.h>

#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"

__extension__ typedef unsigned __int128 wide;

#define SCALE_NS 5000000u       /* for a scale that is right to some millionths */

static uint64_t
raw_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Both at once, as far as that goes. */
static uint64_t
time_and_tsc(uint64_t *tsc)
{
	uint64_t least = UINT64_MAX, ns = 0;

	for (int i = 0; i < 8; i++) {
		uint64_t before = __rdtsc(), t = raw_time(), took = __rdtsc() - before;

		if (took < least) {
			least = took;
			ns = t;
			*tsc = before + took / 2;
		}
	}
	return ns;
}

int
tsc_scaled(struct tree *a)
{
	struct tsc_clock *k = &a->tsc;

	if (k->scale)
		return 1;
	if (!k->began) {
		k->began = time_and_tsc(&k->at);
		return 0;
	}
	if (raw_time() - k->began < SCALE_NS)
		return 0;
	k->since = time_and_tsc(&k->first);
	k->scale = (uint64_t)((double)(k->first - k->at) / (double)(k->since - k->began) * 4294967296.0);
	return k->scale != 0;
}

static uint64_t
tsc_now(const struct tree *a)
{
	const struct tsc_clock *k = &a->tsc;

	return k->scale ? k->first + (uint64_t)((wide)(raw_time() - k->since) * k->scale >> 32) : __rdtsc();
}

int
put_tsc(struct cap *c, struct user_regs_struct *g, unsigned len)
{
	struct ws_rec r = {.kind = WS_TSC};
	unsigned aux = 0;

	if (len == 3)
		(void)__rdtscp(&aux);
	r.u.tsc.value = tsc_now(c->all);
	r.u.tsc.has_aux = len == 3;
	r.u.tsc.aux = aux;
	g->rax = (uint32_t)r.u.tsc.value;
	g->rdx = r.u.tsc.value >> 32;
	if (len == 3)
		g->rcx = aux;
	g->rip += len;
	return put_emulated(c, &r, g);
}
