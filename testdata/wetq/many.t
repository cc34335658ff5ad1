# wetq -i: many questions in any order, of files of all kinds, have the answers that each of them has alone
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/ws2addr/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

cat >p.c <<'E'
int a[40], sum;
static int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
int main(void)
{
	for (int i = 0; i < 40; i++)
		a[i] = f(i % 9) ^ i;
	for (int i = 0; i < 40; i++)
		for (int j = 0; j < 39; j++)
			if (a[j] > a[j + 1]) {
				int t = a[j];

				a[j] = a[j + 1];
				a[j + 1] = t;
			}
	for (int i = 0; i < 40; i++)
		sum += a[i];
	return 0;
}
__asm__(".globl _start\n_start: call main\n mov $60, %eax\n xor %edi, %edi\n syscall");
E
${CC:-gcc} -g -O1 -fno-tree-vectorize -fno-stack-protector -fcf-protection=none -nostdlib -static p.c -o p && wscap -o p.ws ./p >out 2>&1 && wetz -1 -s 5000 -o p.full p.ws &&
    wetz -1 -q -s 5000 -o p.quick p.ws && wetz -1 -m loads -s 5000 -o p.loads p.ws && wetz -1 -m replay -s 5000 -o p.replay p.ws &&
    wetz -1 -m paper -s 5000 -o p.paper p.ws && ws2wet p.ws | wetz -1 -o p.text && pass "stored in all ways"
wetq cf p.ws >flow
all=$(grep -c . flow)
ok "a run of some segments" test "$all" -gt 20000

# questions, at points here and there; the first word: a, addresses are in the answer; -, every kind of file has it
times=6
[ "${MATRIX-}" = full ] && times=12
awk -v all="$all" -v times=$times '
	function at(n) { return id[n] "#" of[n] }
	{ id[NR] = $1; of[NR] = seen[$1]++ + 0 }
	END {
		srand(7)
		for (i = 0; i < times; i++) {
			n = 1 + int(rand() * all); m = 1 + int(rand() * all); k = 1 + int(rand() * all)
			print "- -b -n 3 -f " at(n) " cf"
			print "- -n 3 -f " at(m) " cf"
			print "- -b -n 2 -f @" k " cf"
			print "- values " at(k)
			print "a addrs " id[m] "#0-2"
			if (i % 2) print "- -cr slice " at(m)
			if (i % 3 == 0) print "- -r -c -d --forward slice " at(n)
			if (i % 4 == 0) { print "a -n 4 slice " at(k); print "a slice -d " at(m); print "- -r annotate " at(n) }
			if (i % 4 == 1) print "- -r dot " at(n)
		}
	}' flow >questions
n=0
mkdir one
while read -r kind q; do
	n=$((n + 1))
	# shellcheck disable=SC2086
	wetq $q p.ws >got 2>err
	{ cat got; echo; } >one/$n
	[ -s err ] && fail "alone: $kind $q" "$(cat err)"
done <questions
ok "$n questions, each alone, have answers" test "$n" -gt 30

# in_session FILE KINDS SEED: all that such a file answers, in another order
in_session() {
	awk -v kinds="$2" -v seed="$3" 'BEGIN { srand(seed) } index(kinds, $1) { $1 = ""; print rand(), NR $0 }' questions | sort -n >order
	cut -d' ' -f3- order >ask
	for i in $(cut -d' ' -f2 order); do cat "one/$i"; done >want
	wetq -i "$1" <ask >got 2>err
	same "$1: $(grep -c . ask) questions, seed $3" want got
	is "$1: seed $3, no complaint" "$(cat err)" ""
}
for seed in 1 2; do
	for f in p.ws p.full p.quick p.loads p.replay; do in_session $f a- $seed; done
	for f in p.paper p.text; do in_session $f - $seed; done
done
tap_end
