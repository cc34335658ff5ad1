/* .wet files that were changed, with checksums that are right all the same; for fuzzers. */
#ifndef TM_TESTDATA_WETMEND_H
#define TM_TESTDATA_WETMEND_H

#include <zlib.h>

#include "base/bytes.h"
#include "format/wetfile/wetfile.h"

/* Right checksums everywhere */
static inline void
mend(uint8_t *p, size_t n)
{
	size_t off = WETFILE_HEADER;

	if (n < off)
		return;
	put_le32(p + 12, (uint32_t)crc32(0, p, 12));
	while (n - off >= WETFILE_SECTION) {
		uint8_t *h = p + off;
		uint64_t len = get_le64(h + 8);

		off += WETFILE_SECTION;
		if (len <= n - off)
			put_le32(h + 16, (uint32_t)crc32_z(0, p + off, len));
		put_le32(h + 20, (uint32_t)crc32(0, h, 20));
		if (len > n - off)
			return;
		off += len;
	}
}

#endif
