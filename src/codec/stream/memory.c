/*
 * Value streams: how much memory it takes, at most, to write or read one; sizes of blocks that need no
 * more than is allowed.
 */
#include "codec/stream/bytes_internal.h"
#include "codec/stream/stream_internal.h"

#define PROGRAM  (8u << 20)     /* code, libraries, buffers of input and output */
#define THREAD   (1u << 20)     /* each: its stack, small allocations */
#define FIRST_MIN 4096u         /* records of a first block: it becomes no shorter */
#define UNIT_MIN (1u << 20)     /* bytes of a unit; shorter ones are worth nothing */
#define ENTRY    100u           /* bytes of an entry of the index, coded and decoded */
#define MIB      (1u << 20)
#define REF_VALUES 3            /* columns of references for fetches; there are two for other words */

/* Is column c coded with keys? */
static int
memory_keyed(const struct vs_layout *y, unsigned c)
{
	return y->ref ? c > 0 : y->key[c] > 0;
}

/* Bytes of n records as values: columns, and keys and words of references. */
static uint64_t
memory_values(const struct vs_layout *y, uint64_t n)
{
	return 8 * n * (y->ref ? REF_VALUES + 2 : y->nfield);
}

/* n records as bytes, as values, and coded. */
static uint64_t
memory_job(const struct vs_layout *y, uint64_t n, uint64_t coded)
{
	return n * vs_record_size(y) + memory_values(y, n) + coded;
}

/* LZMA's dictionary for n bytes, at most. */
static size_t
memory_dict(uint64_t n)
{
	return n < VS_DICT_MAX / 3 * 2 ? (size_t)n / 2 * 3 : VS_DICT_MAX;
}

/* What a writer takes for whole blocks of n bytes, besides these bytes and their blocks. */
static uint64_t
memory_whole(uint64_t n, unsigned threads)
{
	uint64_t zstd = vc_zstd_memory((size_t)n, 19) + n, lzma = vc_lzma_memory(memory_dict(n), 0);
	uint64_t bytes = n <= BYTES_MAX ? bytes_memory((size_t)n) : 0, most = zstd > lzma ? zstd : lzma;

	if (threads > 1)        /* both at the same time */
		most = zstd + lzma;

	return n ? n + (bytes + n > most ? bytes + n : most) : 0;
}

/* The greatest blocks that o may make of a stream of `bytes` bytes: records of the first, of a later one. */
static void
memory_blocks(const struct vs_options *o, uint64_t bytes, size_t *first, size_t *later)
{
	uint64_t n = bytes / vs_record_size(&o->layout) + 1, x = o->first ? o->first : o->block;

	*first = x < n ? (size_t)x : (size_t)n;
	x = o->block ? o->block : o->most ? o->most : VS_GROUP;
	x = o->group > x ? o->group : x;
	n -= *first;
	*later = x < n ? (size_t)x : (size_t)n;
}

static void
memory_shapes(const struct vs_options *o, size_t first, size_t later, struct vc_shape s[VS_COLUMNS])
{
	for (unsigned c = 0; c < vs_columns(&o->layout); c++)
		s[c] = (struct vc_shape){ .first = first, .later = later, .width = vs_width(&o->layout, c),
			.keyed = memory_keyed(&o->layout, c), .methods = vc_methods(o->level, o->method) };
}

/* Jobs of a writer, for so many threads. */
static uint64_t
memory_jobs(unsigned threads)
{
	return threads == 1 ? 2 : 2 * threads + 1;
}

uint64_t
vs_write_memory(const struct vs_options *o, uint64_t bytes)
{
	const struct vs_layout *y = &o->layout;
	uint64_t unit = bytes < o->unit ? bytes : o->unit, sum = PROGRAM, x, most, work;
	size_t record = vs_record_size(y);
	unsigned columns = vs_columns(y);
	struct vc_shape s[VS_COLUMNS];
	size_t first, later;

	memory_blocks(o, bytes, &first, &later);
	memory_shapes(o, first, later, s);
	/* the first block, whose values wait for the primers */
	work = vc_work_memory(s, columns, 0, 0, o->level);
	most = memory_job(y, first, record * first);
	if (later) {
		for (unsigned c = 0; c < columns; c++)
			sum += vc_prime_memory(&s[c], columns);
		x = vc_work_memory(s, columns, 1, 0, o->level);
		/* each thread has its work space, the first one that of the first block, and a group */
		work = (work > x ? work : x) + (o->threads - 1) * x;
		x = o->threads * memory_job(y, later, 0) +
		    memory_jobs(o->threads) * memory_job(y, later, record * later);
		most = most > x ? most : x;
	}
	return sum + work + most + o->threads * THREAD + 2 * unit + memory_whole(unit, o->threads);
}

/* The unit becomes half as long, or there are none. */
static void
memory_halve_unit(struct vs_options *o)
{
	o->unit = o->unit / 2 < UNIT_MIN ? 0 : o->unit / 2;
}

static void
memory_halve_blocks(struct vs_options *o)
{
	o->first /= 2;
	o->most = o->most && o->most < o->first ? o->most : o->first;
	o->block = o->block < o->first ? o->block : o->first;
	o->group = o->group < o->first ? o->group : o->first;
}

/* What takes more becomes half as long: units, or blocks. -1: nothing can be shorter. */
static int
memory_halve(struct vs_options *o, uint64_t bytes, int fixed)
{
	struct vs_options none = *o;
	int shortest = fixed || o->first < 2 * FIRST_MIN;

	none.unit = 0;
	if (o->unit && (shortest || vs_write_memory(o, bytes) > 2 * vs_write_memory(&none, bytes)))
		memory_halve_unit(o);
	else if (shortest)
		return -1;
	else
		memory_halve_blocks(o);
	return 0;
}

uint64_t
vs_write_within(struct vs_options *o, uint64_t bytes, uint64_t memory, int fixed)
{
	unsigned threads = o->threads;
	uint64_t need, least = UINT64_MAX;

	o->threads = 1;         /* what is written does not depend on them */
	while ((need = vs_write_memory(o, bytes)) > memory) {
		least = need < least ? need : least;    /* more blocks may need more than a single one */
		if (memory_halve(o, bytes, fixed) != 0)
			return least;
	}
	while (o->threads < threads) {
		uint64_t more;

		o->threads++;
		more = vs_write_memory(o, bytes);
		if (more > memory) {
			o->threads--;
			break;
		}
		need = more;
	}
	return need;
}

void
vs_memory_note(struct vs_reader *r, const struct vs_job *j)
{
	struct vs_seen *e = &r->seen;
	const struct vs_bhead *h = &j->head;
	uint64_t x = h->n * r->m.record;

	if (h->whole) {
		x += h->size + (h->col[0].method == VS_LZMA ? vc_lzma_memory(memory_dict(x), 1) :
		    h->col[0].method == VS_BYTES ? bytes_memory((size_t)x) : 0);
		e->whole = x > e->whole ? x : e->whole;
		return;
	}
	for (unsigned c = 0; c < h->ncol; c++) {
		struct vc_shape *s = &e->column[c];
		size_t *most = j->no ? &s->later : &s->first;

		s->width = vs_width(&r->m.info.layout, c);
		s->keyed = memory_keyed(&r->m.info.layout, c);
		*most = h->col[c].n > *most ? (size_t)h->col[c].n : *most;
		s->methods |= VC_USES(h->col[c].method & 63);
		s->methods |= h->col[c].method == VC_SCALED ? VC_USES(VC_CM) : 0;
	}
	if (!j->no) {
		e->first = h->n;
		e->firstsize = h->size;
	} else {
		e->later = h->n > e->later ? h->n : e->later;
		e->latersize = h->size > e->latersize ? h->size : e->latersize;
	}
}

/* What reading takes, of the blocks whose heads were seen. */
static uint64_t
memory_seen(const struct vs_reader *r, unsigned threads)
{
	const struct vs_layout *y = &r->m.info.layout;
	const struct vs_seen *e = &r->seen;
	unsigned columns = vs_columns(y), jobs = threads > 1 ? 2 * threads : 1;
	uint64_t sum = PROGRAM + threads * THREAD + memory_job(y, e->first, e->firstsize) + e->whole +
	    r->index.n * ENTRY, most = vc_work_memory(e->column, columns, 0, 1, 0), x;

	if (e->later) {
		for (unsigned c = 0; c < columns; c++)
			sum += vc_prime_memory(&e->column[c], columns);
		x = threads * vc_work_memory(e->column, columns, 1, 1, 0) +
		    jobs * memory_job(y, e->later, e->latersize);
		most = most > x ? most : x;
	}
	return sum + most;
}

/* Sees the heads of all blocks, if they can be read. */
static void
memory_look(struct vs_reader *r)
{
	struct fault f;
	const struct vs_index *x = r->src.seeks ? vs_index(r, &f) : NULL;
	struct vs_job j = { .no = 0 };

	for (size_t i = 0; x && i < x->n; i++)
		if (vs_get_block_head(r, i, &j.head, &f) == 0) {
			j.no = i;
			vs_memory_note(r, &j);
		}
}

uint64_t
vs_read_memory(struct vs_reader *r, unsigned threads)
{
	memory_look(r);
	return memory_seen(r, threads);
}

void
vs_read_limit(struct vs_reader *r, uint64_t memory, unsigned threads)
{
	r->memory = memory;
	r->threads = threads;
}

int
vs_memory_exceeds(struct vs_reader *r, struct vs_job *j)
{
	uint64_t need;

	vs_memory_note(r, j);
	if (!r->memory || (need = memory_seen(r, r->threads)) <= r->memory)
		return 0;
	j->bad = 1;
	fault_set(&j->fault, j->off, j->rec, "block %zu needs %llu MiB of memory, more than is allowed",
	    j->no + 1, (unsigned long long)((need + MIB - 1) / MIB));
	return 1;
}
