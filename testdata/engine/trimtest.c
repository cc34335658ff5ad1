/* trimtest in out every share [middle]: replay_trim with these options; says what came out */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "replay/guest/replay.h"

int
main(int argc, char **argv)
{
	struct trim_opts o = { .level = WS_QUICK, .write = ws_write_fd };
	struct trim_stats s;
	struct fault f;
	int out;

	if (argc < 5)
		return 2;
	o.middle = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 0;
	o.every = strtoull(argv[3], NULL, 10);
	o.share = (unsigned)strtoul(argv[4], NULL, 10);
	out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	o.arg = &out;
	if (out < 0 || replay_trim(argv[1], &o, &s, &f) != 0) {
		fprintf(stderr, "trimtest: %s\n", out < 0 ? "no file" : f.err);
		return 1;
	}
	printf("%llu keyframes, %s\n", (unsigned long long)s.keys, s.cut ? "cut off" : "whole");
	return 0;
}
