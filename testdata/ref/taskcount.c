/*
 * taskcount: how many task switches are in the reference stream of standard input, whose header has 16 bytes. The text of millions
 * of references, of which grep would count them, takes seconds.
 */
#include <stdio.h>

#include "base/bytes.h"
#include "format/ref/ref.h"

int
main(void)
{
	static uint8_t b[8 << 13];
	unsigned long tasks = 0;
	size_t n;

	if (fread(b, 16, 1, stdin) != 1)
		return 1;
	while ((n = fread(b, 8, sizeof b / 8, stdin)) > 0)
		for (size_t i = 0; i < n; i++)
			tasks += ref_kind(get_le64(b + 8 * i)) == REF_TASK;
	printf("%lu\n", tasks);
	return ferror(stdin) != 0;
}
