/* Reads and writes memory of a traced process. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "replay/ptrace/tracee.h"

#define PAGE 4096u

/*
 * process_vm_readv is faster, but honours protections and refuses device memory; /proc/PID/mem,
 * page by page, does neither.
 */
size_t
tracee_read(struct tracee *t, uint64_t addr, void *p, size_t n)
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

size_t
tracee_write(struct tracee *t, uint64_t addr, const void *p, size_t n)
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
