/* Schemas, one after the other, with right checksums. */
#ifndef TESTDATA_SCHEMAMEND_H
#define TESTDATA_SCHEMAMEND_H

#include "base/bytes.h"
#include "format/schema/schema.h"

static inline void
schema_mend(uint8_t *p, size_t n)
{
	while (n >= SCH_HEADER) {
		size_t len = get_le32(p + 8), ncst = get_le32(p + 12);

		if (len > n || len < SCH_HEADER || ncst > (len - SCH_HEADER) / 16)
			return;
		sch_update_checksum(p);
		p += len;
		n -= len;
	}
}

#endif
