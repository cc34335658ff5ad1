/* drmemtrace: what is around a trace; reading the references in one, and writing references alone. */
#include "format/ref/ref.h"
#include "format/trace/drmemtrace.h"
#include "format/trace/trace_internal.h"

#define PIECES 128u             /* that an access may have: fewer than TRACE_MARGIN */

uint8_t *
drmem_put_thread(uint8_t *p, uint32_t thread)
{
	p = drmem_put(p, drmem_head(DRMEM_THREAD, 4), thread ? thread : DRMEM_TASK);
	return drmem_put(p, drmem_head(DRMEM_PID, 4), DRMEM_TASK);
}

uint8_t *
drmem_put_start(uint8_t *p, const struct drmem_file *f)
{
	p = drmem_put(p, drmem_head(DRMEM_HEADER, 0), f->version);
	p = drmem_marker(p, DRMEM_VERSION, f->version);
	p = drmem_marker(p, DRMEM_FILETYPE, f->type);
	p = drmem_put_thread(p, f->thread);
	p = drmem_marker(p, DRMEM_LINE, f->line);
	p = drmem_marker(p, DRMEM_CHUNK, 0);
	p = drmem_marker(p, DRMEM_PAGE, f->page);
	return drmem_time(p, f->time);
}

uint8_t *
drmem_put_end(uint8_t *p, const struct drmem_file *f)
{
	p = drmem_put(p, drmem_head(DRMEM_THREAD_EXIT, 4), f->thread ? f->thread : DRMEM_TASK);
	return drmem_put(p, drmem_head(DRMEM_FOOTER, 0), 0);
}

uint8_t *
trace_put_drmem(struct trace_writer *t, uint8_t *d, const uint64_t *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]), size = ref_size(w[i]);
		uint64_t addr = ref_addr(w[i]);

		if (kind >= REF_ENTER)
			continue;
		if (kind == REF_INST) {
			t->pc = addr;
			t->moved = t->nofetch;
			if (!t->nofetch)
				d = drmem_put(d, drmem_head(DRMEM_INSTR, size), addr);
			continue;
		}
		/* an instruction without a size is not fetched: it is that of the accesses after it */
		if (t->moved)
			d = drmem_put(d, drmem_head(DRMEM_INSTR, 0), t->pc);
		t->moved = 0;
		if (kind != REF_STORE)
			d = drmem_put(d, drmem_head(DRMEM_READ, size), addr);
		if (kind != REF_LOAD)
			d = drmem_put(d, drmem_head(DRMEM_WRITE, size), addr);
	}
	return d;
}

int
trace_drmem_is(const uint8_t *p, size_t n)
{
	return n >= DRMEM_RECORD && get_le32(p) == drmem_head(DRMEM_HEADER, 0) && get_le64(p + 4) - 1 < 255;
}

int
trace_drmem_open(struct trace_reader *r)
{
	const uint8_t *p;
	size_t n;

	p = in_peek(r->in, DRMEM_RECORD, &n);
	if (!trace_drmem_is(p, n))
		return trace_fail(r, 0, n < DRMEM_RECORD ? "truncated header" : "not a drmemtrace trace");
	r->ended = 0;
	return 0;
}

static uint64_t *
drmem_word(struct trace_reader *r, uint64_t *w, enum ref_access kind, uint64_t addr, unsigned size)
{
	if (!size)
		size = r->size;
	if (addr + (UINT64_C(1) << 47) >= UINT64_C(1) << 48)
		r->err = "address out of range";
	if (size > PIECES * REF_PIECE)
		r->err = "an access of too many bytes";
	if (r->err)
		return w;
	for (; size > REF_SIZEMAX; size -= REF_PIECE, addr += REF_PIECE)
		*w++ = ref_make(kind, addr, REF_PIECE);
	*w++ = ref_make(kind, addr, size);
	return w;
}

/* Instructions that follow the one before: the address is their lengths. */
static uint64_t *
drmem_bundle(struct trace_reader *r, uint64_t *w, unsigned n, uint64_t lengths)
{
	if (!n || n > 8)
		r->err = "a bundle of too many instructions";
	for (; n && !r->err; n--, lengths >>= 8) {
		if (!(lengths & 255))
			r->err = "an instruction without bytes";
		else
			w = drmem_word(r, w, REF_INST, r->pc, lengths & 255);
		r->pc += lengths & 255;
	}
	return w;
}

static uint64_t *
drmem_fetch(struct trace_reader *r, uint64_t *w, unsigned size, uint64_t pc)
{
	r->pc = pc + size;
	if (size > REF_SIZEMAX)
		r->err = "an instruction of too many bytes";
	/* without a size it only says where the accesses after it are from */
	return size && !r->err ? drmem_word(r, w, REF_INST, pc, size) : w;
}

/* A switch to another thread; the first is none. */
static uint64_t *
drmem_thread(struct trace_reader *r, uint64_t *w, uint64_t thread)
{
	if (thread >= UINT64_C(1) << 47)
		r->err = "number of a thread out of range";
	else if (r->left && r->left - 1 != thread)
		*w++ = ref_make(REF_TASK, thread, 0);
	r->left = thread + 1;
	return w;
}

/* The words of a record; w advanced. What is wrong with it is in r->err. */
static uint64_t *
drmem_record(struct trace_reader *r, uint64_t *w, const uint8_t *p)
{
	unsigned type = get_le16(p), size = get_le16(p + 2);
	uint64_t value = get_le64(p + 4);

	if (r->ended && type != DRMEM_HEADER) {
		r->err = "records after the footer";
		return w;
	}
	switch (type) {
	case DRMEM_READ:
		return drmem_word(r, w, REF_LOAD, value, size);
	case DRMEM_WRITE:
		return drmem_word(r, w, REF_STORE, value, size);
	case DRMEM_INSTR: case DRMEM_JUMP: case DRMEM_JUMP_IND: case DRMEM_COND: case DRMEM_CALL:
	case DRMEM_CALL_IND: case DRMEM_RETURN: case DRMEM_NO_FETCH: case DRMEM_MAYBE_FETCH:
	case DRMEM_SYSENTER: case DRMEM_TAKEN: case DRMEM_UNTAKEN:
		return drmem_fetch(r, w, size, value);
	case DRMEM_BUNDLE:
		return drmem_bundle(r, w, size, value);
	case DRMEM_THREAD:
		return drmem_thread(r, w, value);
	case DRMEM_HEADER:              /* traces may follow each other */
		r->ended = 0;
		if (!value || value > DRMEM_NEWEST)
			r->err = "a trace of an unknown version";
		return w;
	case DRMEM_FOOTER:
		r->ended = 1;
		return w;
	default:
		if (type >= DRMEM_NTYPES)
			r->err = "a record of an unknown type";
		return w;
	}
}

long
trace_drmem_read(struct trace_reader *r, uint64_t *w, size_t max)
{
	uint64_t *at = w, *most = w + max - TRACE_MARGIN;
	const uint8_t *p;
	size_t n, i = 0;

	while (at == w && !r->failed) {
		uint64_t off = in_off(r->in);

		if (r->err)
			return trace_fail(r, off, r->err);
		p = in_peek(r->in, DRMEM_RECORD, &n);
		if (n < DRMEM_RECORD) {
			if (n || in_error(r->in))
				return trace_fail(r, off + n, "truncated record");
			return r->ended ? 0 : trace_fail(r, off, "truncated: no footer");
		}
		for (i = 0; n - i >= DRMEM_RECORD && at <= most; i += DRMEM_RECORD) {
			uint64_t *next = drmem_record(r, at, p + i);

			if (r->err)
				break;
			at = next;
		}
		in_skip(r->in, i);
	}
	r->nrec += (uint64_t)(at - w);
	return r->failed ? -1 : (long)(at - w);
}
