/*
 * Progress of work that takes over two seconds, on standard error if that is a terminal:
 *
 *     wstrim: ls.ws: writing 43% (120 M instructions, 61 M/s, 0:12 left)
 *
 * A tool switches it on with progress_start(). How far it is comes from in.h (bytes read), from a
 * replay (instructions done), and from whoever else knows; without progress_start() all that does
 * nothing. The line is cleared before a message (diag.h), before output to a terminal (out.h), and
 * at the end. A tool that writes to a pipe shows nothing: the last one of a pipeline does, so that
 * two do not share a line. Forked children show nothing.
 */
#ifndef TM_BASE_PROGRESS_H
#define TM_BASE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#define PROGRESS_UNKNOWN UINT64_MAX     /* of a total */

enum progress_unit { PROGRESS_BYTES = 1, PROGRESS_INSTRUCTIONS };

void progress_start(const char *name);  /* of the input, which stays valid; NULL: there are several */
void progress_stop(void);               /* clears the line; nothing is shown from now on */
void progress_clear(void);              /* clears the line; may be called in a signal handler */

/*
 * The next part of the work. what: "writing", if it does again what the part before did: that is
 * how much there is to do, at most. NULL: other work, of which nothing is known.
 */
void progress_stage(const char *what);
/*
 * What counts now does a piece of the part: it counts on from `from`, and `before` of the part's
 * `total` is done when it begins. For a part that is done backward, or that leaves something out.
 */
void progress_piece(uint64_t from, uint64_t before, uint64_t total);
void progress_limit(uint64_t most);     /* instructions: the work ends there, even if the run is longer */

void progress_output(int fd);           /* the tool writes there: see above about pipes */
void progress_input(int fd);            /* one more input: its size, if it has one, adds to the total */
void progress_read(size_t n);           /* n more bytes of the inputs were read */

/*
 * The same for work that counts on its own: if progress_due(done), progress_show() tells it. The
 * first costs a subtraction and, after each few thousand, a look at the clock.
 */
extern uint64_t progress_step, progress_last;
int progress_look(uint64_t done);

static inline int
progress_is_on(void)
{
	return progress_step != UINT64_MAX;
}

static inline int
progress_due(uint64_t done)
{
	return done - progress_last >= progress_step && progress_look(done);
}

void progress_show(enum progress_unit unit, uint64_t done, uint64_t total);

#endif
