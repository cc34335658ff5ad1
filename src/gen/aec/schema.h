/* Schemas as text in aec. */
#ifndef TM_AEC_SCHEMA_H
#define TM_AEC_SCHEMA_H

#include "gen/aec/aec.h"

/* schemas of the loaded program; path NULL: standard output */
void schema_print(struct aec *a, const char *path);
/* units of the text replace those of the open executable */
void schema_read(struct aec *a, const char *path);
void schema_free(void);

#endif
