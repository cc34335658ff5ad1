/* What cpuid answers: of this processor, or of one that has less (--cpu). */
#include <cpuid.h>
#include <string.h>

#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"

static size_t
cpuid_add(struct ws_cpuid *t, size_t n, size_t max, uint32_t leaf, uint32_t sub)
{
	struct ws_cpuid *d = &t[n];

	if (n == max)
		return n;
	d->leaf = leaf;
	d->sub = sub;
	__cpuid_count(leaf, sub, d->eax, d->ebx, d->ecx, d->edx);
	return n + 1;
}

/* Subleaves that have information; subleaf 0 is the last entry of t. */
static size_t
cpuid_subleaves(struct ws_cpuid *t, size_t n, size_t max)
{
	struct ws_cpuid first = t[n - 1];
	uint32_t sub, last = 0;

	switch (first.leaf) {
	case 4:                         /* up to a cache of type 0 */
	case 0x8000001d:
		for (sub = 1; sub < 16 && n < max && (t[n - 1].eax & 31); sub++)
			n = cpuid_add(t, n, max, first.leaf, sub);
		return n;
	case 0xb:                       /* up to a level of type 0 */
	case 0x1f:
		for (sub = 1; sub < 8 && n < max && (t[n - 1].ecx >> 8 & 255); sub++)
			n = cpuid_add(t, n, max, first.leaf, sub);
		return n;
	case 7:
	case 0x14:
	case 0x17:
	case 0x18:
	case 0x1d:
	case 0x20:
		last = first.eax < 8 ? first.eax : 8;
		break;
	case 0xd:
		last = 1;
		break;
	case 0xf:
	case 0x10:
	case 0x12:
		last = 3;
		break;
	case 0x1e:
		last = 1;
	}
	for (sub = 1; sub <= last; sub++)
		n = cpuid_add(t, n, max, first.leaf, sub);
	if (first.leaf == 0xd)
		for (sub = 2; sub < 32; sub++)
			if (first.eax >> sub & 1)
				n = cpuid_add(t, n, max, 0xd, sub);
	return n;
}

static size_t
cpuid_leaves(struct ws_cpuid *t, size_t n, size_t max, uint32_t base, uint32_t most)
{
	uint32_t last, leaf;

	if (n == max)
		return n;
	n = cpuid_add(t, n, max, base, 0);
	last = t[n - 1].eax;
	if (last < base || last > base + most)
		return n;
	for (leaf = base + 1; leaf <= last && n < max; leaf++) {
		size_t was = n;

		n = cpuid_add(t, n, max, leaf, 0);
		if (n > was)
			n = cpuid_subleaves(t, n, max);
	}
	return n;
}

/* Bits that stay, of leaf 1: ecx; of leaf 0x80000001: ecx.  V2: with level v2, too. */
#define KEPT     (1u << 21 | 1u << 31)  /* x2APIC; there is a hypervisor */
#define V2       (1u | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23)     /* SSE3 to SSE4.2, cmpxchg16b, popcnt */
#define KEPT_EXT (1u << 1 | 1u << 22)   /* there are several cores; leaves that describe caches */
#define V2_EXT   1u                     /* lahf */
#define HIDDEN   (1u << 27 | 1u << 30 | 1u << 31)       /* of leaf 0x80000001, edx: rdtscp, 3DNow! */
#define LAST     0xbu                   /* leaf; the processor state that xsave knows is in 0xd */

/* Takes from an entry what the processors of a level do not have; 0: the whole leaf. */
static int
cpuid_hide(struct ws_cpuid *d, enum cpu_level level)
{
	switch (d->leaf) {
	case 0:
		d->eax = d->eax < LAST ? d->eax : LAST;
		break;
	case 1:
		d->ecx &= KEPT | (level == CPU_V2 ? V2 : 0);
		break;
	case 7:
		d->eax = d->ebx = d->ecx = d->edx = 0;
		return d->sub == 0;
	case 0x80000001:
		d->ecx &= KEPT_EXT | (level == CPU_V2 ? V2_EXT : 0);
		d->edx &= ~HIDDEN;
		break;
	case 0x80000008:
		d->ebx = 0;
		break;
	case 0x80000021:
		d->eax = 0;
		break;
	}
	return d->leaf <= LAST || d->leaf >= 0x40000000;
}

size_t
cpuid_table(struct ws_cpuid *t, size_t max, enum cpu_level level)
{
	uint32_t a, b, ecx, d;
	size_t n = cpuid_leaves(t, 0, max, 0, 0x40), kept = 0;

	__cpuid(1, a, b, ecx, d);
	if (ecx >> 31)                  /* a hypervisor has its own leaves */
		n = cpuid_leaves(t, n, max, 0x40000000, 0x20);
	n = cpuid_leaves(t, n, max, 0x80000000, 0x40);
	if (level == CPU_NATIVE)
		return n;
	for (size_t i = 0; i < n; i++)
		if (cpuid_hide(&t[i], level))
			t[kept++] = t[i];
	return kept;
}

int
cpuid_level(const char *name, enum cpu_level *to)
{
	static const char *const level[] = {"native", "baseline", "v2"};

	for (size_t i = 0; i < sizeof(level) / sizeof(level[0]); i++)
		if (!strcmp(name, level[i])) {
			*to = (enum cpu_level)i;
			return 0;
		}
	return -1;
}

/* The processor's name, from leaves 0x80000002 to 0x80000004 of the table. */
void
cpuid_brand(const struct ws_cpuid *t, size_t n, char brand[49])
{
	size_t at = 0, len;

	memset(brand, 0, 49);
	for (size_t i = 0; i < n && at < 48; i++) {
		const struct ws_cpuid *d = &t[i];

		if (d->leaf < 0x80000002 || d->leaf > 0x80000004)
			continue;
		memcpy(brand + at, &d->eax, 16);
		at += 16;
	}
	for (at = 0; brand[at] == ' '; at++)
		;
	len = strlen(brand + at);
	memmove(brand, brand + at, len + 1);
	while (len && brand[len - 1] == ' ')
		brand[--len] = 0;
}

/*
 * By the table of the header, as a replay does: of two processors of a machine, cpuid tells different numbers.  In a
 * virtual machine it takes microseconds, and loaders use it often.
 */
void
put_cpuid(struct cap *c, struct user_regs_struct *g)
{
	struct ws_rec r = {.kind = WS_CPUID};
	const struct ws_cpuid *d = &r.u.cpuid;

	r.u.cpuid = ws_cpuid_find(c->all->cpuid, c->all->ncpuid, (uint32_t)g->rax, (uint32_t)g->rcx);
	g->rax = d->eax;
	g->rbx = d->ebx;
	g->rcx = d->ecx;
	g->rdx = d->edx;
	g->rip += 2;
	if (c->nocpuid) {
		put_emulated(c, &r, g);
		return;
	}
	g->orig_rax = UINT64_MAX;
	tracee_setregs(&c->t, g);
	c->behind = 0;
}
