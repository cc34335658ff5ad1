/*
 * Untraced code that uses the traced functions of mips_twin.S: mips_use CASE
 * [N] does one thing, prints its results and writes to the file `want` what
 * the events must be.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

int leaf(int), take(int, int), call(int (*)(int), int), tail(int (*)(int), int), load(int *);
void abi(void);
int pair(int (*)(int), int (*)(int), int);
int jump(int (*)(jmp_buf), jmp_buf, int (*)(int), int);
void pad(unsigned), spin(volatile int *);

enum { LEAF = 1, TAKE, CALL, TAIL, JUMP, PAD, SPIN, LOAD, ABI, PAIR };

uint32_t sps[1024], kept;
uint32_t nsps;                  /* bytes */
extern uint8_t *__ae_ptr __attribute__((weak));

#define END 0x60200000u         /* of the event buffer: AE_MAP + 2 MiB */

static long n;
static unsigned nwant;          /* entries of sps that were taken */
static FILE *want;
static jmp_buf jb, jb2;
static volatile int hits, stop;

static void byte(unsigned v) { putc((int)v, want); }
static void word(uint32_t v) { fwrite(&v, 1, 4, want); }
static uint32_t sp(void) { return sps[nwant++ % 1024]; }
static void number(unsigned f) { byte(f); byte(0); }
static uint32_t enter(unsigned f)
{
	uint32_t at = sp();

	byte(254);
	word(at);
	number(f);
	return at;
}
static void entertake(uint32_t a, uint32_t b)
{
	uint32_t at = enter(TAKE);

	word(a);
	word(b);
	word(at);
}
static void landed(uint32_t at)
{
	const uint16_t site = 0x1234;

	byte(255);
	word(at);
	fwrite(&site, 1, 2, want);
}
static void padding(unsigned k)
{
	static const uint8_t le[] = { 0x5d, 0x5c, 0x5b, 0x5a }, be[] = { 0x5a, 0x5b, 0x5c, 0x5d };
	const uint16_t one = 1;

	for (; k >= 4; k -= 4)
		fwrite(*(const uint8_t *)&one ? le : be, 1, 4, want);
	while (k-- > 0)
		byte(0x5e);
}
static void dopad(unsigned k)
{
	pad(k);
	enter(PAD);
	padding(k);
}

static int plain(int a) { return a * 3; }
static int again(int a) { return leaf(a) + take(a, 1); }
static int totail(int a) { return tail(leaf, a); }
static int untail(int a) { return tail(plain, a) + leaf(0); }
static int leave(int a) { longjmp(jb, a); }
static int leavedeep(int a) { return call(leave, a); }
static int deep(int a) { return a > 0 ? call(deep, a - 1) : 1; }
static int landagain(int a) { return leaf(a) + jump(_setjmp, jb2, leave, a); }

static void basics(void)
{
	/* a traced function through a pointer, from traced code: no sp is needed */
	printf("%d ", call(leaf, 5));
	enter(CALL); sp(); number(LEAF); byte(0);
	printf("%d ", leaf(1));
	enter(LEAF);
	printf("%d ", take(7, 9));
	entertake(7, 9);
	printf("%d ", call(plain, 5));
	enter(CALL); byte(0);
	/*
	 * Callbacks. If some have returned since untraced code last returned, an event has an sp that it
	 * need not have.
	 */
	printf("%d ", call(leaf, 5));
	enter(CALL); enter(LEAF); byte(0);
	printf("%d ", call(again, 5));
	enter(CALL); enter(LEAF); entertake(5, 1); byte(0);
	printf("%d ", tail(plain, 4));
	enter(TAIL);
	printf("%d ", tail(leaf, 4));
	enter(TAIL); enter(LEAF);
	printf("%d ", call(totail, 3));
	enter(CALL); enter(TAIL); enter(LEAF); byte(0);
	printf("%d ", call(untail, 3));
	enter(CALL); enter(TAIL); enter(LEAF); byte(0);
	/* No event has it again when no callback came since. */
	printf("%d ", pair(again, leaf, 5));
	enter(PAIR); enter(LEAF); entertake(5, 1); byte(0); sp(); number(LEAF); byte(0);
	printf("%d ", jump(_setjmp, jb, leaf, 5));
	landed(enter(JUMP) - 40); sp(); number(LEAF); byte(0);
	printf("%x ", (unsigned)kept);
	printf("%d\n", call(deep, 3));
	enter(CALL); enter(CALL); enter(CALL); enter(CALL); byte(0); byte(0); byte(0); byte(0);
}

/* The untraced callee of a tail jump calls back and then jumps to a traced function: __ae_again */
int comeback(int a);
__asm__(
"	.text\n	.set push\n	.set noreorder\n	.set noat\n	.globl comeback\n	.ent "
    "comeback\n"
"comeback:\n"
"	addiu $29,$29,-32\n	sw $31,28($29)\n	sw $4,24($29)\n"
"	lui $25,%hi(leaf)\n	addiu $25,$25,%lo(leaf)\n	jalr $25\n	nop\n"
"	lw $4,24($29)\n	lw $31,28($29)\n	lui $25,%hi(leaf)\n	addiu $25,$25,%lo(leaf)\n	jr "
    "$25\n	addiu $29,$29,32\n"
"	.end comeback\n	.set pop\n");

/* Call f with every register set that a callee keeps or reads, and store what is there after */
void all(void (*f)(void), uint32_t *out);
__asm__(
"	.text\n	.set push\n	.set noreorder\n	.set noat\n	.globl all\n	.ent all\n"
"all:	addiu $29,$29,-80\n	sw $31,76($29)\n	sw $30,72($29)\n	sw $28,68($29)\n	sw "
    "$5,64($29)\n"
"	sw $16,60($29)\n	sw $17,56($29)\n	sw $18,52($29)\n	sw $19,48($29)\n	sw "
    "$20,44($29)\n	sw $21,40($29)\n"
"	sw $22,36($29)\n	sw $23,32($29)\n"
"	move $25,$4\n"
"	li $16,16\n	li $17,17\n	li $18,18\n	li $19,19\n	li $20,20\n	li $21,21\n	li "
    "$22,22\n	li $23,23\n	li $30,30\n"
"	li $4,1\n	li $5,20\n	li $6,300\n	li $7,4000\n	li $15,15\n	li $8,50000\n	sw "
    "$8,16($29)\n"
"	mtc1 $4,$f12\n	cvt.d.w $f12,$f12\n	mtc1 $5,$f14\n	cvt.d.w $f14,$f14\n"
"	jalr $25\n	li $28,28\n"
"	lw $8,64($29)\n"
"	sw $16,0($8)\n	sw $17,4($8)\n	sw $18,8($8)\n	sw $19,12($8)\n	sw $20,16($8)\n	sw $21,20($8)\n	sw "
    "$22,24($8)\n"
"	sw $23,28($8)\n	sw $28,32($8)\n	sw $30,36($8)\n	sw $2,40($8)\n	sw $3,44($8)\n	cvt.w.d "
    "$f0,$f0\n	swc1 $f0,48($8)\n"
"	lw $31,76($29)\n	lw $30,72($29)\n	lw $28,68($29)\n"
"	lw $16,60($29)\n	lw $17,56($29)\n	lw $18,52($29)\n	lw $19,48($29)\n	lw "
    "$20,44($29)\n	lw $21,40($29)\n"
"	lw $22,36($29)\n	lw $23,32($29)\n	jr $31\n	addiu $29,$29,80\n"
"	.end all\n	.set pop\n");

static void regs(void)
{
	uint32_t o[13];
	int i, k;

	for (k = 0; k < 1000; k++) {
		all(abi, o);
		o[11] -= (uint32_t)(uintptr_t)abi;
		enter(ABI);
		for (i = 0; i < 13 && k % 999 == 0; i++)
			printf("%u ", (unsigned)o[i]);
	}
	puts("");
}

static void jumps(void)
{
	uint32_t s;

	printf("%d ", call(comeback, 8));
	enter(CALL); enter(LEAF); enter(LEAF); byte(0);
	printf("%d ", tail(comeback, 8));
	enter(TAIL); enter(LEAF); enter(LEAF);

	/*
	 * longjmp to a traced frame, out of untraced code; out of traced frames; over a frame that set
	 * another mark
	 */
	printf("%d ", jump(_setjmp, jb, leave, 5));
	s = enter(JUMP) - 40; landed(s); landed(s);
	printf("%d ", jump(_setjmp, jb, leavedeep, 6));
	s = enter(JUMP) - 40; landed(s); enter(CALL); landed(s);
	printf("%d ", jump(_setjmp, jb, landagain, 7));
	s = enter(JUMP) - 40; landed(s); enter(LEAF);
	landed(enter(JUMP) - 40);
	landed(s);
	puts("");
}

static int catch(int a) { return _setjmp(jb) == 0 ? call(leave, a) : leaf(a); }
static int catchall(int a) { return _setjmp(jb) == 0 ? call(leave, a) : 77; }
static int nest(int a) { return call(catchall, a) + 1; }
static int viatail(int a) { return tail(catchall, a) + 1; }
static int catchdeep(int a) { return _setjmp(jb) == 0 ? call(leavedeep, a) : call(plain, a); }

/* longjmp within untraced code abandons traced frames: the next __ae_back reports that. */
static void lost(void)
{
	uint32_t s;

	printf("%d ", call(catch, 4));
	s = enter(CALL) - 32; enter(CALL); enter(LEAF); byte(253); word(s); byte(0);
	printf("%d ", call(catchall, 4));
	s = enter(CALL) - 32; enter(CALL); byte(253); word(s); byte(0);
	printf("%d ", call(nest, 4));
	enter(CALL); s = enter(CALL) - 32; enter(CALL); byte(253); word(s); byte(0); byte(0);
	printf("%d ", call(catchdeep, 4));
	s = enter(CALL) - 32; enter(CALL); enter(CALL); enter(CALL); byte(0); byte(253); word(s); byte(0);
	/* the function that returns next is not the one entered last */
	printf("%d ", call(viatail, 4));
	s = enter(CALL) - 32; enter(TAIL); enter(CALL); byte(253); word(s); byte(0);
	printf("%d ", tail(catchall, 4));
	enter(TAIL); enter(CALL);
	printf("%d ", call(again, 4));
	enter(CALL); enter(LEAF); entertake(4, 1); byte(0);
	printf("%d\n", leaf(1));
	enter(LEAF);
}

/* Puts each store of an event in turn at the end of the buffer, with room for n to n + 19 bytes after it. */
static void full(void)
{
	unsigned off, room = 200;
	uint32_t s;
	int sum = 0;

	for (off = (unsigned)n; off < (unsigned)n + 20; off++) {
		if (&__ae_ptr && __ae_ptr)
			room = END - (unsigned)(uintptr_t)__ae_ptr;
		if (room < off + 7) {
			dopad(room);
			room = END - (unsigned)(uintptr_t)__ae_ptr;
		}
		dopad(room - off - 7);
		sum += take(7, 9);
		entertake(7, 9);
		sum += call(leaf, (int)off);
		enter(CALL); enter(LEAF); byte(0);
		sum += call(catchall, 4);
		s = enter(CALL) - 32; enter(CALL); byte(253); word(s); byte(0);
		sum += jump(_setjmp, jb, leave, 5);
		s = enter(JUMP) - 40; landed(s); landed(s);
	}
	printf("%d\n", sum);
}

static void set(int sig, void (*h)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a;

	memset(&a, 0, sizeof a);
	a.sa_sigaction = h;
	a.sa_flags = flags | SA_SIGINFO;
	sigaction(sig, &a, NULL);
}
static void soon(void)
{
	struct itimerval t = { { 0, 0 }, { 0, 100000 } };

	setitimer(ITIMER_REAL, &t, NULL);
}

static int where;
static void onhit(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	hits += sig == si->si_signo && uc->uc_mcontext.gregs[29] % 8 == 0 &&
	    (uintptr_t)__builtin_frame_address(0) % 8 == 0;
	where = leaf((int)hits);
	stop = 1;
}
static void onjump(int sig, siginfo_t *si, void *context)
{
	(void)si;
	(void)context;
	siglongjmp(jb, sig);
}

/* Without SA_SIGINFO: what the arguments are is an old habit of this machine */
static void onold(int sig, int code, mcontext_t *m)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), was = (uintptr_t)m->gregs[29];

	hits += code == 0 && was > here && was < here + 0x10000 && m->gregs[2] < 0x1000 && m->gregs[0] == 0;
	where = leaf(sig);
}

/* A handler inside libc is traced; one that interrupts traced code is not */
static void outside(void)
{
	set(SIGUSR1, onhit, 0);
	raise(SIGUSR1);
	enter(LEAF);
	signal(SIGUSR2, (void (*)(int))(void (*)(void))onold);
	raise(SIGUSR2);
	enter(LEAF);
	printf("%d %d\n", hits, leaf(hits));
	enter(LEAF);
}
static void inside(void)
{
	set(SIGALRM, onhit, 0);
	soon();
	spin(&stop);
	enter(SPIN);
	sp();
	printf("%d %d\n", hits, leaf(hits));
	enter(LEAF);
}
static void escape(void)
{
	set(SIGALRM, onjump, SA_NODEFER);
	dopad(50);
	if (sigsetjmp(jb, 1) == 0) {
		soon();
		spin(&stop);
	}
	enter(SPIN);
	printf("%d\n", leaf(1));
}
/* Out of a handler to a frame of traced code, which reports that the handler did not return. */
static int escaping(int a)
{
	soon();
	spin(&stop);
	return a;
}
static void escapeland(void)
{
	uint32_t s;

	set(SIGALRM, onjump, SA_NODEFER);
	dopad(50);
	printf("%d", jump(_setjmp, jb, escaping, 3));
	printf(" %x %u\n", (unsigned)kept, (unsigned)nsps / 4);
	s = enter(JUMP) - 40; landed(s);
	enter(SPIN);
	leaf(2);
}

static char *page;
static void onfix(int sig, siginfo_t *si, void *context)
{
	(void)context;
	hits += sig == SIGSEGV && si->si_addr == page + 8 && si->si_code > 0;
	mprotect(page, 65536, PROT_READ | PROT_WRITE);
}
static void segv(void)
{
	page = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	set(SIGSEGV, onfix, 0);
	printf("%d ", load((int *)(void *)(page + 8)));         /* in traced code */
	enter(LOAD);
	dopad(3000000);
	printf("%d\n", hits);
}
static void fault(void)
{
	pad(3000000);
	enter(PAD);
	padding(3000000);
	byte(254); word(sps[0]); number(LOAD);
	fclose(want);
	load((int *)8);
}

/* Timer signals by the hundred while the buffer fills */
static void onstorm(int sig, siginfo_t *si, void *context)
{
	(void)context;
	hits += sig == si->si_signo;
}
static void storm(void)
{
	struct itimerval t = { { 0, 300 }, { 0, 300 } };

	set(SIGALRM, onstorm, SA_RESTART);
	setitimer(ITIMER_REAL, &t, NULL);
	while (hits < n)
		dopad(100000 + (unsigned)hits % 7);
	memset(&t, 0, sizeof t);
	setitimer(ITIMER_REAL, &t, NULL);
	puts("calm");
}

static void *thread(void *p)
{
	*(int *)p += leaf(5) + call(leaf, 5);
	return NULL;
}
static void threads(void)
{
	pthread_t t[3];
	int i, sum = 0;

	for (i = 0; i < 3; i++) {
		pthread_create(t + i, NULL, thread, &sum);
		pthread_join(t[i], NULL);
	}
	nwant = nsps / 4;
	printf("%d %d\n", sum, leaf(1));
	enter(LEAF);
}

static void dofork(void)
{
	int st = 0;
	pid_t p;

	dopad(1000);
	fflush(want);
	p = fork();
	if (p == 0) {
		want = fopen("want.child", "w");
		dopad(2500);
		st = leaf(4);
		enter(LEAF);
		fclose(want);
		_exit(st);
	}
	waitpid(p, &st, 0);
	printf("%d %d\n", WEXITSTATUS(st), leaf(1));
	enter(LEAF);
}
static void doexec(void)
{
	dopad(1000);
	fclose(want);
	fflush(stdout);
	execl("/bin/echo", "echo", "exec", (char *)NULL);
}
static void badexec(void)
{
	dopad(1000);
	printf("%d ", execl("/nonexistent", "x", (char *)NULL));
	printf("%d\n", leaf(1));
	enter(LEAF);
}
static void exit_(void)
{
	dopad(1000);
	printf("%d\n", leaf(1));
	enter(LEAF);
	fclose(want);
	fflush(stdout);
	_exit(9);
}
static void many(void)
{
	while (n-- > 0)
		dopad(1 << 20);
}

static const struct { const char *name; void (*f)(void); } cases[] = {
	{ "basics", basics }, { "regs", regs }, { "jumps", jumps }, { "lost", lost }, { "full", full },
	{ "outside", outside }, { "inside", inside },
	{ "escape", escape }, { "escapeland", escapeland }, { "segv", segv }, { "fault", fault },
	{ "storm", storm },
	{ "threads", threads }, { "fork", dofork }, { "exec", doexec }, { "badexec", badexec },
	{ "_exit", exit_ }, { "many", many },
};

int main(int argc, char **argv)
{
	size_t i;

	n = argc > 2 ? atol(argv[2]) : 0;
	want = fopen("want", "w");
	for (i = 0; want && i < sizeof cases / sizeof cases[0]; i++)
		if (argc > 1 && strcmp(cases[i].name, argv[1]) == 0) {
			cases[i].f();
			fclose(want);
			return 3;
		}
	return 99;
}
