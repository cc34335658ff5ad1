/* ws2addr: filters and counts references. */
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "base/opt.h"
#include "convert/ws2addr/ws2addr.h"

size_t
job_drop(const struct job *j, uint64_t *dst, const uint64_t *w, size_t n)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		dst[m] = w[i];
		m += !j->drop[ref_kind(w[i])];
	}
	return m;
}

void
job_take(struct job *j, const uint64_t *w, size_t n)
{
	uint64_t kept[OUT_ROOM / REF_PUT_MAX];

	if (j->count) {
		ref_count(j->n, w, n);
		return;
	}
	while (n) {
		size_t k = n < OUT_ROOM / REF_PUT_MAX ? n : OUT_ROOM / REF_PUT_MAX;
		const uint64_t *p = w;
		size_t m = k;

		if (j->dropping) {
			m = job_drop(j, kept, w, k);
			p = kept;
		}
		out_commit(j->out, ref_put(j->fmt, out_reserve(j->out, m * REF_PUT_MAX), p, m));
		w += k;
		n -= k;
	}
}

void
job_end(struct job *j)
{
	if (!j->count)
		return;
	out_printf(j->out, "instructions %llu\n", (unsigned long long)j->n[REF_INST]);
	out_printf(j->out, "loads %llu\n", (unsigned long long)j->n[REF_LOAD]);
	out_printf(j->out, "stores %llu\n", (unsigned long long)j->n[REF_STORE]);
	out_printf(j->out, "modifies %llu\n", (unsigned long long)j->n[REF_MODIFY]);
}

void
job_run(struct job *j, size_t number)
{
	if (j->count)
		out_printf(j->out, "run %zu instructions %llu loads %llu stores %llu modifies %llu\n", number,
		    (unsigned long long)j->n[REF_INST], (unsigned long long)j->n[REF_LOAD],
		    (unsigned long long)j->n[REF_STORE], (unsigned long long)j->n[REF_MODIFY]);
}

void
job_early(const struct job *j, const struct ws_early *e)
{
	char text[WS_EARLY_TEXT];

	if (e)
		warn("%s: %s", j->name, ws_early_text(e, text));
}

void
job_reached(const struct job *j)
{
	uint64_t n = replay_icount(j->r);

	if (n < j->from)
		warn("%s: " OPT_EMPTY_RANGE, j->name, n);
}

void
job_bad(struct job *j, const struct fault *f)
{
	if (j->out) {
		job_end(j);
		out_discard(j->out);
	}
	die_fault(j->name, f);
}
