/*
 * gen: writes a random C program that ends, has no undefined behaviour and prints a checksum.
 *
 *   gen SEED > prog.c
 *
 * Functions call only functions of higher numbers, or themselves and others through tables while there is
 * fuel; each loop has a fixed number of turns or burns fuel.  Arithmetic is unsigned, indices are masked.
 * What is drawn: loops, switches dense and sparse, goto, computed goto, structures by value, pointers
 * into arrays, recursion, tail calls, tables of functions, varargs, alloca and variable-length arrays,
 * setjmp, callbacks of qsort, doubles, thread-local and static data, bit fields, block moves, string
 * functions.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;
static int nfunc, self, depth, labels, tab, nlocal, turns;
static bool has_array, has_struct, has_vla;
static const char *linkage[16];         /* of function k */

static unsigned
rnd(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state * 0x2545f4914f6cdd1dull >> 33) % n);
}

static bool chance(unsigned percent) { return rnd(100) < percent; }

#define PICK(...) \
	pick((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))
static const char *pick(const char *const *s, size_t n) { return s[rnd((unsigned)n)]; }

static void
line(const char *fmt, ...)
{
	va_list ap;

	for (int i = 0; i < tab; i++)
		putchar('\t');
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* Expressions are put together in pieces of memory that are never freed: the program is short */
__attribute__((format(printf, 1, 2))) static const char *
text(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		exit(1);
	va_end(ap);
	return s;
}

static const char *expr(int d);

static const char *
call(int d)
{
	int k;

	if (self + 1 < nfunc && chance(70))
		k = self + 1 + (int)rnd((unsigned)(nfunc - self - 1));
	else if (chance(50))
		return text("table[%s & 7](%s, gp, %s)", expr(d), expr(d), expr(d));
	else
		k = self;
	return text("f%d(%s, %s, %s)", k, expr(d), PICK("gp", "p", "arr", "ga + 3", "p"), expr(d));
}

static const char *
leaf(void)
{
	switch (rnd(16)) {
	case 0: return text("%uu", rnd(20));
	case 1: return text("0x%xu", rnd(0xffffff));
	case 2: return text("-%dl", (int)rnd(300));
	case 3: return text("ga[%u]", rnd(64));
	case 4: return text("gs.%s", PICK("a", "b", "c", "d", "bit", "wide"));
	case 5: return "a";
	case 6: return "b";
	case 7: return text("tls%u", rnd(2));
	case 8: return text("gc[%u]", rnd(128));
	case 9: return has_array ? text("loc[%u]", rnd(16)) : "g0";
	case 10: return text("p[%u]", rnd(8));
	case 11: return text("ro[%u]", rnd(32));
	case 12: return text("whole(gd[%u])", rnd(8));
	case 13: return has_struct ? text("st.%s", PICK("a", "b", "c", "v[1]", "v[5]")) : "g1";
	default: return text("v%u", rnd((unsigned)nlocal));
	}
}

static const char *
expr(int d)
{
	if (d <= 0 || chance(20))
		return leaf();
	switch (rnd(22)) {
	case 0: case 1: return text("(%s + %s)", expr(d - 1), expr(d - 1));
	case 2: return text("(%s - %s)", expr(d - 1), expr(d - 1));
	case 3: return text("((ulong)%s * %s)", expr(d - 1), leaf());
	case 4: return text("(%s %s %s)", expr(d - 1), PICK("&", "|", "^"), expr(d - 1));
	case 5: return text("((ulong)(%s) %s (%s & 31))", expr(d - 1), PICK("<<", ">>"), expr(d - 1));
	case 6: return text("((%s)(%s) >> %u)", PICK("int", "long", "signed char", "unsigned short"),
	    expr(d - 1), rnd(7));
	case 7: return text("((%s)(%s) %s ((%s)(%s) | 1))", PICK("unsigned", "unsigned char", "ulong"),
	    expr(d - 1),
		    PICK("/", "%"), PICK("unsigned", "unsigned char", "unsigned short"), expr(d - 1));
	case 8: return text("((%s)(%s) / %d)", PICK("short", "int", "long", "unsigned"), expr(d - 1),
	    (int)rnd(30) + 2);
	case 9: return text("((%s)%s %s (%s)%s)", PICK("int", "long", "unsigned", "short"), expr(d - 1),
		    PICK("<", ">", "<=", "==", "!=", ">="), PICK("int", "long", "unsigned", "char"),
		    expr(d - 1));
	case 10: return text("(%s ? %s : %s)", expr(d - 1), expr(d - 1), expr(d - 1));
	case 11: return text("ga[%s & 63]", expr(d - 1));
	case 12: return text("p[%s & 7]", expr(d - 1));
	case 13: return text("gc[%s & 127]", expr(d - 1));
	case 14: return text("(%s)(%s)", PICK("char", "short", "int", "unsigned char", "unsigned"),
	    expr(d - 1));
	case 15: return text("(%s %s %s)", expr(d - 1), PICK("&&", "||"), expr(d - 1));
	case 16: return text("((ulong)(%s) * %s)", expr(d - 1), PICK("3", "5", "9", "10", "-7", "1000003u"));
	case 17: return text("ro[%s & 31]", expr(d - 1));
	case 18: return text("(unsigned char)(%s)",
	    PICK("gd[2] > gd[3]", "gd[0] <= gd[1]", "gd[4] + 0.5 != gd[5]"));
	case 19: return text("grid[%s & 7][%s & 15]", leaf(), expr(d - 1));
	case 20: return has_vla ? text("vla[%s & 7]", expr(d - 1)) : leaf();
	default: return leaf();
	}
}

static const char *
place(void)
{
	switch (rnd(14)) {
	case 0: return text("ga[%s & 63]", expr(1));
	case 1: return text("gc[%s & 127]", expr(1));
	case 2: return text("p[%s & 7]", expr(1));
	case 3: return text("gs.%s", PICK("a", "b", "c", "d", "bit", "wide"));
	case 4: return has_array ? text("loc[%s & 15]", expr(1)) : text("v%u", rnd((unsigned)nlocal));
	case 5: return text("tls%u", rnd(2));
	case 6: return text("grid[%s & 7][%u]", expr(1), rnd(16));
	case 7: return has_struct ? text("st.%s", PICK("a", "b", "c", "v[1]", "v[4]")) : "g0";
	case 8: return PICK("g0", "g1");
	case 9: return has_vla ? text("vla[%s & 7]", expr(1)) : text("v%u", rnd((unsigned)nlocal));
	default: return text("v%u", rnd((unsigned)nlocal));
	}
}

static void block(int n);

static void
loop(void)
{
	static int number;
	int k = number++;
	unsigned n = 1 + rnd(9), save = (unsigned)turns;

	turns = (int)(save * n);
	switch (turns > 200 ? 3u : rnd(6)) {
	case 0:
		line("for (int i%d = 0; i%d < %u; i%d++) {", k, k, n, k);
		break;
	case 1:
		line("for (unsigned i%d = %s & 7; i%d-- > 0; ) {", k, expr(1), k);
		break;
	case 2:
		line("for (long *q%d = ga + %u; q%d < ga + %u; q%d += %u) {", k, rnd(10), k, 10 + rnd(50), k,
		    1 + rnd(9));
		tab++;
		line("mix(*q%d += %s);", k, leaf());
		tab--;
		break;
	case 3:
		line("while (%s & %u && fuel-- > 0) {", expr(2), 1 + rnd(7));
		break;
	case 4:
		line("for (int i%d = %u; fuel-- > 0 && i%d > 0; i%d -= 1 + (%s & 3)) {", k, n, k, k, leaf());
		break;
	default:
		line("do {");
		tab++;
		block(1 + (int)rnd(3));
		if (chance(30))
			line("if (%s) %s;", expr(1), PICK("break", "continue"));
		tab--;
		line("} while (fuel-- > 0 && (%s & 3));", expr(2));
		turns = (int)save;
		return;
	}
	tab++;
	block(1 + (int)rnd(4));
	if (chance(25))
		line("if (%s) %s;", expr(1), PICK("break", "continue"));
	tab--;
	line("}");
	turns = (int)save;
}

static void
switches(void)
{
	unsigned n = 3 + rnd(8), step = chance(70) ? 1 : 1 + rnd(100);

	line("switch (%s %s %u) {", expr(2), PICK("&", "%"), n * step);
	for (unsigned i = 0; i < n; i++) {
		line("case %u:", i * step);
		tab++;
		block(1 + (int)rnd(2));
		if (chance(80))
			line("break;");
		else
			line("/* fall through */;");
		tab--;
	}
	if (chance(60)) {
		line("default:");
		tab++;
		block(1);
		tab--;
	}
	line("}");
}

static void
computed(void)
{
	int l = labels++;

	line("{");
	tab++;
	line("static void *const to[] = { &&l%da, &&l%db, &&l%dc, &&l%da };", l, l, l, l);
	line("int n = 0;");
	line("goto *to[%s & 3];", expr(1));
	for (int i = 0; i < 3; i++) {
		printf("l%d%c:\n", l, 'a' + i);
		line("%s = %s;", place(), expr(2));
		if (chance(60))
			line("if (n++ < 6) goto *to[%s & 3];", expr(1));
	}
	tab--;
	line("}");
}

static void
statement(void)
{
	switch (depth > 3 ? rnd(9) : rnd(26)) {
	case 0: case 1: case 2: line("%s = %s;", place(), expr(3)); return;
	case 3: line("%s %s= %s;", place(), PICK("+", "-", "^", "|", "&"), expr(2)); return;
	case 4: line("%s%s;", place(), PICK("++", "--")); return;
	case 5: line("mix(%s);", expr(3)); return;
	case 6: line("gd[%u] = gd[%u] %s %u.25 + (int)%s %% 100;", rnd(8), rnd(8), PICK("*", "+", "-", "/"),
	    1 + rnd(3), leaf()); return;
	case 7:
		if (turns < 60) {
			line("t = %s;", call(1));
			line("%s = t;", place());
			return;
		}
		/* fall through */
	case 8: line("if (%s) %s = %s;", expr(2), place(), expr(2)); return;
	case 9: case 10: case 11:
		line("if (%s) {", expr(3));
		tab++;
		block(1 + (int)rnd(3));
		tab--;
		if (chance(50)) {
			line("} else {");
			tab++;
			block(1 + (int)rnd(3));
			tab--;
		}
		line("}");
		return;
	case 12: case 13: case 14: case 15: loop(); return;
	case 16: switches(); return;
	case 17: computed(); return;
	case 18: line("%s;", PICK("gbig[0] = gbig[1]", "gbig[1] = big(a, gbig[2])", "gbig[2] = gbig[0]",
	    "memcpy(gc + 3, gc + 40, 29)",
		    "memset(gc + 5, (int)b, 50)", "memmove(ga + 2, ga + 1, 80)")); return;
	case 19: line("mix(sumup(%u, (long)(%s), (long)(%s), (long)(%s), (long)(%s), (long)(%s), (long)(%s), (long)(%s)));",
	    1 + rnd(7), expr(1), expr(1), expr(1), expr(1), expr(1), expr(1), expr(1)); return;
	case 20:
		if (turns < 10) {
			line("qsort(ga + %u, %u, sizeof *ga, cmp%u);", rnd(20), 2 + rnd(14), rnd(2));
			return;
		}
		line("mix(strlen(words[%s & 3]));", leaf());
		return;
	case 21:
		if (turns < 10) {
			line("mix(guard(%s));", expr(1));
			return;
		}
		line("mix(strcmp(words[%s & 3], words[%u]) < 0);", leaf(), rnd(4));
		return;
	case 22: line("if (armed && (%s & 31) == 7) throw_(%s);", expr(1), expr(1)); return;
	case 23: line("if (fuel < 0) return %s;", expr(1)); return;
	case 24: if (turns < 30) { line("mix(plain(%s, %u));", PICK("up", "down", "twist"),
	    rnd(40)); return; }
		/* fall through */
	default: line("%s = %s;", place(), expr(4));
	}
}

static void
block(int n)
{
	depth++;
	while (n-- > 0)
		statement();
	depth--;
}

static void
function(int k)
{
	static const char *const types[] = { "long", "unsigned", "int", "unsigned char", "short", "ulong",
	    "signed char", "unsigned short" };

	self = k;
	turns = 1;
	nlocal = 2 + (int)rnd(7);
	has_array = chance(50);
	has_struct = chance(40);
	has_vla = chance(20);
	printf("\n%slong\nf%d(long a, long *p, long b)\n{\n", linkage[k], k);
	tab = 1;
	for (int i = 0; i < nlocal; i++)
		line("%s v%d = %s;", types[rnd(8)], i, PICK("a", "b", "p[1]", "3", "-5", "ga[9]", "g0"));
	line("long arr[8] = { a, b, 3 }, t = 0;");
	if (has_array)
		line("%s loc[%u] = { 1, 2 };", types[rnd(8)], 16 + rnd(chance(20) ? 3000 : 20));
	if (has_struct)
		line("struct big st = gbig[%u];", rnd(3));
	line("if (--fuel < 0)");
	line("\treturn a ^ b;");
	if (has_vla) {
		line("long vla[8 + (b & 15)];");
		line("memset(vla, 0, sizeof vla);");
	}
	block(3 + (int)rnd(7));
	if (chance(30))
		line("return %s;", call(1));
	line("return t + %s + arr[%s & 7];", expr(3), leaf());
	puts("}");
}

static void
head(void)
{
	puts("#define _GNU_SOURCE\n#include <setjmp.h>\n#include <stdarg.h>\n#include <stdio.h>\n#include "
	    "<stdlib.h>\n#include <string.h>\n\n"
	    "#define NOINLINE __attribute__((noinline))\n"
	    "typedef unsigned long ulong;\n"
	    "struct big { int a; short b; unsigned char c; long v[6]; double d; };\n"
	    "static ulong sum;\nstatic int fuel = 400;\n"
	    "static long ga[64], *gp = ga + 8, g0 = 1;\nunsigned g1 = 2;\n"
	    "unsigned char gc[160];\nstatic short grid[8][16];\n"
	    "static double gd[8] = { 1, 2.5, -3, 4.25, 5, 0.5, 7, 8 };\n"
	    "static inline long whole(double d) { return d > -9e18 && d < 9e18 ? (long)d : 0; }\n"
	    "static struct { int a; unsigned char b; long c; short d; unsigned bit : 5, wide : 19; } gs;\n"
	    "static struct big gbig[3];\n"
	    "static __thread long tls0 = 5;\n__thread unsigned char tls1;\n"
	    "static const char *const words[] = { \"\", \"one\", \"twenty\", \"oneself\" };\n"
	    "static jmp_buf env;\nstatic int armed;\n"
	    "static void mix(ulong v) { sum = sum * 31 + v; }\n");
	printf("static const int ro[32] = { 0");
	for (int i = 1; i < 32; i++)
		printf(", %d", (int)rnd(2000) - 700);
	puts(" };");
	for (int i = 0; i < nfunc; i++) {
		linkage[i] = PICK("NOINLINE static ", "NOINLINE static ", "NOINLINE ", "static ", "");
		printf("%slong f%d(long, long *, long);\n", linkage[i], i);
	}
	printf("static long (*const table[8])(long, long *, long);\n");
	puts("static long up(long x) { return x + 1; }\n"
	    "static long down(long x) { return x > 0 ? up(x - 3) : -x; }\n"
	    "NOINLINE static long twist(long x) { ga[x & 63] ^= x; return ga[(x + 1) & 63] & 0xff; }\n"
	    "static int cmp0(const void *a, const void *b) { return *(const long *)a < *(const long *)b ? -1 "
	    ": *(const long *)a > *(const long *)b; }\n"
	    "static int cmp1(const void *a, const void *b) { mix(3); return (int)(*(const long *)b & 255) - "
	    "(int)(*(const long *)a & 255); }\n"
	    "long plain(long (*f)(long), long x);\n"
	    "__attribute__((noreturn, noinline)) static void throw_(long x) { mix(x); longjmp(env, (int)(x & "
	    "7) + 1); }\n"
	    "NOINLINE static struct big big(long x, struct big s) { s.a += (int)(x & 0xffff); s.v[x & 3] ^= "
	    "x; s.d += 0.5; s.c++; return s; }\n"
	    "NOINLINE static long sumup(int n, ...) { va_list ap; ulong s = 0; va_start(ap, n); while (n-- > "
	    "0) s = s * 3 + va_arg(ap, long); va_end(ap); return s; }\n");
}

int
main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

	state = seed * 0x9e3779b97f4a7c15ull ^ 0xd1b54a32d192ed03ull;
	for (int i = 0; i < 10; i++)
		rnd(2);
	nfunc = 3 + (int)rnd(8);
	printf("/* gen %llu */\n", (unsigned long long)seed);
	head();
	puts("NOINLINE static long\nguard(long x)\n{\n"
	    "\tvolatile long r = x;\n\tjmp_buf save;\n\tint was = armed;\n\n"
	    "\tmemcpy(save, env, sizeof save);\n\tarmed = 1;\n\tif (setjmp(env) == 0)\n"
	    "\t\tr = table[(x & 3) + 4](x, gp, 3);\n\telse\n\t\tmix(r);\n"
	    "\tmemcpy(env, save, sizeof save);\n\tarmed = was;\n\treturn r;\n}");
	for (int i = 0; i < nfunc; i++)
		function(i);
	printf("\nstatic long (*const table[8])(long, long *, long) = {");
	for (int i = 0; i < 8; i++)
		printf(" f%u,", rnd((unsigned)nfunc));
	puts(" };\n\nint\nmain(void)\n{\n"
	    "\tfor (int i = 0; i < 64; i++)\n\t\tga[i] = i * i - 50;\n"
	    "\tfor (int i = 0; i < 8; i++) {\n\t\tfuel = 60;\n\t\tmix(f0(i, gp, sum & "
	    "0xffff));\n\t\tmix(guard(i));\n\t}\n"
	    "\tfor (int i = 0; i < 64; i++)\n\t\tmix(ga[i] + gc[i] + grid[i & 7][i & 15]);\n"
	    "\tmix(gs.a + gs.b + gs.c + gs.d + gs.bit + gs.wide + gbig[1].a + tls0 + tls1);\n"
	    "\tprintf(\"%016lx\\n\", sum);\n\treturn (int)(sum & 63);\n}");
	return 0;
}
