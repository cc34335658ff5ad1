/*
 * Strings: search by Knuth-Morris-Pratt and by Horspool, edit distance, a regular-expression matcher, tokens, numbers
 * to text and back.
 * big: 300000
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long sum;

static void mix(unsigned long v) { sum = sum * 31 + v; }

static int
kmp(const char *text, const char *pat)
{
	int fail[64], m = (int)strlen(pat), k = 0, hits = 0;

	fail[0] = 0;
	for (int i = 1; i < m; i++) {
		while (k && pat[i] != pat[k])
			k = fail[k - 1];
		fail[i] = k += pat[i] == pat[k];
	}
	k = 0;
	for (; *text; text++) {
		while (k && (k == m || *text != pat[k]))
			k = fail[k - 1];
		k += *text == pat[k];
		hits += k == m;
	}
	return hits;
}

static int
horspool(const char *text, const char *pat)
{
	int n = (int)strlen(text), m = (int)strlen(pat), hits = 0;
	unsigned char skip[256];

	memset(skip, m, sizeof skip);
	for (int i = 0; i < m - 1; i++)
		skip[(unsigned char)pat[i]] = (unsigned char)(m - 1 - i);
	for (int at = 0; at <= n - m; at += skip[(unsigned char)text[at + m - 1]])
		hits += memcmp(text + at, pat, m) == 0;
	return hits;
}

static int
distance(const char *a, const char *b)
{
	int n = (int)strlen(b), row[64];

	for (int k = 0; k <= n; k++)
		row[k] = k;
	for (int i = 1; *a; a++, i++) {
		int diag = row[0];

		row[0] = i;
		for (int k = 1; k <= n; k++) {
			int best = diag + (*a != b[k - 1]);

			if (row[k] + 1 < best)
				best = row[k] + 1;
			if (row[k - 1] + 1 < best)
				best = row[k - 1] + 1;
			diag = row[k];
			row[k] = best;
		}
	}
	return row[n];
}

static int match_here(const char *re, const char *s);

static int
match_star(int c, const char *re, const char *s)
{
	do
		if (match_here(re, s))
			return 1;
	while (*s && (*s++ == c || c == '.'));
	return 0;
}

static int
match_here(const char *re, const char *s)
{
	if (!*re)
		return 1;
	if (re[1] == '*')
		return match_star(*re, re + 2, s);
	if (*re == '$' && !re[1])
		return !*s;
	if (*s && (*re == '.' || *re == *s))
		return match_here(re + 1, s + 1);
	return 0;
}

static int
match(const char *re, const char *s)
{
	if (*re == '^')
		return match_here(re + 1, s);
	do
		if (match_here(re, s))
			return 1;
	while (*s++);
	return 0;
}

static char *
number(char *end, long v, int base)
{
	unsigned long u = v < 0 ? -(unsigned long)v : (unsigned long)v;

	*--end = '\0';
	do
		*--end = "0123456789abcdefghijklmnopqrstuvwxyz"[u % base];
	while (u /= base);
	if (v < 0)
		*--end = '-';
	return end;
}

static long
value(const char *s, int base)
{
	int neg = *s == '-';
	long v = 0;

	for (s += neg; isalnum((unsigned char)*s); s++)
		v = v * base + (isdigit((unsigned char)*s) ? *s - '0' : *s - 'a' + 10);
	return neg ? -v : v;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2;
	static const char *const pats[] = { "abab", "trace", "abacabadabacaba", "a", "regen" };
	static const char *const res[] = { "^a.*c", "b*a$", "tr.*ce", "x.y", "^.*r.*e.*n" };
	char text[2000], num[80];
	int len = argc > 1 ? 1999 : 230;

	for (int i = 0; i < len; i++)
		text[i] = "abacabadabacabaetraceregenababab"[i * 11 % 97 % 32];
	text[len] = '\0';
	for (int i = 0; i < n; i++) {
		const char *p = pats[i % 5];

		mix(kmp(text, p));
		mix(horspool(text, p));
		mix(distance(p, pats[(i + 2) % 5]) + distance(text + len - 40, p));
		mix(match(res[i % 5], text + len - 60));
		for (int base = 2; base < 36; base += 7)
			mix(value(number(num + sizeof num, i * 1234567L - 5000, base), base));
		text[i % len] = 'a' + i % 20;
	}
	printf("%016lx\n", sum);
	return 0;
}
