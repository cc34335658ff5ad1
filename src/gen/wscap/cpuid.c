/* Collects the results of cpuid. */
#include <cpuid.h>
#include <string.h>

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

/* In ascending order. */
size_t
cpuid_table(struct ws_cpuid *t, size_t max)
{
	uint32_t a, b, ecx, d;
	size_t n = cpuid_leaves(t, 0, max, 0, 0x40);

	__cpuid(1, a, b, ecx, d);
	if (ecx >> 31)                  /* a hypervisor has its own leaves */
		n = cpuid_leaves(t, n, max, 0x40000000, 0x20);
	return cpuid_leaves(t, n, max, 0x80000000, 0x40);
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

/* Looks the table up: in a virtual machine, cpuid takes microseconds, and loaders use it often. */
void
cpuid_answer(struct cap *c, struct ws_cpuid *d)
{
	size_t i;

	for (i = 0; i < c->all->ncpuid; i++) {
		const struct ws_cpuid *k = &c->all->cpuid[i];

		if (k->leaf == d->leaf && k->sub == d->sub) {
			*d = *k;
			return;
		}
	}
	cpuid_add(d, 0, 1, d->leaf, d->sub);
	if (c->all->ncpuid < WS_CPUID_MAX)
		c->all->cpuid[c->all->ncpuid++] = *d;
}
