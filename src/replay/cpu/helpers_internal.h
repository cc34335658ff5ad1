/*
 * Shared by helpers.c and helpers_refs.c, which are compiled without vector registers:
 * unaligned access, guest registers, references.
 */
#ifndef TM_REPLAY_CPU_HELPERS_INTERNAL_H
#define TM_REPLAY_CPU_HELPERS_INTERNAL_H

#include <Zydis/Zydis.h>

#include "replay/cpu/emit_internal.h"

struct u16 { uint16_t v; } __attribute__((packed, may_alias));
struct u32 { uint32_t v; } __attribute__((packed, may_alias));
struct u64 { uint64_t v; } __attribute__((packed, may_alias));

#define BARRIER() __asm__ volatile("" ::: "memory")
static inline uint64_t
helper_get(const uint8_t *p, unsigned size)
{
	switch (size) {
	case 1: return *(const volatile uint8_t *)p;
	case 2: return ((const volatile struct u16 *)p)->v;
	case 4: return ((const volatile struct u32 *)p)->v;
	default: return ((const volatile struct u64 *)p)->v;
	}
}

static inline void
helper_set(uint8_t *p, unsigned size, uint64_t v)
{
	switch (size) {
	case 1: *(volatile uint8_t *)p = (uint8_t)v; break;
	case 2: ((volatile struct u16 *)p)->v = (uint16_t)v; break;
	case 4: ((volatile struct u32 *)p)->v = (uint32_t)v; break;
	default: ((volatile struct u64 *)p)->v = v; break;
	}
}

static inline int
helper_has_words(const struct rp_frame *f)
{
	return f->mode > RP_TALLY;
}

static inline void
helper_word(struct rp_frame *f, unsigned kind, uint64_t addr, unsigned size)
{
	if (!helper_has_words(f)) {
		f->tally[kind]++;
		return;
	}
	*(uint64_t *)(uintptr_t)f->out = ref_make(kind, addr, size);
	f->out += 8;
}

/* The references of an instruction, or of an element of it, begin: a fault takes them back. */
static inline void
helper_begin(struct rp_frame *f)
{
	f->out0 = f->out;
	f->helped = (1u << REF_NACCESS) - 1;
	for (unsigned k = 0; k < REF_NACCESS; k++)
		f->tally0[k] = f->tally[k];
}

static inline uint64_t
helper_segment(const struct rp_frame *f, const struct rp_hinfo *h)
{
	return h->seg == 1 ? f->fsbase : h->seg == 2 ? f->gsbase : 0;
}

#endif
