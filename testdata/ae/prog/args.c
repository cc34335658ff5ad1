/*
 * The world outside: arguments, environment, stdio on a temporary file, scanf, getopt, a status other than 0.
 * args: -n 25 -v one two three
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long sum;

static void mix(unsigned long v) { sum = sum * 31 + v; }
static void mixs(const char *s) { while (*s) mix((unsigned char)*s++); }

static int
words(FILE *f)
{
	char line[200], *p, *save;
	int n = 0, k;
	double d;

	rewind(f);
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%d %lf", &k, &d) == 2)
			mix(k + (long)(d * 100));
		for (p = strtok_r(line, " \t\n", &save); p; p = strtok_r(NULL, " \t\n", &save)) {
			for (char *q = p; *q; q++)
				*q = toupper((unsigned char)*q);
			mixs(p);
			n++;
		}
	}
	return n;
}

int
main(int argc, char **argv, char **envp)
{
	int c, n = 10, verbose = 0, count;
	FILE *f = tmpfile();

	if (!f)
		return 1;
	while ((c = getopt(argc, argv, "n:v")) != -1) {
		switch (c) {
		case 'n': n = atoi(optarg); break;
		case 'v': verbose++; break;
		default: return 2;
		}
	}
	for (int i = optind; i < argc; i++)
		mixs(argv[i]);
	mix(getenv("AE_OUT") != NULL);
	mix(envp[0] != NULL);
	for (int i = 0; i < n; i++)
		fprintf(f, "%d %.2f word%d\tx%x\n", i, i * 1.25, i * i, i * 77);
	count = words(f);
	fseek(f, 10, SEEK_SET);
	while ((c = getc(f)) != EOF)
		mix(isdigit(c) ? c - '0' : isalpha(c) ? 20 : 30);
	fclose(f);
	if (verbose)
		fprintf(stderr, "%d words\n", count);
	printf("%016lx %d\n", sum, count);
	return 7;
}
