# aerw translates Intel syntax: of the same program in both syntaxes it makes the same object
. "$SRC/testdata/tap.sh"
cd "$TMPDIR" || exit 1
CC=$GCC
prog=$SRC/testdata/ae/prog
as='as --64 -mrelax-relocations=no'

# both FILE option ...: in each syntax FILE is rewritten to the same, symbols' order apart, and nothing more is left untraced
both() {
	file=$1 cc=$CC
	case $file in *.cc) cc=g++ ;; esac
	shift
	what="${file##*/} $*"
	for syntax in att intel; do
		$cc "$@" -masm=$syntax -fverbose-asm -ffixed-r15 -fno-ipa-ra -S "$file" -o $syntax.s &&
			aerw -v -a -mrelax-relocations=no -o $syntax.ae.s $syntax.s 2> $syntax.err && $as $syntax.ae.s -o $syntax.o &&
			objcopy --strip-all $syntax.o $syntax.bin || { fail "$what: $syntax"; return; }
		sed -i "s/$syntax\.s/FILE/" $syntax.err
	done
	same "$what: messages" intel.err att.err
	same "$what: the same object" intel.bin att.bin
}
if [ "${MATRIX-}" = full ]; then
	for o in -O0 -O1 -O2 -O3 -Os "-O2 -fPIC"; do
		for p in calls cold data dispatch fork gauss interp jumps link real recurse stack strings switches tls tree varargs vector; do
			# gcc itself writes the operands of xchg in another order
			case "$p $o" in 'data -O3' | 'cold -Os' | 'recurse -Os') continue ;; esac
			# shellcheck disable=SC2086
			both "$prog/$p.c" $o
		done
	done
fi
turn 4 && both "$prog/switches.c" -O2 -fno-pie
turn 4 && both "$prog/calls.c" -O0 -fno-plt
turn 4 && both "$prog/real.c" -O1 -mfpmath=387
turn 4 && both "$prog/tls.c" -O2 -fPIC -ftls-model=local-dynamic
both "$prog/masked.c" -O3 -march=x86-64-v4 -mprefer-vector-width=512
if command -v g++ > /dev/null; then both "$SRC/testdata/ae/prog-cxx/throw.cc" -Os; fi

# unchanged FILE: FILE.s, rewritten, still has the same code; the warnings are in FILE.err
unchanged() {
	aerw -v -o "$1.ae.s" "$1.s" 2> "$1.err"
	$as "$1.s" -o "$1.o" && $as "$1.ae.s" -o "$1.ae.o" && objcopy -O binary -j .text "$1.o" "$1.t1" &&
		objcopy -O binary -j .text "$1.ae.o" "$1.t2"
	same "$1: the same code" "$1.t2" "$1.t1"
}

# what gcc does not write, or seldom: a function for each line
cat > lines <<'E'
mov eax, DWORD PTR [rcx*4+rax-8]
MOV EAX, dword ptr SYM[RBP+RCX*2+4]
mov BYTE PTR [rsp+rax], 0xff
mov rax, -1
mov rax, 0x123456789abcdef0
mov rax, OFFSET FLAT:SYM+8
mov eax, SYM
mov eax, CONST
mov rdx, QWORD PTR [QWORD PTR SYM@GOTPCREL[rip]]
mov rax, QWORD PTR fs:[40]
mov eax, DWORD PTR fs:SYM@tpoff+4
mov eax, ds:16
movabs al, BYTE PTR ds:0x1122334455667788
mov eax, DWORD PTR [8+SYM-SYM+rsi]
mov eax, DWORD PTR [edi+ecx*8]
lea rax, [rax*1+0]
lea rax, [rax+rsp]
lea rax, (1+2)[rbx]
{disp32} mov eax, DWORD PTR 8[rbx]
{load} mov eax, ecx
movsx rax, edi
movsxd rax, DWORD PTR [rdi]
movsx ecx, BYTE PTR [rdi+1]
movzx ecx, ax
cdqe
cqo
cwd
rep movsd
repnz scasb
lock xadd DWORD PTR [rdi], eax
lock add QWORD PTR [rdi], 1
shl DWORD PTR [rdi], cl
shld WORD PTR [rdi], ax, cl
shr BYTE PTR [rdi]
imul rax, QWORD PTR [rdi], -3
push QWORD PTR 8[rdi]
push 5
push OFFSET FLAT:SYM
crc32 eax, BYTE PTR [rdi]
crc32 rax, QWORD PTR [rdi]
setne BYTE PTR [rdi]
cmpxchg16b XMMWORD PTR [rdi]
prefetcht0 [rdi]
ldmxcsr DWORD PTR [rdi]
xchg rbx, rcx
nop WORD PTR [rax+rax*1]
fld DWORD PTR [rdi]
fstp TBYTE PTR [rdi]
fild QWORD PTR [rdi]
fistp WORD PTR [rdi]
fsub st, st(2)
fsub st(2), st
fsubr st(3), st
fsubp st(1), st
fsubrp st(1), st
fdiv st(1), st
fdivrp st(1), st
fdiv QWORD PTR [rdi]
fnstsw ax
fucomip st, st(1)
cvtsi2sd xmm0, DWORD PTR [rdi]
cvtsi2sd xmm0, QWORD PTR [rdi]
cvttsd2si rax, QWORD PTR [rdi]
cmpsd xmm1, QWORD PTR [rdi], 2
movsd xmm1, QWORD PTR [rdi]
movq xmm1, rax
pextrw WORD PTR [rdi], xmm2, 3
vcvtpd2ps xmm0, XMMWORD PTR [rdi]
vcvtpd2ps xmm0, YMMWORD PTR [rdi]
vcvtpd2ps xmm0{k1}{z}, QWORD PTR [rdi]{1to4}
vaddps zmm0{k2}, zmm17, DWORD PTR [rdi+64]{1to16}
vaddps zmm1, zmm2, zmm3, {rn-sae}
vcmpps k1{k2}, zmm1, zmm2, {sae}, 3
vmovups ZMMWORD PTR [rdi]{k3}, zmm31
vpgatherdd zmm1{k1}, DWORD PTR [rax+zmm2*4]
vpscatterqq [rax+ymm2]{k1}, ymm3
vgatherdpd xmm1, QWORD PTR [rax+xmm2*8], xmm3
vfpclassps k1, YMMWORD PTR [rdi], 5
kmovw k1, WORD PTR [rdi]
vpermil2ps xmm1, xmm2, xmm3, xmm4, 1
{evex} vmovaps xmm1, xmm2
E
awk 'BEGIN { print "\t.intel_syntax noprefix\n\t.text\n\t.set CONST, 77" }
	{ printf "\t.type f%d, @function\nf%d:\n\t.cfi_startproc\n\t.cfi_offset rbx, -16\n\t%s\n\txor\teax, eax\n\tnop\n\tnop\n\tret\n\t.cfi_endproc\n\t.size f%d, .-f%d\n", NR, NR, $0, NR, NR }
	END { print "\t.data\n\t.ascii \"; add \"\n\t.ascii \"data16; rep ; size_t \"" }' lines > hand.s
unchanged hand
is "each has a translation" "$(grep Intel hand.err)" ""
is "nothing is left in Intel syntax" "$(grep -c intel_syntax hand.ae.s)" 0

# what AT&T syntax does not have, or aerw not understand, is warned of by line; the rest is traced
cat > not.s <<'E'
	.intel_syntax noprefix
	.text
	.type one, @function
one:
	mov	eax, 1
	jmp	FWORD PTR [rdx]
	.size one, .-one
	.type two, @function
two:
	mov	eax, DWORD PTR [rdx+riz*1]
	ret
	.size two, .-two
	.type three, @function
three:
	mov	eax, DWORD PTR [rdx+4]
	jne	three
	ret
	.size three, .-three
	.data
	.quad	three
E
unchanged not
is "what is not translated is told" "$(cat not.err)" "aerw: not.s: line 6 of the assembly: 'jmp	FWORD PTR [rdx]': not translated from Intel syntax exactly: function one left untraced
aerw: not.s: line 10 of the assembly: 'mov	eax, DWORD PTR [rdx+riz*1]': not translated from Intel syntax exactly: function two left untraced
aerw: not.s: 3 functions, 2 left untraced"

# inline assembly that changes the syntax and back
cat > inline.c <<'E'
int w[4];
int add(int x) { __asm__ volatile(".intel_syntax noprefix\n\tadd %0, 1\n\tlea rax, w[rip+4]\n\t.att_syntax prefix" : "+r"(x) :: "rax"); return x; }
int pop(int x) { __asm__ volatile(".intel_syntax noprefix; bswap ecx; .att_syntax; addl %0, %%ecx" : "+r"(x) :: "rcx"); return x; }
int far(int x) { __asm__ volatile(".intel_syntax noprefix; call FWORD PTR [rcx]; .att_syntax" : "+r"(x)); return x; }
E
$CC -O2 -fno-pie -ffixed-r15 -fno-ipa-ra -fverbose-asm -S inline.c
unchanged inline
is "inline assembly" "$(cat inline.err)" "aerw: inline.c: line 4: 'call FWORD PTR [rcx]': not translated from Intel syntax exactly: function far left untraced
aerw: inline.s: 3 functions, 1 left untraced"

# blocks that the assembler repeats, macros
cat > block.c <<'E'
__asm__(".macro inc2 r\n\tinc \\r\n\tinc \\r\n.endm\n.macro inc1 r\n\tinc \\r\n.endm");
__asm__(".macro add3 r\n.intel_syntax noprefix\n\tadd \\r, 3\n.att_syntax prefix\n.endm");
#define INTEL(s) __asm__(".intel_syntax noprefix; " s "\n\t.att_syntax prefix" : "+c"(x))
int often(int x) { INTEL(".rept 3\n\tlock; add DWORD PTR [rsp-8], ecx\n\tadd ecx, 1; .endr"); return x; }
int never(int x) { INTEL(".rept 0; add ecx, 1; .endr; inc ecx"); return x; }
int irp(int x) { INTEL(".irp n,1,2; .irpc m,34\n\tadd ecx, \\n + \\m\n.endr; .endr"); return x; }
int label(int x) { INTEL(".REPT 2\n1: add ecx, 1; jz 1b; .ENDR"); return x; }
int sum(int x) { INTEL(".rept 1+1; add ecx, 1; .endr"); return x; }
int one(int x) { INTEL("inc1 ecx"); return x; }
int two(int x) { INTEL("inc2 ecx"); return x; }
int inside(int x) { __asm__(".rept 1 + 1; .intel_syntax noprefix; add ecx, 1; .att_syntax prefix; .endr; add3 ecx" : "+c"(x)); return x; }
int rest(int x) { INTEL("add ecx, [rsp-8]"); return x; }
E
$CC -O2 -fno-pie -ffixed-r15 -fno-ipa-ra -fverbose-asm -S block.c
unchanged block
is "blocks and macros" "$(sed 's/line \([0-9]*\): /\1 /; s/^aerw: block.c: //; s/: function.*//' block.err)" "6 code that the assembler repeats
7 code that the assembler repeats
8 code that the assembler repeats
9 'inc1 ecx': may be a macro of the assembler
10 'inc2 ecx': may be a macro of the assembler
11 'add3 ecx': code that the assembler repeats
aerw: block.s: 9 functions, 6 left untraced"
printf '%s\n' '.macro intel' '.intel_syntax noprefix' .endm intel 'mov eax, 1' > after.s
is "a macro that changes the syntax" "$(aerw after.s 2>&1 > after.ae.s)" \
	"aerw: after.s: a macro may change the syntax of what comes after it: left untraced"

# a file that the assembler does not take, and text of any kind
printf '\t.intel_syntax noprefix\n\tfrobnicate eax, [\n' > bad.s
is "not assembly: passed through" "$(aerw bad.s 2> bad.err)" "$(cat bad.s)"
is "and said" "$(cat bad.err)" "aerw: bad.s: the assembler does not accept it: left untraced"
i=0 bad=0
while [ $i -lt 16 ]; do
	{ head -c $((i * 97 + 40)) hand.s; printf '\n\tmov eax, [%s' '(((BYTE PTR PTR OFFSET [-[rax*rax*9{k1}{{"'; head -c $i /dev/urandom | tr -d '\0'; } | aerw -q > cut.s 2> /dev/null || bad=$((bad + 1))
	i=$((i + 1))
done
is "cut at 16 places" $bad 0
tap_end
