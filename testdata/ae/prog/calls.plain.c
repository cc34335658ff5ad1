/* The part of calls.c that is not traced, and calls back */
extern long plain_twice(long (*)(long), long);
extern long plain_through(long (*)(long (*)(long), long), long);
extern long (*plain_give(int))(long, long);
extern long far_add(long, long);

static long local(long x) { return x * 5 - 1; }
static long plain_mul(long a, long b) { return a * b + 1; }

long plain_twice(long (*f)(long), long x) { return f(f(x)); }
long plain_through(long (*f)(long (*)(long), long), long x) { return f(local, x) - f(local, -x); }
long (*plain_give(int i))(long, long) { return i & 1 ? far_add : plain_mul; }
