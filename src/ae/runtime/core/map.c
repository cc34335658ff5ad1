/* The executable itself: its build id, the entries of its functions. */
#include "ae/runtime/call.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

/* made by aerw; the third word is AE_OBJECTS first, later the number */
struct fn { uintptr_t entry, thunk, number; };

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

static const ElfW(Phdr) *segments(const ElfW(Ehdr) *eh)
{
	return (const ElfW(Phdr) *)((const char *)eh + eh->e_phoff);
}

uintptr_t ae_base(void)
{
	const ElfW(Ehdr) *eh = &__ehdr_start;
	int i;

	if (!eh || eh->e_type != ET_DYN)
		return 0;
	for (i = 0; i < eh->e_phnum; i++) {
		const ElfW(Phdr) *ph = segments(eh) + i;

		if (ph->p_type == PT_LOAD && ph->p_offset == 0)
			return (uintptr_t)eh - ph->p_vaddr;
	}
	return 0;
}

size_t ae_buildid(uint8_t id[32])
{
	const ElfW(Ehdr) *eh = &__ehdr_start;
	const ElfW(Phdr) *ph;
	int i;

	if (!eh)
		return 0;
	ph = segments(eh);
	for (i = 0; i < eh->e_phnum; i++) {
		const char *p = (const char *)(ae_base() + ph[i].p_vaddr), *end = p + ph[i].p_memsz;

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

static int same(const char *a, const char *b, uint64_t most)
{
	for (; most && *a && *a == *b; a++, b++)
		most--;
	return most && *a == *b;
}

int ae_traceable(void)
{
	return &__stop_aefn[0] > &__start_aefn[0];
}

int ae_current(void)
{
	const struct fn *f;

	for (f = __start_aefn; f < __stop_aefn; f++)
		if (f->number != AE_OBJECTS)
			return 0;
	return 1;
}

/* A function of the executable's symbol table that is traced: its entry in the table of functions, or NULL */
static struct fn *find(const uint8_t *image, uint64_t size, const char *name)
{
	const ElfW(Ehdr) *eh = (const ElfW(Ehdr) *)image;
	const ElfW(Shdr) *sh, *str;
	uintptr_t i, j, n = (uintptr_t)(__stop_aefn - __start_aefn);
	unsigned k;

	if (size < sizeof *eh || eh->e_shoff > size || (size - eh->e_shoff) / sizeof *sh < eh->e_shnum)
		return NULL;
	sh = (const ElfW(Shdr) *)(image + eh->e_shoff);
	for (k = 0; k < eh->e_shnum; k++) {
		const ElfW(Sym) *sym;

		if (sh[k].sh_type != SHT_SYMTAB || sh[k].sh_link >= eh->e_shnum)
			continue;
		str = sh + sh[k].sh_link;
		if (sh[k].sh_offset > size || sh[k].sh_size > size - sh[k].sh_offset || str->sh_offset > size ||
		    str->sh_size > size - str->sh_offset || str->sh_size == 0)
			continue;
		sym = (const ElfW(Sym) *)(image + sh[k].sh_offset);
		for (i = 0; i < sh[k].sh_size / sizeof *sym; i++) {
			const char *s = (const char *)image + str->sh_offset;

			if ((sym[i].st_info & 15) != STT_FUNC || sym[i].st_name >= str->sh_size ||
			    !same(s + sym[i].st_name, name, str->sh_size - sym[i].st_name))
				continue;
			for (j = 0; j < n && j < MAXFN; j++)
				if (__start_aefn[j].entry == ae_base() + sym[i].st_value)
					return __start_aefn + j;
		}
	}
	return NULL;
}

int ae_arm(const char *name)
{
	int fd = (int)sys4(SYS_openat, AT_FDCWD, SYS_P("/proc/self/exe"), O_RDONLY | O_CLOEXEC, 0);
	uint64_t size = fd < 0 ? 0 : sys_end(fd);
	struct fn *f = NULL;
	long r;

	if (fd >= 0 && size > 0 && size <= SIZE_MAX / 2) {
		r = sys6(SYS_mmap, 0, (long)size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (!sys_err(r)) {
			f = find((const uint8_t *)r, size, name);
			sys3(SYS_munmap, r, (long)size, 0);
		}
	}
	if (fd >= 0)
		sys3(SYS_close, fd, 0, 0);
	if (!f)
		return -1;
	ae_first_thunk = f->thunk;
	f->thunk = (uintptr_t)ae_first;
	ae_armed = 1;
	return 0;
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
