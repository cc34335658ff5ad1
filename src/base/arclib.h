/*
 * libarchive, loaded when an archive is read or written, which few runs of a tool do: with the libraries that it needs itself,
 * it takes two thirds of the time in which a tool starts. Its functions are called as arclib.read_new() for archive_read_new().
 */
#ifndef TM_BASE_ARCLIB_H
#define TM_BASE_ARCLIB_H

#include <archive.h>
#include <archive_entry.h>

#define ARCLIB(F) \
	F(entry_filetype) F(entry_free) F(entry_new) F(entry_pathname) F(entry_set_filetype) F(entry_set_mtime) \
	F(entry_set_pathname) F(entry_set_perm) F(entry_set_size) F(entry_size) F(entry_size_is_set) F(error_string) \
	F(filter_bytes) F(filter_count) F(format) F(read_data_block) F(read_data_skip) F(read_free) F(read_new) \
	F(read_next_header) F(read_open) F(read_support_filter_compress) F(read_support_format_empty) \
	F(read_support_format_raw) F(read_support_format_tar) F(read_support_format_zip_streamable) F(set_error) \
	F(write_add_filter_gzip) F(write_add_filter_xz) F(write_add_filter_zstd) F(write_close) F(write_data) F(write_free) \
	F(write_header) F(write_new) F(write_open) F(write_set_bytes_in_last_block) F(write_set_filter_option) \
	F(write_set_format_pax_restricted)

#define ARCLIB_MEMBER(name) __typeof__(archive_##name) *name;
struct arclib {
	ARCLIB(ARCLIB_MEMBER)
};
extern struct arclib arclib;

/* To be called first. NULL, or why the library cannot be loaded. */
const char *arclib_load(void);

#endif
