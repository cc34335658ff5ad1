/* Standard input for tools that read it several times.  For the tools: any failure ends the program with one line. */
#ifndef TM_BASE_SPOOL_H
#define TM_BASE_SPOOL_H

/* A name under which a copy of it can be opened, as long as the program runs; nobody else sees it.  To be freed. */
char *spool_input(void);

#endif
