/* wetq: prints one-bit labels of a .wet file. */
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/json.h"
#include "base/num.h"
#include "base/out.h"
#include "base/spool.h"
#include "base/src.h"
#include "convert/wetq/wetq.h"
#include "sim/predictor.h"

/*
 * Prints, for each statement that has labels, its executions and the number of labels that are
 * 1: branches, loads, stores.
 */
static void
wetq_labels_counts(struct out *o, const struct arch_labels *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct arch_stmt *s = &l->stmt[i];
		uint8_t *p = out_reserve(o, 128);
		size_t n = put_dec(p, s->id);

		p[n++] = ' ';
		n += put_dec(p + n, s->count);
		for (unsigned k = 0; k < ARCH_NKINDS; k++) {
			p[n++] = ' ';
			if (s->bits[k])
				n += put_dec(p + n, arch_ones(s, k));
			else
				p[n++] = '-';
		}
		p[n++] = '\n';
		out_commit(o, n);
	}
}

/* Prints the labels of each instance of a statement. */
static void
wetq_labels_instances(struct out *o, const struct arch_stmt *s)
{
	for (uint32_t x = 0; x < s->count; x++) {
		uint8_t *p = out_reserve(o, 64);
		size_t n = put_dec(p, x);

		for (unsigned k = 0; k < ARCH_NKINDS; k++) {
			p[n++] = ' ';
			p[n++] = !s->bits[k] ? '-' : arch_bit(s, k, x) ? '1' : '0';
		}
		p[n++] = '\n';
		out_commit(o, n);
	}
}

/* The same as JSON: what a statement has no labels of is null. */
static void
wetq_labels_json(struct out *o, const struct arch_labels *l, const struct arch_stmt *one)
{
	static const char *const ones[] = { "mispredicted", "load_misses", "store_misses" };
	struct json out;

	json_begin(&out, o);
	if (one)
		json_u64(&out, "statement", one->id);
	json_array(&out, one ? "instances" : "statements");
	for (size_t i = 0; i < (one ? one->count : l->n); i++) {
		const struct arch_stmt *s = one ? one : &l->stmt[i];

		json_object(&out, NULL);
		json_u64(&out, one ? "instance" : "statement", one ? i : s->id);
		if (!one)
			json_u64(&out, "executions", s->count);
		for (unsigned k = 0; k < ARCH_NKINDS; k++)
			if (!s->bits[k])
				json_string(&out, ones[k], NULL);
			else
				json_u64(&out, ones[k], one ? (unsigned)arch_bit(s, k, (uint32_t)i) :
				    arch_ones(s, k));
		json_end(&out);
	}
	json_end(&out);
	json_end(&out);
}

void
job_arch(const char *id, const char *path, const char *outname, int json)
{
	const char *from = src_is_stdin(path) ? spool_stdin() : path, *name = src_name(path);
	const struct arch_stmt *s = NULL;
	struct fault f;
	struct arch_labels l;
	struct wetfile w;
	struct out *o;
	uint64_t v = 0;
	int fd = src_open(from);

	if (fd < 0)
		die_sys("%s", name);
	if (wetfile_open(&w, fd, &f) != 0 || arch_read(&w, &l, &f) != 0)
		die_fault(name, &f);
	if (!w.whole)
		die_fault(name, &w.fault);
	if (!l.n)
		die("%s: no labels in it (wetz -a makes them)", name);
	if (id && (num_u64(id, 1, UINT32_MAX, &v) != 0 || (s = arch_find(&l, (uint32_t)v)) == NULL))
		die("%s: no labels of a statement %s", name, id);
	o = out_open(outname);
	if (json)
		wetq_labels_json(o, &l, s);
	else if (s)
		wetq_labels_instances(o, s);
	else
		wetq_labels_counts(o, &l);
	out_close(o);
	job_early(name, &w.early);
	arch_labels_free(&l);
	wetfile_close(&w);
	close(fd);
}
