#!/bin/sh
# What is left when wscap is killed: nothing, also while it tries in a child what the processor can do
. "$HERE/lib.sh"
[ -z "${SAN:-}" ] || { skip "a library is loaded before the sanitizers'"; tap_end; exit; }

# the child's raise(SIGSTOP) kills wscap, and then stops the child
cat >raise.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int raise(int sig)
{
	FILE *f;

	if (sig == SIGSTOP && (f = fopen("child", "w")) != NULL) {
		fprintf(f, "%d\n", (int)getpid());
		fclose(f);
		kill(getppid(), SIGKILL);
	}
	return kill(getpid(), sig);
}
END
gcc -shared -fPIC -o raise.so raise.c || exit 1
cat >random.c <<'END'
#include <immintrin.h>
__attribute__((target("rdrnd"))) int main(void) { unsigned n; return !_rdrand32_step(&n); }
END
gcc -O1 -o random random.c || exit 1
(LD_PRELOAD="$PWD/raise.so"; export LD_PRELOAD; exec wscap -o c.ws ./random) >out 2>&1
is "wscap is killed" "$?" 137
if read -r pid <child; then
	for i in 1 2 3 4 5 6 7 8 9 10; do
		state=$(sed -n 's/^State:[^A-Z]*\(.\).*/\1/p' "/proc/$pid/status" 2>/dev/null)
		case $state in '' | Z | X) state=; break ;; esac
		sleep 0.2
	done
	is "and its child does not stay" "$state" ""
	[ -z "$state" ] || kill -9 "$pid"
fi
tap_end
