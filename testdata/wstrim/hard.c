/* hard MODE: memory that is read, written and executed in ways that trimming has to tell apart */
#define _GNU_SOURCE
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char table[8192] = { [5] = 7, [64] = 9, [127] = 1, [4095] = 3, [4096] = 4, [8000] = 8 };
static volatile unsigned long sum;

/* mov eax, n; add eax, [edi]; ret: written, executed, changed, also by itself while it runs */
static void
code(void)
{
	unsigned char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const unsigned char text[] = { 0xb8, 1, 0, 0, 0, 0x03, 0x07, 0xc3 };
	/* mov byte [rip + 1], 5; mov eax, 1; ret: the immediate is changed before it is executed */
	static const unsigned char self[] = { 0xc6, 0x05, 1, 0, 0, 0, 5, 0xb8, 1, 0, 0, 0, 0xc3 };
	int (*f)(int *), x = 40;

	memcpy(p, text, sizeof text);
	memcpy(p + 4096 - 5, self, sizeof self);
	memcpy(&f, &p, sizeof f);
	for (int i = 0; i < 200; i++) {
		p[1] = (unsigned char)i;
		sum += (unsigned long)f(&x);
	}
	p += 4096 - 5;
	memcpy(&f, &p, sizeof f);
	sum += (unsigned long)f(&x);
	p[8] = 77;
	sum += (unsigned long)f(&x);
}

/* Bytes of a file's contents, parts of which are written before they are read */
static void
parts(int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t w;

		table[i * 61 % 8000] = (unsigned char)i;
		memcpy(&w, table + i * 37 % 8100, sizeof w);
		sum += w;
		memmove(table + i * 11 % 4000, table + i * 7 % 4000, 70);
	}
	__asm__ volatile("rep movsb" : : "S"(table + 100), "D"(table + 101), "c"(500) : "memory");
	__asm__ volatile("std; rep movsq; cld" : : "S"(table + 4000), "D"(table + 4008), "c"(50) : "memory");
	__asm__ volatile("xor %%eax, %%eax; repne scasb" : : "D"(table + 5), "c"(3000) : "rax", "memory");
	for (int i = 0; i < 8192; i += 3)
		sum = sum * 31 + table[i];
}

__attribute__((target("avx2"))) static void
vectors(void)
{
	int v[16];

	for (int i = 0; i < 100; i++) {
		__m256i at = _mm256_set_epi32(i, i * 3, 700, i * 7, 90, 1000 - i, 11, i * 2);
		__m256i got = _mm256_i32gather_epi32((const int *)(const void *)table, at, 4);

		_mm256_maskstore_epi32(v, _mm256_set_epi32(-1, 0, -1, 0, 0, -1, -1, 0), got);
		for (int k = 1; k < 8; k++)
			sum += (k == 1 || k == 2 || k == 5 || k == 7) ? (unsigned long)(unsigned)v[k] : 0;
	}
}

static sigjmp_buf back;
static unsigned char *guarded;

static void
fault(int sig)
{
	(void)sig;
	sum += guarded[12];             /* what was there, before the store that faulted is done */
	mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}

static void
lost(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

/* Stores that fault, and are done later or never */
static void
faults(void)
{
	for (int i = 0; i < 20; i++) {
		guarded = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		int fd = open("hard.in", 0);
		sum += (unsigned long)read(fd, guarded, 4096);
		close(fd);
		mprotect(guarded, 4096, i % 2 ? PROT_READ : PROT_NONE);
		signal(SIGSEGV, i % 2 ? fault : lost);
		if (sigsetjmp(back, 1) == 0)
			*(volatile unsigned *)(guarded + 12) = 0x55555555;
		mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
		sum = sum * 7 + guarded[12] + guarded[16 + i];
		if (i % 3)
			munmap(guarded, 4096);
	}
}

/* Memory that is at two addresses, and memory that moves */
static void
twins(void)
{
	int fd = memfd_create("twins", 0);
	unsigned char *a, *b, *m;

	if (fd < 0 || ftruncate(fd, 8192) != 0)
		exit(1);
	a = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	b = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 0; i < 3000; i++) {
		a[i * 7 % 8192] = (unsigned char)i;
		sum = sum * 3 + b[i * 5 % 8192];
		if (i == 1000)
			pwrite(fd, "from the kernel", 15, 4090);
	}
	m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 50; i++) {
		memset(m + i * 3, i, 5);
		m = mremap(m, 8192 + (size_t)(i / 10) * 4096, 8192 + (size_t)((i + 1) / 10) * 4096, MREMAP_MAYMOVE);
		sum = sum * 5 + m[i * 2] + m[4096 + i];
		if (i % 7 == 0)
			madvise(m + 4096, 4096, MADV_DONTNEED);
	}
}

static void *
other(void *arg)
{
	for (int i = 0; i < 500; i++) {
		__atomic_fetch_add((unsigned long *)arg, table[i], __ATOMIC_SEQ_CST);
		if (i % 50 == 0)
			sched_yield();
	}
	return NULL;
}

static void
threads(void)
{
	unsigned long n = 0;
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, other, &n);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	sum += n;
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	switch (*mode) {
	case 'c': code(); break;
	case 'p': parts(1000); break;
	case 'v':
		if (__builtin_cpu_supports("avx2"))
			vectors();
		parts(50);
		break;
	case 'f': faults(); break;
	case 't': twins(); break;
	case 'h': threads(); break;
	}
	printf("%lx\n", sum);
	return 0;
}
