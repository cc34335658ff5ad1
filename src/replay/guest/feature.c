/*
 * Checks that this processor has the features that the captured program could use: the table of
 * feature.def against cpuid.
 */
#include <cpuid.h>
#include <stdio.h>
#include <string.h>

#include "replay/guest/feature.h"

enum reg { EAX, EBX, ECX, EDX };

static const struct feature {
	uint32_t leaf, sub;
	enum reg reg;
	unsigned bit;
	const char *name;
} feature[] = {
#define F(leaf, sub, reg, bit, name) { leaf, sub, reg, bit, name },
#include "replay/guest/feature.def"
#undef F
};

static const struct {
	unsigned bit;
	const char *name;
} state[] = {
	{ 0, "x87 state" }, { 1, "sse state" }, { 2, "avx state" },
	{ 5, "avx512 masks" }, { 6, "avx512 state" }, { 7, "avx512 registers 16 to 31" },
	{ 9, "protection keys" }, { 17, "amx configuration" }, { 18, "amx tiles" },
};

static uint32_t
reg_of(const struct ws_cpuid *c, enum reg reg)
{
	switch (reg) {
	case EAX: return c->eax;
	case EBX: return c->ebx;
	case ECX: return c->ecx;
	default: return c->edx;
	}
}

static void
feature_host(struct ws_cpuid *c)
{
	c->eax = c->ebx = c->ecx = c->edx = 0;
	__get_cpuid_count(c->leaf, c->sub, &c->eax, &c->ebx, &c->ecx, &c->edx);
}

/* The XSAVE components that the system and the processor enable. */
static uint64_t
host_xcr0(void)
{
	struct ws_cpuid c = { .leaf = 1 };
	uint32_t lo, hi;

	feature_host(&c);
	if (!(c.ecx >> 27 & 1))         /* OSXSAVE is clear */
		return 3;
	__asm__ volatile ("xgetbv" : "=a" (lo), "=d" (hi) : "c" (0));
	return lo | (uint64_t)hi << 32;
}

static void
feature_lack(char *list, size_t n, const char *name)
{
	size_t at = strlen(list);

	snprintf(list + at, n - at, "%s%s", at ? ", " : "", name);
}

/* Does the capture's processor have the feature? */
static int
feature_had(const struct ws_header *h, const struct feature *f)
{
	for (size_t k = 0; k < h->ncpuid; k++)
		if (h->cpuid[k].leaf == f->leaf && h->cpuid[k].sub == f->sub)
			return reg_of(&h->cpuid[k], f->reg) >> f->bit & 1;
	return 0;
}

int
feature_check(const struct ws_header *h, char *err, size_t n)
{
	char list[160] = "";
	uint64_t states = h->xcr0 & ~host_xcr0();
	struct ws_cpuid mine = { .leaf = UINT32_MAX };

	for (size_t i = 0; i < sizeof feature / sizeof feature[0]; i++) {
		const struct feature *f = &feature[i];

		if (!feature_had(h, f))
			continue;
		if (mine.leaf != f->leaf || mine.sub != f->sub) {
			mine.leaf = f->leaf;
			mine.sub = f->sub;
			feature_host(&mine);
		}
		if (!(reg_of(&mine, f->reg) >> f->bit & 1))
			feature_lack(list, sizeof list, f->name);
	}
	for (size_t i = 0; i < sizeof state / sizeof state[0]; i++)
		if (states >> state[i].bit & 1)
			feature_lack(list, sizeof list, state[i].name);
	if (!list[0])
		return 0;
	snprintf(err, n, "captured on a processor (%s) with what this one lacks: %s",
	    h->brand && h->brand[0] ? h->brand : "unnamed", list);
	return -1;
}
