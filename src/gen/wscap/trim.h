/* Trimming a capture that is complete */
#ifndef TM_GEN_WSCAP_TRIM_H
#define TM_GEN_WSCAP_TRIM_H

/*
 * Replaces the file by what a replay of it needs.  If that cannot be, it is as
 * before, and why has been said; a signal that interrupts it ends the program.
 */
void wscap_trim_trim(const char *path);
void trim_left(const char *path, const char *why);      /* says that it was not */

#endif
