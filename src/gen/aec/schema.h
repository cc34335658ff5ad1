/* Schemas as text in aec; see text.h. */
#ifndef TM_AEC_SCHEMA_H
#define TM_AEC_SCHEMA_H

#include "gen/aec/aec.h"

void schema_print(struct aec *a, const char *path);     /* of the loaded program; NULL: standard output */
void schema_read(struct aec *a, const char *path);      /* the units of a text take the place of those in the open executable */
void schema_free(void);

#endif
