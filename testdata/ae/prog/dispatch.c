/*
 * Ways to go somewhere: dense and sparse switches (jump tables, absolute and PIC), computed goto over tables of labels
 * that do not change, that change, and of label differences, a switch in a loop in a switch.
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static unsigned long sum;

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static long
dense(unsigned k, long x)
{
	switch (k) {
	case 0: return x + 1;
	case 1: x ^= 0x5a; break;
	case 2: x *= 3;         /* fall through */
	case 3: x -= 7; break;
	case 4: return -x;
	case 5: case 6: x = x << 2 | 1; break;
	case 7: mix(x); break;
	case 8: x /= 5; break;
	case 9: x %= 1000; break;
	case 10: return dense(3, x) + 1;
	case 11: x = ~x; break;
	default: x = k;
	}
	return x * 2;
}

NOINLINE static int
sparse(int k)
{
	switch (k) {
	case -100: return 1;
	case 3: return 2;
	case 17: return 3;
	case 900: return 4;
	case 901: return 5;
	case 70000: return 6;
	case 5000000: return 7;
	}
	return k & 7;
}

NOINLINE static const char *
names(unsigned char c)
{
	switch (c) {
	case 'a': return "alpha";
	case 'b': return "bravo";
	case 'c': return "charlie";
	case 'd': return "delta";
	case 'e': return "echo";
	case 'f': return "foxtrot";
	case 'g': return "golf";
	}
	return "?";
}

/* a tiny machine: labels as values */
NOINLINE static long
labels(const unsigned char *code, long acc)
{
	static void *const op[] = { &&halt, &&add, &&sub, &&half, &&jnz, &&out };
	const unsigned char *pc = code;

	goto *op[*pc++];
add:
	acc += *pc++;
	goto *op[*pc++];
sub:
	acc -= *pc++;
	goto *op[*pc++];
half:
	acc /= 2;
	goto *op[*pc++];
jnz:
	if (acc > 0)
		pc -= *pc;
	else
		pc++;
	goto *op[*pc++];
out:
	mix(acc);
	goto *op[*pc++];
halt:
	return acc;
}

/* over a table that the program changes: the target is what is in it now */
NOINLINE static long
changed(const unsigned char *code, int swap)
{
	static void *op[] = { &&add, &&triple, &&sub, &&halt };
	long acc = 0;

	if (swap) {
		void *was = op[0];

		op[0] = op[1];
		op[1] = was;
	}
next:
	goto *op[*code++];
add:	acc += 1; goto next;
triple:	acc *= 3; goto next;
sub:	acc -= 2; goto next;
halt:
	return acc;
}

/* the same as labels() with differences of labels, which need no relocation */
NOINLINE static long
differences(const unsigned char *code, long acc)
{
	static const int op[] = { &&halt - &&halt, &&add - &&halt, &&sub - &&halt, &&half - &&halt, &&jnz - &&halt, &&out - &&halt };

	for (;;) {
		goto *(&&halt + op[*code++]);
	add:	acc += *code++; continue;
	sub:	acc -= *code++; continue;
	half:	acc /= 2; continue;
	jnz:	code = acc > 0 ? code - *code : code + 1; continue;
	out:	mix(acc);
	}
halt:
	return acc;
}

NOINLINE static long
two_levels(int n)
{
	long s = 0;
	int state = 0;

	for (int i = 0; i < n; i++) {
		switch (state) {
		case 0: state = i % 5; break;
		case 1:
			for (int k = 0; k < i % 4; k++)
				switch ((i + k) % 6) {
				case 0: s++; break;
				case 1: s += 2; break;
				case 2: s ^= 3; break;
				case 3: s *= 3; break;
				case 4: continue;
				default: s--; break;
				}
			state = 2;
			break;
		case 2: s += i; state = 4; break;
		case 3: s -= i; state = 1; break;
		case 4: state = 0; break;
		}
	}
	return s;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 60;
	static const unsigned char code[] = { 1, 9, 5, 3, 2, 15, 5, 4, 5, 2, 1, 0 };
	static const unsigned char steps[] = { 0, 1, 0, 2, 1, 0, 3 };
	static const int keys[] = { -100, 3, 17, 900, 901, 70000, 5000000, 4, 5 };

	for (int i = 0; i < n; i++) {
		mix(dense(i % 14, sum >> 40));
		mix(sparse(keys[i % 9]));
		mix(names('`' + i % 10)[0]);
		mix(labels(code, i % 11));
		mix(differences(code, i % 13));
		mix(changed(steps, i % 3 == 0));
	}
	mix(two_levels(n * 2));
	printf("%016lx\n", sum);
	return 0;
}
