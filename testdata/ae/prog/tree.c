/*
 * AVL trees: insert, find, remove, walk with a callback; nodes from malloc.
 * big: 2000000
 */
#include <stdio.h>
#include <stdlib.h>

struct node { struct node *kid[2]; int key, height; };

static unsigned long sum;

static int height(const struct node *t) { return t ? t->height : 0; }
static void mix(int key, int depth) { sum = sum * 31 + key + depth; }

static void
update(struct node *t)
{
	int l = height(t->kid[0]), r = height(t->kid[1]);

	t->height = (l > r ? l : r) + 1;
}

static struct node *
rotate(struct node *t, int side)
{
	struct node *u = t->kid[!side];

	t->kid[!side] = u->kid[side];
	u->kid[side] = t;
	update(t);
	update(u);
	return u;
}

static struct node *
balance(struct node *t)
{
	update(t);
	for (int side = 0; side < 2; side++) {
		struct node *u = t->kid[side];

		if (height(u) - height(t->kid[!side]) < 2)
			continue;
		if (height(u->kid[!side]) > height(u->kid[side]))
			t->kid[side] = rotate(u, side);
		return rotate(t, !side);
	}
	return t;
}

static struct node *
insert(struct node *t, int key)
{
	if (!t) {
		t = calloc(1, sizeof *t);
		t->key = key;
		t->height = 1;
		return t;
	}
	if (key == t->key)
		return t;
	t->kid[key > t->key] = insert(t->kid[key > t->key], key);
	return balance(t);
}

static struct node *
take_least(struct node *t, struct node **least)
{
	if (!t->kid[0]) {
		*least = t;
		return t->kid[1];
	}
	t->kid[0] = take_least(t->kid[0], least);
	return balance(t);
}

static struct node *
take_out(struct node *t, int key)
{
	struct node *u;

	if (!t)
		return NULL;
	if (key != t->key) {
		t->kid[key > t->key] = take_out(t->kid[key > t->key], key);
		return balance(t);
	}
	if (!t->kid[1]) {
		u = t->kid[0];
		free(t);
		return u;
	}
	struct node *rest = take_least(t->kid[1], &u);
	u->kid[0] = t->kid[0];
	u->kid[1] = rest;
	free(t);
	return balance(u);
}

static const struct node *
find(const struct node *t, int key)
{
	while (t && t->key != key)
		t = t->kid[key > t->key];
	return t;
}

static void
walk(const struct node *t, int depth, void (*f)(int, int))
{
	if (!t)
		return;
	walk(t->kid[0], depth + 1, f);
	f(t->key, depth);
	walk(t->kid[1], depth + 1, f);
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 60;
	struct node *t = NULL;
	unsigned r = 5;

	for (int i = 0; i < n; i++) {
		r = r * 1664525u + 1013904223u;
		t = insert(t, (int)(r >> 7) % (2 * n));
		if (i % 4 == 3)
			t = take_out(t, (int)(r >> 9) % (2 * n));
		sum += find(t, i) != NULL;
	}
	walk(t, 0, mix);
	printf("%d %016lx\n", height(t), sum);
	return 0;
}
