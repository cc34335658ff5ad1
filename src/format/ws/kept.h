/*
 * Executable files that a capture keeps, ws(5): with them functions, lines and variables are known when the files
 * themselves are gone, or have become others.  They stand outside the runs, in the order in which they were put.
 */
#ifndef TM_FORMAT_WS_KEPT_H
#define TM_FORMAT_WS_KEPT_H

#include "format/ws/runs.h"

#define WS_KEPT_MAX     4096u                   /* files in a capture */
#define WS_KEPT_BYTES   (UINT64_C(1) << 30)     /* bytes of a file */

struct ws_kept {
	const char *path;               /* as MAP records have it; never empty */
	uint64_t dev, ino;              /* the same; 0: not known */
	uint64_t bytes;                 /* of the file, 1 to WS_KEPT_BYTES */
	uint64_t packed;                /* in the capture; ignored when writing */
};

/*
 * Opens the capture of this name, as ws_keep_open_path does, if it keeps files: its runs, and *fd, a descriptor of it.
 * NULL: it keeps none, or cannot be read.  ws_kept_close closes both.
 */
struct ws_runs *ws_kept_open(const char *path, int *fd);
void ws_kept_close(struct ws_runs *t, int fd);

size_t ws_kept_count(const struct ws_runs *t);
struct ws_kept ws_kept_get(const struct ws_runs *t, size_t i);  /* valid as long as t; i < the count */

/* The contents of one, unpacked, for the caller to free; fd is that of the capture.  NULL: *why says why */
uint8_t *ws_kept_load(const struct ws_runs *t, int fd, size_t i, const char **why);

/*
 * Writes one: between ws_runs_begin and ws_runs_finish (runs.h) with ws_runs_write_between and the ws_runs_writer,
 * or after the last byte of a capture with a single run.  0 or an errno of write
 */
int ws_runs_write_between(void *writer, const void *p, size_t n);
int ws_kept_write(ws_write_fn *write, void *arg, const struct ws_kept *k, const uint8_t *p);

/*
 * Collects the files to keep: ELF files that were mapped and have symbols of their own, which their debugging
 * information comes with.  Each is held open, so that it may get another name, or none.
 */
struct ws_keeper;
/* own: only files that are not below the folders of the system's packages, of at most WS_KEPT_OWN bytes.  NULL: no memory */
#define WS_KEPT_OWN     (UINT64_C(8) << 20)
struct ws_keeper *ws_keeper_new(int own);
void ws_keeper_free(struct ws_keeper *k);
/* A file is mapped; to be told of all.  It is opened by its name, unless it has another build id than was mapped. */
void ws_keeper_add(struct ws_keeper *k, const struct ws_rec_map *m);
/* the same for what a capture has already */
void ws_keeper_has(struct ws_keeper *k, const struct ws_runs *t);
size_t ws_keeper_count(const struct ws_keeper *k);      /* files that will be written */
/*
 * Writes them with `write`: 0 or an errno of it.  A file that cannot be read, was changed since it was opened, or
 * is too large is left out: miss is called with its path and the reason.
 */
typedef void ws_keeper_miss_fn(const char *path, const char *why);
int ws_keeper_write(struct ws_keeper *k, ws_write_fn *write, void *arg, ws_keeper_miss_fn *miss);

/* gives write the kept files of a capture as they are: 0, or -1: see *f */
int ws_kept_copy(const struct ws_runs *t, int fd, ws_write_fn *write, void *arg, struct fault *f);

#endif
