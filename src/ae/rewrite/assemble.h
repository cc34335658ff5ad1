/* Running the assembler on a text, in a folder for temporary files. */
#ifndef TM_AE_REWRITE_ASSEMBLE_H
#define TM_AE_REWRITE_ASSEMBLE_H

#include "ae/machine/machine.h"
#include "base/buf.h"

/* MARKb<n>: start, MARKe<n>: end of statement n */
#define MARK "__aerw_"

/* An assembler as it is to be run */
struct assembler {
	const char *as;                 /* its name or path */
	const char *const *always;      /* arguments that the machine needs, NULL-terminated; or NULL */
	char *const *args;              /* and the user's; or NULL */
};

/* Temporary files: the text, the object, the assembler's messages */
struct assembly { char *dir, *in, *out, *said; };

int assembly_open(struct assembly *a);          /* -1: the folder cannot be made */
void assembly_close(struct assembly *a);
/*
 * Runs it on file `in`, the object is a->out: its exit status, 127 if it cannot be run. Its messages are dropped, because
 * the user will see those of the real assembly; `keep`: they go to a->said, in English.
 */
int assembly_run(const struct assembly *a, const struct assembler *as, const char *in, int keep);
/* Assembles a text: NULL and the object's descriptor in *fd, or a static message. */
const char *assembly_text(const struct assembly *a, const struct assembler *as, const struct buf *text, int keep, int *fd);
/* Can such a text be written to a temporary file? Asked after a failure, which may have that reason. */
int assembly_possible(const struct buf *text);
#define ASSEMBLY_NOTEMP   "no temporary file can be written"
#define ASSEMBLY_REJECTED "the assembler does not accept it"    /* that message, if there is something wrong with the text */

#endif
