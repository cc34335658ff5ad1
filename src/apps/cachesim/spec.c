/* cachesim: descriptions of caches on the command line. */
#include <stdio.h>
#include <string.h>

#include "apps/cachesim/cachesim.h"
#include "base/num.h"
#include "base/opt.h"

#define WORD 32

/* The next word of a list with commas: 1; 0: there is none. */
static int
spec_word(const char **s, char word[WORD])
{
	size_t n = strcspn(*s, ",");

	if (!**s)
		return 0;
	if (!n || n >= WORD || ((*s)[n] == ',' && !(*s)[n + 1]))
		opt_wrong("a word of the list is empty or unknown");
	memcpy(word, *s, n);
	word[n] = '\0';
	*s += n + ((*s)[n] == ',');
	return 1;
}

static void
spec_policy(const char *word, struct cache_params *p, int tlb)
{
	for (int i = 0; i < CACHE_NPOLICIES; i++)
		if (strcmp(word, cache_policy_name[i]) == 0) {
			p->policy = (enum cache_policy)i;
			return;
		}
	if (tlb)
		opt_wrong("%s is no policy; there are lru, fifo, plru, random and srrip", word);
	if (strcmp(word, "through") == 0)
		p->through = 1;
	else if (strcmp(word, "around") == 0)
		p->around = 1;
	else if (strcmp(word, "next") == 0)
		p->prefetch = CACHE_NEXT;
	else if (strcmp(word, "stride") == 0)
		p->prefetch = CACHE_STRIDE;
	else
		opt_wrong("%s is unknown; there are lru, fifo, plru, random, srrip, through, around, next and stride",
		    word);
}

/* The number of ways; "full": all lines are one set. */
static uint64_t
spec_ways(const char *word, uint64_t lines)
{
	return strcmp(word, "full") == 0 ? lines : opt_size(word, 1, CACHE_WAYS_MAX);
}

void
spec_cache(const char *s, struct cache_params *p)
{
	char word[WORD], ways[WORD];
	int more;

	*p = (struct cache_params){ 0 };
	if (strcmp(s, "none") == 0)
		return;
	if (!spec_word(&s, word))
		opt_wrong("no size");
	p->size = opt_size(word, 1, CACHE_SIZE_MAX);
	if (!spec_word(&s, ways))
		opt_wrong("no number of ways after the size");
	more = spec_word(&s, word);
	if (more && num_size(word, 1, CACHE_LINE_MAX, &p->line) == 0)
		more = spec_word(&s, word);
	p->ways = spec_ways(ways, 0);
	for (; more; more = spec_word(&s, word))
		spec_policy(word, p, 0);
}

const char *
spec_line(struct cache_params *p, uint64_t line)
{
	if (!p->line)
		p->line = line;
	if (!p->ways)
		p->ways = p->size / p->line;
	return p->size ? cache_params_wrong(p, 0) : NULL;
}

void
spec_tlb(const char *s, struct cache_params *p)
{
	char word[WORD];
	const char *why;

	*p = (struct cache_params){ .line = 1 };
	if (strcmp(s, "none") == 0)
		return;
	if (!spec_word(&s, word))
		opt_wrong("no number of entries");
	p->size = opt_size(word, 1, UINT64_C(1) << 20);
	if (!spec_word(&s, word))
		opt_wrong("no number of ways after the entries");
	p->ways = spec_ways(word, p->size);
	while (spec_word(&s, word))
		spec_policy(word, p, 1);
	if ((why = cache_params_wrong(p, 1)) != NULL)
		opt_wrong("%s", why);
}

static void
spec_size(char *s, size_t n, uint64_t v)
{
	if (v % (1u << 20) == 0)
		snprintf(s, n, "%lluM", (unsigned long long)(v >> 20));
	else if (v % 1024 == 0)
		snprintf(s, n, "%lluk", (unsigned long long)(v >> 10));
	else
		snprintf(s, n, "%llu", (unsigned long long)v);
}

const char *
spec_text(const struct cache_params *p, int tlb)
{
	static const char *const prefetch[CACHE_NPREFETCHES] = { "", ", next", ", stride" };
	static char text[160];
	char size[32], line[32];
	unsigned long long ways = p->ways;

	spec_size(line, sizeof line, p->line);
	if (tlb) {
		snprintf(text, sizeof text, "%llu entries, %llu %s, %s pages, %s",
		    (unsigned long long)(p->size / p->line), ways, ways == 1 ? "way" : "ways", line,
		    cache_policy_name[p->policy]);
		return text;
	}
	spec_size(size, sizeof size, p->size);
	snprintf(text, sizeof text, "%s, %llu %s, %llu-byte lines, %s%s%s%s", size, ways, ways == 1 ? "way" : "ways",
	    (unsigned long long)p->line, cache_policy_name[p->policy], p->through ? ", through" : "",
	    p->around ? ", around" : "", prefetch[p->prefetch]);
	return text;
}
