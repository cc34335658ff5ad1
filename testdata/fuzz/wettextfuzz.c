/*
 * WET text, wettext(5): what is canonical comes out of the writers byte for byte; the same as a
 * .wet file and back.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/in.h"
#include "wet/file/file.h"
#include "wet/print/print.h"
#include "format/wettext/wettext.h"
#include "fuzz.h"

/* Everything that is handed over is looked at */
static uint64_t
touch(const struct wettext_rec *r, int got)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->n; i++)
		switch (got) {
		case WETTEXT_DEPS:
			sum += r->dep[i].x + r->dep[i].id + r->dep[i].instance;
			break;
		case WETTEXT_VALUES:
			for (uint32_t k = 0; k < r->value[i].nword; k++)
				sum += r->value[i].word[k] + r->value[i].x;
			break;
		default:
			sum += r->step[i].id + r->step[i].count;
			break;
		}
	return sum;
}

static void
read_text(const uint8_t *data, size_t n, unsigned how)
{
	struct in *in = in_mem(data, n, "memory");
	struct wettext *r = wettext_open(in, how);
	struct wettext_rec rec;
	volatile uint64_t sum = 0;
	int got;

	while (r && (got = wettext_next(r, &rec)) > 0)
		sum += got == WETTEXT_BLOCK ? strlen(rec.block.file) + strlen(rec.block.func) :
		    touch(&rec, got);
	(void)sum;
	if (r && got < 0 && (!wettext_fault(r)->err[0] ||
	    !memchr(wettext_fault(r)->err, 0, sizeof wettext_fault(r)->err)))
		abort();
	wettext_close(r);
	in_close(in);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	read_text(data, n, 0);
	read_text(data, n, WETTEXT_STRICT);
	return 0;
}
