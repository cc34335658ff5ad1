/* Types and functions shared by the files of bifcm. */
#ifndef TM_COMPRESS_BIFCM_H
#define TM_COMPRESS_BIFCM_H

#include <sys/types.h>

#include "base/out.h"
#include "codec/stream/stream.h"

enum action { COMPRESS, DECOMPRESS, LIST, TEST };

/* Exit statuses, those of gzip. */
enum status { DONE, FAILED, SKIPPED };

/* The command line. */
struct args {
	enum action action;
	struct vs_options o;
	uint64_t nhead, start, count;
	uint64_t memory;        /* bytes that a file may take; 0: any number */
	int refs;               /* a reference stream, with its header */
	int guess;              /* the layout is found: guess.c */
	int backward, part, sizes;
	int to_stdout, force, keep, quiet, verbose;
	int several;            /* operands */
	const char *outname, *suffix;
	int given;              /* an option of compression was given: it excludes other actions */
	int levelled;           /* the level that was given, as a character; 0: none */
	int laid_out, headed;   /* -r or -w was given, -H was given */
};

/* An input of raw bytes. */
struct input {
	const char *name;       /* for diagnostics */
	const char *path;       /* NULL: standard input */
	int fd;
};

/* The work on one file, in a process of its own. */
struct job {
	const struct args *a;
	struct input *in;
	struct out *out;        /* NULL with -t, and for a file that is replaced */
	int outfd;              /* of a file that is replaced; otherwise -1 */
	const char *outname;    /* its name, for diagnostics */
	unsigned threads;       /* that decompress it */
	int listed;             /* -l has printed a file, and the heading before it */
};

/* What -l found in a file; memory that the processes share. */
struct sizes {
	uint64_t file, bytes;
};
extern struct sizes *bifcm_sizes_found;

/* path "-": standard input; 0, or -1: it cannot be opened, which has been said */
int input_open(struct input *in, const char *path);
void input_close(struct input *in);
/* returns fewer than n bytes only at the end; exits on failure */
size_t input_read(struct input *in, void *p, size_t n);
/* copies an input that cannot seek to an unnamed file; exits on failure */
void input_spool(struct input *in);

/*
 * Compresses, expands, lists or tests the input of a job, in a confined child process: see work.c.
 * FAILED: the reason has been said.
 */
enum status work_run(struct job *j);

/* The sizes of blocks that follow from the layout, the level and the method. */
void bifcm_sizes(struct vs_options *o);

/*
 * Finds the layout of the n bytes at p, the first after the head, which o has, and sets what follows
 * from it.  The head then has *more bytes more.  Exits without memory.
 */
void guess_options(const struct args *a, struct vs_options *o, const uint8_t *p, size_t n, size_t *more);

/* path becomes path.bif, or, with -d, path.bif becomes path. */
enum status replace_file(const struct args *a, const char *path);

/* Lists what the file contains: a line of a table, or with -v column by column, twice: block by block. */
void bifcm_list_print(struct vs_reader *r, const struct job *j);
void bifcm_list_totals(struct out *out, const struct sizes *sum);

#endif
