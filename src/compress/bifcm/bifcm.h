/* Parts of bifcm. */
#ifndef TM_COMPRESS_BIFCM_H
#define TM_COMPRESS_BIFCM_H

#include "base/out.h"
#include "codec/stream/stream.h"

/* An input whose bytes are taken as they are */
struct input {
	const char *name;       /* for diagnostics */
	const char *path;       /* NULL: standard input */
	int fd;
};

void input_open(struct input *in, const char *path);    /* NULL or "-": standard input; dies */
size_t input_read(struct input *in, void *p, size_t n); /* fewer only at the end; dies */
void input_spool(struct input *in);     /* what can only be read once goes to a file without a name; dies */


/* What the file holds, column by column; with each, block by block */
void bifcm_list_list(struct vs_reader *r, const struct input *in, struct out *out, int each);

#endif
