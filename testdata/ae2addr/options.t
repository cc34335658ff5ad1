# Formats and options
. "$SRC/testdata/tap.sh"
aecc -O1 "$SRC/testdata/aec/matrix.c" -o matrix && ./matrix || exit 1
ae2addr matrix <ae.out >a
ae2addr matrix ae.out >b
same "standard input" a b
for z in gzip bzip2 xz zstd; do
	$z -c <ae.out | ae2addr matrix >b
	same "$z" a b
done
ae2addr -o b matrix ae.out
same "-o" a b
ae2addr -f text matrix ae.out >text
is "loop events" "$(grep -c '^enter\|^back\|^exit' text)" 10201
ae2addr -l -f text matrix ae.out >b
grep -v '^enter\|^back\|^exit' text >c
same "-l" b c
ae2addr -il -f text matrix ae.out >b
grep '^load\|^store' text >c
same "-i" b c
is "stores" "$(grep -c '^store .* 4$' c)" 10000
is "lackey" "$(ae2addr -f lackey matrix ae.out | grep -c '^ S')" "$(grep -c '^store' text)"
is "din" "$(ae2addr -f din matrix ae.out | grep -c '^2 ')" "$(grep -c '^inst' text)"

# Statistics: what the references are, and where the bytes of the events go
ae2addr -c matrix ae.out >s
is "-c: instructions" "$(sed -n 's/^instructions //p' s)" "$(grep -c '^inst' text)"
is "-c: loads" "$(sed -n 's/^loads //p' s)" "$(grep -c '^load' text)"
is "-c: stores" "$(sed -n 's/^stores //p' s)" "$(grep -c '^store' text)"
is "-c: loop events" "$(sed -n 's/^loop-events //p' s)" 10201
is "-c: event bytes" "$(sed -n 's/^event-bytes //p' s)" "$(od -An -tu8 -j$(($(wc -c <ae.out) - 56)) -N8 ae.out | tr -d ' ')"
is "-c: their sum" "$(sed -n '/^event-bytes/,$p' s | awk 'NR > 1 { n += $2 } END { print n, NR }')" \
    "$(sed -n 's/^event-bytes //p' s) 7"
ae2addr -c -o b matrix ae.out
same "-c -o" s b

# A forked child's references begin at the fork; what went before is in the parent's file
cat >child.c <<'END'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int a[50];
int main(void)
{
	int st;
	for (int i = 0; i < 50; i++)
		a[i] = i;
	if (fork() == 0) {
		for (int i = 0; i < 7; i++)
			a[i] += 3;
		_exit(a[6]);
	}
	wait(&st);
	return st >> 8 != 9;
}
END
aecc -O1 child.c -o child && mkdir run && cd run && ../child || exit 1
kid=$(ls ae.out.*)
ae2addr -il -f text ../child "$kid" >t
is "the child's loop" "$(grep -c '^modify' t)" 7
is "not the parent's" "$(grep -c '^store .* 4$' t)" 0
cp "$kid" ../kid && cd .. && ae2addr -il -f text child kid >t2
same "the parent by its recorded name" run/t t2
mv run/ae.out p.out && ae2addr -il -f text -p p.out child kid >t2
same "-p" run/t t2
gives "no parent" 1 "ae2addr: $(pwd)/run/ae.out: No such file or directory" ae2addr child run/"$kid"
mv p.out ae.out
ae2addr -il -f text child ./kid >t2
same "the parent beside the child" run/t t2
tap_end
