# Debian's gdb on a capture of a program with terabytes of address space: from what AddressSanitizer reports back to the culprit
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
here=yes
cat >far.c <<'C'
#include <stdlib.h>
#include <string.h>
static char *kept;
static void drop(char *p) { free(p); }
int
main(void)
{
	char *other = malloc(32);
	kept = malloc(32);
	strcpy(kept, "hello");
	drop(kept);
	drop(other);
	return kept[1];
}
C
$GCC -g -O0 -fsanitize=address -o far far.c 2>err || { skip "the compiler has no AddressSanitizer"; exit; }
export ASAN_OPTIONS=detect_leaks=0
wscap -o far.ws ./far >out 2>err
is "AddressSanitizer finds it" "$(grep -c 'ERROR: AddressSanitizer: heap-use-after-free' err)" 1
t=$(run_gdb far.ws 'break __asan_report_load1' continue 'bt' 'delete' 'break drop if p == kept' reverse-continue 'bt' delete \
	'watch kept' reverse-continue 'bt 1' 'p kept')
has "back from the report to the free, and to the malloc" "$t" '^Breakpoint 1, ' '^#.*main () at far.c:13' \
	'^Breakpoint 2, drop' '^#1 .*main () at far.c:11' '^Old value = 0x' '^New value = 0x0' '^#0 .*main () at far.c:9' '= 0x0'
tap_end
