/* A file of words (base/words.h): each operand is a word, or `sum` where a section ends. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/words.h"

int
main(int argc, char **argv)
{
	struct words w = { .out = NULL };

	diag_init(argv[0], 1);
	w.out = out_open(NULL);
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "sum"))
			words_put_sum(&w);
		else
			words_put(&w, strtoull(argv[i], NULL, 0));
	out_close(w.out);
	return 0;
}
