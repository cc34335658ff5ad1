/* All threads of an event file, one after the other: see feed.h. */
#include "ae/regen/feed.h"
#include "ae/regen/feed_internal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/src.h"
#include "format/ref/ref.h"

/* Does the end record at the end of an uncompressed file say so? -1: there is none */
static int
tasks_by_end(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), several = -1;
	uint8_t end[EV_ENDLEN + 16];
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > (off_t)sizeof end &&
	    pread(fd, end, sizeof end, st.st_size - (off_t)sizeof end) == (ssize_t)sizeof end)
		several = ev_several(end);
	close(fd);
	return several;
}

int
tasks_several(const struct feed_job *j, int again)
{
	const char *file = j->file, *err = NULL;
	int several = again ? tasks_by_end(src_is_stdin(file) ? "/dev/stdin" : file) : 0;
	struct feed_seg g = { 0 };
	const uint8_t *p;

	if (several >= 0)
		return several;
	if (feed_enter(&g, j, in_open(file), &err) == 0 && feed_reader(&g) == 0)
		while (!g.r.next && ev_next(&g.r, &p) > 0)
			;
	several = g.r.next != 0;
	feed_leave(&g);
	return several;
}

int
tasks_again(const char *file, off_t *start)
{
	struct stat st;

	*start = 0;
	if (!src_is_stdin(file))
		return stat(file, &st) != 0 || S_ISREG(st.st_mode) || S_ISBLK(st.st_mode);
	*start = lseek(0, 0, SEEK_CUR);
	return *start >= 0;
}

static void
tasks_rewind(const char *file, off_t start)
{
	if (src_is_stdin(file))
		lseek(0, start, SEEK_SET);
}

void
tasks_keep(struct tasks_said *k, const struct feed *f, int all)
{
	if (f->status == AE_STOPPED && !k->err) {
		k->err = f->err;
		k->erroff = f->erroff;
		k->status = f->status;
	}
	if (f->fatal) {
		k->fatal = f->fatal;
		k->exact = f->exact;
	}
	k->limited |= f->limited;
	k->running |= f->running;
	if (!k->bytes)
		k->bytes = feed_bytes(f) + (all ? f->seg[f->nseg - 1].r.other : 0);
}

void
tasks_restore(struct feed *f, const struct tasks_said *k)
{
	if (k->err && !f->err) {
		f->err = k->err;
		f->erroff = k->erroff;
		f->errname = in_name(f->seg[f->nseg - 1].in);
		f->status = k->status;
	}
	f->fatal = k->fatal;
	f->exact = k->exact;
	f->limited = k->limited;
	f->running = k->running;
	f->bytes = k->bytes;
}

static int
tasks_one(struct feed *f, struct ae_state *s, const struct feed_job *j, uint32_t task, int mark)
{
	uint64_t ref = ref_make(REF_TASK, task, 0);

	if (feed_open(f, s, j, task) != 0)
		return -1;
	f->sink = j->sink;
	f->sinkarg = j->sinkarg;
	f->quietmax = j->quietmax;
	if (mark)
		f->status = f->sink(f->sinkarg, &ref, 1);
	return f->status ? f->status : j->run(j->arg, f);
}

int
tasks_cannot(struct feed *f, const struct feed_job *j)
{
	f->err = "has several threads: name the file, or choose one of them";
	f->errname = src_name(j->file);
	f->erroff = DIAG_NOOFF;
	return f->status = -1;
}

int
feed_tasks(struct feed *f, struct ae_state *s, const struct feed_job *j)
{
	struct tasks_said said = { 0 };
	uint32_t task = j->task ? j->task : 1;
	off_t start;
	int again = tasks_again(j->file, &start), several = j->task ? 0 : tasks_several(j, again), status;

	for (int first = 1;; first = 0) {
		tasks_rewind(j->file, start);
		f->later = !first;
		status = tasks_one(f, s, j, task, several);
		if ((status && status != AE_STOPPED) || f->nseg == 0)
			return status;
		tasks_keep(&said, f, !j->task);
		task = f->seg[f->nseg - 1].r.next;
		if (j->task || !task)
			break;
		if (!again || !several)
			return tasks_cannot(f, j);
		feed_close(f);
	}
	tasks_restore(f, &said);
	return f->status;
}
