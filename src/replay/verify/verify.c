/* Steps the native process and compares both replays with it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/confine.h"
#include "format/ref/ref.h"
#include "isa/x86/decode.h"
#include "replay/verify/verify_internal.h"

#define EVERY 1000u             /* instructions between comparisons of vector registers */

__attribute__((format(printf, 2, 3))) static int
verify_bad(struct verify *v, const char *fmt, ...)
{
	va_list ap;

	if (!v->err[0]) {
		va_start(ap, fmt);
		vsnprintf(v->err, sizeof(v->err), fmt, ap);
		va_end(ap);
	}
	return VERIFY_BAD;
}

/* The replay has ended with a fault of the capture. */
static int
verify_bad_capture(struct verify *v)
{
	if (!v->err[0])
		v->at = *replay_fault(v->r);
	return verify_bad(v, "%s", replay_fault(v->r)->err);
}

__attribute__((format(printf, 2, 3))) static int
verify_differs(struct verify *v, const char *fmt, ...)
{
	va_list ap;

	if (!v->diff.what[0]) {
		v->diff.icount = replay_icount(v->r) - (replay_icount(v->r) > 0);
		v->diff.pc = v->in.at.rip;
		va_start(ap, fmt);
		vsnprintf(v->diff.what, sizeof(v->diff.what), fmt, ap);
		va_end(ap);
	}
	return VERIFY_DIFFERS;
}

/* Fetches registers, bytes and expectations of the native side's next instruction. */
static int
verify_before(struct verify *v)
{
	struct user_regs_struct g;

	if (v->have)
		return VERIFY_OK;
	if (tracee_regs(&v->n.t, &g))
		return verify_bad(v, "the native process is gone");
	tracee_from_user(&v->in.at, &g, g.rax);
	v->in.at.rflags &= ~NATIVE_UNSEEN;
	memset(v->in.b, 0, sizeof(v->in.b));
	if (!tracee_read(&v->n.t, g.rip, v->in.b, 15) || verify_decode(&v->in, v->amd))
		return verify_differs(v, "there is no instruction at 0x%llx natively", g.rip);
	if (v->amd != x86_amd_here() && x86_makers_differ(&v->in.z, v->in.b))
		return verify_bad(v, "0x%llx: an instruction that this processor does not take as the "
			    "captured one did: it cannot be checked here", g.rip);
	verify_expect(&v->e, &v->in);
	v->have = 1;
	return VERIFY_OK;
}

static int
verify_set(struct verify *v, const struct ws_regs *w)
{
	return native_state(&v->n, w, NULL, 0) ? verify_bad(v, "%s", v->n.err) : VERIFY_OK;
}

/* The replay is at a trigger of the capture: the native side must be there as well. */
static int
verify_trigger(struct verify *v, const struct ws_rec *rec)
{
	struct ws_regs w;
	int got = verify_before(v);

	if (got)
		return got;
	w = v->in.at;
	if (rec->kind == WS_SIG) {
		if (!ws_comes_at(&rec->u.sig, &w))
			return verify_differs(v, "%s %u does not come natively: registers differ",
			    rec->u.sig.sig == WS_SWITCH ? "the switch to thread" : "signal",
			    rec->u.sig.sig == WS_SWITCH ? rec->u.sig.thread : rec->u.sig.sig);
		v->have = 0;            /* the native side moves to another instruction */
		return native_state(&v->n, &rec->u.sig.to, rec->u.sig.xsave, rec->u.sig.nxsave) ?
		    verify_bad(v, "%s", v->n.err) : VERIFY_OK;
	}
	v->acted = 1;
	if (rec->kind == WS_SYS) {
		w.rip += 2;
		w.r[WS_RCX] = w.rip;
		w.r[11] = w.rflags;
		/* both sides agree, and the capture differs: the replay will report it */
		if (!native_is_call(&w, &rec->u.sys) &&
		    !memcmp(v->in.at.r, replay_regs(v->r)->r, sizeof(w.r)))
			return VERIFY_OK;
		if (v->in.z.mnemonic != ZYDIS_MNEMONIC_SYSCALL || !native_is_call(&w, &rec->u.sys))
			return verify_differs(v, "system call %llu is not made natively with these registers",
			    (unsigned long long)rec->u.sys.nr);
		native_call_result(&w, &rec->u.sys);
	} else if (native_emulate(&w, v->in.b, rec)) {
		return verify_differs(v, "no %s natively", ws_kind_name(rec->kind));
	}
	return verify_set(v, &w);
}

/* The replay's callback for records. */
static int
on_record(void *arg, const struct ws_rec *rec)
{
	struct verify *v = arg;
	int got = 0;

	if (v->silent || rec->kind == WS_END)
		return 0;
	if (rec->kind == WS_START)
		got = native_state(&v->n, &rec->u.state.regs, rec->u.state.xsave, rec->u.state.nxsave);
	else if (ws_is_trigger(rec->kind))
		got = verify_trigger(v, rec);
	else
		got = native_effect(&v->n, rec) < 0 ? -1 : 0;
	if (got < 0)
		verify_bad(v, "%s", v->n.err);
	return got != 0;
}

struct verify *
verify_open(const char *path, const struct verify_opts *o, struct fault *f)
{
	struct verify *v = calloc(1, sizeof(*v));

	*f = (struct fault){.off = WS_UNKNOWN, .rec = WS_UNKNOWN};
	if (!v) {
		snprintf(f->err, sizeof(f->err), "no memory");
		return NULL;
	}
	v->o = *o;
	v->at.off = v->at.rec = WS_UNKNOWN;
	v->pagemap[0] = v->pagemap[1] = -1;
	if (native_open(&v->n))
		snprintf(f->err, sizeof(f->err), "%s", v->n.err);
	else if (verify_pagemaps(v))
		snprintf(f->err, sizeof(f->err), "the pages of memory are not to be learnt");
	else {
		confine_tracee(v->n.t.pid);
		v->r = replay_open_watched(path, on_record, v, f);
	}
	if (!v->r && v->err[0])
		snprintf(f->err, sizeof(f->err), "%.200s", v->err);
	if (!v->r) {
		verify_close(v);
		return NULL;
	}
	v->fresh = 1;
	v->amd = replay_amd(replay_header(v->r));
	return v;
}

void
verify_close(struct verify *v)
{
	if (!v)
		return;
	blocks_stop(&v->k);
	native_close(&v->n);
	replay_close(v->r);
	for (int i = 0; i < 2; i++)
		if (v->pagemap[i] >= 0)
			close(v->pagemap[i]);
	free(v->k.b.w);
	free(v);
}

/* Emulates cpuid, by the capture's table, and xgetbv. 1: done. */
static int
verify_emulate(struct verify *v)
{
	const struct ws_header *h = replay_header(v->r);
	struct ws_regs w = v->in.at;
	struct ws_cpuid c;

	if (v->in.z.mnemonic == ZYDIS_MNEMONIC_CPUID) {
		c = ws_cpuid_find(h->cpuid, h->ncpuid, (uint32_t)w.r[WS_RAX], (uint32_t)w.r[WS_RCX]);
		w.r[WS_RAX] = c.eax;
		w.r[WS_RBX] = c.ebx;
		w.r[WS_RCX] = c.ecx;
		w.r[WS_RDX] = c.edx;
	} else if (v->in.z.mnemonic == ZYDIS_MNEMONIC_XGETBV && (uint32_t)w.r[WS_RCX] == 0) {
		w.r[WS_RAX] = (uint32_t)h->xcr0;
		w.r[WS_RDX] = h->xcr0 >> 32;
	} else if (v->in.z.mnemonic == ZYDIS_MNEMONIC_XGETBV) {
		/* which parts are in use depends on the processor's history */
		w.r[WS_RAX] = replay_regs(v->r)->r[WS_RAX];
		w.r[WS_RDX] = replay_regs(v->r)->r[WS_RDX];
	} else if (v->in.z.mnemonic == ZYDIS_MNEMONIC_SYSCALL && replay_regs(v->r)->rip == w.rip + v->in.z.length &&
	    replay_regs(v->r)->r[WS_RCX] == w.rip + v->in.z.length) {
		/* the capture has no call here: the kernel refused it, with a signal that comes after it */
		w.r[WS_RCX] = w.rip + v->in.z.length;
		w.r[11] = w.rflags;
	} else {
		return 0;
	}
	w.rip += v->in.z.length;
	return verify_set(v, &w) ? -1 : 1;
}

/*
 * Memory that depends on more than the program: a saved trap flag, the address of the last x87
 * instruction, the components in use.
 */
static int
verify_correct(struct verify *v, const struct ws_regs *now, const uint64_t *w, size_t n)
{
	uint8_t b[REF_SIZEMAX];

	switch (v->in.z.mnemonic) {
	case ZYDIS_MNEMONIC_PUSHF: case ZYDIS_MNEMONIC_PUSHFQ:
		tracee_read(&v->n.t, now->r[WS_RSP], b, 2);
		b[1] &= 0xfe;
		return native_write(&v->n, now->r[WS_RSP], b, 2) ? verify_bad(v, "%s", v->n.err) : VERIFY_OK;
	case ZYDIS_MNEMONIC_FNSTENV: case ZYDIS_MNEMONIC_FNSAVE: case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_XSAVE: case ZYDIS_MNEMONIC_XSAVE64: case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT: case ZYDIS_MNEMONIC_XSAVEOPT64:
		for (size_t i = 0; i < n; i++)
			if (ref_kind(w[i]) == REF_STORE || ref_kind(w[i]) == REF_MODIFY) {
				size_t k = replay_read(v->r, ref_addr(w[i]), b, ref_size(w[i]));

				if (native_write(&v->n, ref_addr(w[i]), b, k))
					return verify_bad(v, "%s", v->n.err);
			}
		return VERIFY_OK;
	default:
		return VERIFY_OK;
	}
}

/*
 * Does the instruction ask the system for something, or leave 64-bit code? The replay stops at
 * the system calls that the capture has, which are never made here.  Any other call is a
 * difference, and must not be made either.
 */
static int
verify_is_system_insn(const struct insn *in)
{
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL: case ZYDIS_MNEMONIC_SYSENTER: case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_INTO: case ZYDIS_MNEMONIC_BOUND:
	case ZYDIS_MNEMONIC_IRET: case ZYDIS_MNEMONIC_IRETD: case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_VMCALL: case ZYDIS_MNEMONIC_VMMCALL: case ZYDIS_MNEMONIC_VMFUNC:
	case ZYDIS_MNEMONIC_ENCLU: case ZYDIS_MNEMONIC_SENDUIPI:
		return 1;
	case ZYDIS_MNEMONIC_INT:        /* 3 is a breakpoint */
		return in->op[0].imm.value.u != 3;
	default:
		return in->z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
	}
}

static int
verify_step(struct verify *v)
{
	int status, err;

	if (verify_is_system_insn(&v->in))
		return verify_differs(v, "%s natively, and none in the replay",
		    ZydisMnemonicGetString(v->in.z.mnemonic));
	err = tracee_resume(&v->n.t, PTRACE_SINGLESTEP, 0);
	while (!err && (err = tracee_wait(&v->n.t, &status)) == EINTR)
		err = 0;
	if (err || !WIFSTOPPED(status))
		return verify_bad(v, "the native process is gone");
	if (status >> 8 != SIGTRAP)
		return verify_differs(v, "signal %d natively, and none in the replay", WSTOPSIG(status));
	return VERIFY_OK;
}

static int
verify_compares(const struct insn *in)
{
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_CMPSB: case ZYDIS_MNEMONIC_CMPSW: case ZYDIS_MNEMONIC_CMPSD:
	case ZYDIS_MNEMONIC_CMPSQ:
	case ZYDIS_MNEMONIC_SCASB: case ZYDIS_MNEMONIC_SCASW: case ZYDIS_MNEMONIC_SCASD:
	case ZYDIS_MNEMONIC_SCASQ:
		return in->string;
	default:
		return 0;
	}
}

/* Does a repeated instruction end because its count ran out? ref(5) counts one more fetch then. */
static int
verify_count_ran_out(const struct verify *v, const struct ws_regs *now)
{
	const struct insn *in = &v->in;
	int zf = now->rflags >> 6 & 1;

	if (!in->string || !in->counted || now->rip == in->at.rip)
		return 0;
	return !verify_compares(in) || zf == !(in->z.attributes & ZYDIS_ATTRIB_HAS_REPNE);
}

/* Compares with the references of the replay in blocks, and after a batch also with its registers. */
static int
verify_compare_blocks(struct verify *v, const uint64_t *w, size_t n, const struct ws_regs *now)
{
	struct blocks *k = &v->k;
	char what[160];

	for (size_t i = 0; i < n; i++) {
		while (k->at == k->b.n) {
			int got = blocks_next(k);

			if (got < 0)
				return verify_bad(v, "the replay in blocks: %s", k->err);
			if (got && v->o.batch)
				v->o.batch(v->o.arg, &k->b, v->r);
			if (!got)
				return verify_differs(v, "the replay in blocks ends at instruction %llu",
				    (unsigned long long)k->b.icount);
		}
		if (k->b.w[k->at] != w[i])
			return verify_differs(v, "reference %zu in blocks is %s 0x%llx %u, not %s 0x%llx %u",
			    i, ref_kind_name(ref_kind(k->b.w[k->at])),
			    (unsigned long long)ref_addr(k->b.w[k->at]), ref_size(k->b.w[k->at]),
			    ref_kind_name(ref_kind(w[i])), (unsigned long long)ref_addr(w[i]),
			    ref_size(w[i]));
		k->at++;
	}
	if (k->at == k->b.n && k->b.icount == replay_icount(v->r) &&
	    verify_regs(now, &k->b.regs, v->extra, what, sizeof(what)))
		return verify_differs(v, "in blocks: %s", what);
	return VERIFY_OK;
}

/* Steps the native side after the replay, whose n references are at w. */
static int
verify_step_native(struct verify *v, const uint64_t *w, size_t n, struct ws_regs *now)
{
	struct user_regs_struct g;
	char what[200];
	int got = verify_before(v), fetch = v->extra;

	if (got)
		return got;
	if (fetch) {
		v->extra = 0;
		v->e.n = 1;
		v->e.loose = EXACT;
		v->e.w[0] = ref_make(REF_INST, v->in.at.rip, v->in.z.length);
	} else if (!v->acted) {
		got = verify_emulate(v);
		if (!got)
			got = verify_step(v);
		else
			got = got < 0 ? VERIFY_BAD : VERIFY_OK;
	}
	if (got)
		return got;
	if (tracee_regs(&v->n.t, &g))
		return verify_bad(v, "the native process is gone");
	tracee_from_user(now, &g, g.rax);
	now->rflags &= ~NATIVE_UNSEEN;
	if (verify_refs(&v->e, w, n, what, sizeof(what)))
		return verify_differs(v, "%s", what);
	v->extra = !fetch && !v->acted && verify_count_ran_out(v, now);
	/* stopped between elements: the processor shows the flags from before the whole instruction */
	if (verify_compares(&v->in) && now->rip == v->in.at.rip)
		now->rflags = replay_regs(v->r)->rflags;
	if (verify_regs(now, replay_regs(v->r), v->extra, what, sizeof(what)))
		return verify_differs(v, "%s", what);
	got = verify_correct(v, now, w, n);
	v->c.nref += n;
	v->c.nloose += v->e.loose == EXACT ? 0 : n - 1;
	v->have = v->extra;
	return got;
}

/* One instruction on all sides. */
static int
verify_one(struct verify *v)
{
	uint64_t words[MOST_REFS];
	struct ws_regs now;
	const uint64_t *w;
	size_t n, have = 0;
	char what[200];
	int got;

	v->acted = 0;
	replay_until(v->r, replay_icount(v->r) + 1);
	while ((got = replay_refs(v->r, &w, &n)) == REPLAY_OK) {
		if (n > MOST_REFS - have)
			return verify_differs(v, "more than %u references", MOST_REFS);
		memcpy(words + have, w, n * sizeof(*w));
		have += n;
	}
	if (v->err[0])
		return VERIFY_BAD;
	if (v->diff.what[0])
		return VERIFY_DIFFERS;
	if (got == REPLAY_BAD)
		return verify_bad_capture(v);
	if (!have) {
		v->ended = 1;
		return VERIFY_OK;
	}
	got = verify_step_native(v, words, have, &now);
	if (!got)
		got = verify_compare_blocks(v, words, have, &now);
	if (!got && (v->o.vectors || v->c.ninst % EVERY == 0) && verify_vectors(v, what, sizeof(what)))
		got = verify_differs(v, "%s", verify_vectors(v, what, sizeof(what)));
	v->c.ninst += !got;
	return got;
}

/* Brings the native side to the position of the replay. */
static int
verify_begin(struct verify *v, uint64_t from, uint64_t to)
{
	int got = VERIFY_OK;

	if (from > replay_icount(v->r)) {
		v->silent = 1;
		v->fresh = 0;
		got = replay_skip(v->r, from) == REPLAY_BAD ?
		    verify_bad_capture(v) : VERIFY_OK;
		v->silent = 0;
	}
	if (!got && replay_end_record(v->r)) {
		v->ended = 1;
		return got;
	}
	if (!got && !v->fresh)
		got = verify_copy_memory(v);
	if (got)
		return got;
	v->fresh = 1;
	v->have = v->extra = 0;
	v->silent = 1;                  /* records of the other replay are ignored */
	got = blocks_start(&v->k, v->r, to) ? verify_bad(v, "cannot start a process") : VERIFY_OK;
	v->silent = 0;
	return got;
}

enum verify_got
verify_window(struct verify *v, uint64_t from, uint64_t to, uint64_t *at)
{
	char what[200];
	int got = verify_begin(v, from, to);

	if (!got && v->ended) {         /* before the window */
		*at = from;
		return VERIFY_OK;
	}
	while (!got && !v->ended && (replay_icount(v->r) < to || v->extra))
		got = verify_one(v);
	if (!got && (verify_vectors(v, what, sizeof(what)) || verify_memory(v, what, sizeof(what))))
		got = verify_differs(v, "%s", what);
	blocks_stop(&v->k);
	*at = replay_icount(v->r);
	return (enum verify_got)got;
}

struct replay *
verify_replay(struct verify *v)
{
	return v->r;
}

int
verify_ended(const struct verify *v)
{
	return v->ended;
}

const struct verify_counts *
verify_counts(const struct verify *v)
{
	return &v->c;
}

const struct verify_diff *
verify_diff(const struct verify *v)
{
	return &v->diff;
}

const char *
verify_err(const struct verify *v)
{
	return v->err;
}

const struct fault *
verify_place(const struct verify *v)
{
	return &v->at;
}
