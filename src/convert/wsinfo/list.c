/* wsinfo: prints records as text. */
#include <inttypes.h>
#include <string.h>

#include "convert/wsinfo/wsinfo.h"

/* Quotes the string if the shell needs that; non-text bytes as \ooo in $'...'. */
void
print_word(struct out *o, const char *s)
{
	static const char
	    plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";
	int odd = 0;

	if (*s && !s[strspn(s, plain)]) {
		out_str(o, s);
		return;
	}
	for (const char *p = s; *p; p++)
		odd |= *p < ' ' || *p > '~' || *p == '\'';
	out_str(o, odd ? "$'" : "'");
	for (; *s; s++) {
		if (odd && (*s < ' ' || *s > '~'))
			out_printf(o, "\\%03o", (unsigned char)*s);
		else if (odd && (*s == '\'' || *s == '\\'))
			out_printf(o, "\\%c", *s);
		else
			out_write(o, s, 1);
	}
	out_str(o, "'");
}

static void
wsinfo_regs(struct out *o, const struct ws_regs *g)
{
	static const char *const name[16] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
		"r13", "r14", "r15",
	};

	out_printf(o, " rip=0x%" PRIx64, g->rip);
	for (int i = 0; i < 16; i++)
		if (g->r[i])
			out_printf(o, " %s=0x%" PRIx64, name[i], g->r[i]);
	out_printf(o, " rflags=0x%" PRIx64, g->rflags);
	if (g->fsbase)
		out_printf(o, " fsbase=0x%" PRIx64, g->fsbase);
	if (g->gsbase)
		out_printf(o, " gsbase=0x%" PRIx64, g->gsbase);
}

static void
wsinfo_hex(struct out *o, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out_printf(o, "%02x", p[i]);
}

static void
wsinfo_prot(struct out *o, uint32_t p)
{
	out_printf(o, " %c%c%c", p & 1 ? 'r' : '-', p & 2 ? 'w' : '-', p & 4 ? 'x' : '-');
}

static void
wsinfo_map(struct out *o, const struct ws_rec_map *m)
{
	out_printf(o, " 0x%" PRIx64 " 0x%" PRIx64, m->addr, m->len);
	wsinfo_prot(o, m->prot);
	out_printf(o, " %s", ws_map_name(m->type));
	if (m->flags & WS_SHARED)
		out_str(o, " shared");
	if (m->flags & WS_GROWS)
		out_str(o, " grows");
	if (*m->name) {
		out_str(o, " ");
		print_word(o, m->name);
		out_printf(o, " offset=0x%" PRIx64, m->offset);
	}
	if (m->ino)
		out_printf(o, " dev=0x%" PRIx64 " ino=%" PRIu64, m->dev, m->ino);
	if (m->nid) {
		out_str(o, " id=");
		wsinfo_hex(o, m->id, m->nid);
	}
}

static void
wsinfo_mem(struct out *o, const struct ws_rec_mem *m)
{
	static const char *const from[] = { "data", "code", "kernel" };

	out_printf(o, " 0x%" PRIx64 " %zu", m->addr, m->n);
	if (!m->p) {
		out_str(o, " zero");
		return;
	}
	out_printf(o, " %s ", from[m->where]);
	wsinfo_hex(o, m->p, m->n < 32 ? m->n : 32);
	if (m->n > 32)
		out_str(o, "...");
}

static void
wsinfo_sys(struct out *o, const struct ws_rec_sys *y)
{
	const char *name = ws_sys_name(y->nr);

	out_printf(o, " 0x%" PRIx64 " ", y->pc);
	if (name)
		out_str(o, name);
	else
		out_printf(o, "call_%" PRIu64, y->nr);
	for (int i = 0; i < 6; i++)
		out_printf(o, "%s0x%" PRIx64, i ? ", " : "(", y->arg[i]);
	out_printf(o, y->ret >= (uint64_t)-4095 ? ") = %" PRId64 : ") = 0x%" PRIx64, y->ret);
	out_printf(o, " hash=%08" PRIx32, y->hash);
}

static void
wsinfo_cpuid(struct out *o, const struct ws_cpuid *c)
{
	out_printf(o, " 0x%" PRIx32 " 0x%" PRIx32 " = 0x%" PRIx32 " 0x%" PRIx32 " 0x%" PRIx32 " 0x%" PRIx32,
	    c->leaf, c->sub, c->eax, c->ebx, c->ecx, c->edx);
}

static void
wsinfo_sig(struct out *o, const struct ws_rec_sig *s)
{
	if (s->sig == WS_SWITCH)
		out_printf(o, " thread %" PRIu32 " at", s->thread);
	else
		out_printf(o, " %" PRIu32 " at", s->sig);
	wsinfo_regs(o, &s->at);
	out_str(o, " to");
	wsinfo_regs(o, &s->to);
	if (s->nxsave)
		out_printf(o, " state=%zu", s->nxsave);
	if (s->icount != WS_UNKNOWN)
		out_printf(o, " icount=%" PRIu64, s->icount);
	if (s->nstack)
		out_printf(o, " stack=%zu", s->nstack);
	if (s->nwords)
		out_printf(o, " words=%zu", s->nwords);
}

static void
wsinfo_end(struct out *o, const struct ws_rec_end *e)
{
	out_printf(o, " %s %" PRIu32, ws_how_name(e->how), e->status);
	if (e->icount != WS_UNKNOWN)
		out_printf(o, " icount=%" PRIu64, e->icount);
}

void
list_rec(struct out *o, uint64_t n, const struct ws_rec *r)
{
	out_printf(o, "%" PRIu64 " %s", n, ws_kind_name(r->kind));
	switch (r->kind) {
	case WS_KEY:
		out_printf(o, " icount=%" PRIu64 " trigger=%" PRIu64, r->u.state.icount, r->u.state.trigger);
		if (r->u.state.instances != WS_UNKNOWN)
			out_printf(o, " instances=%" PRIu64, r->u.state.instances);
		if (r->u.state.thread > 1)
			out_printf(o, " thread=%" PRIu32, r->u.state.thread);
		/* fall through */
	case WS_START:
		wsinfo_regs(o, &r->u.state.regs);
		out_printf(o, " state=%zu", r->u.state.nxsave);
		break;
	case WS_MAP: wsinfo_map(o, &r->u.map); break;
	case WS_UNMAP: case WS_PROT:
		out_printf(o, " 0x%" PRIx64 " 0x%" PRIx64, r->u.range.addr, r->u.range.len);
		if (r->kind == WS_PROT)
			wsinfo_prot(o, r->u.range.prot);
		break;
	case WS_MOVE:
		out_printf(o, " 0x%" PRIx64 " 0x%" PRIx64 " to 0x%" PRIx64 " 0x%" PRIx64, r->u.move.from,
		    r->u.move.oldlen, r->u.move.to, r->u.move.newlen);
		break;
	case WS_MEM: wsinfo_mem(o, &r->u.mem); break;
	case WS_SYS: wsinfo_sys(o, &r->u.sys); break;
	case WS_SIG: wsinfo_sig(o, &r->u.sig); break;
	case WS_TSC:
		out_printf(o, " %" PRIu64, r->u.tsc.value);
		if (r->u.tsc.has_aux)
			out_printf(o, " aux=0x%" PRIx32, r->u.tsc.aux);
		break;
	case WS_CPUID: wsinfo_cpuid(o, &r->u.cpuid); break;
	case WS_RAND:
		out_printf(o, " %s", ws_random_name(r->u.rand.insn));
		if (r->u.rand.failed)
			out_str(o, " failed");
		else
			out_printf(o, " 0x%" PRIx64, r->u.rand.value);
		break;
	case WS_TIME: out_printf(o, " %" PRIu64, r->u.time); break;
	case WS_END: wsinfo_end(o, &r->u.end); break;
	case WS_NOTE:
		out_str(o, " ");
		print_word(o, r->u.note);
		break;
	default:
		break;
	}
	out_str(o, "\n");
}
