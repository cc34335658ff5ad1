#!/bin/sh
# Killed at any place: a capture replays up to there; when it is wscap, no process is left
. "$HERE/lib.sh"

# a program that spends most of its time stopped at an instruction that wscap executes for it
cat >ticks.c <<'END'
#include <unistd.h>
#include <x86intrin.h>
int main(void)
{
	unsigned long long n = 0;

	for (int i = 0; write(1, "ready\n", 6) == 6 && i < 1000000000; i++)
		for (;;)
			n += __rdtsc();
	return (int)n;
}
END
gcc -O1 -o ticks ticks.c || exit 1
bad=
for i in 1 2 3 4; do
	: >out
	wscap -o c.ws ./ticks >out 2>err &
	until grep -q ready out; do sleep 0.02; done
	read -r pid <"/proc/$!/task/$!/children"
	kill -9 "$pid"
	wait $! 2>/dev/null
	ws2addr -o /dev/null c.ws 2>err || bad="$bad$(head -n 1 err); "
	wsinfo c.ws | grep -q '^ended *killed by signal 9' || bad="$bad$i: no end; "
done
is "killed at rdtsc: the capture replays to its end" "$bad" ""

# Processes that share memory: a child is stopped and continued, and killed while it waits for its turn
cat >waits.c <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	volatile int *m = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int st, n = 0;

	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		while (!pid) {
			m[1]++;
			pause();
		}
		if (fork() == 0) {
			for (int k = 0; k < 20; k++) {
				kill(pid, SIGSTOP);
				sched_yield();
				kill(pid, SIGCONT);
				m[2]++;
			}
			kill(pid, SIGKILL);
			_exit(0);
		}
		waitpid(pid, &st, 0);
		n += WIFSIGNALED(st);
		wait(&st);
	}
	printf("%d killed\n", n);
	return 0;
}
END
gcc -O1 -o waits waits.c || exit 1
is "killed while it waits for its turn: the others go on" "$(timeout -s KILL 60 wscap -o c.ws ./waits 2>&1)" "20 killed"
is "so its run ends" "$(wsinfo c.ws | grep -c 'killed 9 ')" 20
bad=
for i in $(seq "$(wsinfo c.ws | awk '$1 == "runs" { print $2 + 0 }')"); do
	ws2addr -o /dev/null c.ws:"$i" 2>err || bad="$bad$(head -n 1 err); "
done
is "all are replayed" "$bad" ""

# wscap is killed while it tries in a child what the processor can do
[ -z "${SAN:-}" ] || { skip "a library is loaded before the sanitizers'"; tap_end; exit; }

# the child's kill(getpid(), SIGSTOP) kills wscap, and then stops the child
cat >stop.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int kill(pid_t pid, int sig)
{
	int fd;

	if (sig == SIGSTOP && (fd = open("child", O_WRONLY | O_CREAT, 0600)) >= 0) {
		dprintf(fd, "%d\n", (int)getpid());
		close(fd);
		syscall(SYS_kill, getppid(), SIGKILL);
	}
	return (int)syscall(SYS_kill, pid, sig);
}
END
gcc -shared -fPIC -o stop.so stop.c || exit 1
cat >random.c <<'END'
#include <immintrin.h>
__attribute__((target("rdrnd"))) int main(void) { unsigned n; return !_rdrand32_step(&n); }
END
gcc -O1 -o random random.c || exit 1
(LD_PRELOAD="$PWD/stop.so"; export LD_PRELOAD; exec wscap -o c.ws ./random) >out 2>&1
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
