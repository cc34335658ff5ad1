/* wsinfo: counts what a capture contains. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "convert/wsinfo/wsinfo.h"

/* system calls with a counter of their own; the last counter is for all others */
#define NSYS 512u

struct tally {
	uint64_t n[WS_NKINDS];
	uint64_t raw[WS_NKINDS];
	double packed[WS_NKINDS];
	uint64_t sraw[WS_NSTREAMS], spacked[WS_NSTREAMS];
	unsigned methods[WS_NSTREAMS];          /* a set of methods */
	uint64_t ngroup, nkey;
	/* the current group: raw bytes of each kind in each stream */
	uint64_t off;
	int open;
	struct ws_sizes z;
	uint64_t part[WS_NKINDS][WS_NSTREAMS];
	struct call {
		uint64_t nr, n, failed, bytes;
	} call[NSYS];
	struct call *last;                      /* the call whose effects follow */
	uint64_t mapped, zero;                  /* bytes of MEM records */
	struct ws_rec_end end;
	int ended;
};

struct tally *
tally_new(void)
{
	struct tally *t = xcalloc(1, sizeof(*t));

	for (unsigned i = 0; i < NSYS; i++)
		t->call[i].nr = i;
	return t;
}

void
tally_free(struct tally *t)
{
	free(t);
}

/* The end of a group: attributes its compressed bytes to the kinds in proportion to their raw bytes. */
static void
close_group(struct tally *t)
{
	for (int s = 0; t->open && s < WS_NSTREAMS; s++) {
		t->sraw[s] += t->z.raw[s];
		t->spacked[s] += t->z.packed[s];
		if (t->z.raw[s])
			t->methods[s] |= 1u << t->z.method[s];
		for (int k = 0; k < WS_NKINDS; k++) {
			t->raw[k] += t->part[k][s];
			if (t->z.raw[s])
				t->packed[k] += (double)t->part[k][s] * t->z.packed[s] / t->z.raw[s];
		}
	}
	memset(t->part, 0, sizeof(t->part));
	t->open = 0;
}

static void
count_call(struct tally *t, const struct ws_rec_sys *y)
{
	t->last = &t->call[y->nr < NSYS - 1 ? y->nr : NSYS - 1];
	t->last->n++;
	t->last->failed += y->ret >= (uint64_t)-4095;
}

void
tally_rec(struct tally *t, const struct ws_reader *r, const struct ws_rec *rec)
{
	uint32_t b[WS_NSTREAMS];

	if (t->open && ws_rec_off(r) != t->off)
		close_group(t);
	if (!t->open) {
		t->ngroup++;
		t->open = 1;
		t->off = ws_rec_off(r);
		t->z = *ws_sizes(r);
	}
	ws_rec_bytes(r, b);
	for (int s = 0; s < WS_NSTREAMS; s++)
		t->part[rec->kind][s] += b[s];
	t->n[rec->kind]++;
	if (rec->kind == WS_SYS)
		count_call(t, &rec->u.sys);
	else if (ws_is_trigger(rec->kind) || rec->kind == WS_KEY)
		t->last = NULL;
	else if (rec->kind == WS_MEM) {
		*(rec->u.mem.p ? &t->mapped : &t->zero) += rec->u.mem.n;
		if (t->last)
			t->last->bytes += rec->u.mem.n;
	} else if (rec->kind == WS_END) {
		t->end = rec->u.end;
		t->ended = 1;
	}
}

static void
print_when(struct out *o, int64_t ns)
{
	time_t s = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
	struct tm tm;
	char buf[64] = "?";

	if (gmtime_r(&s, &tm))
		strftime(buf, sizeof(buf), "%Y-%m-%d %H:%M:%S UTC", &tm);
	out_printf(o, "started       %s\n", buf);
}

static void
print_head(struct out *o, const struct ws_header *h)
{
	static const char *const flag[] = { "trimmed", "first-touch", "cpuid-records", "keyframes", "times" };

	out_str(o, "program       ");
	print_word(o, h->exe);
	out_str(o, "\narguments    ");
	for (size_t i = 0; i < h->argc; i++) {
		out_str(o, " ");
		print_word(o, h->argv[i]);
	}
	out_str(o, "\n");
	print_when(o, h->when);
	out_str(o, "captured by   ");
	print_word(o, h->version);
	out_str(o, "\nprocessor     ");
	print_word(o, h->brand);
	out_printf(o, "\nstate         xcr0 0x%" PRIx64 ", %zu entries of cpuid\nkernel        ", h->xcr0,
	    h->ncpuid);
	print_word(o, h->kernel);
	out_str(o, h->flags & WS_TRIMMED ? "\nkind         " : "\nkind          raw");
	for (unsigned i = 0; i < sizeof(flag) / sizeof(flag[0]); i++)
		if (h->flags >> i & 1)
			out_printf(o, " %s", flag[i]);
	out_str(o, "\n");
}

static void
print_end(const struct tally *t, struct out *o)
{
	if (!t->ended)
		out_str(o, "ended         unknown: the capture is not whole\n");
	else if (t->end.how == WS_STOPPED)
		out_str(o, "ended         capture stopped, program went on\n");
	else if (t->end.how == WS_EXECUTED)
		out_str(o, "ended         executed another program\n");
	else
		out_printf(o, "ended         %s %" PRIu32 "\n",
		    t->end.how == WS_EXITED ? "exit status" : "killed by signal", t->end.status);
}

static int
by_count(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static void
print_calls(struct tally *t, struct out *o)
{
	if (!t->n[WS_SYS])
		return;
	out_str(o, "\ncalls          number   failed  bytes in memory\n");
	qsort(t->call, NSYS, sizeof(t->call[0]), by_count);
	for (unsigned i = 0; i < NSYS && t->call[i].n; i++) {
		const struct call *c = &t->call[i];
		const char *name = ws_sys_name(c->nr);
		char buf[24];

		snprintf(buf, sizeof(buf), c->nr == NSYS - 1 ? "(others)" : "%" PRIu64, c->nr);
		out_printf(o, "%-16s %4" PRIu64 " %8" PRIu64 " %12" PRIu64 "\n", name ? name : buf, c->n,
		    c->failed, c->bytes);
	}
}

void
tally_print(struct tally *t, struct out *o, const struct ws_header *h, uint64_t bytes, int whole)
{
	uint64_t nrec = 0;

	close_group(t);
	for (int k = 0; k < WS_NKINDS; k++)
		nrec += t->n[k];
	print_head(o, h);
	print_end(t, o);
	if (t->ended && t->end.icount != WS_UNKNOWN)
		out_printf(o, "instructions  %" PRIu64 "\n", t->end.icount);
	out_printf(o, "size          %" PRIu64 " bytes%s", bytes, whole ? "" : " up to the fault");
	if (t->ended && t->end.icount != WS_UNKNOWN && t->end.icount)
		out_printf(o, ", %.0f per million instructions", (double)bytes * 1e6 / (double)t->end.icount);
	out_printf(o, "\nrecords       %" PRIu64 " in %" PRIu64 " groups, %" PRIu64 " keyframes\n", nrec,
	    t->ngroup, t->n[WS_KEY]);
	out_printf(o, "memory        %" PRIu64 " bytes, and %" PRIu64 " that are zero\n", t->mapped, t->zero);
	out_str(o, "\nrecords        number    bytes     packed\n");
	for (unsigned k = 0; k < WS_NKINDS; k++)
		if (t->n[k])
			out_printf(o, "%-8s %12" PRIu64 " %8" PRIu64 " %10.0f\n", ws_kind_name(k), t->n[k],
			    t->raw[k], t->packed[k]);
	out_str(o, "\nstreams        bytes     packed  method\n");
	for (unsigned s = 0; s < WS_NSTREAMS; s++) {
		if (!t->sraw[s])
			continue;
		out_printf(o, "%-8s %11" PRIu64 " %10" PRIu64 " ", ws_stream_name(s), t->sraw[s],
		    t->spacked[s]);
		for (unsigned m = 0; m < WS_NMETHODS; m++)
			if (t->methods[s] >> m & 1)
				out_printf(o, " %s", ws_method_name(m));
		out_str(o, "\n");
	}
	print_calls(t, o);
}
