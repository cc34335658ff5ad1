/* What captures ask of ELF files of x86-64: build ids and symbols. */
#ifndef TM_FORMAT_WS_ELF_H
#define TM_FORMAT_WS_ELF_H

#include <stddef.h>
#include <stdint.h>

/* Finds the build id in n bytes of notes: its length, or 0: there is none.  *id is in them. */
size_t ws_elf_note_id(const uint8_t *note, size_t n, const uint8_t **id);

/* Has the file this build id?  1 also if it has none, or is no such file. */
int ws_elf_has_id(int fd, const uint8_t *id, size_t nid);

/* Has the file symbols of its own, which debugging information comes with? */
int ws_elf_has_symbols(int fd);

#endif
