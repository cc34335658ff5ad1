/* addrplot: what pictures have in common: texts, sizes, colours. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "apps/addrplot/addrplot.h"
#include "base/diag.h"

const char *const plot_colour[PLOT_COLOURS] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555",
};

/* doubled: a character that is written twice, besides quotes */
static void
print_quoted(struct out *out, const char *s, size_t most, char doubled)
{
	out_str(out, "'");
	for (; *s && most; s++, most--) {
		if (*s == '\'' || *s == doubled)
			out_write(out, s, 1);
		if ((unsigned char)*s >= ' ' && *s != 0x7f)
			out_write(out, s, 1);
	}
	out_str(out, "'");
}

void
plot_quoted(struct out *out, const char *s, size_t most)
{
	print_quoted(out, s, most, '\'');
}

void
plot_tic(struct out *out, const char *s)
{
	print_quoted(out, s, SIZE_MAX, '%');
}

const char *
plot_size(char buf[PLOT_SIZE], uint64_t bytes)
{
	unsigned u = 0;

	while (u < 4 && bytes >= UINT64_C(10) << 10) {
		bytes = (bytes + 1023) >> 10;
		u++;
	}
	snprintf(buf, PLOT_SIZE, u ? "%" PRIu64 "%c" : "%" PRIu64, bytes, " kMGT"[u]);
	return buf;
}

void
plot_axes(struct out *out)
{
	out_str(out, "set border 3\nset tics out nomirror\nset grid ytics lt 1 lc rgb '#dddddd'\n");
}

const char *
plot_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void
plot_complain(struct refs *s)
{
	const char *why;

	while ((why = refs_complaint(s)) != NULL)
		warn("%s: %s", refs_path(s), why);
}
