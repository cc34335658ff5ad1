/*
 * The event file: header, chunks, end record. See ae.out(5).
 *
 * The descriptor has a high number, so as not to shift the program's numbers. Before each write it
 * is checked to be still ours: a program may close all descriptors that it does not know, or get
 * the number again for another file.
 */
#include "ae/runtime/call.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

/* a higher number would make the kernel's table of descriptors large, and fork slow */
#define FDMAX 8192

static struct {
	int fd;
	uint64_t dev, ino;
	mode_t kind;
	int null;               /* it is the null device: chunks are neither checked nor written */
	uint64_t size;          /* bytes written whole: header, chunks, end record */
	int direct;             /* O_DIRECT is set */
	int nodirect;           /* it does not work for this file */
	unsigned nfull;         /* full buffers written */
	uint64_t time[2];       /* nanoseconds for the last one, through the page cache and bypassing it */
} file;

#define PAGE 4096u

/* kinds of records of a thread */
enum { BEGINS, CHUNK, ENDS };

#ifdef __LP64__
#define AE_LARGE 0
#else
#define AE_LARGE O_LARGEFILE
#endif

#define ROTL(v, n) ((v) << (n) | (v) >> (64 - (n)))

/* Integers in files have their lowest byte first */
static void put64(uint8_t *p, uint64_t v)
{
	int i;

	for (i = 0; i < 8; i++, v >>= 8)
		p[i] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
	int i;

	for (i = 0; i < 4; i++, v >>= 8)
		p[i] = (uint8_t)v;
}

static uint64_t low_first(uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return (uint64_t)__builtin_bswap32((uint32_t)v) << 32 | __builtin_bswap32((uint32_t)(v >> 32));
#else
	return v;
#endif
}

static inline uint64_t mix(uint64_t h, const uint8_t *p)
{
	uint64_t w;

	__builtin_memcpy(&w, p, 8);
	h = (h ^ low_first(w)) * 0x9FB21C651E98DF25u;
	return h ^ h >> 32;
}

/* Full buffers are most of a file: their words go straight from memory into the four lanes. */
static uint64_t checksum(const uint8_t *p, size_t n)
{
	const uint64_t k = 0x9E3779B97F4A7C15u;
	uint64_t h0 = k, h1 = k * 2, h2 = k * 3, h3 = k * 4, x;
	const uint8_t *end = p + n / 32 * 32;
	uint8_t tail[32];

	for (;;) {
		for (; p != end; p += 32) {
			h0 = mix(h0, p);
			h1 = mix(h1, p + 8);
			h2 = mix(h2, p + 16);
			h3 = mix(h3, p + 24);
		}
		if (n % 32 == 0 || end == tail + 32)
			break;
		mem_zero(tail, 32);
		mem_copy(tail, p, n % 32);
		p = tail;
		end = tail + 32;
	}
	x = (h0 + ROTL(h1, 13) + ROTL(h2, 29) + ROTL(h3, 43)) ^ n;
	x ^= x >> 29;
	x *= k;
	return x ^ x >> 32;
}

static int is_ours(int fd)
{
	uint64_t dev, ino;
	mode_t mode;

	return fd >= 0 && sys_fstat(fd, &dev, &ino, &mode) == 0 && dev == file.dev && ino == file.ino;
}

/* Moves fd to a high number; it is unchanged if none is free. */
static int move_high(int fd)
{
	struct rlimit64 lim;
	long n = FDMAX, got;

	if (sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, SYS_P(&lim)) == 0 && lim.rlim_cur < FDMAX)
		n = (long)lim.rlim_cur;
	for (got = -1, n -= 1; got < 0 && n > 2; n -= n > 64 ? 16 : 1)
		got = sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, n);
	if (got < 0)
		return fd;
	sys3(SYS_close, fd, 0, 0);
	return (int)got;
}

int ae_file_mine(const char *path)
{
	uint64_t dev, ino, n, pid = 0;
	uint8_t r[80];
	mode_t mode = 0;
	long fd, got = 0;
	int i;

	/* checks the type first: a pipe must not be opened */
	fd = sys4(SYS_openat, AT_FDCWD, SYS_P(path), O_PATH | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	if (sys_fstat((int)fd, &dev, &ino, &mode) != 0)
		mode = 0;
	sys3(SYS_close, fd, 0, 0);
	if (!S_ISREG(mode))
		return 0;
	fd = sys4(SYS_openat, AT_FDCWD, SYS_P(path), O_RDONLY | O_CLOEXEC | AE_LARGE, 0);
	if (fd < 0)
		return 0;
	n = sys_end((int)fd);
	if (n > sizeof r) {
		sys_seek((int)fd, n - sizeof r);
		got = sys3(SYS_read, fd, SYS_P(r), sizeof r);
	}
	sys3(SYS_close, fd, 0, 0);
	if (got != sizeof r || r[0] != 'A' || r[1] != 'E' || r[2] != 'n' || r[3] != 'd' ||
	    (r[16] != AE_EXEC && r[16] != AE_STOPPED && r[16] != AE_LIMITED))
		return 0;
	for (i = 7; i >= 0; i--)
		pid = pid << 8 | r[48 + i];
	return pid == (uint64_t)sys3(SYS_getpid, 0, 0, 0);
}

int ae_file_create(const char *path, int fresh)
{
	uint64_t dev, ino;
	mode_t mode;
	size_t n = 0;
	long fd;

	while (path[n])
		n++;
	if (n >= AE_PATHMAX)
		return ENAMETOOLONG;
	mem_copy(ae_scratch->name, path, n + 1);
	do
		fd = sys4(SYS_openat, AT_FDCWD, SYS_P(path),
		    O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | AE_LARGE | (fresh ? O_EXCL : 0), 0666);
	while (sys_err(fd) == EINTR);
	if (fd < 0)
		return sys_err(fd);
	if (sys_fstat((int)fd, &dev, &ino, &mode) != 0) {
		sys3(SYS_close, fd, 0, 0);
		return EIO;
	}
	if (S_ISREG(mode)) {
		/* another traced process is recording into it */
		if (sys_err(sys3(SYS_flock, fd, LOCK_EX | LOCK_NB, 0)) == EWOULDBLOCK) {
			sys3(SYS_close, fd, 0, 0);
			return EWOULDBLOCK;
		}
		sys_truncate((int)fd, 0);
	}
	file.dev = dev;
	file.ino = ino;
	file.kind = mode & S_IFMT;
	file.null = S_ISCHR(mode) && sys_isnull((int)fd);
	file.size = 0;
	file.direct = 0;
	file.nodirect = file.kind != S_IFREG;
	file.nfull = 0;
	file.fd = move_high((int)fd);
	return 0;
}

/* The program closed our descriptor: opens the same file again, by name. */
static int reopen(void)
{
	long fd;

	if (is_ours(file.fd))
		return 0;
	do
		fd = sys3(SYS_openat, AT_FDCWD, SYS_P(ae_scratch->name),
		    O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | AE_LARGE);
	while (sys_err(fd) == EINTR);
	if (fd < 0 || !is_ours((int)fd)) {
		if (fd >= 0)
			sys3(SYS_close, fd, 0, 0);
		return ESTALE;
	}
	sys3(SYS_fcntl, fd, F_SETFL, O_APPEND | AE_LARGE);
	file.direct = 0;
	file.fd = move_high((int)fd);
	return 0;
}

/* From now on writes bypass the page cache, or not. */
static void direct(int on)
{
	long fl;

	if (file.direct == on || reopen() != 0 || file.direct == on)
		return;
	fl = sys3(SYS_fcntl, file.fd, F_GETFL, 0);
	if (fl < 0 || sys3(SYS_fcntl, file.fd, F_SETFL, on ? fl | O_DIRECT : fl & ~(long)O_DIRECT) != 0)
		file.nodirect = 1;
	else
		file.direct = on;
}

/*
 * Call with all signals blocked. A signal that our own write raises is removed again, unless it was
 * pending before.
 */
static void swallow(int sig, const struct ae_set *before)
{
	if (!set_has(before, sig))
		set_swallow(sig);
}

/*
 * Writes both pieces completely; 0 or an error number. After an error the file is truncated to the
 * last complete record.
 */
static int put(const void *a, size_t na, const void *b, size_t nb)
{
	struct iovec iov[2] = { { (void *)(uintptr_t)a, na }, { (void *)(uintptr_t)b, nb } };
	struct ae_set pending = set_none();
	size_t all = na + nb;
	int i = 0, err = reopen();
	long r;

	sys3(SYS_rt_sigpending, SYS_P(&pending), sizeof pending, 0);
	while (!err && i < 2) {
		if (iov[i].iov_len == 0) {
			i++;
			continue;
		}
		r = sys3(SYS_writev, file.fd, SYS_P(iov + i), 2 - i);
		err = sys_err(r);
		if (err == EINTR) {
			err = 0;
		} else if (err == EINVAL && file.direct) {
			file.nodirect = 1;
			direct(0);
			err = file.direct ? EINVAL : 0;
			continue;
		} else if (!err && r == 0)
			err = EIO;
		for (; !err && r > 0 && i < 2; ) {
			size_t k = (size_t)r < iov[i].iov_len ? (size_t)r : iov[i].iov_len;

			iov[i].iov_base = (char *)iov[i].iov_base + k;
			iov[i].iov_len -= k;
			r -= (long)k;
			i += iov[i].iov_len == 0;
		}
	}
	if (!err) {
		file.size += all;
		return 0;
	}
	if (err == EPIPE)
		swallow(SIGPIPE, &pending);
	if (err == EFBIG)
		swallow(SIGXFSZ, &pending);
	ae_file_cut(file.size);
	return err;
}

int ae_file_header(uintptr_t fs, const char *parent, uint64_t parentpos, uint32_t parent_thread)
{
	uint8_t *h = ae_scratch->header;
	uint8_t id[32];
	size_t n = 0, len, nid;

	mem_zero(h, sizeof ae_scratch->header);
	while (parent && parent[n])
		n++;
	len = (92 + n + 7) / 8 * 8 + 8;
	mem_copy(h, "\x89" "AEOUT" "\r\n", 8);
	put32(h + 8, 7);
	put32(h + 12, (uint32_t)len);
	nid = ae_buildid(&ae_self, id);
	h[16] = (uint8_t)nid;
	mem_copy(h + 17, id, nid);
	h[49] = AE_ELF & 255;
	h[50] = AE_ELF >> 8;
	put32(h + 52, parent_thread);
	put64(h + 56, fs);
	put64(h + 64, parent != NULL);
	put64(h + 72, parentpos);
	put64(h + 80, ae_base(&ae_self));
	put32(h + 88, (uint32_t)n);
	mem_copy(h + 92, parent, n);
	put64(h + len - 8, checksum(h, len - 8));
	return put(h, len, NULL, 0);
}

/* Makes the head of a chunk in the bytes before its events; returns how many they are. */
static size_t chunk_head(uint32_t number, uint8_t *p, size_t n)
{
	size_t head = AE_HEAD(number), more = head - 16;
	uint8_t *h = p - head;

	if (more) {
		put32(p - 8, number);
		put32(p - 4, CHUNK);
	}
	mem_copy(h, more ? "AEth" : "AEch", 4);
	put32(h + 4, (uint32_t)(n + more));
	put64(h + 8, checksum(h + 16, n + more));
	return head;
}

/* What else is said of a thread: three words */
static int put_thread(uint32_t number, uint32_t kind, uint64_t a, uint64_t b)
{
	uint8_t r[16 + 24];

	mem_copy(r, "AEth", 4);
	put32(r + 4, 24);
	put32(r + 16, number);
	put32(r + 20, kind);
	put64(r + 24, a);
	put64(r + 32, b);
	put64(r + 8, checksum(r + 16, 24));
	return put(r, sizeof r, NULL, 0);
}

int ae_file_begins(const struct ae_thread *t)
{
	return put_thread(t->number, BEGINS, t->fs, (uint64_t)t->tid | (uint64_t)(t->below ? t->below->number : 0) << 32);
}

int ae_file_ends(uint32_t number, enum ae_left how, uint64_t total)
{
	return put_thread(number, ENDS, total, how);
}

int ae_file_module(const struct ae_module *m)
{
	uint8_t *r = ae_scratch->header, id[32];
	const char *path = m->path;
	size_t n = 0, len = 56, nid;      /* offsets are from the payload on */
	long got;

	mem_zero(r, sizeof ae_scratch->header);
	if (path[0] != '/') {
		got = sys3(SYS_getcwd, SYS_P(r + 16 + len), AE_PATHMAX, 0);
		n = got > 1 ? (size_t)got - 1 : 0;
		r[16 + len + n++] = '/';
	}
	for (; *path && n < AE_PATHMAX; path++)
		r[16 + len + n++] = (uint8_t)*path;
	len = (len + n + 7) / 8 * 8;
	mem_copy(r, "AEmo", 4);
	put32(r + 4, (uint32_t)len);
	put32(r + 16, (uint32_t)m->first);
	put32(r + 20, (uint32_t)(m->fnend - m->fn));
	put64(r + 24, ae_base(m));
	nid = ae_buildid(m, id);
	r[32] = (uint8_t)nid;
	mem_copy(r + 33, id, nid);
	put32(r + 68, (uint32_t)n);
	put64(r + 8, checksum(r + 16, len));
	return put(r, 16 + len, NULL, 0);
}

static uint64_t now(void)
{
	struct sys_time t = { 0, 0 };

	sys3(SYS_clock_gettime, CLOCK_MONOTONIC, SYS_P(&t), 0);
	return (uint64_t)t.s * 1000000000u + (uint64_t)t.ns;
}

/*
 * Should writes bypass the page cache? Which is faster depends on the disk, on free memory and on
 * how long the recording takes, so both ways are tried now and then.
 */
static int choose(void)
{
	if (file.nodirect || file.size % PAGE)
		return 0;
	switch (file.nfull % 64) {
	case 1:
		return 0;
	case 2:
		return 1;
	default:
		return file.nfull > 2 && file.time[1] < file.time[0];
	}
}

int ae_file_chunk(uint32_t number, uint8_t *p, size_t n, int full)
{
	size_t head, pad;
	uint8_t *h, *end = p + n;
	uint64_t t;
	int err;

	if (file.null)
		return 0;
	head = chunk_head(number, p, n);
	pad = (size_t)(-(file.size + head + n) % PAGE);
	h = p - head;
	if (!full || file.kind != S_IFREG)
		return put(h, head + n, NULL, 0);
	direct(choose());
	t = now();
	/* one piece of whole pages: the bytes after the events are saved and replaced by zeros */
	if (file.direct) {
		mem_copy(ae_scratch->behind, end, pad);
		mem_zero(end, pad);
		err = put(h, head + n + pad, NULL, 0);
		mem_copy(end, ae_scratch->behind, pad);
		file.time[1] = now() - t;
	} else {
		mem_zero(ae_scratch->behind, pad);
		err = put(h, head + n, ae_scratch->behind, pad);
		file.time[0] = now() - t;
	}
	file.nfull++;
	direct(0);
	return err;
}

static struct { enum ae_access access; uint64_t addr; unsigned tail; } fault;

void ae_file_fault(enum ae_access access, uint64_t addr, unsigned tail)
{
	fault.access = access;
	fault.addr = addr;
	fault.tail = tail;
}

int ae_file_end(enum ae_reason why, int sig, uintptr_t pc, uint32_t number)
{
	uint8_t r[80];

	mem_zero(r, sizeof r);
	mem_copy(r, "AEnd", 4);
	put32(r + 4, 64);
	put32(r + 16, why);
	put32(r + 20, (uint32_t)sig);
	put64(r + 24, ae_total);
	put64(r + 32, ae_nthread());
	put64(r + 40, ae_nhandler);
	put64(r + 48, pc);
	if (why == AE_SIGNAL && fault.access) {
		put64(r + 56, fault.addr);
		put32(r + 64, fault.access);
		put32(r + 68, fault.tail);
	}
	if (ae_nnumber > 1) {
		put32(r + 72, number);
		put32(r + 76, ae_nnumber);
	}
	put64(r + 8, checksum(r + 16, 64));
	return put(r, sizeof r, NULL, 0);
}

uint64_t ae_file_size(void)
{
	return file.size;
}

int ae_file_cut(uint64_t size)
{
	if (file.kind != S_IFREG || !is_ours(file.fd) || sys_truncate(file.fd, size) != 0)
		return -1;
	sys_seek(file.fd, size);
	file.size = size;
	return 0;
}

int ae_file_kind(void)
{
	return (int)file.kind;
}

const char *ae_file_path(void)
{
	return ae_scratch->name;
}

void ae_file_close(void)
{
	if (is_ours(file.fd))
		sys3(SYS_close, file.fd, 0, 0);
	file.fd = -1;
}
