/* Trimming a capture that is complete */
#ifndef TM_GEN_WSCAP_TRIM_H
#define TM_GEN_WSCAP_TRIM_H

int trim(const char *path);     /* replaces the file by what a replay of it needs; 0, or -1: it is as before, and why was said */

#endif
