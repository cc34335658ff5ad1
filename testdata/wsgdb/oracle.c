/*
 * For the stepping oracle: without libc, with a stack of its own, so that every register is the same in each run.  No
 * system call before its end, and no pushf: both would show that a debugger makes single steps.
 */
char stack[65536] __attribute__((aligned(64), used));
static unsigned char from[64], to[64];
static volatile double real[8];
static volatile float narrow[8];
static volatile long double extended;
static volatile unsigned long sum;

__attribute__((noinline)) static unsigned long
deep(unsigned long n)
{
	volatile unsigned long here = n * 2654435761u;

	return n ? deep(n - 1) + here : here;
}

__attribute__((noinline)) static void
numbers(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		real[i & 7] = real[(i + 1) & 7] * 1.5 + (double)i / 3.0;
		narrow[i & 7] = (float)real[i & 7] - narrow[(i + 3) & 7];
		extended = extended * 3.0L / (long double)(i + 1) + 0.1L;
		__asm__ volatile("fldpi\n\tfsqrt\n\tfstp %%st(0)" ::: "st");
	}
}

__attribute__((noinline)) static void
strings(void)
{
	unsigned char *d = to, *s = from;
	unsigned long n = sizeof from;

	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) :: "memory");
	d = to;
	n = 7;
	__asm__ volatile("rep stosq" : "+D"(d), "+c"(n) : "a"(0x0102030405060708) : "memory");
	d = to;
	n = 60;
	__asm__ volatile("repne scasb" : "+D"(d), "+c"(n) : "a"(0) : "memory", "cc");
}

__attribute__((noinline)) static void
wide(void)
{
#ifdef __AVX__
	for (int i = 0; i < 20; i++)
		__asm__ volatile("vmovdqu %0, %%ymm3\n\tvpaddq %%xmm3, %%xmm4, %%xmm5\n\tvaddpd %%ymm3, %%ymm6, %%ymm6"
		    :: "m"(*(const char (*)[32])(from + i)) : "xmm3", "xmm4", "xmm5", "xmm6");
#endif
#ifdef __AVX512F__
	for (int i = 0; i < 20; i++)
		__asm__ volatile("vmovdqu64 %0, %%zmm17\n\tkmovw %1, %%k3\n\tvpaddd %%zmm17, %%zmm18, %%zmm18%{%%k3%}\n\t"
		    "vpcmpd $1, %%zmm18, %%zmm17, %%k4\n\tvpcompressd %%zmm18, %%zmm3%{%%k4%}\n\t"
		    "vpsrld $28, %%zmm17, %%zmm19\n\tvpgatherdd (%2,%%zmm19,4), %%zmm20%{%%k4%}"
		    :: "m"(from), "r"(i * 0x1357), "r"(to) : "xmm3", "xmm17", "xmm18", "xmm19", "xmm20", "k3", "k4", "memory");
#endif
}

__attribute__((noinline, used)) void
begin(void)
{
	for (unsigned i = 0; i < sizeof from; i++)
		from[i] = (unsigned char)(i * 7 + 1);
	sum += deep(12);
	numbers(10);
	strings();
	wide();
	for (unsigned long i = 1; i < 15; i++)
		sum += (sum << 7 | sum >> 57) / i ^ (unsigned long)__builtin_popcountl(sum * i);
	__asm__ volatile("syscall" :: "a"(60), "D"(sum & 127) : "rcx", "r11", "memory");
}

__asm__(".globl _start\n_start:\n\tlea stack+65536(%rip), %rsp\n\txor %ebp, %ebp\n\tcall begin\n\tud2\n");
