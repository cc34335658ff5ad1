/* Writes references in the formats of other tools, into memory. */
#include <string.h>

#include "base/bytes.h"
#include "base/digits.h"
#include "base/varint.h"
#include "format/ref/ref.h"
#include "format/trace/drmemtrace.h"
#include "format/trace/trace_internal.h"

static inline uint8_t *
trace_put_hex(uint8_t *d, uint64_t v)
{
	d[0] = '0';
	d[1] = 'x';
	return d + 2 + digits_hex_room(d + 2, v, 1);
}

static size_t
trace_put_csv(uint8_t *dst, const uint64_t *w, size_t n)
{
	uint8_t *d = dst;

	for (size_t i = 0; i < n; i++) {
		const char *name = ref_kind_name(ref_kind(w[i]));
		size_t k = strlen(name);

		memcpy(d, name, k);
		d[k] = ',';
		d = trace_put_hex(d + k + 1, ref_addr(w[i]));
		*d++ = ',';
		d += digits_dec(d, ref_size(w[i]));
		*d++ = '\n';
	}
	return (size_t)(d - dst);
}

static size_t
trace_put_npy(uint8_t *dst, const uint64_t *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		put_le64(dst + TRACE_NPY_ITEM * i, ref_addr(w[i]));
		put_le16(dst + TRACE_NPY_ITEM * i + 8, (uint16_t)(w[i] >> 48));
	}
	return TRACE_NPY_ITEM * n;
}

/*
 * The formats of loads and stores: each has a function for one of them. A modify is both; a fetch is
 * the time, and the instruction of what follows.
 */
typedef uint8_t *trace_put_fn(const struct trace_writer *t, uint8_t *d, uint64_t w, int store);

static inline __attribute__((always_inline)) size_t
trace_put_data(struct trace_writer *t, trace_put_fn *put, uint8_t *dst, const uint64_t *w, size_t n)
{
	uint8_t *d = dst;

	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);

		if (kind == REF_INST) {
			t->fetched++;
			t->pc = ref_addr(w[i]);
			continue;
		}
		if (kind >= REF_ENTER)
			continue;
		if (kind != REF_STORE)
			d = put(t, d, w[i], 0);
		if (kind != REF_LOAD)
			d = put(t, d, w[i], 1);
	}
	return (size_t)(d - dst);
}

static uint8_t *
trace_put_pinatrace(const struct trace_writer *t, uint8_t *d, uint64_t w, int store)
{
	d = trace_put_hex(d, t->pc);
	memcpy(d, store ? ": W " : ": R ", 4);
	d = trace_put_hex(d + 4, ref_addr(w));
	*d++ = '\n';
	return d;
}

static uint8_t *
trace_put_ramulator(const struct trace_writer *t, uint8_t *d, uint64_t w, int store)
{
	(void)t;
	d = trace_put_hex(d, ref_addr(w));
	memcpy(d, store ? " W\n" : " R\n", 3);
	return d + 3;
}

static uint8_t *
trace_put_ramulator2(const struct trace_writer *t, uint8_t *d, uint64_t w, int store)
{
	(void)t;
	memcpy(d, store ? "ST " : "LD ", 3);
	d = trace_put_hex(d + 3, ref_addr(w));
	*d++ = '\n';
	return d;
}

static uint8_t *
trace_put_dramsim3(const struct trace_writer *t, uint8_t *d, uint64_t w, int store)
{
	size_t n = store ? 7 : 6;

	d = trace_put_hex(d, ref_addr(w));
	memcpy(d, store ? " WRITE " : " READ  ", 7);
	d += n;
	d += digits_dec(d, t->fetched);
	*d++ = '\n';
	return d;
}

/* VPC3's records: the low half of the instruction's address, and the address of the data. */
static uint8_t *
trace_put_vpc(const struct trace_writer *t, uint8_t *d, uint64_t w, int store)
{
	(void)store;
	put_le32(d, (uint32_t)t->pc);
	put_le64(d + 4, ref_addr(w));
	return d + 12;
}

/*
 * gem5's packet trace, src/proto/packet.proto of gem5: the magic number, then messages of protobuf with
 * their lengths before them: a PacketHeader, and a Packet for each access. The numbers of the fields are
 * tick 1, cmd 2, addr 3, size 4, flags 5, pc 7; all are varints.
 */
enum { GEM5_READ = 1, GEM5_WRITE = 4 };         /* MemCmd::ReadReq, WriteReq */
#define GEM5_FETCH 0x100                        /* Request::INST_FETCH */
#define GEM5_TICKS 1000                         /* of an instruction: at 10^12 ticks a second, 1 GHz */

static uint8_t *
gem5_field(uint8_t *d, unsigned field, uint64_t v)
{
	*d++ = (uint8_t)(field << 3);
	return varint_put(d, v);
}

static uint8_t *
gem5_packet(const struct trace_writer *t, uint8_t *dst, uint64_t w, int cmd, int fetch)
{
	uint8_t *d = dst + 1;

	d = gem5_field(d, 1, t->fetched * GEM5_TICKS);
	d = gem5_field(d, 2, (unsigned)cmd);
	d = gem5_field(d, 3, ref_addr(w));
	d = gem5_field(d, 4, ref_size(w));
	if (fetch)
		d = gem5_field(d, 5, GEM5_FETCH);
	d = gem5_field(d, 7, t->pc);
	dst[0] = (uint8_t)(d - dst - 1);        /* less than 128 */
	return d;
}

static size_t
trace_put_gem5(struct trace_writer *t, uint8_t *dst, const uint64_t *w, size_t n)
{
	uint8_t *d = dst;

	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);

		if (kind == REF_INST) {
			t->fetched++;
			t->pc = ref_addr(w[i]);
			if (!t->nofetch)
				d = gem5_packet(t, d, w[i], GEM5_READ, 1);
		}
		if (kind == REF_LOAD || kind == REF_MODIFY)
			d = gem5_packet(t, d, w[i], GEM5_READ, 0);
		if (kind == REF_STORE || kind == REF_MODIFY)
			d = gem5_packet(t, d, w[i], GEM5_WRITE, 0);
	}
	return (size_t)(d - dst);
}

static size_t
gem5_head(uint8_t *dst)
{
	static const char id[] = "tracemill";
	uint8_t *d = dst + 5;

	memcpy(dst, "gem5", 4);                 /* 0x356d6567 */
	*d++ = 1 << 3 | 2;                      /* obj_id */
	*d++ = sizeof id - 1;
	memcpy(d, id, sizeof id - 1);
	d = gem5_field(d + sizeof id - 1, 2, 0);        /* ver */
	d = gem5_field(d, 3, UINT64_C(1000000000000));  /* tick_freq */
	dst[4] = (uint8_t)(d - dst - 5);
	return (size_t)(d - dst);
}

/* The formats of caches' lines: each line that a reference touches, at the time of its instruction. */
static uint8_t *
trace_put_line(const struct trace_writer *t, uint8_t *d, uint64_t number)
{
	d += digits_dec(d, t->fetched);
	*d++ = ',';
	d += digits_dec(d, number);
	*d++ = ',';
	d += digits_dec(d, t->line);
	*d++ = '\n';
	return d;
}

static uint8_t *
trace_put_record(const struct trace_writer *t, uint8_t *d, uint64_t number)
{
	put_le32(d, (uint32_t)t->fetched);
	put_le64(d + 4, number);
	put_le32(d + 12, (uint32_t)t->line);
	put_le64(d + 16, TRACE_NEVER);
	return d + TRACE_RECORD;
}

static size_t
trace_put_lines(struct trace_writer *t, enum trace_format f, uint8_t *dst, const uint64_t *w, size_t n)
{
	uint8_t *d = dst;

	for (size_t i = 0; i < n; i++) {
		/* bit 63 of a kernel's address is not set in the number */
		uint64_t addr = w[i] & 0xffffffffffffu, size = ref_size(w[i]), k;

		t->fetched += ref_kind(w[i]) == REF_INST;
		if (ref_kind(w[i]) >= REF_ENTER || (ref_kind(w[i]) == REF_INST && t->nofetch))
			continue;
		for (k = addr / t->line; k <= (addr + size - 1) / t->line; k++)
			d = f == TRACE_CACHESIM ? trace_put_line(t, d, k) : trace_put_record(t, d, k);
	}
	return (size_t)(d - dst);
}

size_t
trace_put_head(enum trace_format f, uint8_t *dst)
{
	static const char csv[] = "kind,address,size\n", lines[] = "time,id,size\n";

	switch (f) {
	case TRACE_ADDR:
		ref_put_header(dst);
		return REF_HEADER;
	case TRACE_CSV:
		memcpy(dst, csv, sizeof csv - 1);
		return sizeof csv - 1;
	case TRACE_CACHESIM:
		memcpy(dst, lines, sizeof lines - 1);
		return sizeof lines - 1;
	case TRACE_NPY:
		trace_put_npy_header(dst, 0);
		return TRACE_NPY_HEADER;
	case TRACE_GEM5:
		return gem5_head(dst);
	case TRACE_VPC:
		memcpy(dst, "vpc3", 4);
		return 4;
	case TRACE_DRMEMREFS:
		return (size_t)(drmem_put_start(dst, &(struct drmem_file){ .version = DRMEM_HAS_ENCODINGS,
		    .line = 64, .page = 4096, .time = DRMEM_EPOCH }) - dst);
	default:
		return 0;
	}
}

size_t
trace_put_tail(enum trace_format f, uint8_t *dst)
{
	return f == TRACE_DRMEMREFS ? (size_t)(drmem_put_end(dst, &(struct drmem_file){ .thread = 0 }) - dst) : 0;
}

size_t
trace_put(struct trace_writer *t, enum trace_format f, uint8_t *dst, const uint64_t *w, size_t n)
{
	switch (f) {
	case TRACE_ADDR:
		return ref_put(REF_ADDR, dst, w, n);
	case TRACE_LACKEY:
		return ref_put(REF_LACKEY, dst, w, n);
	case TRACE_DIN:
		return ref_put(REF_DIN, dst, w, n);
	case TRACE_TEXT:
		return ref_put(REF_TEXT, dst, w, n);
	case TRACE_CSV:
		return trace_put_csv(dst, w, n);
	case TRACE_NPY:
		return trace_put_npy(dst, w, n);
	case TRACE_PINATRACE:
		return trace_put_data(t, trace_put_pinatrace, dst, w, n);
	case TRACE_RAMULATOR:
		return trace_put_data(t, trace_put_ramulator, dst, w, n);
	case TRACE_RAMULATOR2:
		return trace_put_data(t, trace_put_ramulator2, dst, w, n);
	case TRACE_DRAMSIM3:
		return trace_put_data(t, trace_put_dramsim3, dst, w, n);
	case TRACE_GEM5:
		return trace_put_gem5(t, dst, w, n);
	case TRACE_VPC:
		return trace_put_data(t, trace_put_vpc, dst, w, n);
	case TRACE_DRMEMREFS:
		return (size_t)(trace_put_drmem(t, dst, w, n) - dst);
	case TRACE_CACHESIM:
	case TRACE_ORACLE:
		return trace_put_lines(t, f, dst, w, n);
	default:
		return 0;
	}
}
