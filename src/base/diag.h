/* Diagnostics: `tool: file: byte N (record M): what is wrong`, on standard error. */
#ifndef TM_BASE_DIAG_H
#define TM_BASE_DIAG_H

#include <stdarg.h>
#include <stdint.h>

#include "base/fault.h"

#define DIAG_NOREC UINT64_MAX   /* the fault has no record number */
#define DIAG_NOOFF UINT64_MAX   /* the fault is at no byte: the file could not be opened */

/*
 * Set the tool's name (the last component of argv0) and the exit status of
 * die() and its kin: 1 for most tools, 2 for those that compare.  From here on
 * a file that would grow too large is an error of write(2), EFBIG, no signal.
 */
void diag_init(const char *argv0, int trouble);

/* In a child, before it becomes another program: that is to have its signals as this one was given them */
void diag_child(void);
const char *diag_name(void);
int diag_trouble(void);         /* that status */

/* `tool: message`; the _sys forms append `: ` and the text of errno */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void warn_sys(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die_sys(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* `tool: file: byte OFF (record REC): message`; REC DIAG_NOREC leaves the parenthesis out, OFF DIAG_NOOFF all between the colons */
void warn_at(const char *file, uint64_t off, uint64_t rec, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
_Noreturn void die_at(const char *file, uint64_t off, uint64_t rec, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
_Noreturn void die_fault(const char *file, const struct fault *f);

/* `usage: tool SYNOPSIS`; exit status 2 */
_Noreturn void die_usage(const char *synopsis);

#endif
