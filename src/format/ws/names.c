/* Captures: names of kinds, comparison of registers, small things that writer and reader share. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "format/ws/runs.h"
#include "format/ws/ws_internal.h"

const uint8_t ws_magic[8] = { 0x89, 'T', 'M', 'C', 'A', 'P', '\r', '\n' };
const uint8_t ws_magic_end[8] = { 0x89, 'T', 'M', 'C', 'E', 'N', 'D', '\n' };
const uint8_t ws_magic_group[4] = { 'W', 'S', 'g', 'r' };
const uint8_t ws_magic_index[4] = { 'W', 'S', 'i', 'x' };
const uint8_t ws_magic_run[4] = { 'W', 'S', 'r', 'n' };
const uint8_t ws_magic_piece[4] = { 'W', 'S', 'p', 'c' };
const uint8_t ws_magic_pages[4] = { 'W', 'S', 'p', 'g' };
const uint8_t ws_magic_kept[4] = { 'W', 'S', 'k', 'f' };

static const struct {
	const char *text;
	int trigger;
} kinds[WS_NKINDS] = {
#define K(name, text, trigger) { text, trigger },
#include "format/ws/kind.def"
#undef K
};

const char *
ws_kind_name(unsigned kind)
{
	return kinds[kind].text;
}

int
ws_is_capture(const uint8_t *p, size_t n)
{
	return n >= sizeof(ws_magic) && !memcmp(p, ws_magic, sizeof(ws_magic));
}

int
ws_is_trigger(unsigned kind)
{
	return kinds[kind].trigger;
}

const char *
ws_map_name(unsigned type)
{
	static const char *const names[WS_NMAPS] = { "anon", "file", "exe", "interp", "stack", "heap",
		"vdso" };

	return names[type];
}

const char *
ws_how_name(unsigned how)
{
	static const char *const names[WS_NHOWS] = { "exited", "killed", "stopped",
		"executed" };

	return names[how];
}

const char *
ws_began_name(unsigned began)
{
	static const char *const names[WS_NBEGANS] = { "first", "fork", "vfork", "exec" };

	return names[began];
}

const char *
ws_random_name(unsigned insn)
{
	static const char *const names[WS_NRANDOMS] = { "rdrand", "rdseed", "rdpid" };

	return names[insn];
}

const char *
ws_stream_name(unsigned stream)
{
	static const char *const names[WS_NSTREAMS] = { "control", "data", "code", "kernel", "hash" };

	return names[stream];
}

const char *
ws_method_name(unsigned method)
{
	static const char *const names[WS_NMETHODS] = { "none", "zstd", "lzma" };

	return names[method];
}

const char *
ws_sys_name(uint64_t nr)
{
	static const char *const names[] = {
#define S(nr, name, ...) [nr] = #name,
#include "format/ws/syscall.def"
#undef S
	};

	return nr < sizeof(names) / sizeof(names[0]) ? names[nr] : NULL;
}

int
ws_write_fd(void *arg, const void *p, size_t n)
{
	const int *fd = arg;
	const char *b = p;

	while (n) {
		ssize_t k = write(*fd, b, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k ? errno : EIO;
		b += k;
		n -= (size_t)k;
	}
	return 0;
}
