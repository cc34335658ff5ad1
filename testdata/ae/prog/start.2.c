/* The second file of start.c */
#include <stdio.h>

extern int order[20], norder;
extern long either(long);

int order[20], norder;

__attribute__((constructor(200))) static void second(void) { order[norder++] = 2; }
__attribute__((destructor(101))) static void gone(void) { printf("gone %d\n", order[norder - 1]); }

long either(long x) { return x + 1; }
