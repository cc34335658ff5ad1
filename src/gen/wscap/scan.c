/*
 * Finds the instructions rdrand, rdseed, rdpid, rdtsc and cpuid in code.  Where decoding from the start of a function, known
 * from .eh_frame_hdr or symbols, reaches one, it certainly is an instruction.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <elf.h>
#include <x86intrin.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/search.h"
#include "gen/wscap/hold.h"
#include "gen/wscap/scan.h"
#include "gen/wscap/wscap.h"
#include "isa/x86/decode.h"
#include "isa/x86/length.h"

#define LONGEST 8u              /* bytes of such an instruction, with meaningful prefixes */
#define UNOPENED (-2)           /* a file */
#define FUNCTION (256u << 10)   /* maximum bytes of a function that are decoded */
#define AROUND 64u              /* bytes before a place that may be an instruction, instructions after it */
#define TABLE    (64u << 20)    /* maximum bytes of the table of functions */

/* The functions of a file, by ascending address. */
struct functions {
	int fd;
	Elf64_Phdr ph[64];
	unsigned nph;
	uint64_t at, n, vaddr;          /* offset of the table in the file; entries; base of its addresses */
	uint8_t *table;                 /* it is read when an address is looked for */
	uint64_t symbols, nsymbols;     /* offset and number of symbols in the file */
	uint64_t start, decoded;        /* a function, and where an instruction of it begins */
	int assumed;                    /* if instructions before it are what they seem to be: x86_length */
};

/* Statically linked programs have no .eh_frame_hdr: uses their symbols. */
static void
find_symbols(struct functions *f, const Elf64_Ehdr *e)
{
	Elf64_Shdr s;

	for (unsigned i = 0; i < e->e_shnum && e->e_shentsize == sizeof(s); i++)
		if (pread(f->fd, &s, sizeof(s), (off_t)(e->e_shoff + i * sizeof(s))) == sizeof(s) &&
		    s.sh_type == SHT_SYMTAB) {
			f->symbols = s.sh_offset;
			f->nsymbols = s.sh_size / sizeof(Elf64_Sym);
		}
}

static int
functions_open(struct functions *f, const char *path)
{
	Elf64_Ehdr e;
	uint8_t h[12];

	f->fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (f->fd < 0 || pread(f->fd, &e, sizeof(e), 0) != sizeof(e) || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_machine != EM_X86_64 || e.e_phentsize != sizeof(f->ph[0]) || e.e_phnum > 64)
		return -1;
	f->nph = e.e_phnum;
	if (pread(f->fd, f->ph, f->nph * sizeof(f->ph[0]), (off_t)e.e_phoff) !=
	    (ssize_t)(f->nph * sizeof(f->ph[0])))
		return -1;
	for (unsigned i = 0; i < f->nph; i++)
		if (f->ph[i].p_type == PT_GNU_EH_FRAME &&
		    pread(f->fd, h, 12, (off_t)f->ph[i].p_offset) == 12 && h[0] == 1 && h[1] == 0x1b &&
		    h[2] == 3 && h[3] == 0x3b) {
			f->at = f->ph[i].p_offset + 12;
			f->n = get_le32(h + 8);
			f->vaddr = f->ph[i].p_vaddr;
		}
	if (!f->n)
		find_symbols(f, &e);
	return 0;
}

/* Reads the table: 0; -1: there is none. */
static int
functions_read(struct functions *f)
{
	if (f->table)
		return 0;
	f->table = f->n && f->n <= TABLE / 8 ? malloc(8 * f->n) : NULL;
	if (f->table && pread(f->fd, f->table, 8 * f->n, (off_t)f->at) == (ssize_t)(8 * f->n))
		return 0;
	f->n = 0;
	return -1;
}

static uint64_t
function_at(const struct functions *f, uint64_t i)
{
	return f->vaddr + (uint64_t)(int32_t)get_le32(f->table + 8 * i);
}

/*
 * Start of the function that contains addr, by symbols.  Labels of assembly code have neither
 * type nor size: the last one before addr is also the start of an instruction.
 */
static uint64_t
symbol_start(const struct functions *f, uint64_t addr)
{
	Elf64_Sym s[256];
	uint64_t best = UINT64_MAX, label = UINT64_MAX;

	for (uint64_t i = 0; i < f->nsymbols; i += 256) {
		size_t n = f->nsymbols - i < 256 ? (size_t)(f->nsymbols - i) : 256;

		if (pread(f->fd, s, n * sizeof(s[0]), (off_t)(f->symbols + i * sizeof(s[0]))) !=
		    (ssize_t)(n * sizeof(s[0])))
			break;
		for (size_t k = 0; k < n; k++) {
			if (s[k].st_shndx == SHN_UNDEF || s[k].st_shndx >= SHN_LORESERVE ||
			    s[k].st_value > addr)
				continue;
			if (ELF64_ST_TYPE(s[k].st_info) == STT_FUNC && addr - s[k].st_value < s[k].st_size)
				best = s[k].st_value;
			if (ELF64_ST_TYPE(s[k].st_info) == STT_NOTYPE &&
			    (label > addr || s[k].st_value > label))
				label = s[k].st_value;
		}
	}
	return best != UINT64_MAX ? best : label;
}

static uint64_t
function_start(struct functions *f, uint64_t addr)
{
	size_t i;

	if (functions_read(f))
		return symbol_start(f, addr);
	LOWER_BOUND(i, f->n, function_at(f, i) <= addr);
	return function_at(f, i ? i - 1 : 0);
}

/*
 * Decodes n bytes of code, from the start of an instruction at address f->decoded to offset `to`, or to the end of
 * the instruction that contains it, which is then f->decoded: 0, or -1.
 */
static int
decode_to(struct functions *f, const uint8_t *code, size_t n, size_t to, int assume)
{
	ZydisDecodedInstruction z;
	size_t at = 0;

	while (at < to) {
		int assumed = 0;
		unsigned length = x86_length(code + at, n - at, &assumed);

		if (assumed && !assume)
			length = 0;
		if (!length && x86_decode(&z, NULL, code + at, n - at, x86_amd_here()) != 0)
			return -1;
		f->assumed |= assumed && assume;
		at += length ? length : z.length;
	}
	f->decoded += at;
	return 0;
}

/* The same for the instruction at addr, which is at offset off, from `from` on; see is_instruction. */
static int
decode_from(struct functions *f, uint64_t from, uint64_t addr, uint64_t off, unsigned len, int assume)
{
	static uint8_t *code;           /* of the heap, whose pages are there */
	ssize_t got;

	if (!code)
		code = xmalloc(FUNCTION);
	/* to the end of an instruction that contains these bytes */
	got = pread(f->fd, code, addr - from + ZYDIS_MAX_INSTRUCTION_LENGTH, (off_t)(off - (addr - from)));
	f->decoded = from;
	if (got < (ssize_t)(addr - from + len) || decode_to(f, code, (size_t)got, addr - from, assume))
		return 0;
	return f->decoded == addr ? 1 : -1;
}

/*
 * Is there an instruction of len bytes at offset off of the file? -1: no, the instructions of
 * its function are at other offsets.  If all before it are what they seem to be, that is; before
 * that is said to be so, they are looked at.
 */
static int
is_instruction(struct functions *f, uint64_t off, unsigned len)
{
	uint64_t addr, start, from;
	unsigned i;
	int is;

	for (i = 0; i < f->nph; i++)
		if (f->ph[i].p_type == PT_LOAD && off >= f->ph[i].p_offset &&
		    off - f->ph[i].p_offset < f->ph[i].p_filesz)
			break;
	if (i == f->nph)
		return 0;
	addr = off - f->ph[i].p_offset + f->ph[i].p_vaddr;
	start = function_start(f, addr);
	if (start > addr || addr - start > FUNCTION - ZYDIS_MAX_INSTRUCTION_LENGTH || off < addr - start)
		return 0;
	/* a large function may have many such places */
	from = f->start == start && f->decoded <= addr ? f->decoded : start;
	if (from == start)
		f->assumed = 0;
	is = decode_from(f, from, addr, off, len, 1);
	if (is > 0 && f->assumed) {
		f->assumed = 0;
		is = decode_from(f, start, addr, off, len, 0);
	}
	f->start = is ? start : UINT64_MAX;
	return is;
}

/* Does no program of users execute this? */
static int
is_foreign(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_INT1: case ZYDIS_MNEMONIC_INTO: case ZYDIS_MNEMONIC_IRET: case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IN: case ZYDIS_MNEMONIC_OUT: case ZYDIS_MNEMONIC_ENTER:
		return 1;
	default:
		return (z->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0 ||
		    z->meta.category == ZYDIS_CATEGORY_INTERRUPT || z->meta.category == ZYDIS_CATEGORY_IO ||
		    z->meta.category == ZYDIS_CATEGORY_IOSTRINGOP || z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
	}
}

/* Are the instructions after the one at p[at], up to a jump or return, such as no program executes? */
static int
foreign_after(const uint8_t *p, size_t at, size_t n)
{
	ZydisDecodedInstruction z;

	for (unsigned k = 0; k < AROUND && n - at >= ZYDIS_MAX_INSTRUCTION_LENGTH; k++) {
		if (x86_decode(&z, NULL, p + at, n - at, x86_amd_here()) || is_foreign(&z))
			return 1;
		if (z.meta.category == ZYDIS_CATEGORY_RET || z.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
			return 0;
		at += z.length;
	}
	return 0;
}

/*
 * Instructions that are decoded from different places soon begin at the same ones: do those that are decoded
 * from most places before p[at] not begin there?  Each place is decoded once: from the last one on, where decoding
 * from it comes to is known from those after it.
 */
static int
passed_over(const uint8_t *p, size_t at, size_t n)
{
	enum { NOWHERE, MEETS, PASSES } comes[AROUND];  /* decoding from at - 1 - k */
	unsigned met = 0, passed = 0;

	for (size_t k = 0; k < AROUND && k < at; k++) {
		size_t i = at - 1 - k;
		ZydisDecodedInstruction z;

		if (x86_decode(&z, NULL, p + i, n - i, x86_amd_here()) || is_foreign(&z))
			comes[k] = NOWHERE;
		else
			comes[k] = z.length == k + 1 ? MEETS : z.length > k ? PASSES : comes[k - z.length];
		/* not where an instruction that begins there could end after p[at] whatever it is */
		met += k + 1 >= ZYDIS_MAX_INSTRUCTION_LENGTH && comes[k] == MEETS;
		passed += k + 1 >= ZYDIS_MAX_INSTRUCTION_LENGTH && comes[k] == PASSES;
	}
	return passed > 4 * met;
}

/* 0f c7 is at p[i]; prefixes before it usually belong to it. */
static int
scan_begins(const uint8_t *p, size_t i, size_t n, struct tracee_decode_random *d, size_t *from)
{
	for (*from = i > 2 ? i - 2 : 0; *from <= i; ++*from)
		if (!tracee_decode_random(p + *from, n - *from, d) && *from + d->len == i + 3)
			return 1;
	return 0;
}

/* The first two bytes of rdtsc, rdtscp, cpuid, or rdrand and the like, from p[i] on; n: there are none. */
static size_t
scan_next(const uint8_t *p, size_t i, size_t n)
{
	const __m128i first = _mm_set1_epi8(0x0f), tsc = _mm_set1_epi8(0x31), tscp = _mm_set1_epi8(0x01),
	    random = _mm_set1_epi8((char)0xc7), cpuid = _mm_set1_epi8((char)0xa2);

	for (; i + 17 <= n; i += 16) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + i + 1));
		__m128i is = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(b, tsc), _mm_cmpeq_epi8(b, tscp)),
		    _mm_or_si128(_mm_cmpeq_epi8(b, random), _mm_cmpeq_epi8(b, cpuid)));
		unsigned at = (unsigned)_mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(a, first), is));

		if (at)
			return i + (unsigned)__builtin_ctz(at);
	}
	for (; i + 2 <= n; i++)
		if (p[i] == 0x0f && (p[i + 1] == 0x31 || p[i + 1] == 0x01 || p[i + 1] == 0xc7 || p[i + 1] == 0xa2))
			return i;
	return n;
}

/* An instruction of one of the kinds at b, of at most n bytes: 0, or -1 */
static int
scan_decode(const uint8_t *b, size_t n, struct tracee_decode_random *d)
{
	if (n >= 2 && b[0] == 0x0f && b[1] == 0xa2) {
		*d = (struct tracee_decode_random){.insn = TRACEE_CPUID, .len = 2};
		return 0;
	}
	return tracee_decode_random(b, n, d) ? tracee_decode_tsc(b, n, d) : 0;
}

/* p[i] and p[i + 1] are as scan_next finds them; *from: where the instruction begins. */
static int
scan_is(const struct cap *c, const uint8_t *p, size_t i, size_t n, struct tracee_decode_random *d, size_t *from)
{
	*from = i;
	if (p[i + 1] == 0xc7)
		return p[i + 2] >= 0xf0 && scan_begins(p, i, n, d, from);
	return !scan_decode(p + i, n - i, d) && !(d->insn == TRACEE_CPUID ? c->nocpuid : c->notsc);
}

/* Is it an instruction, by the functions of the file? */
static void
scan_judge(struct functions *f, const char *name, const struct region *r, struct scan_found *found)
{
	if (f->fd == UNOPENED)
		(void)functions_open(f, name);
	found->is = is_instruction(f, found->at + r->offset, found->d.len);
}

static void
scan_code(struct cap *c, const struct region *r, const char *name, struct scan *s)
{
	uint8_t *p = c->all->scratch;
	struct functions f = {.fd = UNOPENED};

	for (uint64_t at = r->lo; at < r->hi; at += CHUNK - LONGEST) {
		size_t n = hold_read(c, at, p, r->hi - at < CHUNK ? (size_t)(r->hi - at) : CHUNK), from;

		for (size_t i = 0; i + 3 <= n; i++) {
			struct scan_found found = {0};

			i = scan_next(p, i, n);
			if (i + 3 > n)
				break;
			if (!scan_is(c, p, i, n, &found.d, &from))
				continue;
			found.at = at + from - r->lo;
			scan_judge(&f, name, r, &found);
			if (found.is < 0)
				continue;
			found.unlikely = foreign_after(p, from, n) || passed_over(p, from, n);
			s->found = mem_xgrow(s->found, &s->cap, s->n + 1, sizeof(*s->found));
			s->found[s->n++] = found;
		}
		if (n < CHUNK)
			break;
	}
	if (f.fd >= 0)
		close(f.fd);
	free(f.table);
}

/* A store remembers what was found in a file, by these rules: they have another number when they find anything else. */
#define RULES   1u
#define FOUND   16u             /* bytes of a note for each place */

static uint32_t
scan_kind(const struct scan *s)
{
	return RULES << 8 | (x86_amd_here() ? 4u : 0u) | (s->notsc ? 2u : 0u) | (s->nocpuid ? 1u : 0u);
}

/* What the store has of s: 0; -1: nothing, or it is not what the file has there */
static int
scan_kept(const struct hold_file *f, struct scan *s)
{
	size_t n;
	const uint8_t *p = ws_index_kept(f->index, scan_kind(s), s->offset, s->size, &n);

	if (!p || n % FOUND)
		return -1;
	s->found = mem_xgrow(s->found, &s->cap, n / FOUND + 1, sizeof(*s->found));
	for (s->n = 0; s->n < n / FOUND; p += FOUND) {
		struct scan_found *is = &s->found[s->n++];
		struct tracee_decode_random d;
		uint8_t b[LONGEST];
		ssize_t got;

		*is = (struct scan_found){.at = get_le64(p), .is = p[12] & 1, .unlikely = p[12] >> 1 & 1,
		    .d = {get_le32(p + 8), p[13], p[14], p[15]}};
		got = pread(f->fd, b, sizeof(b), (off_t)(s->offset + is->at));
		if (is->at >= s->size || got < 2 || scan_decode(b, (size_t)got, &d) || memcmp(&d, &is->d, sizeof(d))) {
			s->n = 0;
			return -1;
		}
	}
	return 0;
}

static void
scan_keep(const struct hold_file *f, const struct scan *s)
{
	uint8_t *p = xmalloc(s->n * FOUND + 1);

	for (size_t i = 0; i < s->n; i++) {
		const struct scan_found *is = &s->found[i];
		uint8_t *q = p + i * FOUND;

		put_le64(q, is->at);
		put_le32(q + 8, is->d.insn);
		q[12] = (uint8_t)((is->is > 0) | (is->unlikely != 0) << 1);
		q[13] = (uint8_t)is->d.reg;
		q[14] = (uint8_t)is->d.size;
		q[15] = (uint8_t)is->d.len;
	}
	ws_index_keep(f->index, scan_kind(s), s->offset, s->size, p, s->n * FOUND);
	free(p);
}

const struct scan *
scan_region(struct cap *c, const struct region *r, const char *name)
{
	static struct scan once;
	uint64_t offset;
	struct hold_file *f = hold_steady_at(c, r->lo, (size_t)(r->hi - r->lo), &offset);
	struct scan *s = f ? f->scan : NULL;

	if (!f) {
		once.n = 0;
		scan_code(c, r, name, &once);
		return &once;
	}
	while (s && (s->offset != offset || s->size != r->hi - r->lo || s->notsc != c->notsc ||
		    s->nocpuid != c->nocpuid))
		s = s->next;
	if (s)
		return s;
	s = xcalloc(1, sizeof(*s));
	s->offset = offset;
	s->size = r->hi - r->lo;
	s->notsc = c->notsc;
	s->nocpuid = c->nocpuid;
	s->next = f->scan;
	f->scan = s;
	if (!f->index || scan_kept(f, s)) {
		scan_code(c, r, name, s);
		if (f->index)
			scan_keep(f, s);
	}
	return s;
}

void
scan_free(struct scan *s)
{
	while (s) {
		struct scan *next = s->next;

		free(s->found);
		free(s);
		s = next;
	}
}
