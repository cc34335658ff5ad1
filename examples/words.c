/* words: how many different words are in the input. It is slow: look at which line it spends its instructions on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 1024

struct word {
	struct word *next;
	char text[32];
};

static struct word *table[SLOTS];

static unsigned
slot(const char *s)
{
	return (unsigned char)s[0] % SLOTS;
}

static int
add(const char *s)
{
	struct word **p = &table[slot(s)];

	while (*p && strcmp((*p)->text, s) != 0)
		p = &(*p)->next;
	if (*p)
		return 0;
	*p = calloc(1, sizeof **p);
	if (*p)
		strcpy((*p)->text, s);
	return 1;
}

int
main(void)
{
	char s[32];
	int n = 0;

	while (scanf("%31s", s) == 1)
		n += add(s);
	printf("%d words\n", n);
	return 0;
}
