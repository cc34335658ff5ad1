/* The second traced file of link.c */
#include <setjmp.h>
#include <stddef.h>

struct node { struct node *next; long v[3]; };

extern long near_sum(const long *, int);
extern long plain_call(long (*)(const long *), const long *, int);

long far_none(long);
long far_one(const struct node *);
long far_three(const long *, long, struct node *);
long far_list(const struct node *, int);
long far_jump(long (*)(long), long);
long far_leave(const long *, long);
void far_throw(jmp_buf *, struct node *, int);
long far_back(long (*)(const long *), const long *);
long far_wrapped(const long *);
long far_many(long, long, long, long, long, long, const long *, long);
int far_order(const void *, const void *);

long far_none(long x) { return x / 3; }
long far_one(const struct node *n) { return n->v[1]; }

long
far_three(const long *p, long i, struct node *n)
{
	if (n)
		n->v[2] += p[i & 3];
	return near_sum(p, (int)(i & 3));
}

long
far_list(const struct node *n, int k)
{
	return n ? n->v[0] + (k > 0 ? far_list(n->next, k - 1) : 0) : near_sum(NULL, 0);
}

long far_jump(long (*f)(long), long x) { return f(x + 1); }
long far_leave(const long *p, long n) { return near_sum(p, (int)n); }

void
far_throw(jmp_buf *env, struct node *n, int i)
{
	n->v[0]++;
	if (i % 3)
		longjmp(*env, i);
}

long far_back(long (*f)(const long *), const long *p) { return f(p) + plain_call(f, p + 1, 3) + f(p + 2); }
long far_wrapped(const long *p) { return *p; }

long
far_many(long a, long b, long c, long d, long e, long f, const long *p, long g)
{
	return a + b * c - d * e + f + p[a & 3] + g;
}

int
far_order(const void *a, const void *b)
{
	const long *p = a, *q = b;

	return (near_sum(p, 1) > *q) - (*p < near_sum(q, 1));
}
