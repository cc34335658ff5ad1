/* crash WAY [say]: ends by an access to memory that it may not use; say: prints where, as the kernel has it */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

struct node { struct node *next; long value; };

static int words[1000];
static struct node nodes[3];
static int *volatile null;
static struct node *volatile first;
static volatile int k = 1;

static void
say(int sig, siginfo_t *si, void *uc)
{
	char line[64];
	int n = snprintf(line, sizeof line, "%llx\n", (unsigned long long)((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP]);

	(void)sig;
	(void)si;
	_exit(write(1, line, (size_t)n) != n);
}

__attribute__((noinline)) static int
fill(int *p, int from)
{
	int i;

	for (i = from;; i++)
		p[i] = i;
	return i;
}

__attribute__((noinline)) static long
chase(struct node *n)
{
	words[1] = (int)n->next->next->value;
	words[2] = (int)n->next->next->next->value;
	words[3] = (int)n->next->next->next->next->value;
	return words[1];
}

__attribute__((noinline)) static int
deep(int n)
{
	volatile int x[100];

	x[n % 100] = n;
	return deep(n + k) + x[n % 100];
}

int
main(int argc, char **argv)
{
	struct sigaction sa = { .sa_sigaction = say, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	static char alt[16384];
	stack_t ss = { .ss_sp = alt, .ss_size = sizeof alt };
	int *map = mmap(NULL, 6 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect((char *)map + (5 << 20), 1 << 20, PROT_READ) != 0)
		return 2;
	if (argc > 2 && (sigaltstack(&ss, NULL) != 0 || sigaction(SIGSEGV, &sa, NULL) != 0))
		return 2;
	nodes[0].next = nodes + 1;
	nodes[1].next = nodes + 2;
	first = nodes;
	words[0] = 1;
	switch (argv[1][0]) {
	case 'w':
		*null = 3;
		break;
	case 'r':
		words[1] = *null;
		break;
	case 'm':
		*null += 2;
		break;
	case 'c':
		return (int)chase(first);
	case 'f':
		return fill(map, 5);
	case 's':
		memcpy(words, null + 2, 100);
		break;
	case 'd':
		return deep(1);
	}
	words[2] = 2;
	return words[0];
}
