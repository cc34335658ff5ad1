# aerw as a filter: what it writes assembles, what it cannot trace is named and left alone
. "$SRC/testdata/tap.sh"
cd "$TMPDIR" || exit 1
CC=$GCC
opts='-O2 -fno-pie -fverbose-asm -ffixed-r15 -fno-ipa-ra'

cat > a.c <<'E'
int a[100][100];
__attribute__((noinline)) void sub(int *x, int i) { for (int j = 0; j < 100; j++) x[j] = i + j; }
int main(void) { for (int i = 0; i < 100; i++) sub(a[i], i); return a[9][9] != 18; }
E
# shellcheck disable=SC2086
$CC $opts -S a.c -o a.s
ok "rewrites the example" sh -c 'aerw -v < a.s > a.ae.s 2> err'
is "all functions traced" "$(cat err)" "aerw: standard input: 2 functions, 0 left untraced"
ok "the result assembles" $CC -c a.ae.s -o a.o
is "sections" "$(readelf -SW a.o | grep -o -w -E 'aetext|aeplain|aefn|\.aeschema' | sort -u | tr '\n' ' ')" ".aeschema aefn aeplain aetext "
ok "links without the runtime" $CC -no-pie a.o -o a
ok "and runs" ./a
# the counted loops of figure 1 are computed: nothing in them is recorded
is "no event in the example's loops" "$(aerw -l list -o /dev/null a.s; cat list)" ""

# the list is an output like the other
cp a.s kept.s
gives "the list in the place of the input" 1 "aerw: a.s: is the input, which the output would replace" aerw -l a.s -o a2.s a.s
gives "from standard input" 1 "aerw: a.s: is the input, which the output would replace" sh -c 'aerw -l a.s <a.s'
same "which stays" a.s kept.s
gives "both to one file" 1 "aerw: both: is written to already" aerw -l both -o both a.s
gives "both to standard output" 2 "aerw: only one of -l and -o can be standard output; see aerw --help" aerw -l - a.s
printf 'some\n\0bytes' >bytes
for option in '' -q; do
	gives "what is not even text $option" 1 "aerw: bytes: byte 5: a zero byte: not assembly" aerw $option -l list2 -o bytes2 bytes
done
is "these leave nothing" "$(ls both bytes2 list2 2>/dev/null)" ""

# the text before the copies is the input, but for labels
$CC -c a.s -o plain.o
objcopy -O binary -j .text a.o t1
objcopy -O binary -j .text plain.o t2
same "original code unchanged" t1 t2

cat > b.c <<'E'
int one(void) { return 1; }
int uses(int x) { __asm__ volatile("addl %%r15d, %0" : "+r"(x)); return x; }
int count(int x) { __asm__ volatile("decl %0\n\tstd\n\tcld" : "+r"(x)); return x; }
int data(void) { __asm__ volatile(".byte 0x90"); return 2; }
int macro(void) { __asm__ volatile("nop; nop"); return 2; }
int times(int x) { __asm__ volatile(".rept 40; incl %0; .endr" : "+r"(x)); return x; }
int each(int x) { __asm__ volatile(".irp n,1,2; addl $\\n, %0; .endr" : "+r"(x)); return x; }
E
# shellcheck disable=SC2086
$CC $opts -S b.c -o b.s
aerw -v b.s > b.ae.s 2> err
is "status" $? 0
is "r15 is quoted" "$(grep -c 'addl.%r15d, .*: uses r15: function uses left untraced' err)" 1
is "std is quoted" "$(grep -c "'std': instruction not supported: function count left untraced" err)" 1
is "directive in inline assembly" "$(grep -c 'directive in inline assembly: function data left untraced' err)" 1
is "what the assembler repeats" "$(grep -c 'line 7.*: code that the assembler repeats: function each left untraced' err)" 1
is "the others are traced" "$(tail -n 1 err)" "aerw: b.s: 7 functions, 4 left untraced"
is "quiet" "$(aerw -q b.s 2>&1 >/dev/null)" ""

# what is not the same where the assembler finds it again, in the function's copy: macros, symbols that are set more than once
cat > again.c <<'E'
__asm__(".macro num r\n add $\\@, \\r\n.endm\n.macro back r\n1: inc \\r\n.endm\n.macro sub a, b\n add \\a, \\b\n.endm\n.set once, 3\ntoo = 4");
int num(int x) { __asm__("num %0" : "+r"(x)); return x; }
int back(int x) { __asm__("1: dec %0; BACK %0; jne 1b" : "+r"(x)); return x; }
int locked(int x) { __asm__("lock; sub %1, %0" : "+m"(x) : "r"(3)); return x; }
int named(int x) { __asm__("add $once, %0; add $too, %0; .set here, 5; add $here, %0" : "+r"(x)); return x; }
int counted(int x) { __asm__(".set n, 1; .rept 2; add $n, %0; .set n, n + 1; .endr" : "+r"(x)); return x; }
int plain(int x) { return x + 3; }
E
# shellcheck disable=SC2086
$CC $opts -S again.c -o again.s
is "macros, and symbols that are set again" "$(aerw -v again.s 2>&1 >again.ae.s | sed "s/'[^']*'/X/; s/^aerw: again.c: //")" "line 2: X: may be a macro of the assembler: function num left untraced
line 3: X: may be a macro of the assembler: function back left untraced
line 4: X: may be a macro of the assembler: function locked left untraced
line 6: X: a symbol that is set more than once: function counted left untraced
aerw: again.s: 6 functions, 4 left untraced"
for what in '.include "other.s"' '.macro define name; .macro \name; nop; .endm; .endm' \
    '.macro define name; .set \name, 1; .endm'; do
	echo > other.s
	{ printf '%s\n' "$what"; cat a.s; } > any.s
	is "any may be a macro" "$(aerw any.s 2>&1 >any.ae.s | grep -c 'may be a macro')" 2
done
printf '.rept 0\n\tnop\n.endr # none\n' > none.s
is "repeated 0 times" "$(aerw none.s)" ""

# what is repeated inside what is repeated, in assembly that is no compiler's
cat > nest.s <<'E'
	.text
	.type	f, @function
f:	.rept	3
	addq	$1, %rax
	.rept	2
	.rep	2
	incq	%rdx
	.endr
	movq	(%rsi), %rdx
	.endr
	.rept	0
	nop
	.endr
	.endr
	ret
	.size	f, .-f
	.type	g, @function
g:	.rept	2
	.rept	1+1
	incq	%rax
	.endr
	.rept	2
	decq	%rax
	.endr
	.endr
	ret
	.size	g, .-g
	.type	h, @function
h:	.rept 1; .rept 1; .rept 1; .rept 1; .rept 1; .rept 1; .rept 1; .rept 1; .rept 1; .rept 2
	incq	%rax
	.endr; .endr; .endr; .endr; .endr; .endr; .endr; .endr; .endr; .endr
	ret
	.size	h, .-h
E
$CC -c nest.s -o plain.o
is "nested" "$(aerw -v nest.s 2>&1 >nest.ae.s | sed 's/line [0-9]*/line N/')" "aerw: nest.s: line N of the assembly: code that the assembler repeats: function g left untraced
aerw: nest.s: line N of the assembly: code that the assembler repeats: function h left untraced
aerw: nest.s: 3 functions, 2 left untraced"
$CC -c nest.ae.s -o a.o
objcopy -O binary -j .text a.o t1
objcopy -O binary -j .text plain.o t2
same "nested: original code unchanged" t1 t2
is "nested: the copy" "$(objdump -d -j aetext a.o | grep -c 'inc  *%rdx')" 12

# an indirect function; what has no resolver of its own, but is it itself
cat > ifunc.c <<'E'
static int f(int x) { return x; }
static void *pick(void) { return (void *)f; }
int g(int) __attribute__((ifunc("pick")));
int last(int x) { return x + g(x); }
__attribute__((target_clones("avx2", "default"))) int h(int x) { return x * 3; }
E
# shellcheck disable=SC2086
$CC $opts -S ifunc.c -o ifunc.s
is "resolvers are traced" "$(aerw -v ifunc.s 2>&1 >ifunc.ae.s)" "aerw: ifunc.s: 6 functions, 0 left untraced"
is "the call of one is not that of its resolver" "$(sed -n '/section.aetext/,$p' ifunc.ae.s | grep -c 'call.g$')" 1
why='the name stands for the function whose address this one returns'
for type in @gnu_indirect_function STT_GNU_IFUNC %gnu_indirect_function; do
	printf '\t.type\tf, %s\nf:\n\tlea f(%%rip), %%rax\n\tret\n\t.size f, .-f\n\t.type\tg, @function\ng:\tcall f\n\tret\n' $type > own.s
	is "$type" "$(aerw -v own.s 2>&1 >own.ae.s)" "aerw: own.s: line 2 of the assembly: $why: function f left untraced
aerw: own.s: 2 functions, 1 left untraced"
done

# instructions that set flags for the targets of an indirect jump
for o in -fno-pie -fPIC; do
	$CC -O2 $o -fverbose-asm -ffixed-r15 -fno-ipa-ra -S "$SRC/testdata/ae/prog/flags.c" -o flags.s
	is "$o: flags at the targets of jumps" "$(aerw -v flags.s 2>&1 >/dev/null)" "aerw: flags.s: 8 functions, 0 left untraced"
done

printf 'frobnicate %%eax\n' | aerw > c.s 2> err
is "not assembly: passed through" "$(cat c.s)" "	frobnicate %eax"
is "and said" "$(cat err)" "aerw: standard input: the assembler does not accept it: left untraced"
is "empty input" "$(aerw < /dev/null)" ""
head -c 3000 /dev/urandom | tr -d '\0' | aerw -q > /dev/null
is "noise: status" $? 0
i=0 bad=0
while [ $i -lt 40 ]; do          # cut anywhere, it never crashes
	head -c $((i * 61 + 7)) b.s | aerw -q > cut.s 2> /dev/null || bad=$((bad + 1))
	i=$((i + 1))
done
is "input cut at 40 places" $bad 0
aerw -o /dev/full a.s 2> err
is "full disk: status" $? 1
gives "no folder for temporary files" 1 "aerw: no temporary file can be written" env TMPDIR=none aerw a.s
gives "with -m, too" 1 "aerw: a.s: no temporary file can be written" env TMPDIR=none aerw -m x86-64 a.s
# the text has none, but that with which the machine is asked for has
for i in 1 2 3 4 5 6 7 8 9; do sed "s/\\<\\(sub\\|main\\|a\\)\\>/&$i/g; s/\\.L[A-Za-z0-9]*/&_$i/g" a.s; done >large.s
gives "no room for temporary files" 1 "aerw: large.s: no temporary file can be written" sh -c 'ulimit -f 8; exec aerw large.s >/dev/null'
aerw a.s b.s 2> err
is "two files: usage" $? 2
AERW_AS=/nonexistent aerw a.s > d.s 2> err
is "no assembler: passed through" "$(grep -c aetext d.s)" 0
# a slot whose address is passed on is not known, a spilled register beside it is
cat > s.c <<'E'
int fill(void **, int);
void drop(void *);
int each(int n)
{
	void *p;
	int e = 0;
	for (int i = 0; i < n; i++) {
		p = 0;
		e |= fill(&p, i);
		if (p)
			drop(p);
	}
	return e;
}
E
strip -o stripped "$BUILD/bin/aerw"      # valgrind ends at clang's debugging information
for o in -O0 -O1 -O2 -Os; do
	# shellcheck disable=SC2086
	$CC $opts $o -S s.c -o s.s
	if turn 3 && command -v valgrind > /dev/null && [ -z "$SAN" ]; then
		is "$o: nothing uninitialised is used" "$(valgrind -q ./stripped -o /dev/null s.s 2>&1)" ""
	fi
	aerw -l list -o /dev/null s.s
	is "$o: the branch on p is recorded" "$(awk -F'\t' '$5 == "branch"' list | grep -c -E '[[:space:]]jn?e')" 1
done
# gcc's own directives after inline assembly, before it says #NO_APP
cat > g.c <<'E'
static inline int add(int a) { __asm__("addl $1, %0" : "+r"(a) : : "cc"); return a; }
int f(int a) { int b = add(a); return b * 3; }
int g(int n)
{
	for (int i = 0; i < n; i++) {
		n += add(i);
		__asm__ volatile("" : : : "memory");
	}
	return f(n);
}
E
for o in "-g -O1" "-g3 -O2" "-g -O3" "-gdwarf-4 -Os" -O2; do
	# shellcheck disable=SC2086
	$CC -fno-pie -fverbose-asm -ffixed-r15 -fno-ipa-ra $o -S g.c -o g.s
	is "inline assembly, $o" "$(aerw -v -o g.ae.s g.s 2>&1)" "aerw: g.s: $(grep -c '^[a-z]*:' g.s) functions, 0 left untraced"
	ok "inline assembly, $o: assembles" $CC -c g.ae.s -o g.o
done
# what is not the compiler's is still told, in lines of the source
cat > w.c <<'E'
int ok(int x)
{
	__asm__("incl %0" : "+r"(x));
	return x;
}
int data(int x)
{
	__asm__ volatile(".pushsection .data; .byte 7; .popsection");
	return ok(x);
}
E
for o in -O0 "-O2 -fno-inline" "-g -O2 -fno-inline"; do
	# shellcheck disable=SC2086
	$CC -fno-pie -fverbose-asm -ffixed-r15 -fno-ipa-ra $o -S w.c -o w.s
	is "line of the source, $o" "$(aerw w.s 2>&1 >/dev/null)" "aerw: w.c: line 8: assembler directive in inline assembly: function data left untraced"
done
sed '/^# w.c:/d; /^# [1-9][0-9]* "w.c" 1$/d' w.s | aerw 2> err > /dev/null
is "line of the assembly, where no other is known" "$(sed 's/[0-9][0-9]*/N/' err)" \
    "aerw: standard input: line N of the assembly: assembler directive in inline assembly: function data left untraced"
# what is recorded before an instruction: a mask, with indexes; after one: a count
cat >m.s <<'E'
	.text
	.globl	f
	.type	f, @function
f:
	vmovdqu32	(%rdi), %zmm0{%k1}{z}
	vmovdqu8	%zmm0, 64(%rdi){%k2}
	vpmaskmovd	(%rdi), %ymm1, %ymm0
	vpgatherdd	(%rdi,%zmm1,4), %zmm2{%k3}
	vgatherdpd	%ymm2, (%rdi,%xmm1,8), %ymm0
	maskmovdqu	%xmm1, %xmm0
	vpaddd	%zmm0, %zmm1, %zmm1{%k1}
	vpaddd	(%rdi), %zmm1, %zmm1
	repe cmpsb
	ret
	.size	f, .-f
E
gives "a list that is not written" 1 "aerw: /dev/full: No space left on device" aerw -l /dev/full -o m2.s m.s
is "leaves no output either" "$(ls m2.s 2>/dev/null)" ""
aerw -v -l list -o /dev/null m.s 2>err
is "all of it is traced" "$(sed 's/.*: //' err)" "1 functions, 0 left untraced"
is "masks and indexes" "$(cut -f 4,5 list | tr '\t\n' ' ;')" "2 mask;8 mask;32 mask;66 mask;48 mask;16 mask;9 count;"
tap_end
