/*
 * A chained hash table of strings that grows: insert, look up, delete, over keys made of numbers.
 * big: 6000000
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry { struct entry *next; unsigned hash; int count; char key[]; };
static struct entry **bucket;
static unsigned nbucket, nentry;

static unsigned
hash(const char *s)
{
	unsigned h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h;
}

static void
grow(void)
{
	unsigned n = nbucket ? nbucket * 2 : 8;
	struct entry **b = calloc(n, sizeof *b), *e, *next;

	for (unsigned i = 0; i < nbucket; i++)
		for (e = bucket[i]; e; e = next) {
			next = e->next;
			e->next = b[e->hash & (n - 1)];
			b[e->hash & (n - 1)] = e;
		}
	free(bucket);
	bucket = b;
	nbucket = n;
}

static struct entry **
find(const char *key, unsigned h)
{
	struct entry **p = &bucket[h & (nbucket - 1)];

	while (*p && ((*p)->hash != h || strcmp((*p)->key, key) != 0))
		p = &(*p)->next;
	return p;
}

static int
add(const char *key)
{
	unsigned h = hash(key);
	struct entry **p, *e;

	if (nentry >= nbucket)
		grow();
	p = find(key, h);
	if (!*p) {
		e = malloc(sizeof *e + strlen(key) + 1);
		e->next = NULL;
		e->hash = h;
		e->count = 0;
		strcpy(e->key, key);
		*p = e;
		nentry++;
	}
	return ++(*p)->count;
}

static int
drop(const char *key)
{
	struct entry **p = find(key, hash(key)), *e = *p;
	int n;

	if (!e)
		return 0;
	n = e->count;
	*p = e->next;
	free(e);
	nentry--;
	return n;
}

static char *
name(char *s, unsigned n)
{
	char *p = s;

	*p++ = 'k';
	do
		*p++ = (char)('a' + n % 26);
	while ((n /= 26) > 0);
	*p = '\0';
	return s;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 400;
	unsigned r = 1;
	unsigned long sum = 0;
	char s[20];

	grow();
	for (int i = 0; i < n; i++) {
		r = r * 1103515245u + 12345u;
		sum = sum * 31 + add(name(s, (r >> 8) % (n / 2 + 1)));
		if (i % 3 == 2)
			sum ^= drop(name(s, (r >> 5) % (n / 2 + 1)));
	}
	printf("%u %u %016lx\n", nentry, nbucket, sum);
	return 0;
}
