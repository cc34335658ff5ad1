/*
 * visitcheck FILE.ws [instructions]: visits a capture in a child, and
 * follows it step by step: each instruction is run alone, decoded here, and its
 * references, values, uses and their writers are compared with maps that have
 * a writer for every byte of every register and of memory, and what it loads
 * and stores with a copy of memory that is a step behind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <asm/prctl.h>
#include <Zydis/Zydis.h>

#include "replay/guest/replay_internal.h"
#include "replay/itrace/itrace.h"
#include "visitstate.h"

#define NBYTE 64u
#define PAGES 65536u

/* writers, and what is there */
struct page { uint64_t no, w[MEM_PAGE]; uint8_t b[MEM_PAGE]; struct page *next; };

static FILE *in;
static uint64_t reg[FACT_NREG][NBYTE];          /* writer of each byte; flags: of each bit */
static struct page *pages[PAGES];
static uint64_t now, bad, checked, nuses, npieces, nmems;
static uint64_t contents[1 << 22];              /* of the references of an instruction: loaded, then stored */
static uint32_t ncontents;
/* bytes of each register that the instruction uses, as decoded here */
static uint64_t mask[FACT_NREG];
static uint64_t wrote[FACT_NREG];               /* and defines */
static struct replay *r;
static uint64_t pc;
static char name[64];
/* the instruction saves or restores parts of the state that are in use */
static int by_state;
static struct rp_cpu before;
static uint8_t xbefore[RP_XSAVE], xafter[RP_XSAVE];

static void
wrong(const char *what, uint64_t a, uint64_t b)
{
	if (bad++ < 20)
		printf("# instance %llu, 0x%llx %s: %s: 0x%llx, here 0x%llx\n", (unsigned long long)now,
		    (unsigned long long)pc, name, what,
		    (unsigned long long)a, (unsigned long long)b);
}

static struct page *
page_at(uint64_t a)
{
	uint64_t no = a / MEM_PAGE;
	struct page **pp = &pages[no % PAGES], *p;

	for (p = *pp; p && p->no != no; p = p->next)
		;
	if (!p) {
		p = calloc(1, sizeof *p);
		p->no = no;
		p->next = *pp;
		*pp = p;
	}
	return p;
}

static uint64_t *
mem_at(uint64_t a)
{
	return &page_at(a)->w[a % MEM_PAGE];
}

/* What memory has; p NULL: zeros, and only where something was known */
static void
content_set(uint64_t a, uint64_t n, const uint8_t *p)
{
	if (p)
		for (uint64_t i = 0; i < n; i++)
			page_at(a + i)->b[(a + i) % MEM_PAGE] = p[i];
	for (size_t k = 0; !p && k < PAGES; k++)
		for (struct page *q = pages[k]; q; q = q->next)
			for (uint64_t i = 0; q->no * MEM_PAGE < a + n && (q->no + 1) * MEM_PAGE > a &&
			    i < MEM_PAGE; i++)
				if (q->no * MEM_PAGE + i >= a && q->no * MEM_PAGE + i < a + n)
					q->b[i] = 0;
}

/* n bytes at a, as words */
static void
content_add(uint64_t a, unsigned n)
{
	for (unsigned i = 0; i < n; i += 8) {
		uint64_t w = 0;

		for (unsigned k = i; k < n && k < i + 8; k++)
			w |= (uint64_t)page_at(a + k)->b[(a + k) % MEM_PAGE] << 8 * (k - i);
		contents[ncontents++] = w;
	}
}

static void
mem_set(uint64_t a, uint64_t n, uint64_t w)
{
	if (n < (64u << 20))
		while (n--)
			*mem_at(a++) = w;
}

/* Child: everything about an instruction as words */
static void
out64(FILE *f, uint64_t v)
{
	fwrite(&v, 8, 1, f);
}

static void
out_use(FILE *f, const struct visit_batch *b, uint64_t w, unsigned n)
{
	const struct visit_piece *p;

	if (!(w & VISIT_MANY)) {
		out64(f, w);
		out64(f, n);            /* off 0, len n, no more */
		return;
	}
	for (p = &b->piece[w & ~VISIT_MANY]; ; p++) {
		out64(f, p->writer);
		out64(f, (uint64_t)(p->more != 0) << 32 | (uint64_t)p->off << 16 | p->len);
		if (!p->more)
			break;
	}
}

static void
out_mem(FILE *f, const uint8_t *p, unsigned n)
{
	for (unsigned i = 0; p && i < n; i += 8) {
		uint64_t w = 0;

		memcpy(&w, p + i, n - i < 8 ? n - i : 8);
		out64(f, w);
	}
}

static void
send(FILE *f, const struct visit_insn *e, const struct visit_batch *b)
{
	uint32_t use = e->use;

	out64(f, e->n);
	out64(f, e->fact->pc);
	out64(f, (uint64_t)e->fact->kind << 48 | (uint64_t)e->fact->nuse << 40 |
	    (uint64_t)e->fact->ndef << 32 | e->nref);
	for (unsigned i = 0; i < e->nref; i++)
		out64(f, b->word[e->ref + i]);
	for (unsigned i = 0; i < e->nref; i++)
		for (int stored = 0; stored < 2; stored++)
			out_mem(f, visit_mem(b, e, i, stored), ref_size(b->word[e->ref + i]));
	for (unsigned i = 0; i < e->fact->nuse; i++) {
		out64(f, (uint64_t)e->fact->use[i].reg << 8 | e->fact->use[i].lanes);
		out_use(f, b, b->writer[use++], 0);
	}
	for (unsigned i = 0; i < e->nref; i++)
		if (visit_reads(b->word[e->ref + i]))
			out_use(f, b, b->writer[use++], ref_size(b->word[e->ref + i]));
	for (unsigned i = 0; i < e->fact->ndef; i++) {
		const struct fact_def *d = &e->fact->def[i];
		unsigned n = d->val == FACT_NOVALUE ? 0 : d->nval;

		out64(f, (uint64_t)d->reg << 16 | (uint64_t)d->lanes << 8 | n);
		for (unsigned k = 0; k < n; k++)
			out64(f, b->word[e->val + d->val + k]);
	}
}

static int
child(const char *path, unsigned what, FILE *f)
{
	struct fault ft;
	struct visit *v = visit_open(path, what, &ft);
	struct visit_insn e;
	const struct visit_batch *b;
	int got;

	if (!v) {
		fprintf(stderr, "visit: %s\n", ft.err);
		return 2;
	}
	while ((got = visit_next(v, &e, &b)) == REPLAY_OK)
		send(f, &e, b);
	if (got == REPLAY_BAD)
		fprintf(stderr, "visit: %s\n", replay_fault(visit_replay(v))->err);
	fclose(f);
	visit_close(v);
	return got == REPLAY_BAD;
}

/* Parent */
static uint64_t
in64(void)
{
	uint64_t v;

	if (fread(&v, 8, 1, in) != 1) {
		printf("not ok - the visit ends too early, at instance %llu\n", (unsigned long long)now);
		exit(1);
	}
	return v;
}

static uint64_t
low(unsigned n)
{
	return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

static int
gpr(ZydisRegister z, uint64_t *bytes)
{
	unsigned w = (unsigned)ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, z) / 8u;

	*bytes = z >= ZYDIS_REGISTER_AH && z <= ZYDIS_REGISTER_BH ? 2 : low(w == 4 ? 8 : w);
	z = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, z);
	return z >= ZYDIS_REGISTER_RAX && z <= ZYDIS_REGISTER_R15 ? (int)(z - ZYDIS_REGISTER_RAX) : -1;
}

static void
one_operand(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op, int i)
{
	const ZydisDecodedOperand *o = &op[i];
	int rd = o->actions & (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE),
	    wr = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	int legacy = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY, g, k = -1;
	uint64_t b = 1, t;
	ZydisRegister v = o->reg.value;

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		if ((g = gpr(o->mem.base, &t)) >= 0)
			mask[g] |= 255;
		if ((g = gpr(o->mem.index, &t)) >= 0)
			mask[g] |= t;
		if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
			mask[FACT_VECTOR + ZydisRegisterGetId(o->mem.index)] |= low((unsigned)ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, o->mem.index) / 8u);
		if (o->mem.segment == ZYDIS_REGISTER_FS)
			mask[FACT_FSBASE] = 1;
		return;
	}
	if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return;
	if ((g = gpr(v, &b)) >= 0) {
		k = g;
		if (z->mnemonic == ZYDIS_MNEMONIC_LEAVE && g == 4)
			rd = 0;
		if (z->mnemonic == ZYDIS_MNEMONIC_BSF || z->mnemonic == ZYDIS_MNEMONIC_BSR)
			rd = 1;
	} else if (v >= ZYDIS_REGISTER_XMM0 && v <= ZYDIS_REGISTER_ZMM31) {
		ZydisMnemonic m = z->mnemonic;

		k = (int)FACT_VECTOR + ZydisRegisterGetId(v);
		b = low(o->size / 8u);
		if (m == ZYDIS_MNEMONIC_MOVHPS || m == ZYDIS_MNEMONIC_MOVHPD ||
		    (m == ZYDIS_MNEMONIC_MOVLHPS && i == 0)
		    || (m == ZYDIS_MNEMONIC_MOVHLPS && i == 1))
			b = 0xff00;
		if (wr && !legacy) {
			wrote[k] |= ~UINT64_C(0);
			wr = 0;
		}
	} else if (v >= ZYDIS_REGISTER_K0 && v <= ZYDIS_REGISTER_K7) {
		if (v != ZYDIS_REGISTER_K0 || o->encoding != ZYDIS_OPERAND_ENCODING_MASK)
			k = (int)FACT_MASK + (v - ZYDIS_REGISTER_K0), b = 1;
	}
	if (k >= 0 && rd)
		mask[k] |= b;
	if (k >= 0 && wr)
		wrote[k] |= b;
}

static int
zeroes(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	const char *s = ZydisMnemonicGetString(z->mnemonic);
	int i = z->operand_count_visible == 4 ? 2 : z->operand_count_visible == 3;

	if (*s == 'v')
		s++;
	if (strncmp(s, "xor", 3) && strncmp(s, "pxor", 4) && strcmp(s, "sub") &&
	    (strncmp(s, "pcmpeq", 6) || s[6] == 'q' * (z->mnemonic != ZYDIS_MNEMONIC_VPCMPEQQ))
	    && (strncmp(s, "psub", 4) || strlen(s) != 5))
		return 0;
	return o[i].type == ZYDIS_OPERAND_TYPE_REGISTER && o[i + 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    o[i].reg.value == o[i + 1].reg.value
	    && !(z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && s[1] == 'c');
}

static void
all_state(int write)
{
	for (unsigned i = FACT_X87; i < FACT_NREG; i++) {
		mask[i] = lanes_bytes(i, fact_lanes(i));
		if (write)
			wrote[i] = mask[i];
	}
}

/* What this instruction uses and defines: mask, wrote */
static void
expect(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	static const uint8_t args[] = { 0, 7, 6, 2, 10, 8, 9 };
	const char *s = ZydisMnemonicGetString(z->mnemonic);

	memset(mask, 0, sizeof mask);
	memset(wrote, 0, sizeof wrote);
	for (int i = 0; i < z->operand_count; i++)
		one_operand(z, o, i);
	if (z->meta.category == ZYDIS_CATEGORY_STRINGOP) {
		const char *t = strncmp(s, "movs", 4) &&
		    strncmp(s, "cmps", 4) ? strncmp(s, "lods", 4) ? "d" : "s" : "sd";

		if (strchr(t, 's'))
			mask[6] = wrote[6] = 255;
		if (strchr(t, 'd'))
			mask[7] = wrote[7] = 255;
	}
	if (zeroes(z, o) || z->meta.category == ZYDIS_CATEGORY_NOP ||
	    z->meta.category == ZYDIS_CATEGORY_WIDENOP)
		memset(mask, 0, sizeof mask);
	if (z->cpu_flags) {
		mask[FACT_FLAGS] = z->cpu_flags->tested & 0xcd5;
		wrote[FACT_FLAGS] = (z->cpu_flags->modified | z->cpu_flags->set_0 | z->cpu_flags->set_1 |
		    z->cpu_flags->undefined) & 0xcd5;
		if (!strcmp(s, "vptest") || !strncmp(s, "vtestp", 6))
			wrote[FACT_FLAGS] = 0x8d5;
		if (!strncmp(s, "pushf", 5))
			mask[FACT_FLAGS] = 0xcd5;
	}
	if (!strcmp(s, "syscall")) {
		memset(mask, 0, sizeof mask);
		memset(wrote, 0, sizeof wrote);
		for (unsigned i = 0; i < sizeof args; i++)
			mask[args[i]] = 255;
		wrote[0] = wrote[1] = wrote[11] = 255;
	}
	if (!strncmp(s, "xsave", 5) || !strncmp(s, "fxsave", 6))
		all_state(0);
	if (!strncmp(s, "xrstor", 6) || !strncmp(s, "fxrstor", 7))
		all_state(1);
	if (strstr(s, "ldmxcsr"))
		wrote[FACT_MXCSR] = 1;
	if (strstr(s, "stmxcsr"))
		mask[FACT_MXCSR] = 1;
	if (!strcmp(s, "vzeroupper") || !strcmp(s, "vzeroall"))
		for (unsigned i = 0; i < 16; i++)
			wrote[FACT_VECTOR + i] = s[5] == 'u' ? ~UINT64_C(0xffff) : ~UINT64_C(0);
	if (z->meta.isa_ext == ZYDIS_ISA_EXT_X87 || z->meta.isa_ext == ZYDIS_ISA_EXT_MMX)
		mask[FACT_X87] = wrote[FACT_X87] = 1;
}

static void
check_use(unsigned rg, unsigned lanes)
{
	static const uint8_t foff[] = { 0, 11, 6, 2, 10 };
	uint64_t bytes = lanes_bytes(rg, lanes), w, p;

	if (mask[rg] & ~bytes || (bytes & ~mask[rg] && rg < FACT_VECTOR && rg != FACT_FLAGS))
		wrong("bytes of a register used", bytes, mask[rg]);
	do {
		unsigned off, len;

		w = in64();
		p = in64();
		off = p >> 16 & 0xffff;
		len = p & 0xffff;
		npieces++;
		for (unsigned i = 0; i < NBYTE; i++) {
			int mine = bytes >> i & 1;

			if (!mine)
				continue;
			if (len && rg == FACT_FLAGS) {
				unsigned l;

				for (l = 0; l < 5 && foff[l] != i; l++)
					;
				mine = l < 5 && l >= off && l < off + len;
			} else if (len)
				mine = i >= off && i < off + len;
			if (mine && reg[rg][i] != w)
				wrong("writer of a register", w, reg[rg][i]);
		}
	} while (p >> 32);
	mask[rg] = 0;
	nuses++;
}

static void
check_load(uint64_t ref)
{
	uint64_t w, p, at = 0;

	do {
		w = in64();
		p = in64();
		npieces++;
		if ((p >> 16 & 0xffff) != at)
			wrong("piece of memory", p >> 16 & 0xffff, at);
		for (unsigned i = 0; i < (p & 0xffff); i++, at++)
			if (*mem_at(ref_addr(ref) + at) != w)
				wrong("writer of memory", w, *mem_at(ref_addr(ref) + at));
	} while (p >> 32);
	if (at != ref_size(ref))
		wrong("bytes of memory", at, ref_size(ref));
	nuses++;
}

static void
check_def(unsigned rg, unsigned lanes, unsigned n, int last)
{
	uint64_t v[8] = { 0 }, bytes = lanes_bytes(rg, lanes);
	uint8_t b[64];
	unsigned i;

	for (i = 0; i < n; i++)
		v[i] = in64();
	if (bytes != (rg >= FACT_VECTOR || rg == FACT_FLAGS ? bytes | wrote[rg] : wrote[rg]))
		wrong("bytes of a register defined", bytes, wrote[rg]);
	if (rg >= FACT_VECTOR && (bytes & ~wrote[rg]))
		wrong("more bytes of a vector defined", bytes, wrote[rg]);
	wrote[rg] = 0;
	for (i = 0; i < NBYTE; i++)
		if (bytes >> i & 1)
			reg[rg][i] = now;
	if (n == 0 || !last)
		return;
	if (rg < 16 && v[0] != r->x.cpu.r[rg])
		wrong("value of a register", v[0], r->x.cpu.r[rg]);
	if (rg == FACT_FLAGS && (fact_rflags(v[0]) ^ r->x.cpu.rflags) & 0x8d5)
		wrong("value of flags", fact_rflags(v[0]), r->x.cpu.rflags);
	if (rg >= FACT_MASK && rg < FACT_VECTOR && v[0] != kmask(xafter, rg - FACT_MASK))
		wrong("value of a mask", v[0], kmask(xafter, rg - FACT_MASK));
	if (rg >= FACT_VECTOR) {
		vector(xafter, rg - FACT_VECTOR, b);
		if (memcmp(v, b, 8 * n))
			wrong("value of a vector", v[0], b[0]);
	}
}

/* What has changed has been defined */
static void
check_changes(void)
{
	uint8_t a[64], b[64];
	unsigned i, k;

	for (i = 0; i < 16; i++) {
		uint64_t d = before.r[i] ^ r->x.cpu.r[i];

		for (k = 0; k < 8; k++)
			if (d >> 8 * k & 255 && reg[i][k] != now)
				wrong("a register changes", i, reg[i][k]);
	}
	for (k = 0; k < 12; k++)
		if (0xcd5 >> k & 1 && (before.rflags ^ r->x.cpu.rflags) >> k & 1 && reg[FACT_FLAGS][k] != now)
			wrong("a flag changes", k, reg[FACT_FLAGS][k]);
	if (memcmp(xbefore, xafter, 2696) == 0)
		return;
	for (i = 0; i < 32; i++) {
		vector(xbefore, i, a);
		vector(xafter, i, b);
		for (k = 0; k < 64; k++)
			if (a[k] != b[k] && reg[FACT_VECTOR + i][k] != now)
				wrong("a vector changes", i, k);
	}
	for (i = 0; i < 8; i++)
		if (kmask(xbefore, i) != kmask(xafter, i) && reg[FACT_MASK + i][0] != now)
			wrong("a mask changes", i, 0);
}

static void
arrives(void)
{
	uint64_t n = in64(), kind;

	in64();
	kind = in64();
	now++;
	strcpy(name, "signal");
	if (n != now || kind >> 48 != FACT_SIGNAL)
		wrong("no signal", n, now);
	memset(wrote, 255, sizeof wrote);
	for (unsigned i = 0; i < (kind >> 32 & 255); i++) {
		uint64_t d = in64();

		for (unsigned k = 0; k < NBYTE; k++)
			if (lanes_bytes((unsigned)(d >> 16), d >> 8 & 255) >> k & 1)
				reg[d >> 16][k] = now;
	}
}

static int
on_record(void *arg, const struct ws_rec *rec)
{
	(void)arg;
	switch (rec->kind) {
	case WS_SIG: arrives(); break;
	case WS_SYS:
		if (rec->u.sys.nr == SYS_arch_prctl && rec->u.sys.arg[0] == ARCH_SET_FS)
			reg[FACT_FSBASE][0] = now + 1;
		break;
	case WS_MEM:
		content_set(rec->u.mem.addr, rec->u.mem.n, rec->u.mem.p);
		mem_set(rec->u.mem.addr, rec->u.mem.n, r && r->x.icount ? now + (r->after_sig ? 0 : 1) : 0);
		break;
	case WS_MAP:
		content_set(rec->u.map.addr, rec->u.map.len, NULL);
		mem_set(rec->u.map.addr, rec->u.map.len, r && r->x.icount ? now + 1 : 0);
		break;
	case WS_UNMAP:
		content_set(rec->u.range.addr, rec->u.range.len, NULL);
		mem_set(rec->u.range.addr, rec->u.range.len, 0);
		break;
	case WS_MOVE: {
		const struct ws_rec_move *m = &rec->u.move;
		uint64_t n = m->oldlen < m->newlen ? m->oldlen : m->newlen;

		for (uint64_t i = 0; m->from != m->to && i < n; i++) {
			page_at(m->to + i)->b[(m->to + i) % MEM_PAGE] =
			    page_at(m->from + i)->b[(m->from + i) % MEM_PAGE];
			*mem_at(m->to + i) = *mem_at(m->from + i);
			*mem_at(m->from + i) = 0;
		}
		if (m->newlen > n)
			mem_set(m->to + n, m->newlen - n, now + 1);
		if (m->newlen > n)
			content_set(m->to + n, m->newlen - n, NULL);
		break;
	}
	default: break;
	}
	return 0;
}

/* What these references load is still in the copy, what they store in memory */
static void
take_contents(const uint64_t *ref, size_t n)
{
	uint8_t b[REF_SIZEMAX];

	for (size_t i = 0; i < n && ncontents < sizeof contents / 8 - 64; i++) {
		uint64_t a = ref_addr(ref[i]);
		unsigned k = ref_size(ref[i]);

		if (visit_reads(ref[i]))
			content_add(a, k);
		if (visit_writes(ref[i]) && replay_read(r, a, b, k) == k) {
			content_set(a, k, b);
			content_add(a, k);
		}
	}
}

/* Runs the instruction at pc alone, all its iterations; its references without fetches */
static size_t
step(uint64_t *refs, size_t max, int string)
{
	size_t n = 0, k, first;

	ncontents = 0;
	do {
		first = n;
		r->until = r->x.icount + 1;
		r->pending = REPLAY_OK;
		if (drive_words(r, RP_REFS, DRIVE_WORDS, &k) == REPLAY_BAD)
			return SIZE_MAX;
		for (size_t i = 0; i < k && n < max; i++)
			if (ref_kind(r->words[i]) != REF_INST)
				refs[n++] = r->words[i];
		take_contents(refs + first, n - first);
	} while (string && r->x.cpu.rip == pc && r->ended == REPLAY_OK);
	return n;
}

static void
compare(const uint64_t *refs, size_t n)
{
	uint64_t head, x, whole[FACT_NREG], whole_def[FACT_NREG];

	uint32_t at_content = 0;

	memcpy(whole, mask, sizeof mask);
	memcpy(whole_def, wrote, sizeof wrote);
	for (size_t done = 0; ; ) {
		uint64_t inst = in64(), at = in64();
		size_t m;

		head = in64();
		m = (uint32_t)head;
		if (inst != now || at != pc) {
			printf("not ok - at instance %llu (0x%llx %s) the visit is at %llu, 0x%llx\n",
			    (unsigned long long)now, (unsigned long long)pc, name,
			    (unsigned long long)inst, (unsigned long long)at);
			exit(1);
		}
		if (done) {                     /* another part of the same */
			memcpy(mask, whole, sizeof mask);
			memcpy(wrote, whole_def, sizeof wrote);
		}
		for (size_t i = 0; i < m; i++)
			if ((x = in64()) != refs[done + i])
				wrong("reference", x, refs[done + i]);
		for (size_t i = 0; i < m; i++)
			for (unsigned k = (unsigned)(visit_reads(refs[done + i]) +
			    visit_writes(refs[done + i])) * ((ref_size(refs[done + i]) + 7) / 8); k; k--,
			    nmems++)
				/*
				 * which parts are in use is the processor's own affair, and the bytes of
				 * the others stay as they were
				 */
				if ((x = in64()) != contents[at_content++] && !by_state)
					wrong("contents of memory", x, contents[at_content - 1]);
		for (unsigned i = 0; i < (head >> 40 & 255); i++) {
			x = in64();
			check_use((unsigned)(x >> 8), x & 255);
		}
		for (size_t i = done; i < done + m; i++) {
			if (visit_reads(refs[i]))
				check_load(refs[i]);
			if (visit_writes(refs[i]))
				mem_set(ref_addr(refs[i]), ref_size(refs[i]), now);
		}
		for (unsigned i = 0; i < FACT_NREG; i++)
			if (mask[i])
				wrong("a register is not used", i, mask[i]);
		for (unsigned i = 0; i < (head >> 32 & 255); i++) {
			x = in64();
			check_def((unsigned)(x >> 16), x >> 8 & 255, x & 255, done + m >= n);
		}
		done += m;
		if (done >= n)
			break;
	}
	for (unsigned i = 0; i < FACT_NREG; i++)
		if (wrote[i])
			wrong("a register is not defined", i, wrote[i]);
	check_changes();
}

static int
follow(uint64_t limit)
{
	static uint64_t refs[1 << 20];
	ZydisDecoder d;
	ZydisDecodedInstruction z;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t b[15];
	size_t n;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (r->ended == REPLAY_OK && checked < limit) {
		/* comes before the next instruction */
		if (r->next.kind == WS_SIG && drive_signal_here(r) == 1) {
			if (drive_trigger_apply(r) != 0)
				break;
			continue;
		}
		pc = r->x.cpu.rip;
		n = replay_read(r, pc, b, 15);
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, b, n, &z, o)))
			break;
		snprintf(name, sizeof name, "%s", ZydisMnemonicGetString(z.mnemonic));
		by_state = z.meta.category == ZYDIS_CATEGORY_XSAVE ||
		    z.meta.category == ZYDIS_CATEGORY_XSAVEOPT;
		before = r->x.cpu;
		memcpy(xbefore, r->x.cpu.xsave, sizeof xbefore);
		n = step(refs, sizeof refs / 8, z.meta.category == ZYDIS_CATEGORY_STRINGOP);
		if (n == SIZE_MAX || r->x.icount != r->until)
			break;
		memcpy(xafter, r->x.cpu.xsave, sizeof xafter);
		expect(&z, o);
		now++;
		compare(refs, n);
		checked++;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct drive_watch watch = { .record = on_record };
	struct fault f;
	int fd[2];
	pid_t pid;

	if (argc < 2 || pipe(fd) || (pid = fork()) < 0)
		return 2;
	if (pid == 0) {
		close(fd[0]);
		_exit(child(argv[1], VISIT_WRITERS | VISIT_FLAGS | VISIT_MEMORY, fdopen(fd[1], "w")));
	}
	close(fd[1]);
	in = fdopen(fd[0], "r");
	r = drive_open(argv[1], &watch, &f);
	if (!r || drive_start(r) != 0) {
		printf("not ok - %s\n", f.err);
		return 2;
	}
	follow(argc > 2 ? strtoull(argv[2], NULL, 0) : UINT64_MAX);
	if (r->ended == REPLAY_END && getc(in) != EOF)
		wrong("the visit goes on", in64(), now);
	printf("%s - %s: %llu instructions, %llu uses, %llu pieces, %llu words of memory, %llu "
	    "differences%s%s\n", bad || !checked ? "not ok" : "ok", argv[1],
	    (unsigned long long)checked, (unsigned long long)nuses, (unsigned long long)npieces,
	    (unsigned long long)nmems, (unsigned long long)bad,
	    r->ended == REPLAY_BAD ? "; stopped: " : "", r->ended == REPLAY_BAD ? r->fault.err : "");
	fclose(in);
	waitpid(pid, NULL, 0);
	return bad || !checked;
}
