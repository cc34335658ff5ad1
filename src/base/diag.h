/* Diagnostics: `tool: file: byte N (record M): what is wrong`, on standard error. */
#ifndef TM_BASE_DIAG_H
#define TM_BASE_DIAG_H

#include <stdarg.h>
#include <stdint.h>

#include "base/fault.h"

#define DIAG_NOREC UINT64_MAX   /* the fault has no record number */
#define DIAG_NOOFF UINT64_MAX   /* the fault is at no byte: the file could not be opened */

/*
 * Sets the tool's name (the last component of argv0) and the exit status of die() and its kin: 1
 * for most tools, 2 for those that compare. From here on a file that would grow too large makes
 * write(2) fail with EFBIG, instead of a signal; and a standard descriptor that is closed is not that
 * of a file that is opened later. It comes first, before anything is opened.
 */
void diag_init(const char *argv0, int trouble);

/* In a forked child, before exec: restores the signals that this process was started with. */
void diag_child(void);
const char *diag_name(void);
int diag_exit_status(void);     /* the exit status given to diag_init */

/* Print `tool: message`; the _sys forms append `: ` and the text of errno. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void warn_sys(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die_sys(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* What stdio has for standard output is written, or the program ends with a line that says why not. */
void diag_flush(void);

/*
 * Print `tool: file: byte OFF (record REC): message`. DIAG_NOREC leaves out the parenthesis,
 * DIAG_NOOFF all that is between file and message.
 */
void warn_at(const char *file, uint64_t off, uint64_t rec, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
_Noreturn void die_at(const char *file, uint64_t off, uint64_t rec, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
_Noreturn void die_fault(const char *file, const struct fault *f);

/* For a wrong command line: prints `tool: message; see tool --help`; exit status 2, or that of diag_init if it is larger. */
_Noreturn void die_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
