/* Shared by the files that read a folder of traces. */
#ifndef TM_LAPLACE_TRACES_INTERNAL_H
#define TM_LAPLACE_TRACES_INTERNAL_H

#include "laplace/traces.h"

/* name, below the folder, is at fault; returns -1 */
int lap_folder_fault(struct lap_folder *f, const char *name, uint64_t off, uint64_t rec, const char *what);
char *lap_folder_path(const struct lap_folder *f, const char *name);    /* the caller frees it; NULL: no memory */
/* Is it a regular file, and no link?  0, or -1 with the fault */
int lap_folder_check(struct lap_folder *f, const char *name);

#endif
