/* The executable itself: its build id, the entries of its functions. */
#include "aert.h"
#include "sys.h"

#include <elf.h>
#include <sys/mman.h>

struct fn { uint64_t entry, thunk, number; };       /* 24 bytes, made by aerw */

#define PER_BYTE 252u           /* b0 of a function number is 1..252; 0 and 253..255 are other items */
#define MAXFN (256u * PER_BYTE)

#pragma GCC visibility push(hidden)
extern struct fn __start_aefn[] __attribute__((weak)), __stop_aefn[] __attribute__((weak));
extern const char __start_aetext[], __stop_aetext[];
extern const Elf64_Ehdr __ehdr_start __attribute__((weak));
#pragma GCC visibility pop

__attribute__((section("aetext"))) int ae_intext(uint64_t rip)
{
	return rip - (uint64_t)(uintptr_t)__start_aetext < (uint64_t)(__stop_aetext - __start_aetext);
}

size_t ae_buildid(uint8_t id[32])
{
	const Elf64_Ehdr *eh = &__ehdr_start;
	const Elf64_Phdr *ph;
	int i;

	if (!eh)
		return 0;
	ph = (const Elf64_Phdr *)((const char *)eh + eh->e_phoff);
	for (i = 0; i < eh->e_phnum; i++) {
		const char *p = (const char *)(uintptr_t)ph[i].p_vaddr, *end = p + ph[i].p_memsz;

		if (ph[i].p_type != PT_NOTE)
			continue;
		while (end - p >= (long)sizeof(Elf64_Nhdr)) {
			const Elf64_Nhdr *nh = (const Elf64_Nhdr *)p;
			const char *name = p + sizeof *nh, *desc = name + (nh->n_namesz + 3u) / 4 * 4;

			if (nh->n_type == NT_GNU_BUILD_ID && nh->n_namesz == 4 && name[0] == 'G' && name[1] == 'N' && name[2] == 'U') {
				size_t n = nh->n_descsz < 32 ? nh->n_descsz : 32;

				mem_copy(id, desc, n);
				return n;
			}
			p = desc + (nh->n_descsz + 3u) / 4 * 4;
		}
	}
	return 0;
}

int ae_traceable(void)
{
	return &__stop_aefn[0] > &__start_aefn[0];
}

/* Number every function and turn its entry into a jump to its thunk. */
int ae_patch(void)
{
	uint64_t lo = ~(uint64_t)0, hi = 0, i, n = (uint64_t)(__stop_aefn - __start_aefn);

	if (n > MAXFN)
		n = MAXFN;
	for (i = 0; i < n; i++) {
		uint64_t e = __start_aefn[i].entry;

		lo = e < lo ? e : lo;
		hi = e + 5 > hi ? e + 5 : hi;
	}
	lo &= ~(uint64_t)4095;
	hi = (hi + 4095) & ~(uint64_t)4095;
	if (sys3(SYS_mprotect, (long)lo, (long)(hi - lo), PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return -1;
	for (i = 0; i < n; i++) {
		struct fn *f = __start_aefn + i;
		uint8_t *e = (uint8_t *)(uintptr_t)f->entry;
		uint32_t rel = (uint32_t)(f->thunk - f->entry - 5);

		f->number = i / PER_BYTE << 8 | (1 + i % PER_BYTE);
		e[0] = 0xe9;
		mem_copy(e + 1, &rel, 4);
	}
	sys3(SYS_mprotect, (long)lo, (long)(hi - lo), PROT_READ | PROT_EXEC);
	return 0;
}
