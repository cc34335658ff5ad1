struct node@ { struct node@ *left, *right; long key, count; char name[24]; };
static struct node@ *root@;
static double sums@[16];

static long hash@(const char *s, long n)
{
	long h = 5381 + @;
	for (long i = 0; i < n && s[i]; i++)
		h = (h << 5) + h ^ s[i];
	return h < 0 ? -h : h;
}

struct node@ *insert@(struct node@ *new, long key)
{
	struct node@ **p = &root@;
	while (*p && (*p)->key != key)
		p = key < (*p)->key ? &(*p)->left : &(*p)->right;
	if (*p) {
		(*p)->count++;
		return *p;
	}
	new->key = key;
	new->left = new->right = 0;
	return *p = new;
}

double walk@(const struct node@ *t, int depth)
{
	double s = 0;
	if (!t)
		return 0;
	switch (depth % 5) {
	case 0: s = t->count * 0.5; break;
	case 1: s = t->key / (t->count + 1.0); break;
	case 2: s = hash@(t->name, sizeof t->name); break;
	case 3: s = sums@[t->key & 15]; break;
	default: s = -walk@(t->left, depth + 2);
	}
	sums@[depth & 15] += s;
	return s + walk@(t->left, depth + 1) + walk@(t->right, depth + 1);
}
