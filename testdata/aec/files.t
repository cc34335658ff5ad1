# What aec writes: C that reads like figure 4 of the paper, and builds by itself
. "$SRC/testdata/tap.sh"
. "$SRC/testdata/aec/lib.sh"

aecc -O1 "$SRC/testdata/aec/matrix.c" -o matrix && ./matrix || exit 1
ok "aec -o" aec -o dir matrix
is "files" "$(cd dir && echo *)" "Makefile ae_main.c ae_prog.h ae_table.c matrix.sma.c"
is "a function for a function" "$(grep -c '^__ae_\(main\|sub\)(' dir/matrix.sma.c)" 2
is "the loops" "$(grep -o '\(LOOP_[A-Z]*\|WRITE_MEM\)(.*, 4)\|LOOP_[A-Z]*' dir/matrix.sma.c | sed 's/(.*//' | sort | uniq -c | tr -s ' ')" \
    "$(printf ' 2 LOOP_CONT\n 2 LOOP_END\n 2 LOOP_START\n 1 WRITE_MEM')"
ok "make" make -s -C dir CFLAGS="${CFLAGS:--O2}" LDFLAGS="${LDFLAGS-}"
dir/prog.regen ae.out >a 2>err
ae2addr matrix ae.out >b
same "regenerates" a b
is "without a warning" "$(gcc -O2 -Wall -Wextra -Wno-unused -Idir -I"$BUILD/include" -c dir/matrix.sma.c -o x.o 2>&1)" ""

# An application of one's own, by callbacks and by batches
cat >app.c <<'END'
#include <ae.h>
#include <stdio.h>
static unsigned long n[8], bytes, batch;
static void each(int kind, uint64_t addr, unsigned aux) { n[kind]++; bytes += aux; (void)addr; }
static int some(void *arg, const uint64_t *r, size_t k) { batch += k; (void)r; return *(int *)arg; }
int main(void)
{
	int stop = 0;
	if (ae_recreate("ae.out", each) || ae_recreate_batch("ae.out", some, &stop))
		return 1;
	printf("%lu %lu %lu %lu %lu %lu\n", n[AE_ISSUE_INST] > 50000, n[AE_WRITE_MEM] > 10000, n[AE_LOOP_ENTRY],
	    n[AE_LOOP_BACK], n[AE_LOOP_EXIT], batch - n[0] - n[1] - n[2] - n[3] - n[4] - n[5] - n[6]);
	stop = 5;
	if (ae_recreate_batch("ae.out", some, &stop) != 5 || ae_recreate_batch("none", some, &stop) != -1)
		return 1;
	puts(ae_error());
	return 0;
}
END
# shellcheck disable=SC2086
ok "an application" gcc ${CFLAGS--O2} ${LDFLAGS-} -I"$BUILD/include" app.c dir/matrix.sma.o dir/ae_table.o \
    "$BUILD/lib/tracemill/libaeregen.a" -lz -lbz2 -llzma -lzstd -o app
is "runs" "$(./app 2>err)" "1 1 101 9999 101 0
none: No such file or directory"

# Two files and functions of the same name, two of them static
mkdir one two
echo 'static int f(int x) { return x + 1; } int g(int); int main(void) { return g(f(1)) - 12; }' >one/x.c
echo '__attribute__((noinline)) static int f(int x) { return x + 10; } int g(int x) { return f(x); }' >two/x.c
aecc -O1 -fno-inline one/x.c two/x.c -o same && ./same || exit 1
ok "files of the same name" aec -b same
both same ae.out && pass "the same" || fail "the same"

# All of the files or none; what is there and not aec's stays
mkdir part full && cd part || exit 1
aec -o ../full ../matrix && cp -R ../full there || fail "a folder that is there"
is "a folder that is there is filled" "$(ls -A ../full)" "$(printf '%s\n' Makefile ae_main.c ae_prog.h ae_table.c matrix.sma.c)"
echo mine >there/own
ok "and again, with what else is in it" aec -o there/ ../matrix
is "which stays" "$(cat there/own)" mine
echo old >>there/ae_main.c
cp -R there before
for folder in new there; do
	(ulimit -f 1 && exec aec -o $folder ../same) 2>err
	is "$folder: a full disk" "$? $(sed 's/[a-z_.]*: File/: File/' err)" "1 aec: $folder/: File too large"
done
is "no new folder, nor a temporary one" "$(ls -A)" "$(printf 'before\nerr\nthere')"
is "the one that is there is as it was" "$(diff -r before there)" ""
mkdir project && echo all: >project/Makefile
gives "the Makefile of a project" 1 "aec: project/Makefile: exists, and was not made by aec" aec -o project ../matrix
is "it stays, alone" "$(ls -A project) $(cat project/Makefile)" "Makefile all:"
gives "a file for the folder" 1 "aec: err: Not a directory" aec -o err ../matrix
umask 027
ok "a folder for some" aec -o few ../matrix
is "has these modes" "$(stat -c %a few few/Makefile | tr '\n' ' ')" "750 640 "
umask 022
cd .. || exit 1

gives "no schemas" 1 "aec: /bin/true: no schemas in it: not built by aecc, or nothing in it is traced; wscap captures any program" aec -b /bin/true
gives "no program" 1 "aec: nothing: No such file or directory" aec -b nothing
gives "no ELF file" 1 "aec: app.c: not an ELF file" aec -b app.c
gives "no folder" 2 "aec: -b, -o folder or --print-schema is missing; see aec --help" aec matrix
gives "a folder that cannot be made" 1 "aec: no/such: No such file or directory" aec -o no/such matrix
tap_end
