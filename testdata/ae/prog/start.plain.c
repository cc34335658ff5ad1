/* The untraced part of start.c: a resolver runs while the program is being linked, before tracing begins */
extern long fast(long), slow(long), chosen(long);

static int which = 1;

#ifdef __x86_64__
static long (*resolve_chosen(void))(long) { return which ? fast : slow; }
long chosen(long) __attribute__((ifunc("resolve_chosen")));
#else
long chosen(long x) { return which ? fast(x) : slow(x); }
#endif
