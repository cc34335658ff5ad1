/* Reads and writes memory of a traced process. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "replay/ptrace/tracee.h"

#define PAGE 4096u

/* What is written to a page while a batch is open.  It is read when a second piece of it is needed. */
static struct {
	struct tracee *t;               /* NULL: none is open */
	unsigned depth;
	uint64_t page;                  /* UINT64_MAX: none */
	int has;                        /* it was read */
	size_t lo, hi;                  /* what was changed of it */
	uint8_t p[PAGE];
} batch = {.page = UINT64_MAX};

static size_t memory_read(struct tracee *t, uint64_t addr, void *p, size_t n);
static size_t memory_write(struct tracee *t, uint64_t addr, const void *p, size_t n);

static void
batch_flush(void)
{
	if (batch.page != UINT64_MAX && batch.lo < batch.hi)
		memory_write(batch.t, batch.page + batch.lo, batch.p + batch.lo, batch.hi - batch.lo);
	batch.page = UINT64_MAX;
}

void
tracee_batch(struct tracee *t)
{
	if (batch.t && batch.t != t)
		return;
	batch.t = t;
	batch.depth++;
}

void
tracee_batch_end(struct tracee *t)
{
	if (batch.t != t || --batch.depth)
		return;
	batch_flush();
	batch.t = NULL;
}

/* Is [addr, addr + n) in the batch's page, or in one that takes its place? */
static int
batch_takes(const struct tracee *t, uint64_t addr, size_t n)
{
	if (batch.t != t || !n)
		return 0;
	if (addr % PAGE + n > PAGE || n > 64) {
		batch_flush();
		return 0;
	}
	if (batch.page != addr / PAGE * PAGE) {
		batch_flush();
		batch.page = addr / PAGE * PAGE;
		batch.has = 0;
		batch.lo = batch.hi = 0;
	}
	return 1;
}

/* Reads the page: 0; -1: it cannot be read. */
static int
batch_load(void)
{
	uint8_t is[64];
	size_t n = batch.hi - batch.lo;

	if (batch.has)
		return 0;
	if (n)
		memcpy(is, batch.p + batch.lo, n);
	if (memory_read(batch.t, batch.page, batch.p, PAGE) != PAGE) {
		if (n)
			memcpy(batch.p + batch.lo, is, n);
		batch_flush();
		return -1;
	}
	if (n)
		memcpy(batch.p + batch.lo, is, n);
	batch.has = 1;
	return 0;
}

size_t
tracee_read(struct tracee *t, uint64_t addr, void *p, size_t n)
{
	if (!batch_takes(t, addr, n) || batch_load())
		return memory_read(t, addr, p, n);
	memcpy(p, batch.p + addr % PAGE, n);
	return n;
}

size_t
tracee_write(struct tracee *t, uint64_t addr, const void *p, size_t n)
{
	size_t lo = addr % PAGE;

	if (!batch_takes(t, addr, n) || (batch.lo < batch.hi && batch_load()))
		return memory_write(t, addr, p, n);
	memcpy(batch.p + lo, p, n);
	if (batch.lo == batch.hi || lo < batch.lo)
		batch.lo = lo;
	if (lo + n > batch.hi)
		batch.hi = lo + n;
	return n;
}

/*
 * process_vm_readv is faster, but honours protections and refuses device memory; /proc/PID/mem,
 * page by page, does neither.
 */
static size_t
memory_read(struct tracee *t, uint64_t addr, void *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		struct iovec l = {(char *)p + done, n - done},
		    r = {(void *)(uintptr_t)(addr + done), n - done};
		ssize_t k = process_vm_readv(t->pid, &l, 1, &r, 1, 0);
		size_t page;

		if (k > 0)
			done += (size_t)k;
		if (done == n)
			break;
		page = PAGE - (addr + done) % PAGE;
		if (page > n - done)
			page = n - done;
		k = pread(t->mem, (char *)p + done, page, (off_t)(addr + done));
		if (k <= 0)
			break;
		done += (size_t)k;
	}
	return done;
}

size_t
tracee_readable(struct tracee *t, uint64_t addr, void *p, size_t n)
{
	struct iovec l = {p, n}, r = {(void *)(uintptr_t)addr, n};
	ssize_t k = process_vm_readv(t->pid, &l, 1, &r, 1, 0);

	return k > 0 ? (size_t)k : 0;
}

static size_t
memory_write(struct tracee *t, uint64_t addr, const void *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t k = pwrite(t->mem, (const char *)p + done, n - done, (off_t)(addr + done));

		if (k <= 0)
			break;
		done += (size_t)k;
	}
	return done;
}

size_t
tracee_string(struct tracee *t, uint64_t addr, char *p, size_t room)
{
	size_t n = 0;

	while (n < room) {
		size_t k = 256 - (addr + n) % 256, got;
		char *end;

		if (k > room - n)
			k = room - n;
		got = tracee_read(t, addr + n, p + n, k);
		end = memchr(p + n, 0, got);
		if (end)
			return (size_t)(end - p);
		n += got;
		if (got < k)
			break;
	}
	return n;
}
