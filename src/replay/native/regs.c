/* Registers of a natively executed capture, and the effects of triggers on them. */
#include <asm/prctl.h>
#include <string.h>
#include <sys/syscall.h>

#include "replay/native/native.h"

int
native_is_call(const struct ws_regs *at, const struct ws_rec_sys *s)
{
	return s->nr == at->r[WS_RAX] && s->pc == at->rip - 2 && s->hash == ws_hash(at);
}

void
native_call_result(struct ws_regs *w, const struct ws_rec_sys *s)
{
	w->r[WS_RAX] = s->ret;
	if (s->nr == SYS_arch_prctl && !s->ret && s->arg[0] == ARCH_SET_FS)
		w->fsbase = s->arg[1];
	if (s->nr == SYS_arch_prctl && !s->ret && s->arg[0] == ARCH_SET_GS)
		w->gsbase = s->arg[1];
}

int
native_emulate(struct ws_regs *w, const uint8_t *b, const struct ws_rec *rec)
{
	struct tracee_decode_random d;
	int tsc = b[0] == 0x0f && (b[1] == 0x31 || (b[1] == 1 && b[2] == 0xf9));
	uint64_t *r = w->r;

	if (rec->kind == WS_TSC && tsc && rec->u.tsc.has_aux == (b[1] == 1)) {
		r[WS_RAX] = (uint32_t)rec->u.tsc.value;
		r[WS_RDX] = rec->u.tsc.value >> 32;
		if (rec->u.tsc.has_aux)
			r[WS_RCX] = rec->u.tsc.aux;
		w->rip += b[1] == 1 ? 3 : 2;
		return 0;
	}
	if (rec->kind == WS_RAND && !tracee_decode_random(b, NATIVE_INSN, &d) && d.insn == rec->u.rand.insn) {
		tracee_set_random(&d, &rec->u.rand, w);
		return 0;
	}
	if (rec->kind == WS_CPUID && b[0] == 0x0f && b[1] == 0xa2 &&
	    (uint32_t)r[WS_RAX] == rec->u.cpuid.leaf) {
		r[WS_RAX] = rec->u.cpuid.eax;
		r[WS_RBX] = rec->u.cpuid.ebx;
		r[WS_RCX] = rec->u.cpuid.ecx;
		r[WS_RDX] = rec->u.cpuid.edx;
		w->rip += 2;
		return 0;
	}
	return -1;
}
