/*
 * Single instructions of made-up bytes, executed as readers of .wet files do.
 *
 * loadtest SEED N: N of them.  Those that are run must do the same again when
 * this program's own registers are others, and must touch nothing but their
 * state, which lies between pages that cannot be touched.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <Zydis/Zydis.h>

#include "../random.h"
#include "wet/file/full/reexecute.h"

#define EACH 4096                       /* instructions before all is begun again */

static sigjmp_buf back;

static void
caught(int sig)
{
	siglongjmp(back, sig);
}

/* Bytes that are an instruction now and then, of all encodings */
static void
bytes(uint8_t b[15])
{
	static const uint8_t prefix[] = { 0x66, 0xf2, 0xf3, 0xf0, 0x64, 0x65, 0x67 };
	unsigned n = 0, how = rnd() % 8;

	for (unsigned i = 0; i < 15; i++)
		b[i] = (uint8_t)(rnd() >> 24);
	while (rnd() % 4 == 0 && n < 3)
		b[n++] = prefix[rnd() % sizeof prefix];
	if (how < 3 && rnd() % 2)
		b[n++] = 0x40 | (b[14] & 15);
	switch (how) {
	case 0: case 1: b[n] = 0x0f; break;
	case 2: b[n++] = 0x0f; b[n] = b[13] & 1 ? 0x38 : 0x3a; break;
	case 3: b[n] = 0xc5; break;
	case 4: b[n] = 0xc4; b[n + 1] = (b[n + 1] & 0xe0) | (1 + b[13] % 3); break;
	case 5: b[n] = 0x62; b[n + 1] = (b[n + 1] & 0xf0) | (1 + b[13] % 3); b[n + 2] |= 4; break;
	default: break;
	}
}

static void
state(struct load_state *st)
{
	uint64_t *p = (uint64_t *)(void *)st;

	for (size_t i = 0; i < sizeof *st / 8; i++)
		p[i] = rnd() % 4 ? rnd() >> rnd() % 64 : -(rnd() & 7);
	st->mxcsr = load_mxcsr(rnd());
	st->flags &= 0xd501;
	st->seg[2] = 0;
}

/* All that code might depend on but should not: this program's flags, vectors and exceptions of numbers */
static void
others(int second)
{
	static uint8_t v[64];
	uint32_t mxcsr = second ? 0x1fbf : 0x1f80;

	memset(v, second ? 0x5a : 0, sizeof v);
	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
	__asm__ volatile("movups %0, %%xmm0; movups %0, %%xmm1; movups %0, %%xmm7; movups %0, %%xmm15; test "
	    "%1, %1" : : "m"(v), "r"(second)
	    : "xmm0", "xmm1", "xmm7", "xmm15", "cc");
}

/* 1: it was run, 0: this processor does not have it, -1: it is wrong */
static int
run(struct load *l, uint32_t s)
{
	static struct load_state before, once;
	volatile int done = 0, i;
	int sig;

	state(&before);
	for (i = 0; i < 2; i++) {
		uint64_t w[LOAD_WORDS];

		l->st = before;
		for (unsigned k = 0; k < LOAD_WORDS; k++)
			w[k] = before.r[k % 16] ^ k;
		load_begin(l);
		others(i);
		if ((sig = sigsetjmp(back, 1)) == 0) {
			load_known(l, s, (uint64_t[LOAD_WORDS]){ 0 });
			load_execute(l, s, w, 0);
			done = done + 1;
		} else if (sig != SIGILL)
			return -1;
		if (!i)
			once = l->st;
	}
	return !done ? 0 : done == 2 && memcmp(&once, &l->st, sizeof once) == 0 ? 1 : -1;
}

static struct load *
load(void)
{
	size_t n = (sizeof(struct load) + 4095) / 4096 * 4096;
	uint8_t *p = mmap(NULL, n + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* its state comes first */
	if (p == MAP_FAILED || mprotect(p + 4096, n, PROT_READ | PROT_WRITE) != 0)
		exit(2);
	return (struct load *)(void *)(p + 4096);
}

int
main(int argc, char **argv)
{
	static const int signals[] = { SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP };
	struct load *l = load();
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0, ran = 0, given = 0, kinds = 0;
	static uint8_t seen[ZYDIS_MNEMONIC_MAX_VALUE + 1];
	ZydisDecoder d;
	int bad = 0;

	rnd_state = argc > 1 ? strtoul(argv[1], NULL, 10) * 2 + 1 : 1;
	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &(struct sigaction){ .sa_handler = caught, .sa_flags = SA_NODEFER },
		    NULL);
	load_init(l);
	for (unsigned long i = 0; i < n && bad < 10; i++) {
		ZydisDecodedInstruction z;
		uint8_t b[15];
		int e;

		bytes(b);
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d, NULL, b, sizeof b, &z)))
			continue;
		if (l->nstmt >= EACH) {
			load_free(l);
			load_init(l);
		}
		e = load_add(l, 0x401000, b, z.length);
		if (e)
			continue;
		given += l->stmt[l->nstmt - 1].kind >= LOAD_STOS;
		e = l->stmt[l->nstmt - 1].kind < LOAD_STOS ? run(l, (uint32_t)l->nstmt - 1) : 0;
		if (e < 0) {
			printf("wrong: %s", ZydisMnemonicGetString(z.mnemonic));
			for (unsigned k = 0; k < z.length; k++)
				printf(" %02x", b[k]);
			printf("\n");
			bad++;
		}
		if (e > 0 && l->stmt[l->nstmt - 1].kind <= LOAD_DIV &&
		    l->stmt[l->nstmt - 1].kind >= LOAD_NATIVE) {
			ran++;
			kinds += !seen[z.mnemonic];
			seen[z.mnemonic] = 1;
		}
	}
	load_free(l);
	printf("%lu run, of %lu kinds; %lu not\n", ran, kinds, given);
	return bad || ran < n / 40 || kinds < 200;
}
