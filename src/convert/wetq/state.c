/* wetq: the program at a point: registers, the functions that have not returned, their variables. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "convert/wetq/state.h"

static const char *const state_names[16] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"
};

/* The number that DWARF gives to a general register of ws_regs */
static const uint8_t state_dwarf[16] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

uint64_t
state_from_dwarf(uint64_t dwarf)
{
	static const uint8_t own[8] = { 0, 2, 1, 3, 6, 7, 5, 4 };

	return dwarf < 8 ? own[dwarf] : dwarf;
}

unsigned
state_to_dwarf(unsigned reg)
{
	return state_dwarf[reg & 15];
}

const char *
state_register(uint64_t dwarf)
{
	static const char *const xmm[16] = {
		"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
		"xmm12", "xmm13", "xmm14", "xmm15"
	};

	if (dwarf < 16)
		return state_names[state_from_dwarf(dwarf)];
	return dwarf >= DEBUG_XMM0 && dwarf < DEBUG_XMM0 + 16 ? xmm[dwarf - DEBUG_XMM0] : "a register";
}

size_t
state_frames(const struct query_state *s, struct debug_frame *frame, uint8_t *xmm)
{
	for (int i = 0; i < 16; i++)
		frame[0].reg[state_dwarf[i]] = s->regs->r[i];
	frame[0].reg[DEBUG_RIP] = s->regs->rip;
	frame[0].known = (1u << DEBUG_NREG) - 1;
	frame[0].m = s->machine;
	frame[0].thread = s->regs->fsbase;
	/* XSAVE's format: xmm0 is at byte 160, if component 1 is not in its initial state, which is zero */
	memset(xmm, 0, 256);
	if (s->xsave[512] & 2)
		memcpy(xmm, s->xsave + 160, 256);
	frame[0].xmm = xmm;
	return debug_unwind(frame, DEBUG_FRAMES);
}

size_t
state_functions(const struct debug_frame *f, struct debug_function *fn, size_t most)
{
	size_t n = debug_functions(f, fn, most);
	int line = 0;
	const char *file = NULL;

	if (!n) {
		fn[n++] = (struct debug_function){ 0 };
		if (f->x)
			fn[0].name = exe_name(f->x, f->pc, 0);
	}
	if (f->x)
		file = exe_short_line(f->x, f->pc, &line);
	/* each is where the one that is inlined in it was called */
	for (size_t i = 0; i < n; i++) {
		struct debug_function was = fn[i];

		fn[i].file = file;
		fn[i].line = file ? line : 0;
		file = was.file;
		line = was.line;
	}
	return n;
}

void
state_where(const struct debug_variable *v, struct buf *b)
{
	const struct debug_piece *p = v->place.piece;

	if (v->place.n != 1)
		buf_str(b, "in pieces");
	else if (p->where == DEBUG_MEMORY)
		buf_printf(b, "*0x%" PRIx64, p->addr);
	else if (p->where == DEBUG_REGISTER)
		buf_str(b, state_register(p->addr));
	else if (p->where == DEBUG_NUMBER || p->where == DEBUG_BYTES)
		buf_str(b, "computed");
}

struct show { struct job *j; struct json *o; const struct debug_frame *f; struct buf line; int locals, any; };

static int
state_variable_json(struct show *t, const struct debug_variable *v, const char *value)
{
	struct buf b = BUF_INIT;

	state_where(v, &b);
	buf_u8(&b, 0);
	json_object(t->o, NULL);
	json_string(t->o, "name", v->name);
	json_string(t->o, "kind", v->parameter ? "parameter" : "local");
	json_string(t->o, "value", value);
	json_string(t->o, "where", b.n > 1 ? (const char *)b.p : NULL);
	json_end(t->o);
	buf_free(&b);
	return 0;
}

static int
state_variable(void *arg, const struct debug_variable *v)
{
	struct show *t = arg;
	struct buf b = BUF_INIT;

	if (!t->o && t->locals == v->parameter)
		return 0;
	debug_print(t->f, v, &b);
	if (t->o) {
		buf_u8(&b, 0);
		state_variable_json(t, v, (const char *)b.p);
	} else if (t->locals) {
		out_str(t->j->out, "    ");
		put_str(t->j, v->name);
		out_str(t->j->out, " = ");
		out_write(t->j->out, b.p, b.n);
		out_str(t->j->out, "\n");
	} else {
		out_str(t->j->out, t->any ? ", " : "");
		put_str(t->j, v->name);
		out_str(t->j->out, "=");
		out_write(t->j->out, b.p, b.n);
		t->any = 1;
	}
	buf_free(&b);
	return 0;
}

static void
state_text(struct job *j, const struct debug_frame *f, const struct debug_function *fn, size_t number)
{
	struct show t = { .j = j, .f = f };

	out_printf(j->out, "#%zu ", number);
	put_str(j, fn->name);
	out_str(j->out, " (");
	(void)debug_variables(f, fn, state_variable, &t);
	out_str(j->out, ")");
	if (fn->file) {
		out_str(j->out, " at ");
		put_source(j, fn->file, fn->line);
	} else
		out_printf(j->out, " at 0x%" PRIx64, f->reg[DEBUG_RIP]);
	out_str(j->out, "\n");
	t.locals = 1;
	(void)debug_variables(f, fn, state_variable, &t);
}

static void
state_json(struct job *j, struct json *o, const struct debug_frame *f, const struct debug_function *fn)
{
	struct show t = { .j = j, .f = f, .o = o };

	json_object(o, NULL);
	json_string(o, "function", fn->name);
	json_string(o, "file", fn->file);
	json_u64(o, "line", fn->line > 0 ? (uint64_t)fn->line : 0);
	json_u64(o, "inlined", (uint64_t)fn->inlined);
	json_u64(o, "address", f->reg[DEBUG_RIP]);
	json_array(o, "variables");
	(void)debug_variables(f, fn, state_variable, &t);
	json_end(o);
	json_end(o);
}

static void
state_stack(struct job *j, struct json *o, const struct query_state *s)
{
	struct debug_frame *frame = xcalloc(DEBUG_FRAMES, sizeof *frame);
	struct debug_function fn[NINLINED];
	uint8_t xmm[256];
	size_t n = state_frames(s, frame, xmm), number = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = state_functions(&frame[i], fn, NINLINED);

		for (size_t l = 0; l < k && number < j->most; l++, number++)
			if (o)
				state_json(j, o, &frame[i], &fn[l]);
			else
				state_text(j, &frame[i], &fn[l], number);
	}
	free(frame);
}

static int
state_show(void *arg, const struct query_state *s)
{
	struct job *j = arg;
	struct json o;

	if (j->json) {
		json_begin(&o, j->out);
		json_u64(&o, "instruction", s->icount);
		json_object(&o, "registers");
		for (int i = 0; i < 16; i++)
			json_u64(&o, state_names[i], s->regs->r[i]);
		json_u64(&o, "rip", s->regs->rip);
		json_u64(&o, "eflags", s->regs->rflags);
		json_end(&o);
		json_array(&o, "frames");
		state_stack(j, &o, s);
		json_end(&o);
		json_end(&o);
		return 0;
	}
	out_printf(j->out, "before instruction %" PRIu64 " of the run, counted from 0\n", s->icount);
	for (int i = 0; i < 16; i++)
		out_printf(j->out, "%-3s 0x%-16" PRIx64 "%s", state_names[i], s->regs->r[i], i % 4 == 3 ? "\n" : "  ");
	out_printf(j->out, "rip 0x%-16" PRIx64 "  eflags 0x%" PRIx64 "\n", s->regs->rip, s->regs->rflags);
	state_stack(j, NULL, s);
	return 0;
}

int
job_at(struct job *j, const char *point)
{
	uint64_t n;

	if (job_point(j, point, 0, &n) != 0)
		return -1;
	return query_state(j->q, n, state_show, j) != 0 ? job_bad(j) : 0;
}
