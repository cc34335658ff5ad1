/* What real programs do with memory: lists, trees, hashing, sorting by callbacks, strings, structures that are copied. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	struct node *next, *left, *right;
	unsigned key;
	char name[20];
	double weight;
};

static jmp_buf back;
static unsigned state = 1;

static unsigned
next_random(void)
{
	state = state * 1103515245 + 12345;
	return state >> 8;
}

static struct node *
push(struct node *list, unsigned key)
{
	struct node *n = malloc(sizeof *n);

	if (!n)
		longjmp(back, 1);
	memset(n, 0, sizeof *n);
	snprintf(n->name, sizeof n->name, "n%u", key % 1000);
	n->key = key;
	n->weight = key / 3.0;
	n->next = list;
	return n;
}

static struct node *
insert(struct node *t, struct node *n)
{
	if (!t)
		return n;
	if (n->key < t->key)
		t->left = insert(t->left, n);
	else
		t->right = insert(t->right, n);
	return t;
}

static unsigned
depth(const struct node *t)
{
	unsigned a, b;

	if (!t)
		return 0;
	a = depth(t->left);
	b = depth(t->right);
	return 1 + (a > b ? a : b);
}

static int
by_key(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static unsigned
search(const struct node *list, const char *name)
{
	unsigned n = 0;

	for (; list; list = list->next)
		if (strcmp(list->name, name) == 0)
			n += list->key;
	return n;
}

static void
deep(unsigned n)
{
	if (n == 0)
		longjmp(back, 2);
	deep(n - 1);
}

int
main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 20, sum = 0;
	struct node *list = NULL, *tree = NULL, *copy;
	int (*volatile compare)(const void *, const void *) = by_key;

	copy = malloc(n * sizeof *copy);
	if (!copy || setjmp(back) == 1)
		return 1;
	for (unsigned i = 0; i < n; i++)
		list = push(list, next_random() % 100000);
	for (struct node *p = list; p; p = p->next)
		tree = insert(tree, p);
	for (unsigned i = 0; i < n; i++) {
		char name[20];

		snprintf(name, sizeof name, "n%u", i);
		sum += search(list, name);
	}
	n = 0;
	for (struct node *p = list; p; p = p->next)
		copy[n++] = *p;
	qsort(copy, n, sizeof *copy, compare);
	for (unsigned i = 1; i < n; i++)
		sum += compare(copy + i - 1, copy + i) > 0;
	if (setjmp(back) == 0)
		deep(n);
	printf("%u %u %g\n", sum, depth(tree), copy[n / 2].weight);
	return 0;
}
