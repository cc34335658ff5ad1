/* rdrand, rdseed and rdpid: what the processor makes up, made up here and given to the process. */
#include <string.h>

#include "engine/tracee/tracee.h"

int
tracee_random(const uint8_t *b, size_t n, struct tracee_random *d)
{
	size_t i = 0;
	unsigned rex = 0, modrm;
	int narrow = 0, rep = 0;

	for (; i < n && (b[i] == 0x66 || b[i] == 0xf3); i++) {
		narrow |= b[i] == 0x66;
		rep |= b[i] == 0xf3;
	}
	if (i < n && (b[i] & 0xf0) == 0x40)
		rex = b[i++];
	if (n - i < 3 || b[i] != 0x0f || b[i + 1] != 0xc7 || b[i + 2] < 0xf0)
		return -1;
	modrm = b[i + 2];
	if (rep && modrm < 0xf8)
		return -1;
	d->insn = rep ? WS_RDPID : modrm < 0xf8 ? WS_RDRAND : WS_RDSEED;
	d->reg = (modrm & 7) | (rex & 1) << 3;
	d->size = rep || rex & 8 ? 8 : narrow ? 2 : 4;
	d->len = (unsigned)i + 3;
	return 0;
}

void
tracee_make_random(const struct tracee_random *d, struct ws_rec_rand *rec)
{
	uint64_t v = 0;
	uint8_t ok = 1;

	/* by their bytes: an assembler may not know them */
	if (d->insn == WS_RDPID)
		__asm__ volatile(".byte 0xf3, 0x0f, 0xc7, 0xf8" : "=a"(v));
	else if (d->insn == WS_RDSEED)
		__asm__ volatile(".byte 0x48, 0x0f, 0xc7, 0xf8; setc %1" : "=a"(v), "=q"(ok) :: "cc");
	else
		__asm__ volatile(".byte 0x48, 0x0f, 0xc7, 0xf0; setc %1" : "=a"(v), "=q"(ok) :: "cc");
	rec->insn = d->insn;
	rec->failed = !ok;
	rec->value = !ok ? 0 : d->size == 8 ? v : v & ((UINT64_C(1) << 8 * d->size) - 1);
}

void
tracee_give_random(const struct tracee_random *d, const struct ws_rec_rand *rec, struct ws_regs *w)
{
	uint64_t *r = &w->r[d->reg];

	*r = d->size == 2 ? (*r & ~UINT64_C(0xffff)) | rec->value : rec->value;
	if (d->insn != WS_RDPID)        /* OF SF ZF AF PF are 0 */
		w->rflags = (w->rflags & ~UINT64_C(0x8d5)) | !rec->failed;
	w->rip += d->len;
}
