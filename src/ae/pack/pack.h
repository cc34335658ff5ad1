/*
 * Packed event files, aepack(5): an event file (ae.out(5)) with its events coded by what a model of the program foresees.
 * Whoever packs or unpacks needs the program. Any file that begins as an event file can be packed; what is not events that
 * the program can have is kept as bytes.
 */
#ifndef TM_AE_PACK_PACK_H
#define TM_AE_PACK_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "ae/regen/feed.h"
#include "base/fault.h"
#include "base/in.h"
#include "format/ae/exe.h"

#define PACK_VERSION 1

/* Packs the event file `in`. 0, or -1 with a fault, which is of the event file. */
typedef void pack_sink(void *arg, const void *p, size_t n);
int pack_file(struct in *in, struct exe *x, pack_sink *sink, void *arg, struct fault *f);

/*
 * The event file in a packed one, as bytes. All are borrowed. NULL: no memory. After a short read unpack_fault says what
 * is wrong with the packed file, or NULL at its end.
 */
void *unpack_new(struct in *in, void *exe);
void unpack_free(void *u);
size_t unpack_read(void *u, void *buf, size_t n);
const struct fault *unpack_fault(const void *u);

/* These, for a feed_job whose prog is the struct exe */
extern const struct feed_unpack unpack_how;

#endif
