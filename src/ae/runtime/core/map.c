/* The executable itself: its build id, the entries of its functions. */
#include "ae/runtime/call.h"

#include <link.h>
#include <sys/mman.h>

struct fn { uintptr_t entry, thunk, number; };  /* made by aerw */

#define PER_BYTE 252u           /* b0 of a function number is 1..252; 0 and 253..255 are other items */
#define MAXFN (256u * PER_BYTE)

#pragma GCC visibility push(hidden)
extern struct fn __start_aefn[] __attribute__((weak)), __stop_aefn[] __attribute__((weak));
extern const char __start_aetext[], __stop_aetext[];
extern const ElfW(Ehdr) __ehdr_start __attribute__((weak));
#pragma GCC visibility pop

__attribute__((section("aetext"))) int ae_intext(uintptr_t pc)
{
	return pc - (uintptr_t)__start_aetext < (uintptr_t)(__stop_aetext - __start_aetext);
}

size_t ae_buildid(uint8_t id[32])
{
	const ElfW(Ehdr) *eh = &__ehdr_start;
	const ElfW(Phdr) *ph;
	int i;

	if (!eh)
		return 0;
	ph = (const ElfW(Phdr) *)((const char *)eh + eh->e_phoff);
	for (i = 0; i < eh->e_phnum; i++) {
		const char *p = (const char *)(uintptr_t)ph[i].p_vaddr, *end = p + ph[i].p_memsz;

		if (ph[i].p_type != PT_NOTE)
			continue;
		while (end - p >= (long)sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *nh = (const ElfW(Nhdr) *)p;
			const char *name = p + sizeof *nh, *desc = name + (nh->n_namesz + 3u) / 4 * 4;

			if (nh->n_type == NT_GNU_BUILD_ID && nh->n_namesz == 4 && name[0] == 'G' &&
			    name[1] == 'N' && name[2] == 'U') {
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

/* Numbers every function and turns its entry into a jump to its thunk. */
int ae_patch(uintptr_t page)
{
	uintptr_t lo = ~(uintptr_t)0, hi = 0, i, n = (uintptr_t)(__stop_aefn - __start_aefn);

	if (n > MAXFN)
		n = MAXFN;
	for (i = 0; i < n; i++) {
		uintptr_t e = __start_aefn[i].entry;

		lo = e < lo ? e : lo;
		hi = e + AE_PATCHLEN > hi ? e + AE_PATCHLEN : hi;
	}
	lo &= ~(page - 1);
	hi = (hi + page - 1) & ~(page - 1);
	if (sys3(SYS_mprotect, (long)lo, (long)(hi - lo), PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return -1;
	for (i = 0; i < n; i++) {
		struct fn *f = __start_aefn + i;
		uintptr_t k = i / PER_BYTE << 8 | (1 + i % PER_BYTE);

		f->number = k << 16 | k;        /* in both halves, whichever the machine reads first */
		entry_patch(f->entry, f->thunk);
	}
	entry_sync(lo, hi);
	sys3(SYS_mprotect, (long)lo, (long)(hi - lo), PROT_READ | PROT_EXEC);
	return 0;
}
