/* laplace-merge: writes the result as a tar file. */
#include <string.h>

#include "base/arclib.h"
#include "base/diag.h"
#include "base/in.h"
#include "base/mem.h"
#include "merge/laplace-merge/merge.h"

static int
archive_ends(const char *s, const char *with)
{
	size_t n = strlen(s), k = strlen(with);

	return n > k && strcmp(s + n - k, with) == 0;
}

int
archive_is_tar(const char *path)
{
	return archive_ends(path, ".tar") || archive_ends(path, ".tar.gz") ||
	    archive_ends(path, ".tar.zst") || archive_ends(path, ".tar.xz");
}

static la_ssize_t
archive_take(struct archive *a, void *arg, const void *p, size_t n)
{
	(void)a;
	out_write(arg, p, n);
	return (la_ssize_t)n;
}

static void
archive_check(struct archive *a, const char *path, int r)
{
	if (r < ARCHIVE_OK)
		die("%s: %s", path,
		    arclib.error_string(a) ? arclib.error_string(a) : "cannot write the archive");
}

static void
archive_member(struct archive *a, const char *path, const struct file *f, const char *name)
{
	struct archive_entry *e = arclib.entry_new();
	struct in *in = in_open(f->path);
	const uint8_t *p;
	size_t n;
	uint64_t left = f->off;

	if (!e)
		die("out of memory");
	arclib.entry_set_pathname(e, name);
	arclib.entry_set_size(e, (la_int64_t)f->off);
	arclib.entry_set_filetype(e, AE_IFREG);
	arclib.entry_set_perm(e, 0644);
	arclib.entry_set_mtime(e, 0, 0);
	archive_check(a, path, arclib.write_header(a, e));
	for (; left; left -= n) {
		p = in_peek(in, 1, &n);
		if (n > left)
			n = left;
		if (!n || arclib.write_data(a, p, n) != (la_ssize_t)n)
			die("%s: %s", path, in_error(in) ? in_error(in) : "cannot write the archive");
		in_skip(in, n);
	}
	in_close(in);
	arclib.entry_free(e);
}

void
archive_write(struct out *o, const struct files *all)
{
	const char *path = out_name(o), *why = arclib_load();
	size_t top = strlen(files_folder(all)) + 1;
	struct archive *a;

	if (why)
		die("%s: %s", path, why);
	a = arclib.write_new();
	if (!a)
		die("out of memory");
	archive_check(a, path, arclib.write_set_format_pax_restricted(a));
	if (archive_ends(path, ".gz")) {
		archive_check(a, path, arclib.write_add_filter_gzip(a));
		archive_check(a, path, arclib.write_set_filter_option(a, "gzip", "timestamp", NULL));
	} else if (archive_ends(path, ".zst")) {
		archive_check(a, path, arclib.write_add_filter_zstd(a));
	} else if (archive_ends(path, ".xz")) {
		archive_check(a, path, arclib.write_add_filter_xz(a));
	}
	archive_check(a, path, arclib.write_set_bytes_in_last_block(a, 1));
	archive_check(a, path, arclib.write_open(a, o, NULL, archive_take, NULL));
	for (int others = 0; others <= 1; others++)
		for (struct file *f = files_first(all); f; f = f->next)
			if (f->off && (strcmp(f->path + top, "manifest") != 0) == others)
				archive_member(a, path, f, f->path + top);
	archive_check(a, path, arclib.write_close(a));
	archive_check(a, path, arclib.write_free(a));
	out_close(o);
}
