# What ref(5) says about valgrind's lackey is so: one instruction after another, as it prints them
. "$SRC/testdata/tap.sh"
command -v valgrind >/dev/null || { skip "no valgrind"; exit 0; }
[ -z "$SAN" ] || { skip "nothing of ours runs here"; exit 0; }

# instruction(s), then what is printed for each fetch: I alone, or with L S M and the place: b for buf+offset, s for the stack
cat >table <<'X'
mov 8(%rbx), %rax;I Lb8,8
movl $1, 4(%rbx);I Sb4,4
addl $1, 4(%rbx);I Mb4,4
incq 8(%rbx);I Mb8,8
lock addl $1, 4(%rbx);I Lb4,4 Mb4,4
xchg %eax, 4(%rbx);I Lb4,4 Mb4,4
lock xaddl %eax, 4(%rbx);I Lb4,4 Mb4,4
xaddl %eax, 4(%rbx);I Mb4,4
btsl $3, 4(%rbx);I Mb4,4
mov $77777, %eax; cmpxchgl %ecx, 4(%rbx);I I Mb4,4
lock cmpxchgl %ecx, 4(%rbx);I Mb4,4
xor %eax, %eax; cmovnz 8(%rbx), %rax;I I Lb8,8
test %rbx, %rbx; cmovz 8(%rbx), %rax;I I Lb8,8
push 8(%rbx); pop %rax;I Lb8,8 Ss,8 I Ls,8
push %rax; pop 8(%rbx);I Ss,8 I Ls,8 Sb8,8
lea 1f(%rip), %rax; mov %rax, 64(%rbx); call *64(%rbx); 1: pop %rax;I I Sb64,8 I Lb64,8 Ss,8 I Ls,8
push %rbp; mov %rsp, %rbp; sub $16, %rsp; leave;I Ss,8 I I I Ls,8
movups 16(%rbx), %xmm0; movaps %xmm0, 32(%rbx);I Lb16,16 I Sb32,16
movss 4(%rbx), %xmm0; movsd %xmm0, 8(%rbx);I Lb4,4 I Sb8,8
fldt 32(%rbx); fstpt 48(%rbx);I Lb32,10 I Sb48,10
fldl 8(%rbx); fistpl 16(%rbx);I Lb8,8 I Sb16,4
fnstcw 2(%rbx); fldcw 2(%rbx);I Sb2,2 I Lb2,2
lea 16(%rbx), %rsi; lea 32(%rbx), %rdi; movsq;I I I Lb16,8 Sb32,8
lea 32(%rbx), %rdi; stosb;I I Sb32,1
mov %rbx, %rsi; lodsl;I I Lb0,4
mov %rbx, %rsi; lea 32(%rbx), %rdi; xor %ecx, %ecx; rep movsb;I I I I
mov $2, %ecx; rep movsb;I I Lb0,1 Sb32,1 I Lb1,1 Sb33,1 I
mov $2, %ecx; lea 32(%rbx), %rdi; rep stosq;I I I Sb32,8 I Sb40,8 I
xor %eax, %eax; lea zero(%rip), %rdi; mov $3, %ecx; repe scasb;I I I I Lb256,1 I Lb257,1 I Lb258,1 I
lea zero(%rip), %rdi; mov $3, %ecx; repne scasb;I I I Lb256,1
inc %eax; lea zero(%rip), %rdi; mov $3, %ecx; repe scasb;I I I I Lb256,1
lea zero+2(%rip), %rdi; mov $1, %ecx; repe scasb;I I I Lb258,1
lea zero(%rip), %rdi; lea zero+8(%rip), %rsi; mov $1, %ecx; repe cmpsb;I I I I Lb256,1 Lb264,1 I
lea 8(%rbx), %rax;I
nopl 8(%rbx);I
prefetcht0 8(%rbx);I
X
{
	echo '.globl _start
_start: lea buf(%rip), %rbx
.globl first
first:'
	sed 's/;[^;]*$//' table
	echo '.globl last
last: mov $60, %eax
xor %edi, %edi
syscall
.data
.balign 64
.globl buf
buf: .fill 256
zero: .fill 64'
} >p.s
ok "assembles" gcc -nostdlib -static -no-pie p.s -o p
valgrind -q --tool=lackey --trace-mem=yes --vex-iropt-level=0 --vex-guest-chase=no --log-file=log ./p
is "runs under lackey" $? 0
sym() { nm p | awk -v s="$1" '$3 == s { print $1 }'; }
awk -v first="$(sym first)" -v last="$(sym last)" -v buf="$(sym buf)" '
	function num(s,  i, v) { for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }
	/^I  / { split($2, a, ","); pc = num(a[1]); on = pc >= num(first) && pc < num(last); if (on) printf "\nI" ; next }
	/^ [LSM] / && on {
		split($2, a, ",")
		d = num(a[1]) - num(buf)
		printf(" %s%s,%s", $1, (d >= 0 && d < 320 ? "b" d : "s"), a[2])
	}' log | sed 1d >got
# one line for each fetch, beside the instructions
sed 's/.*;//; s/ I/\nI/g' table >want
n=$(wc -l <want)
is "the number of fetches" "$(awk 'END { print NR }' got)" "$n"
awk 'BEGIN { while ((getline l < "got") > 0) g[++n] = l }
	{
		k = split($0, f, ";")
		printf "%s;", f[1]
		for (i = 2; i < k; i++) printf "%s;", f[i]
		m = gsub(/I/, "I", f[k])
		s = ""
		for (i = 0; i < m; i++) s = s (i ? " " : "") g[++at]
		print s
	}' table >seen
while IFS= read -r line <&3 && IFS= read -r have <&4; do
	is "${line%;*}" "${have##*;}" "${line##*;}"
done 3<table 4<seen

# our reader turns the raw log into ref(5)s conventions: no load before a modify of the same place
gives "the reader takes it" 0 "" addrdiff -q log log
tap_end
