/* Enters and leaves translated code: swaps the register state of C and of the guest. */
#include <Zydis/Zydis.h>
#include "replay/cpu/emit_internal.h"

static void
enter_bytes(struct rp_tr *t, const char *hex)
{
	for (; hex[0] && hex[1]; hex += hex[2] == ' ' ? 3 : 2) {
		unsigned v = 0;
		int i;

		for (i = 0; i < 2; i++)
			v = v << 4 | (unsigned)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
		host_e1(t, v);
		if (hex[2] == 0)
			break;
	}
}

/* Copies guest registers between their host registers and a frame that is `above` bytes above rsp. */
static void
enter_regs(struct rp_tr *t, unsigned op, int above)
{
	int g;

	for (g = 0; g < 16; g++)
		if (rp_home(g) >= 0)
			e_mem(t, 1, op, rp_home(g), RSP, -1, 1, rp_regoff(g) + above);
	e_mem(t, 1, op, OUT, RSP, -1, 1, FO(out) + above);
}

/* xsave64 (reg field 4) or xrstor64 (5) of the guest's state. */
static void
enter_state(struct rp_tr *t, unsigned field)
{
	e_load(t, RCX, FO(xsave));
	e_load(t, RAX, FO(rfbm));
	enter_bytes(t, "31 d2 48 0f");
	host_e1(t, field == 6 ? 0xc7 : 0xae);
	host_e1(t, field << 3 | 1);
}

static void
enter_block(struct rp_tr *t, struct rp_thunks *th)
{
	th->enter = t->p;
	enter_bytes(t, "53 55 41 54 41 55 41 56 41 57");      /* push rbx rbp r12 r13 r14 r15 */
	e_mem(t, 1, 0x89, RSP, RDI, -1, 1, FO(hostsp));
	e_mov(t, RSP, RDI);
	enter_state(t, 5);
	e_load(t, RAX, FO(rflags));
	enter_bytes(t, "50 9d");                              /* push rax; popfq */
	enter_regs(t, 0x8b, 0);
	e_mem(t, 0, 0xff, 4, RSP, -1, 1, FO(go));       /* jmp [go] */
}

static void
enter_exits(struct rp_tr *t, struct rp_thunks *th, int vzero)
{
	th->exit = t->p;
	enter_regs(t, 0x89, 0);
	enter_bytes(t, "9c 58 fc");                           /* pushfq; pop rax; cld */
	e_store(t, FO(rflags), RAX);
	th->leave = t->p;
	enter_state(t, 4);
	enter_bytes(t, "db e3");                              /* fninit */
	enter_bytes(t, "48 8d 64 24 f8");                     /* lea rsp, [rsp - 8] */
	enter_bytes(t, "c7 04 24 80 1f 00 00 0f ae 14 24");   /* mov dword [rsp], 1f80; ldmxcsr [rsp] */
	enter_bytes(t, "48 8d 64 24 08");
	if (vzero)
		enter_bytes(t, "c5 f8 77");
	e_load(t, RSP, FO(hostsp));
	enter_bytes(t, "41 5f 41 5e 41 5d 41 5c 5d 5b c3");
}

static void
enter_why(struct rp_tr *t, unsigned v, const uint8_t *exit)
{
	enter_bytes(t, "48 c7 84 24");
	host_e4(t, (uint32_t)FO(why));
	host_e4(t, v);
	e_jmp(t, exit);
}

/* Calls a helper: all registers are in the frame meanwhile, the return address is on the stack. */
static void
enter_call(struct rp_tr *t, struct rp_thunks *th)
{
	uint8_t *rel;

	th->call = t->p;
	enter_regs(t, 0x89, 8);
	enter_bytes(t, "9c 58 fc");
	e_mem(t, 1, 0x89, RAX, RSP, -1, 1, FO(rflags) + 8);
	e_mem(t, 1, 0x8d, RDI, RSP, -1, 1, 8);
	e_mov(t, RSI, RCX);
	enter_bytes(t, "48 8d 64 24 f8");                     /* lea rsp, [rsp - 8] */
	e_mem(t, 0, 0xff, 2, RSI, -1, 1, (int)offsetof(struct rp_hinfo, fn));
	enter_bytes(t, "48 8d 64 24 08");
	enter_bytes(t, "85 c0");
	rel = e_jcc32(t, 5);
	e_mem(t, 1, 0x8b, RAX, RSP, -1, 1, FO(rflags) + 8);
	enter_bytes(t, "50 9d");
	enter_regs(t, 0x8b, 8);
	enter_bytes(t, "c3");
	e_patch(rel, t->p);
	enter_bytes(t, "48 8d 64 24 08");                     /* drops the return address */
	e_jmp(t, th->leave);
}

int
rp_thunks(struct rp_tr *t, struct rp_thunks *th)
{
	enter_block(t, th);
	enter_exits(t, th, t->bmi2);
	th->miss = t->p;
	enter_why(t, RW_MISS, th->exit);
	th->link = t->p;
	e_store(t, FO(site), RCX);
	enter_why(t, RW_LINK, th->exit);
	th->check = t->p;
	e_store(t, FO(rip), RCX);
	enter_why(t, RW_CHECK, th->exit);
	enter_call(t, th);
	return 0;
}
