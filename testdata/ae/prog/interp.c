/*
 * A small stack machine that runs a prime sieve, written twice: as a switch and with computed goto.
 * big: 5000
 */
#include <stdio.h>
#include <stdlib.h>

enum { HALT, PUSH, LOAD, STORE, GET, PUT, ADD, MUL, LESS, JZ, JMP, DUP, EMIT };

/* m[] = sieve over n numbers; v0 = i, v1 = j, v2 = n; emits the primes */
static const int code[] = {
	/*  0 */ PUSH, 2, STORE, 0,
	/*  4 */ LOAD, 0, LOAD, 2, LESS, JZ, 49,
	/* 11 */ LOAD, 0, GET, JZ, 20,
	/* 16 */ JMP, 40, HALT, HALT,
	/* 20 */ LOAD, 0, EMIT, LOAD, 0, DUP, ADD, STORE, 1,
	/* 29 */ LOAD, 1, LOAD, 2, LESS, JZ, 40,
	/* 36 */ JMP, 50, HALT, HALT,
	/* 40 */ LOAD, 0, PUSH, 1, ADD, STORE, 0, JMP, 4,
	/* 49 */ HALT,
	/* 50 */ PUSH, 1, LOAD, 1, PUT, LOAD, 1, LOAD, 0, ADD, STORE, 1, JMP, 29,
};

static int mem[4096], vars[4], stack[32];
static unsigned long sum;
static long steps;

static long
by_switch(const int *pc)
{
	int *sp = stack;

	for (long n = 0; ; n++) {
		switch (*pc++) {
		case HALT: return n;
		case PUSH: *sp++ = *pc++; break;
		case LOAD: *sp++ = vars[*pc++]; break;
		case STORE: vars[*pc++] = *--sp; break;
		case GET: sp[-1] = mem[sp[-1]]; break;
		case PUT: sp -= 2; mem[sp[1]] = sp[0]; break;
		case ADD: sp--; sp[-1] += sp[0]; break;
		case MUL: sp--; sp[-1] *= sp[0]; break;
		case LESS: sp--; sp[-1] = sp[-1] < sp[0]; break;
		case JZ: pc = *--sp ? pc + 1 : code + *pc; break;
		case JMP: pc = code + *pc; break;
		case DUP: *sp = sp[-1]; sp++; break;
		case EMIT: sum = sum * 31 + *--sp; break;
		}
	}
}

static long
by_goto(const int *pc)
{
	static void *const to[] = { &&halt, &&push, &&load, &&store, &&get, &&put, &&add, &&mul, &&less, &&jz, &&jmp, &&dup, &&emit };
	int *sp = stack;
	long n = -1;

#define NEXT do { n++; goto *to[*pc++]; } while (0)
	NEXT;
halt:	return n;
push:	*sp++ = *pc++; NEXT;
load:	*sp++ = vars[*pc++]; NEXT;
store:	vars[*pc++] = *--sp; NEXT;
get:	sp[-1] = mem[sp[-1]]; NEXT;
put:	sp -= 2; mem[sp[1]] = sp[0]; NEXT;
add:	sp--; sp[-1] += sp[0]; NEXT;
mul:	sp--; sp[-1] *= sp[0]; NEXT;
less:	sp--; sp[-1] = sp[-1] < sp[0]; NEXT;
jz:	pc = *--sp ? pc + 1 : code + *pc; NEXT;
jmp:	pc = code + *pc; NEXT;
dup:	*sp = sp[-1]; sp++; NEXT;
emit:	sum = sum * 31 + *--sp; NEXT;
}

static void
reset(int n)
{
	for (int i = 0; i < 4096; i++)
		mem[i] = 0;
	vars[2] = n;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, size = argc > 1 ? 4000 : 150;

	for (int i = 0; i < n; i++) {
		reset(size - i % 50);
		steps += by_switch(code);
		reset(size - i % 70);
		steps += by_goto(code);
	}
	printf("%ld %016lx\n", steps, sum);
	return 0;
}
