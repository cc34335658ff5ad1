# lib.sh: shell functions shared by these tests; sourced
# shellcheck shell=sh

# able: can programs be captured, and visited, here?
able() { captures ws2wet; }

# sorts: sort.ws, the capture of a program that sorts 300 lines: sort(1), or a small one
sorts() {
	awk 'BEGIN { for (i = 0; i < 300; i++) printf "%d line %d of words %x\n", i * 7919 % 10007, i, i * 31 }' >in
	if [ "${MATRIX-}" = full ]; then
		wscap -o sort.ws sort in >out 2>&1
		return
	fi
	cat >sort.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int cmp(const void *a, const void *b) { return strcmp(a, b); }
int main(void)
{
	static char line[300][40];
	int n = 0;
	while (n < 300 && fgets(line[n], sizeof *line, stdin))
		n++;
	qsort(line, n, sizeof *line, cmp);
	while (n-- > 0)
		fputs(line[n], stdout);
	return 0;
}
C
	${CC:-gcc} -w -g -O2 -static sort.c -o sort && wscap -o sort.ws ./sort <in >out 2>&1
}

# small: a text of everything that texts have, in small.txt
small() {
	cat >small.txt <<'T'
3
1 2 401000 a.c main 3
SIZE 0
SIZE 4
    0:2 0
    1:2 1
    1:1 0
    3:3 0
VALUES 5
    0:0
    1:ffffffffffffffff
    2:10000000000000000
    3:123456789abcdef0123456789abcdef0123456789abcdef0
    4:7
7000000000 1 ffffffff80000000 ? ? 0
SIZE 1
    0:1 4
NO VALUES
3 1 401004 b\040c.c f<T>() 99
SIZE 1
    0:1 2
VALUES 1
    0:aa
T
	sed -i 's/^7000000000 /2 /' small.txt
	cp small.txt order.txt
	printf 'ORDER 6\n1 1\n1 1\n2 2\n1 1\n2 1\n1 1\n' >>order.txt
	printf '1 1\n' >>order.txt
	sed -i 's/^ORDER 6/ORDER 7/' order.txt
}

# grows FILE: cut anywhere, it gives the text of its whole segments
grows() {
	size=$(wc -c <"$1") last=0 bad=
	for i in 1 2 3 4 5 6 7 8 9; do
		head -c $((size * i / 10)) "$1" >cut.wet
		wetz -d cut.wet >cut.txt 2>cut.err
		[ $? = 1 ] && [ "$(wc -l <cut.err)" = 1 ] || bad="$bad $i"
		n=$(awk '/^ORDER/ { on = 1; next } on { n += $2 } END { print n + 0 }' cut.txt)
		[ "$n" -ge $last ] || bad="$bad $i:$n"
		last=$n
	done
	is "$1: the text of whole segments comes out" "$bad" ""
	is "$1: and of the more the longer the file" "$((last > 40))" 1
}
