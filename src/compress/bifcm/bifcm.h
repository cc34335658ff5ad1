/* Types and functions shared by the files of bifcm. */
#ifndef TM_COMPRESS_BIFCM_H
#define TM_COMPRESS_BIFCM_H

#include "base/out.h"
#include "codec/stream/stream.h"

/* An input of raw bytes. */
struct input {
	const char *name;       /* for diagnostics */
	const char *path;       /* NULL: standard input */
	int fd;
};

/* path NULL or "-": standard input; exits on failure */
void input_open(struct input *in, const char *path);
/* returns fewer than n bytes only at the end; exits on failure */
size_t input_read(struct input *in, void *p, size_t n);
/* copies an input that cannot seek to an unnamed file; exits on failure */
void input_spool(struct input *in);


/* Lists what the file contains, column by column; each: block by block, too. */
void bifcm_list_print(struct vs_reader *r, const struct input *in, struct out *out, int each);

#endif
