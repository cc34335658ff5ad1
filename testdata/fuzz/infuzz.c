/*
 * Input of any tool: compressed, archives and their members.  All ways to read it give the same
 * bytes and the same end.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/in.h"
#include "fuzz.h"

#define MOST (4u << 20)         /* bytes that are looked at: a bomb has more */

struct sum { uint64_t n, h; int bad; };

static void
add(struct sum *s, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->h = (s->h ^ p[i]) * UINT64_C(0x100000001b3);
	s->n += n;
}

static struct sum
by_read(const char *name, size_t size)
{
	struct sum s = { 0, 0, 0 };
	struct in *in = in_open(name);
	uint8_t b[4096];
	size_t k;

	while (s.n < MOST && (k = in_read(in, b, size)) > 0)
		add(&s, b, k);
	s.bad = in_error(in) != NULL;
	in_close(in);
	return s;
}

static struct sum
by_line(const char *name)
{
	struct sum s = { 0, 0, 0 };
	struct in *in = in_open(name);
	const uint8_t *p, *nl;
	size_t have;

	while (s.n < MOST && (p = in_line(in, 1024, &have, &nl)) != NULL && have) {
		if (nl && (nl < p || nl >= p + have || *nl != '\n'))
			abort();
		have = nl ? (size_t)(nl - p) + 1 : have;
		add(&s, p, have);
		in_skip(in, have);
		if (in_off(in) != s.n)
			abort();
	}
	s.bad = in_error(in) != NULL;
	in_close(in);
	return s;
}

static int
differ(struct sum a, struct sum b)
{
	return a.n < MOST && b.n < MOST && (a.n != b.n || a.h != b.h || a.bad != b.bad);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	int fd = memfd_create("in", 0);
	char name[64], member[80];
	struct sum s;

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		exit(2);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	snprintf(member, sizeof member, "%s//m", name);
	s = by_read(name, sizeof(uint8_t[4096]));
	if (differ(s, by_read(name, 777)) || differ(s, by_line(name)))
		abort();
	by_read(member, 4096);
	close(fd);
	return 0;
}
