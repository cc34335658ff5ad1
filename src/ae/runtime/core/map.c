/* Files with traced functions, first of all the executable: build ids, entries of functions. */
#include "ae/runtime/call.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#define PER_BYTE 252u           /* b0 of a function number is 1..252; 0 and 253..255 are other items */
#define MAXFN ((uintptr_t)AE_MAXFN)
#define AE_POPULATE 23          /* MADV_POPULATE_WRITE, which older headers do not have */

#pragma GCC visibility push(hidden)
extern struct ae_fn __start_aefn[] __attribute__((weak)), __stop_aefn[] __attribute__((weak));
extern const char __start_aetext[], __stop_aetext[];
#if AE_LINKS
extern const struct ae_site __start_aecall[] __attribute__((weak)), __stop_aecall[] __attribute__((weak));
#endif
extern const ElfW(Ehdr) __ehdr_start __attribute__((weak));
#pragma GCC visibility pop

struct ae_module ae_self;
int ae_lent;

static uintptr_t page_size;
static const struct ae_fn *armed;       /* AE_FROM's function, or NULL */

__attribute__((section("aetext"))) int ae_intext(uintptr_t pc)
{
	const struct ae_range *r;

	if (pc - (uintptr_t)__start_aetext < (uintptr_t)(__stop_aetext - __start_aetext))
		return 1;
	for (r = ae_range; r < ae_range_end; r++)
		if (pc - r->begin < r->size)
			return 1;
	return 0;
}

static const ElfW(Phdr) *segments(const ElfW(Ehdr) *eh)
{
	return (const ElfW(Phdr) *)((const char *)eh + eh->e_phoff);
}

uintptr_t ae_base(const struct ae_module *m)
{
	const ElfW(Ehdr) *eh = m->ehdr;
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

size_t ae_buildid(const struct ae_module *m, uint8_t id[32])
{
	const ElfW(Ehdr) *eh = m->ehdr;
	const ElfW(Phdr) *ph;
	int i;

	if (!eh)
		return 0;
	ph = segments(eh);
	for (i = 0; i < eh->e_phnum; i++) {
		const char *p = (const char *)(ae_base(m) + ph[i].p_vaddr), *end = p + ph[i].p_memsz;

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

/* Not initialized data: with -z pack-relative-relocs, ld leaves out what makes the address of __ehdr_start. */
int ae_traceable(void)
{
	ae_self.version = AE_LIBRARY;
	ae_self.fn = __start_aefn;
	ae_self.fnend = __stop_aefn;
	ae_self.text = __start_aetext;
	ae_self.textend = __stop_aetext;
#if AE_LINKS
	ae_self.site = __start_aecall;
	ae_self.siteend = __stop_aecall;
#endif
	ae_self.ehdr = &__ehdr_start;
	machine_length((uintptr_t)(ae_self.textend - ae_self.text));
	return ae_self.fnend > ae_self.fn;
}

int ae_current(const struct ae_module *m)
{
	const struct ae_fn *f;

	for (f = m->fn; f < m->fnend; f++)
		if ((f->number & ~(uintptr_t)(AE_INLIB | AE_LENT)) != AE_OBJECTS)
			return 0;
	return 1;
}

int ae_alike(const struct ae_module *m)
{
	const struct ae_fn *f;

	if (m == &ae_self)
		ae_lent = (m->fn->number & AE_LENT) != 0;
	for (f = m->fn; f < m->fnend; f++)
		if (((f->number & AE_LENT) != 0) != ae_lent)
			return 0;
	return 1;
}

/* A function of the executable's symbol table that is traced: its entry in the table of functions, or NULL */
static struct ae_fn *find(const uint8_t *image, uint64_t size, const char *name)
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
				if (__start_aefn[j].entry == ae_base(&ae_self) + sym[i].st_value &&
				    !(__start_aefn[j].number & AE_INLIB))
					return __start_aefn + j;
		}
	}
	return NULL;
}

int ae_arm(const char *name)
{
	int fd = (int)sys4(SYS_openat, AT_FDCWD, SYS_P("/proc/self/exe"), O_RDONLY | O_CLOEXEC, 0);
	uint64_t size = fd < 0 ? 0 : sys_end(fd);
	struct ae_fn *f = NULL;
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
	armed = f;
	ae_first_thunk = f->thunk;
	ae_armed = 1;
	return 0;
}

#if AE_LINKS
/* The entries of the function whose original is at `entry`, if that is a patched function of the file; or NULL */
static const struct ae_entries *entries(const struct ae_module *m, uintptr_t entry, uintptr_t lo, uintptr_t hi)
{
	const struct ae_entries *e;
	const struct ae_fn *f;
	uintptr_t thunk;

	if (entry < lo || entry >= hi || hi - entry < AE_PATCHLEN)
		return NULL;
	thunk = entry_patched(entry);
	if (thunk < (uintptr_t)m->text + sizeof *e || thunk >= (uintptr_t)m->textend)
		return NULL;
	e = (const struct ae_entries *)thunk - 1;
	f = (const struct ae_fn *)(thunk + (uintptr_t)(intptr_t)e->fn);
	return f >= m->fn && f < m->fnend && ((uintptr_t)f - (uintptr_t)m->fn) % sizeof *f == 0 && f->entry == entry &&
	    f->thunk == thunk ? e : NULL;
}

/*
 * Calls and jumps between files whose targets are patched functions need no thunk. A call of a function that does not leave by a
 * jump becomes one of a known function; regeneration finds out by the same rule (program_link).
 */
static void ae_link(const struct ae_module *m, uintptr_t lo, uintptr_t hi)
{
	const struct ae_site *s;

	for (s = m->site; s < m->siteend; s++) {
		uint8_t *p = (uint8_t *)((uintptr_t)&s->code + (uintptr_t)(intptr_t)s->code);
		const struct ae_entries *e = entries(m, site_target(p), lo, hi);
		uintptr_t thunk = (uintptr_t)(e + 1);

		if (!e)
			continue;
		if (site_iscall(p) && !(e->need & AE_TAILOUT))
			site_link(p, thunk + (uintptr_t)(intptr_t)(e->need & ~(uint64_t)s->known ? e->call : e->twin),
			    s->length);
		else
			site_link(p, thunk + (uintptr_t)(intptr_t)e->jump, 0);
	}
}
#endif

static int protect(uintptr_t lo, uintptr_t hi, int prot)
{
	lo &= ~(page_size - 1);
	hi = (hi + page_size - 1) & ~(page_size - 1);
	return sys3(SYS_mprotect, (long)lo, (long)(hi - lo), prot) != 0 ? -1 : 0;
}

/*
 * Makes code writable, of which n places are about to be changed. If that is likely to be each page, the kernel makes them private at
 * once: faults for one page after the other are half of the time in which a large program starts. A kernel that cannot do it
 * (before 5.14) refuses, and there are these faults.
 */
static int unprotect(uintptr_t lo, uintptr_t hi, uintptr_t n)
{
	if (protect(lo, hi, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return -1;
	lo &= ~(page_size - 1);
	hi = (hi + page_size - 1) & ~(page_size - 1);
	if (n >= (hi - lo) / page_size)
		sys3(SYS_madvise, (long)lo, (long)(hi - lo), AE_POPULATE);
	return 0;
}

int ae_patch(struct ae_module *m, uintptr_t page)
{
	uintptr_t lo = ~(uintptr_t)0, hi = 0, i, n = (uintptr_t)(m->fnend - m->fn);

	if (page)
		page_size = page;
	if (n > MAXFN - m->first)
		n = MAXFN - m->first;
	for (i = 0; i < n; i++) {
		uintptr_t e = m->fn[i].entry;

		lo = e < lo ? e : lo;
		hi = e + AE_PATCHLEN > hi ? e + AE_PATCHLEN : hi;
	}
	if (unprotect(lo, hi, n) != 0)
		return -1;
#if AE_LINKS
	if (unprotect((uintptr_t)m->text, (uintptr_t)m->textend, (uintptr_t)(m->siteend - m->site)) != 0) {
		protect(lo, hi, PROT_READ | PROT_EXEC);
		return -1;
	}
#endif
	for (i = 0; i < n; i++) {
		struct ae_fn *f = m->fn + i;
		uintptr_t no = m->first + i, k = no / PER_BYTE << 8 | (1 + no % PER_BYTE);

		if (f->number & AE_INLIB && m == &ae_self)
			continue;
		f->number = k << 16 | k;        /* in both halves, whichever the machine reads first */
		entry_patch(f->entry, f->thunk);
	}
#if AE_LINKS
	ae_link(m, lo, hi);
	protect((uintptr_t)m->text, (uintptr_t)m->textend, PROT_READ | PROT_EXEC);
#endif
	if (armed && m == &ae_self)
		entry_patch(armed->entry, (uintptr_t)ae_first);
	entry_sync(lo & ~(page_size - 1), (hi + page_size - 1) & ~(page_size - 1));
	protect(lo, hi, PROT_READ | PROT_EXEC);
	return 0;
}
