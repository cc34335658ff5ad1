/* What the files of tracemill share. */
#ifndef TM_APPS_TRACEMILL_TRACEMILL_H
#define TM_APPS_TRACEMILL_TRACEMILL_H

#include <limits.h>
#include <stddef.h>

/* A line of the table of tools and other manual pages, in the groups of tracemill(7) */
struct page {
	const char *name;       /* section 0: the title of a group */
	int section;
	const char *what;
	const char *packages;   /* Debian packages that a tool is built with; "": those of all */
};

extern const struct page pages[];       /* ends with name NULL */

/* A machine whose programs aecc can trace */
struct machine {
	const char *name;
	const char *compiler;
	const char *packages;   /* Debian packages that its compiler and its libc are in */
};

extern const struct machine machines[]; /* ends with name NULL */

/* The folder of this program, without a slash at its end; "." if it is not known. */
const char *run_folder(void);

/*
 * The file of the program of that name: with `own`, in run_folder(), then in PATH.
 * path: PATH_MAX bytes; -1: there is none.
 */
int run_find(const char *name, int own, char *path);

/* What a program that has ended left: the first of standard output, the first line of standard error */
struct ran {
	int status;             /* its exit status; 128 and the signal */
	int late;               /* it was ended because it took too long */
	char out[4096];
	char err[512];
};

/* Runs argv[0], a path, to its end. It reads nothing. */
void run_program(struct ran *r, const char *const argv[]);

/* What doctor says of something */
enum state { GOOD, LIMITED, MISSING };

/* Prints the line. */
void doctor_say(enum state state, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Tries and prints everything. Returns whether the main ways of recording work. */
int doctor(void);

/* The lines about the kernel and the processor; about memory and disks, where files go to `folder` */
void system_kernel(void);
void system_limits(const char *folder);

#endif
