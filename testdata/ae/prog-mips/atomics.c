/*
 * ll and sc: the compiler's atomics on words, halves and bytes, a spin lock, a list that is pushed to without a lock,
 * loops of the two written by hand.
 * targets: mipsel mips
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static unsigned long sum;
static int word = 5;
static unsigned short half[3] = { 1, 2, 3 };
static unsigned char byte[5] = { 200, 3 };
static _Atomic unsigned counter;
static atomic_flag lock = ATOMIC_FLAG_INIT;
struct node { struct node *next; int v; };
static struct node *_Atomic head;
static struct node nodes[12];

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static int
words(int k)
{
	int s = __sync_fetch_and_add(&word, k);

	s += __sync_sub_and_fetch(&word, 1);
	s += __sync_bool_compare_and_swap(&word, s, k);
	s += __sync_val_compare_and_swap(&word, word, k * 3);
	s += __atomic_exchange_n(&word, s, __ATOMIC_ACQ_REL);
	return s + __sync_lock_test_and_set(&word, s & 0xffff);
}

NOINLINE static int
parts(int k)
{
	int s = __sync_fetch_and_add(&half[k % 3], k);

	s += __sync_xor_and_fetch(&byte[k % 5], k);
	s += __sync_bool_compare_and_swap(&half[1], 2, k);
	s += __atomic_exchange_n(&byte[1], (unsigned char)s, __ATOMIC_SEQ_CST);
	return s + __atomic_fetch_or(&byte[4], 1, __ATOMIC_RELAXED);
}

NOINLINE static void
push(struct node *n)
{
	struct node *old = atomic_load(&head);

	do
		n->next = old;
	while (!atomic_compare_exchange_weak(&head, &old, n));
}

NOINLINE static int
locked(int k)
{
	while (atomic_flag_test_and_set(&lock))
		;
	counter += (unsigned)k;
	atomic_flag_clear(&lock);
	return (int)atomic_fetch_sub(&counter, 1);
}

/* the reservation must not be lost in between: an instrumented loop has to end */
NOINLINE static int
byhand(int *p, int k)
{
	int old, t;

	__asm__ volatile(
	    "	.set	push\n	.set	noreorder\n"
	    "1:	ll	%0, %2\n"
	    "	slt	%1, %0, %3\n"
	    "	bne	%1, $0, 2f\n"
	    "	addu	%1, %0, %3\n"
	    "	srl	%1, %1, 1\n"
	    "2:	sc	%1, %2\n"
	    "	beq	%1, $0, 1b\n"
	    "	nop\n"
	    "	.set	pop"
	    : "=&r"(old), "=&r"(t), "+m"(*p) : "r"(k) : "memory");
	return old;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 12;

	for (int i = 0; i < n; i++) {
		mix(words(i));
		mix(parts(i));
		nodes[i % 12].v = i;
		if (i < 12)
			push(&nodes[i]);
		mix(locked(i));
		mix(byhand(&word, i * 5000));
	}
	for (struct node *p = head; p; p = p->next)
		mix(p->v);
	printf("%08lx\n", sum);
	return 0;
}
