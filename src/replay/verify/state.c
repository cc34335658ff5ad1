/* Compares registers and memory of the replay and the native process. */
#include <cpuid.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/bytes.h"
#include "replay/verify/verify_internal.h"

#define PAGE 4096u
#define XSAVE 16384u            /* bytes of a replay's XSAVE image: RP_XSAVE */
#define CHUNK 4096u             /* pages looked at in one step: a program may reserve a terabyte */

const char *
verify_regs(const struct ws_regs *native, const struct ws_regs *replay, int norip, char *buf, size_t size)
{
	static const char name[][8] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9",
		"r10", "r11", "r12", "r13", "r14", "r15", "rip", "flags", "fsbase", "gsbase" };
	uint64_t a[20], b[20];

	memcpy(a, native->r, sizeof(native->r));
	memcpy(b, replay->r, sizeof(replay->r));
	a[16] = norip ? replay->rip : native->rip;
	b[16] = replay->rip;
	a[17] = native->rflags & WS_RFLAGS;
	b[17] = replay->rflags & WS_RFLAGS;
	a[18] = native->fsbase;
	b[18] = replay->fsbase;
	a[19] = native->gsbase;
	b[19] = replay->gsbase;
	for (int i = 0; i < 20; i++)
		if (a[i] != b[i]) {
			snprintf(buf, size, "%s is 0x%llx, and 0x%llx in the replay", name[i],
			    (unsigned long long)a[i], (unsigned long long)b[i]);
			return buf;
		}
	return NULL;
}

/* A component of the state as if it were saved, whether in use or not. */
static void
verify_part(uint8_t *dst, const uint8_t *x, unsigned off, unsigned n, int bit)
{
	if (get_le64(x + 512) >> bit & 1)
		memcpy(dst, x + off, n);
	else
		memset(dst, 0, n);
}

static int
verify_differ(const uint8_t *a, const uint8_t *b, unsigned off, unsigned n, int bit)
{
	uint8_t p[4096], q[4096];

	if (n > sizeof(p))
		return 0;
	verify_part(p, a, off, n, bit);
	verify_part(q, b, off, n, bit);
	if (bit == 0) {                 /* the addresses of the last x87 instruction differ in a replay */
		if (!(get_le64(a + 512) & 1))
			put_le16(p, 0x37f);
		if (!(get_le64(b + 512) & 1))
			put_le16(q, 0x37f);
		memset(p + 6, 0, 26);
		memset(q + 6, 0, 26);
	}
	return memcmp(p, q, n) != 0;
}

const char *
verify_vectors(struct verify *v, char *buf, size_t size)
{
	static const struct { int bit; const char *name; } more[] = {
		{2, "upper halves of ymm"}, {5, "mask registers"},
		{6, "upper halves of zmm0 to 15"}, {7, "zmm16 to 31"}};
	const uint8_t *a = v->n.state, *b = replay_xsave(v->r);
	size_t n = sizeof(v->n.state);
	unsigned eax, ebx, ecx, edx;

	v->c.nvector++;
	if (tracee_xsave(&v->n.t, v->n.state, &n))
		return "the program is gone";
	memset(v->n.state + n, 0, sizeof(v->n.state) - n);
	if (get_le32(a + 24) != get_le32(b + 24)) {
		snprintf(buf, size, "mxcsr is 0x%x, and 0x%x in the replay", get_le32(a + 24),
		    get_le32(b + 24));
		return buf;
	}
	if (verify_differ(a, b, 0, 160, 0))
		return "x87 registers differ";
	for (unsigned i = 0; i < 16; i++)
		if (verify_differ(a, b, 160 + 16 * i, 16, 1)) {
			snprintf(buf, size, "xmm%u is 0x%016llx%016llx, and 0x%016llx%016llx in the replay",
			    i, (unsigned long long)get_le64(a + 168 + 16 * i),
			    (unsigned long long)get_le64(a + 160 + 16 * i),
			    (unsigned long long)get_le64(b + 168 + 16 * i),
			    (unsigned long long)get_le64(b + 160 + 16 * i));
			return buf;
		}
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
		__cpuid_count(0xd, (unsigned)more[i].bit, eax, ebx, ecx, edx);
		if (eax && ebx + eax <= XSAVE && verify_differ(a, b, ebx, eax, more[i].bit)) {
			snprintf(buf, size, "%s differ", more[i].name);
			return buf;
		}
	}
	return NULL;
}

/* Finds which of n pages at addr exist. */
static void
verify_present(int fd, uint64_t addr, size_t n, uint8_t *is)
{
	uint64_t e[CHUNK];
	ssize_t k = pread(fd, e, n * 8, (off_t)(addr / PAGE * 8));

	for (size_t i = 0; i < n; i++)
		is[i] = (ssize_t)(8 * i + 8) > k || (e[i] >> 62) != 0;
}

int
verify_pagemaps(struct verify *v)
{
	v->pagemap[0] = tracee_open(getpid(), "pagemap", O_RDONLY);
	v->pagemap[1] = tracee_open(v->n.t.pid, "pagemap", O_RDONLY);
	return v->pagemap[0] < 0 || v->pagemap[1] < 0 ? -1 : 0;
}

/*
 * Calls fn for each page that exists on either side until it returns a string.  copy: only our
 * own pages.
 */
static const char *
verify_pages(struct verify *v, const char *(*fn)(struct verify *, uint64_t, const uint8_t *, char *, size_t),
    int copy, char *buf, size_t size)
{
	const struct ws_rec_map *m;
	const char *what = NULL;
	uint8_t is[CHUNK], too[CHUNK];

	for (size_t i = 0; !what && (m = replay_map(v->r, i)) != NULL; i++) {
		const uint8_t *p = replay_memory(v->r, m->addr);

		for (uint64_t at = 0; !what && at < m->len; at += CHUNK * PAGE) {
			size_t n = m->len - at < CHUNK * PAGE ? (size_t)(m->len - at) / PAGE : CHUNK;

			verify_present(v->pagemap[0], (uint64_t)(uintptr_t)p + at, n, is);
			memset(too, 0, sizeof(too));
			if (!copy)
				verify_present(v->pagemap[1], m->addr + at, n, too);
			for (size_t k = 0; k < n && !what; k++)
				if (is[k] || too[k])
					what = fn(v, m->addr + at + k * PAGE, p + at + k * PAGE, buf, size);
		}
	}
	return what;
}

static const char *
same_page(struct verify *v, uint64_t addr, const uint8_t *p, char *buf, size_t size)
{
	uint8_t b[PAGE];
	size_t i;

	v->c.npages++;
	if (tracee_read(&v->n.t, addr, b, PAGE) != PAGE) {
		snprintf(buf, size, "memory at 0x%llx is not mapped, but is in the replay",
		    (unsigned long long)addr);
		return buf;
	}
	if (!memcmp(p, b, PAGE))
		return NULL;
	for (i = 0; p[i] == b[i]; i++)
		;
	snprintf(buf, size, "memory at 0x%llx is 0x%02x, and 0x%02x in the replay",
	    (unsigned long long)(addr + i), b[i], p[i]);
	return buf;
}

const char *
verify_memory(struct verify *v, char *buf, size_t size)
{
	return verify_pages(v, same_page, 0, buf, size);
}

static const char *
copy_page(struct verify *v, uint64_t addr, const uint8_t *p, char *buf, size_t size)
{
	(void)buf;
	(void)size;
	return native_write(&v->n, addr, p, PAGE) ? v->n.err : NULL;
}

int
verify_copy_memory(struct verify *v)
{
	const struct ws_rec_map *m;
	const char *what = NULL;

	if (native_clear(&v->n))
		what = v->n.err;
	for (size_t i = 0; !what && (m = replay_map(v->r, i)) != NULL; i++) {
		struct ws_rec rec = {.kind = WS_MAP, .u.map = *m};

		if (native_effect(&v->n, &rec))
			what = v->n.err;
	}
	if (!what)
		what = verify_pages(v, copy_page, 1, NULL, 0);
	if (!what && native_state(&v->n, replay_regs(v->r), replay_xsave(v->r), XSAVE))
		what = v->n.err;
	if (what)
		snprintf(v->err, sizeof(v->err), "%s", what);
	return what ? -1 : 0;
}
