/* Trims a complete capture. */
#ifndef TM_GEN_WSCAP_TRIM_H
#define TM_GEN_WSCAP_TRIM_H

/*
 * Replaces the file by what a replay of it needs.  On failure the file is unchanged, and a
 * message says why.  A signal that interrupts it ends the program.
 */
void trim_capture(const char *path);
/* prints a warning that the file was not trimmed, and why */
void trim_warn_untrimmed(const char *path, const char *why);

#endif
