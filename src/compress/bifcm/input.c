/* bifcm: reads its input as raw bytes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/spool.h"
#include "base/src.h"
#include "compress/bifcm/bifcm.h"

#define PIECE (256u << 10)      /* bytes read at once */

int
input_open(struct input *in, const char *path)
{
	*in = (struct input){ .name = src_name(path), .fd = STDIN_FILENO };
	if (src_is_stdin(path)) {
		src_opened(in->fd);
	} else {
		in->path = path;
		in->fd = src_open(path);
		if (in->fd < 0) {
			warn_sys("%s", path);
			return -1;
		}
	}
	return 0;
}

void
input_close(struct input *in)
{
	if (in->fd > STDIN_FILENO)
		close(in->fd);
}

size_t
input_read(struct input *in, void *p, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t k = read(in->fd, (char *)p + got, n - got);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			die_sys("%s", in->name);
		if (!k)
			break;
		got += (size_t)k;
		progress_read((size_t)k);
	}
	return got;
}

void
input_spool(struct input *in)
{
	struct stat st;
	uint8_t *p;
	size_t n;
	int fd;

	if (fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode))
		return;
	progress_stage("reading");
	fd = spool_open();
	p = xmalloc(PIECE);
	while ((n = input_read(in, p, PIECE)) > 0)
		spool_write(fd, p, n);
	free(p);
	progress_stage(NULL);
	progress_input(fd);
	input_close(in);
	in->fd = fd;
}
