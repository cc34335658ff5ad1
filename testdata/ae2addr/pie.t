# Position independent executables: addresses as loaded, in each reader; the functions and lines are those of the file
# shellcheck shell=sh
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"

cat >prog.c <<'X'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static int first(int i) { return i + 1; }
static int second(int i) { return i * 2; }
static int third(int i) { return i - 3; }
/* tables of addresses in read-only data, which the loader makes */
static int (*const step[])(int) = { first, second, third };
static const char *const name[] = { "one", "two", "three", "four" };
__attribute__((noinline)) int callee(int n) { return step[n % 3](n) + (int)strlen(name[n % 4]); }
static int go(int n)
{
	static void *const to[] = { &&a, &&b, &&c };
	goto *to[n % 3];
a:	return callee(n);
b:	return 7;
c:	return n;
}
int main(void)
{
	/* push %rbx; call *%rax; pop %rbx; ret: code that the program made, below its image */
	static const unsigned char code[] = { 0x53, 0xff, 0xd0, 0x5b, 0xc3 };
	unsigned char *low = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long sum = 0, got;

	for (int i = 0; i < 50; i++)
		sum += go(i);
	if (low != MAP_FAILED) {
		memcpy(low, code, sizeof code);
		__asm__ volatile("call *%2" : "=a"(got) : "0"(callee), "r"(low), "D"(4L) : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory");
		sum += (int)got;
	}
	printf("%ld %lx\n", sum, (unsigned long)(void *)main);
	return 0;
}
X
for o in -pie -static-pie; do
	aecc -O1 -g $o prog.c -o p 2>err || fail "$o: compiles" "$(cat err)"
	at=$(AE_OUT=p.e ./p)
	main=${at#* }
	ae2addr -f text p p.e >refs 2>err || fail "$o: regenerates" "$(cat err)"
	ok "$o: main is fetched where it was" grep -q "^inst 0x$main " refs
	load=$(ae2addr -c p p.e | sed -n 's/^load-address 0x//p')
	is "$o: the load address" "$(printf '%x' $((0x$load + 0x$(nm p | sed -n 's/ T main$//p'))))" "$main"
	callee=$(printf '%x' $((0x$load + 0x$(nm p | sed -n 's/ T callee$//p'))))
	is "$o: each call, the last from code that the program made" "$(grep -c "^inst 0x$callee " refs)" 18
	ae2addr p p.e >p.ref
	aec -b p 2>err || fail "$o: aec" "$(cat err)"
	./p.regen p.e >r.ref
	same "$o: the regenerator" p.ref r.ref
	# another run is elsewhere, but where addresses are not chosen at random
	AE_OUT=q.e ./p >q.out
	is "$o: another run" "$(ae2addr -f text p q.e | grep -c "^inst 0x$(sed 's/.* //' q.out) ")" 1
	./p.regen q.e >r.ref
	ae2addr p q.e >q.ref
	same "$o: the regenerator for another run" q.ref r.ref
	ok "$o: --sites" sh -c 'ae2addr --sites p p.e | grep -q " run-item callee .*prog.c:12$"'
	is "$o: -s" "$(ae2addr -s callee -f text p p.e | sed -n 1p | cut -d' ' -f 2)" "0x$callee"
	ok "$o: names of places" sh -c 'addrstat --functions p p.e | grep -q callee'
	AE_FROM=callee AE_OUT=f.e ./p >out
	ok "$o: AE_FROM" [ "$(ae2addr -f text p f.e | grep -c '^inst')" -gt 100 ]
done
gives_load() { addrdiff -e p p.ref p.ref 2>&1; }
is 'addrdiff: needs the address' "$(gives_load)" 'addrdiff: p is position independent: --load says where it was loaded; see addrdiff --help'
ok 'addrdiff: --load' addrdiff --load "$load" -e p p.ref p.ref
is 'addrdiff: another file at another address' "$(addrdiff -lsv --load "$load:$(ae2addr -c p q.e | sed -n 's/^load-address 0x//p')" -e p p.ref q.ref | sed -n '1s/.*: \([0-9]*\) references.*/\1/p')" \
	"$(addrdiff -lv --load "$load" -e p p.ref p.ref | sed -n '1s/.*: \([0-9]*\) references.*/\1/p')"
# an event file that says of a fixed program that it was loaded elsewhere
aecc -O1 prog.c -o fixed
AE_OUT=x.e ./fixed >out
is 'a fixed program has none' "$(ae2addr -c fixed x.e | grep -c load-address)" 0
tap_end
