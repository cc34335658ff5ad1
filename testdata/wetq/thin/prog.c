/* A program of its own, without libraries, for slices that a plain script makes of its text. */
typedef unsigned long u64;
static u64 tab[64]; static unsigned char text[40]; static long total;
static int idx[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
struct node { struct node *next; long v; } pool[10];
static long __attribute__((noinline)) weigh(long a, const long *b) { return a > *b ? a - *b : a * 3 + *b; }
static long __attribute__((noinline)) fib(int n) { return n < 2 ? n + total : fib(n - 1) + fib(n - 2); }
static void __attribute__((noinline)) copy(unsigned char *to, const unsigned char *from, u64 n)
{ __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory"); }
void run(void)
{
	struct node *head = 0;
	long k = 7, s = 0;
	for (int i = 0; i < 8; i++) { tab[idx[i] * 2] = (u64)i * 5 + k; k = weigh(k, (long *)&tab[idx[i]]); }
	for (int i = 0; i < 10; i++) { pool[i].v = fib(i % 5) + tab[i]; pool[i].next = head; head = &pool[i]; }
	for (struct node *p = head; p; p = p->next) s += p->v & 1 ? p->v : -p->v;
	for (int i = 0; i < 16; i++) text[i] = (unsigned char)(s >> i % 8);
	copy(text + 16, text, 16);
	total = s + text[20] + (text[31] > 100 ? tab[6] : tab[8]);
}
__asm__(".globl _start\n_start: call run\n xor %edi, %edi\n mov $60, %eax\n syscall\n");
