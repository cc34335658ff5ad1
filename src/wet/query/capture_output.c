/* Queries of a capture: the system call that wrote a byte of output, how the program ended, its variables. */
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "wet/query/capture_internal.h"

struct output {
	struct qcap *cap;
	int fd, found;
	uint64_t left;                  /* bytes before the wanted one */
	uint64_t n, addr;
};

/* These bytes were written. */
static void
output_piece(struct output *o, uint64_t n, uint64_t addr, uint64_t len)
{
	if (o->found)
		return;
	if (o->left >= len) {
		o->left -= len;
		return;
	}
	o->found = 1;
	o->n = n;
	o->addr = addr + o->left;
}

/* The pieces of a vector, of which `all` bytes were written */
static void
output_vector(struct output *o, uint64_t n, uint64_t addr, uint64_t count, uint64_t all)
{
	struct iovec v;

	for (uint64_t i = 0; i < count && all && !o->found; i++) {
		uint64_t len;

		if (replay_read(visit_replay(o->cap->trace), addr + i * sizeof v, &v, sizeof v) != sizeof v)
			return;
		len = v.iov_len < all ? v.iov_len : all;
		output_piece(o, n, (uint64_t)(uintptr_t)v.iov_base, len);
		all -= len;
	}
}

static void
output_record(void *arg, const struct ws_rec *rec, size_t run, uint64_t n)
{
	struct output *o = arg;
	const struct ws_rec_sys *s = &rec->u.sys;

	(void)run;
	if (rec->kind != WS_SYS || (int)s->arg[0] != o->fd || (int64_t)s->ret <= 0)
		return;
	switch (s->nr) {
	case SYS_write: case SYS_pwrite64: case SYS_sendto:
		output_piece(o, n, s->arg[1], s->ret);
		break;
	case SYS_writev: case SYS_pwritev: case SYS_pwritev2:
		output_vector(o, n, s->arg[1], s->arg[2], s->ret);
		break;
	case SYS_sendfile: case SYS_splice: case SYS_copy_file_range:
		break;                  /* not from memory; the descriptor is not the first argument anyway */
	default:
		break;
	}
}

int
qcap_output(struct query *q, int fd, uint64_t byte, uint64_t *n, uint64_t *addr)
{
	struct qcap *cap = q->cap;
	struct output o = { .cap = cap, .fd = fd, .left = byte };
	struct visit_batch b;
	int got;

	if (qcap_open_trace(cap, VISIT_CONTROL) != 0)
		return -1;
	got = qcap_seek(cap, 1);
	visit_set_record_fn(cap->trace, output_record, &o);
	while (got == 1 && !o.found && (got = qcap_next_batch(cap, &b)) == 1)
		;
	visit_set_record_fn(cap->trace, NULL, NULL);
	*n = o.n;
	*addr = o.addr;
	return got < 0 ? -1 : o.found;
}

int
qcap_variable(struct query *q, const char *name, struct wsource_at *at, uint64_t *addr, uint64_t *size)
{
	return wsource_variable(q->cap->source, name, at, addr, size);
}

int
qcap_address(struct query *q, const char *module, uint64_t addr, size_t *at, uint64_t *pc)
{
	return wsource_address(q->cap->source, module, addr, at, pc);
}

int
qcap_killed(struct query *q)
{
	return q->cap->killed;
}
