/*
 * Data of odd shapes: bit fields, unions, packed and overaligned structures, flexible arrays, small integers, bool,
 * pointers to pointers, linked lists in an array.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

struct bits { unsigned a : 3, b : 7, c : 1; int d : 12; uint64_t e : 41; bool f : 1; };
struct __attribute__((packed)) odd { char c; int i; short s; double d; char t[3]; long l; };
union any { uint32_t w; uint8_t b[4]; float f; struct { uint16_t lo, hi; } h; };
struct flex { int n; short v[]; };
struct node { int val; struct node *next, **back; };

static unsigned long sum;

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static void
bits(struct bits *p, int i)
{
	p->a += i;
	p->b ^= p->a + 5;
	p->c = i & 1;
	p->d = p->d * 3 - i;
	p->e = p->e << 3 | p->b;
	p->f = p->d > 0;
	mix(p->a + p->b * 8 + p->c + p->d + p->e + p->f);
}

NOINLINE static long
odd(struct odd *p, int n, int i)
{
	long s = 0;

	for (int k = 0; k < n; k++) {
		p[k].i += i;
		p[k].s ^= p[k].i;
		p[k].d += 0.5;
		p[k].l = (long)p[k].d + p[k].c++;
		memcpy(p[k].t, &p[k].i, 3);
		s += p[k].l + p[k].t[1];
	}
	return s;
}

NOINLINE static unsigned
pun(float f)
{
	union any u = { .f = f };

	u.b[1] ^= 0x11;
	u.h.hi += u.b[0] + 1;
	return u.w;
}

NOINLINE static int
flex(int n)
{
	struct flex *p = malloc(sizeof *p + n * sizeof *p->v);
	int s = 0;

	p->n = n;
	for (int i = 0; i < p->n; i++)
		p->v[i] = i * n;
	for (short *q = p->v; q < p->v + p->n; q++)
		s += *q;
	free(p);
	return s;
}

NOINLINE static struct node *
insert(struct node **head, struct node *x)
{
	while (*head && (*head)->val < x->val)
		head = &(*head)->next;
	x->next = *head;
	x->back = head;
	if (x->next)
		x->next->back = &x->next;
	return *head = x;
}

NOINLINE static void
take_out(struct node *x)
{
	*x->back = x->next;
	if (x->next)
		x->next->back = x->back;
}

NOINLINE static int
small(int8_t a, uint8_t b, int16_t c, uint16_t d, bool e)
{
	a += b;
	b *= 3;
	c -= d;
	d >>= 2;
	e ^= a > b;
	return a + b + c + d + e;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 40;
	struct bits b = { 0 };
	struct odd o[5];
	struct node pool[16], *head = NULL;

	memset(o, 0, sizeof o);
	for (int i = 0; i < n; i++) {
		struct node *x = &pool[i % 16];

		bits(&b, i);
		mix(odd(o, 5, i));
		mix(pun(i * 1.5f));
		mix(flex(i));
		if (i >= 16)
			take_out(x);
		x->val = i * 7 % 13;
		insert(&head, x);
		mix(head->val);
		mix(small(i * 3, i * 5, i * 1000, i * 999, i & 1));
	}
	for (; head; head = head->next)
		mix(head->val);
	printf("%016lx\n", sum);
	return 0;
}
