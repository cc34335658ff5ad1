/* Reference streams, ref(5): what is read is written the same; the same words in pieces of any size. */
#include "base/in.h"
#include "format/ref/ref.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct in *in = in_mem(data, n, "memory");
	struct ref_reader r;
	uint64_t w[64];
	uint8_t room[64 * REF_PUT_MAX];
	size_t at = REF_HEADER;
	long k = -1;

	if (ref_open(&r, in) == 0)
		while ((k = ref_read(&r, w, fuzz_piece(data, n, r.nrec, 64))) > 0) {
			size_t len = ref_put(REF_ADDR, room, w, (size_t)k);

			if (len > n - at || memcmp(room, data + at, len) != 0)
				abort();
			at += len;
			for (int f = REF_LACKEY; f <= REF_TEXT; f++)
				if (ref_put((enum ref_format)f, room, w, (size_t)k) > sizeof room)
					abort();
		}
	if ((k < 0) != (r.err != NULL) || (k == 0 && at != n))
		abort();
	in_close(in);
	return 0;
}
