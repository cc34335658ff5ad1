# Instruction by instruction the replay is what ptrace sees: a program without libraries, and a dynamic one
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }
if setarch -R true 2>/dev/null; then :; else skip "addresses cannot be kept the same here"; exit 0; fi

# one NAME COMMAND ...: every address, repeated string instructions once
one() {
	name=$1
	shift
	env -i ASAN_OPTIONS="$ASAN_OPTIONS" setarch -R "$BUILD/test/wsstep" "$@" >step.out 2>step.err </dev/null
	status=$?
	env -i ASAN_OPTIONS="$ASAN_OPTIONS" setarch -R "$BUILD/bin/wscap" -o s.ws "$@" >cap.out 2>cap.err </dev/null
	is "$name: status" $? $status
	same "$name: output" step.out cap.out
	ws2addr -f text s.ws 2>err | awk '$1 == "inst" && $2 != last { print last = $2 }' >replay
	is "$name: replays" "$(cat err)" ""
	same "$name: $(wc -l <pcs | tr -d ' ') instructions" pcs replay
}

${CC:-gcc} -nostdlib -static "$HERE/tiny.s" -o tiny
one static "$PWD/tiny"
one dynamic "$(command -v true)"
cat >p.c <<'P'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int by(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
int main(int argc, char **argv)
{
	char *v[64];
	for (int i = 0; i < 64; i++) {
		v[i] = malloc(40);
		snprintf(v[i], 40, "%x %.3f", i * 2654435761u, i / 7.0);
	}
	qsort(v, 64, sizeof *v, by);
	for (int i = 0; i < 64; i += 16)
		puts(v[i]);
	return argc > 9 && argv;
}
P
${CC:-gcc} -O2 p.c -o p && one library "$PWD/p"
tap_end
