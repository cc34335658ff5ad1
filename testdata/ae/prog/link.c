/*
 * Calls between traced files, which the runtime makes known ones when the program starts: with all, some or none of what the callee
 * needs known; values of more than 31 bits; jumps to other files; callees that leave by a jump; longjmp and callbacks
 * through them; --wrap (exact-more.t); functions of other files that are also called through pointers and by untraced code.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

struct node { struct node *next; long v[3]; };

/* link.2.c */
extern long far_none(long);
extern long far_one(const struct node *);
extern long far_three(const long *, long, struct node *);
extern long far_list(const struct node *, int);
extern long far_jump(long (*)(long), long);
extern long far_leave(const long *, long);
extern void far_throw(jmp_buf *, struct node *, int);
extern long far_back(long (*)(const long *), const long *);
extern long far_wrapped(const long *);
extern long far_many(long, long, long, long, long, long, const long *, long);
extern int far_order(const void *, const void *);
/* link.plain.c */
extern long plain_call(long (*)(const long *), const long *, int);

static long table[16];
static jmp_buf env;

long __wrap_far_wrapped(const long *);
long __wrap_far_wrapped(const long *p) { return p[1] - 1000; }

/* called from link.2.c */
long near_sum(const long *, int);
long near_sum(const long *p, int n)
{
	long s = 0;

	while (n-- > 0)
		s += *p++;
	return s;
}

NOINLINE static long
lists(struct node *n, int k)
{
	long s = far_one(n) + far_one(n->next);

	for (int i = 0; i < k; i++)
		s += far_three(table + i % 8, i, n) + far_one(n);
	return s + far_list(n, k);
}

NOINLINE static long back(const long *p) { return p[2] + far_none(*p) + far_three(p, 1, NULL); }
NOINLINE static long step(long x) { return x + far_none(x); }

/* a jump to another file */
NOINLINE static long leave(const long *p, long n) { return far_leave(p + n, n); }
static long jumper(const long *p) { return far_leave(p, *p & 3); }

NOINLINE static long
throws(struct node *n, int k)
{
	volatile long s = 0;
	volatile int i = 0;

	if (setjmp(env))
		s += far_one(n);
	while (i < k) {
		i++;
		far_throw(&env, n, i);
	}
	return s;
}

int
main(void)
{
	struct node local = { NULL, { 1, 2, 3 } }, *heap = malloc(sizeof *heap);
	long s = 0, stack[8];
	int i;

	if (!heap)
		return 1;
	memset(heap, 0, sizeof *heap);
	heap->next = &local;
	heap->v[1] = 7;
	for (i = 0; i < 16; i++)
		table[i] = i * i;
	for (i = 0; i < 8; i++)
		stack[i] = (i * 5) % 8;
	s += lists(heap, 20) + lists(&(struct node){ heap, { 4, 5, 6 } }, 3);
	for (i = 0; i < 6; i++)
		s = s * 3 + far_jump(i & 1 ? step : labs, s % 100) + leave(table, i) + leave(stack, i % 4);
	s += throws(heap, 9) + far_back(back, stack) + far_back(back, table);
	s += plain_call(back, table, 5) + plain_call(far_wrapped, stack, 2) + plain_call(jumper, stack, 4) + far_wrapped(table);
	for (i = 0; i < 3; i++)
		s ^= far_many(i, 2, 3, 4, 5, 6, stack + i, s) + (i == 1 ? far_one : far_one)(heap);
	qsort(stack, 8, sizeof *stack, far_order);
	printf("%ld %ld\n", s, stack[3]);
	free(heap);
	return 0;
}
