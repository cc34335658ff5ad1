/*
 * Loops that gcc turns into accesses of which a mask takes elements out, and into gathers and scatters, if the processor has them;
 * and such instructions written out; vectors of addresses of functions that the linker's table has, as gcc makes them of structures.
 *
 * oracles: wscap
 * targets: x86-64
 * diff: -l
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <immintrin.h>

#define NOINLINE __attribute__((noinline, noclone))
#define N 203

static unsigned long sum;
static float a[N], b[N];
static double x[N], y[N];
static int m[N], c[N];
static long w[N], z[N];
static unsigned char bytes[N], more[N];
static short shorts[N], halves[N];

static void mix(unsigned long v) { sum = sum * 31 + v; }

NOINLINE static void add(float *restrict d, const float *restrict s, const int *k, int n) { for (int i = 0; i < n; i++) if (k[i] & 1) d[i] += s[i]; }
NOINLINE static void wide(double *restrict d, const double *restrict s, const long *k, int n) { for (int i = 0; i < n; i++) if (k[i] & 2) d[i] -= s[i]; }
NOINLINE static int count(const int *p, int n, int v) { int k = 0; for (int i = 0; i < n; i++) if (p[i] > v) k += p[i]; return k; }
NOINLINE static void upper(unsigned char *restrict d, const unsigned char *restrict s, int n) { for (int i = 0; i < n; i++) if (s[i] > 100) d[i] = s[i] - 32; }
NOINLINE static void clip(short *restrict d, const short *restrict s, int n) { for (int i = 0; i < n; i++) if (s[i] > 50) d[i] = s[i] + d[i]; }
NOINLINE static void gather(float *restrict d, const float *restrict s, const int *k, int n) { for (int i = 0; i < n; i++) d[i] += s[k[i]]; }
NOINLINE static void gatherl(double *restrict d, const double *restrict s, const long *k, int n) { for (int i = 0; i < n; i++) d[i] += s[k[i]]; }
NOINLINE static void gatherd(double *restrict d, const double *restrict s, const int *k, int n) { for (int i = 0; i < n; i++) d[i] += s[k[i]]; }
NOINLINE static void gatherq(float *restrict d, const float *restrict s, const long *k, int n) { for (int i = 0; i < n; i++) d[i] += s[k[i]]; }
NOINLINE static void some(float *restrict d, const float *restrict s, const int *k, int n) { for (int i = 0; i < n; i++) if (k[i] % 3) d[i] += s[k[i]]; }
NOINLINE static void scatter(float *restrict d, const float *restrict s, const int *k, int n) { for (int i = 0; i < n; i++) d[k[i]] = s[i]; }
NOINLINE static void scatterl(double *restrict d, const double *restrict s, const long *k, int n) { for (int i = 0; i < n; i++) if (k[i] & 1) d[k[i]] = s[i]; }
/* what a program asks before it uses such instructions */
NOINLINE static unsigned states(void)
{
	unsigned a, d;

	__asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return (unsigned)m[a & 7] + (d == 0);
}
/* memory on the stack, partly written through a mask, and read again as a whole */
NOINLINE static int onstack(const int *k, int n)
{
	int t[32];

	for (int i = 0; i < 32; i++)
		t[i] = i;
	for (int i = 0; i < 32; i++)
		if (k[i % n] & 1)
			t[i] = k[i % n];
	return t[k[0] & 31] + t[k[1] & 31];
}

NOINLINE static void some_bytes(int n)
{
	for (int i = 0; i < n; i++) {
		__m128i k = _mm_loadu_si128((const __m128i *)(bytes + i));

		_mm_maskmoveu_si128(k, _mm_add_epi8(k, _mm_set1_epi8((char)(i * 37))), (char *)bytes + n - i);
	}
}

#ifdef __AVX2__
NOINLINE static void moves(int n)
{
	for (int i = 0; i < n; i++) {
		__m256i k = _mm256_loadu_si256((const __m256i *)(m + i)), s = _mm256_slli_epi32(k, 31);
		__m128i h = _mm256_castsi256_si128(s);

		_mm256_maskstore_epi32(c + i, s, _mm256_maskload_epi32(m + n - i, s));
		_mm256_maskstore_ps(a + i, s, _mm256_maskload_ps(b + i, s));
		_mm256_maskstore_pd(x + i, s, _mm256_maskload_pd(y + i, s));
		_mm256_maskstore_epi64((long long *)w + i, s, _mm256_maskload_epi64((const long long *)z + i, s));
		_mm_maskstore_epi32(c + i, h, _mm_maskload_epi32(m + i, h));
		_mm_maskstore_pd(x + i, h, _mm_maskload_pd(y + i, h));
		mix((unsigned)_mm256_extract_epi32(_mm256_mask_i32gather_epi32(k, c, _mm256_and_si256(k, _mm256_set1_epi32(127)), s, 4), 3));
		mix((unsigned)_mm_extract_epi32(_mm_mask_i64gather_epi32(h, c, _mm_set_epi64x(i, 3), h, 4), 1));
		mix((unsigned)_mm256_extract_epi32(_mm256_castpd_si256(_mm256_i32gather_pd(x, _mm_and_si128(h, _mm_set1_epi32(63)), 8)), 2));
		mix((unsigned)_mm_extract_epi32(_mm_castps_si128(_mm256_i64gather_ps(a, _mm256_set_epi64x(i, 3, i / 2, -i + n), 4)), 2));
	}
}
#endif

#ifdef __AVX512F__
NOINLINE static void written(int n)
{
	for (int i = 0; i < n; i++) {
		__mmask16 k = (__mmask16)(m[i] * 2654435761u >> 9);
		__m512i v = _mm512_mask_loadu_epi32(_mm512_set1_epi32(i), k, m + i);
		__m512d d = _mm512_set1_pd(i);

		_mm512_mask_storeu_epi32(c + i, k, v);
		_mm512_mask_compressstoreu_epi32(c + 100, k, v);
		v = _mm512_mask_expandloadu_epi32(v, (__mmask16)~k, m + i);
		v = _mm512_mask_add_epi32(v, k, v, _mm512_set1_epi32(m[i]));
		_mm512_mask_cvtepi32_storeu_epi8(bytes + i, k, v);
		_mm512_mask_cvtepi32_storeu_epi16(shorts + i, (__mmask16)(k << 3), v);
		d = _mm512_mask_loadu_pd(d, (__mmask8)k, y + i);
		_mm512_mask_storeu_pd(x + i, (__mmask8)(k >> 8), d);
		__asm__("vaddps {%1%{1to16%}, %0, %0 %{%2%}|%0%{%2%}, %0, %1%{1to16%}}" : "+v"(v) : "m"(a[i]), "Yk"(k));
		__asm__("vaddpd {%1%{1to8%}, %0, %0 %{%2%}|%0%{%2%}, %0, %1%{1to8%}}" : "+v"(v) : "m"(x[i]), "Yk"((__mmask8)(i % 3 ? 0 : k)));
		__asm__("vbroadcastss {%1, %0 %{%2%}|%0%{%2%}, %1}" : "+v"(v) : "m"(b[i]), "Yk"((__mmask16)(i % 3 ? 0 : k)));
		__asm__("vbroadcastf32x4 {%1, %0 %{%2%}|%0%{%2%}, %1}" : "+v"(v) : "m"(*(const __m128_u *)(a + i)), "Yk"((__mmask16)(i % 2 ? k : k & 0x1212)));
		_mm512_mask_i32scatter_epi32(c, k, _mm512_and_si512(v, _mm512_set1_epi32(127)), v, 4);
		_mm512_mask_i32scatter_pd(x, (__mmask8)k, _mm256_setr_epi32(1, i, 2, i + 5, 3, 9, 8, -i + n), d, 8);
		v = _mm512_mask_i32gather_epi32(v, (__mmask16)(k ^ 0x5a5a), _mm512_and_si512(v, _mm512_set1_epi32(127)), m, 4);
		d = _mm512_i64gather_pd(_mm512_setr_epi64(1, 2, 3, 4, i, 6, 7, n - i), y, 8);
		mix((unsigned)_mm512_reduce_add_epi32(v));
		mix((unsigned long)(long)_mm512_reduce_add_pd(d));
#if defined __AVX512BW__ && defined __AVX512VL__
		{
			__mmask64 q = (__mmask64)m[i] * 0x9e3779b97f4a7c15;
			__m512i t = _mm512_mask_loadu_epi8(v, q, more + i);

			/* a mask that takes nothing out of what is read */
			__asm__("vdbpsadbw {$27, %1, %0, %0 %{%2%}|%0%{%2%}, %0, %1, 27}" : "+v"(t) : "m"(*(const __m512i_u *)(more + i)), "Yk"(q));
			_mm512_mask_storeu_epi8(bytes + i, ~q >> 7, t);
			_mm512_mask_storeu_epi16(shorts + i, (__mmask32)q, t);
			_mm512_mask_storeu_epi8(bytes + i, i % 5 ? q : -1ull, t);
			_mm256_mask_storeu_epi32(c + i, (__mmask8)k, _mm512_castsi512_si256(t));
			_mm_mask_storeu_epi64(w + i, (__mmask8)k, _mm512_castsi512_si128(t));
		}
#endif
	}
}
#endif

#ifdef __AVX2__
void *pairs[3][2];

/* these always load; the linker changes a mov from its table into one without */
NOINLINE void
pair(void)
{
	__asm__ volatile(
	    "{vmovq pair@GOTPCREL(%%rip), %%xmm0|vmovq xmm0, QWORD PTR pair@GOTPCREL[rip]}\n\t"
	    "{vpinsrq $1, pair@GOTPCREL(%%rip), %%xmm0, %%xmm1|vpinsrq xmm1, xmm0, QWORD PTR pair@GOTPCREL[rip], 1}\n\t"
	    "{vmovhps pair@GOTPCREL(%%rip), %%xmm0, %%xmm2|vmovhps xmm2, xmm0, QWORD PTR pair@GOTPCREL[rip]}\n\t"
	    "{pinsrq $0, pair@GOTPCREL(%%rip), %%xmm2|pinsrq xmm2, QWORD PTR pair@GOTPCREL[rip], 0}\n\t"
	    "{mov pair@GOTPCREL(%%rip), %%rax|mov rax, QWORD PTR pair@GOTPCREL[rip]}\n\t"
#ifdef __AVX512F__
	    "{vpbroadcastq pair@GOTPCREL(%%rip), %%xmm16|vpbroadcastq xmm16, QWORD PTR pair@GOTPCREL[rip]}\n\t"
#endif
	    "{vmovdqu %%xmm1, (%0)|vmovdqu XMMWORD PTR [%0], xmm1}\n\t"
	    "{vmovdqu %%xmm2, 16(%0)|vmovdqu XMMWORD PTR [%0+16], xmm2}\n\t"
	    "{mov %%rax, 32(%0)|mov QWORD PTR [%0+32], rax}"
	    : : "r"(pairs) : "rax", "xmm0", "xmm1", "xmm2", "memory");
}
#endif

int main(void)
{
	for (int i = 0; i < N; i++) {
		a[i] = i;
		b[i] = i * 0.5f;
		x[i] = i * 3;
		y[i] = i % 10;
		m[i] = (int)(i * 7919u % N);
		z[i] = w[i] = i * 31 % N;
		more[i] = bytes[i] = (unsigned char)(i * 37);
		halves[i] = (short)(i * 11 % 100);
	}
	for (int n = 70; n < N; n += 33) {
		add(a, b, m, n);
		wide(x, y, w, n);
		mix((unsigned)count(m, n, n / 2));
		upper(bytes, more, n);
		clip(shorts, halves, n);
		gather(a, b, m, n);
		gatherl(x, y, w, n);
		gatherd(x, y, m, n);
		gatherq(a, b, w, n);
		some(b, a, m, n);
		scatter(a, b, m, n);
		scatterl(x, y, w, n);
		mix((unsigned)onstack(m, n));
	}
	some_bytes(100);
	mix(states());
#ifdef __AVX2__
	moves(100);
	pair();
	mix((unsigned)(pairs[0][1] == pairs[1][0] && pairs[1][1] == pairs[2][0]));
#endif
#ifdef __AVX512F__
	written(100);
#endif
	for (int i = 0; i < N; i++) {
		mix((unsigned long)(long)a[i]);
		mix((unsigned long)(long)x[i]);
		mix((unsigned)c[i] + bytes[i] + (unsigned)shorts[i]);
	}
	printf("%lx\n", sum);
	return 0;
}
