/* ELF files: build ids and symbols. */
#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "format/ws/elf.h"

#define NOTES 4096u             /* bytes of a segment of notes that are looked at */
#define BUILD_ID 3u             /* type of a note */

size_t
ws_elf_note_id(const uint8_t *note, size_t n, const uint8_t **id)
{
	size_t at = 0;

	while (at + 12 <= n) {
		uint64_t name = get_le32(note + at), desc = get_le32(note + at + 4);
		uint64_t data = at + 12 + (name + 3) / 4 * 4;

		if (data + desc > n)
			break;
		if (get_le32(note + at + 8) == BUILD_ID && name == 4) {
			*id = note + data;
			return (size_t)desc;
		}
		at = data + (desc + 3) / 4 * 4;
	}
	return 0;
}

int
ws_elf_has_id(int fd, const uint8_t *id, size_t nid)
{
	uint8_t h[64], ph[56], note[NOTES];
	unsigned n;

	if (pread(fd, h, sizeof h, 0) != (ssize_t)sizeof h || memcmp(h, "\177ELF\2\1", 6) != 0)
		return 1;
	n = get_le16(h + 56);
	for (unsigned i = 0; i < n && i < 256; i++) {
		const uint8_t *has;
		size_t size;
		ssize_t got;

		if (pread(fd, ph, sizeof ph, (off_t)(get_le64(h + 32) + i * sizeof ph)) != (ssize_t)sizeof ph)
			break;
		if (get_le32(ph) != PT_NOTE)
			continue;
		size = get_le64(ph + 32) < NOTES ? (size_t)get_le64(ph + 32) : NOTES;
		got = pread(fd, note, size, (off_t)get_le64(ph + 8));
		size = ws_elf_note_id(note, got > 0 ? (size_t)got : 0, &has);
		if (size)
			return size == nid && memcmp(has, id, nid) == 0;
	}
	return 1;
}

int
ws_elf_has_symbols(int fd)
{
	Elf64_Ehdr e;
	Elf64_Shdr s;

	if (pread(fd, &e, sizeof e, 0) != (ssize_t)sizeof e || memcmp(e.e_ident, "\177ELF\2\1", 6) != 0 ||
	    e.e_shentsize != sizeof s)
		return 0;
	for (unsigned i = 0; i < e.e_shnum; i++)
		if (pread(fd, &s, sizeof s, (off_t)(e.e_shoff + i * sizeof s)) == (ssize_t)sizeof s &&
		    s.sh_type == SHT_SYMTAB)
			return 1;
	return 0;
}
