/*
 * A traced executable: what aec, ae2addr and addrdiff read from its ELF file and its debugging
 * information. Nothing is executed, or mapped at its own addresses.
 */
#ifndef TM_FORMAT_AE_EXE_H
#define TM_FORMAT_AE_EXE_H

#include <stddef.h>
#include <stdint.h>

#define EXE_IDMAX   32

struct exe_span { uint64_t addr, size; const uint8_t *p; };     /* p borrowed from the exe */
struct exe_sym { uint64_t addr, size; const char *name; };
/* A word of read-only data at addr that is to be `value` more than where the file is loaded */
struct exe_reloc { uint64_t addr, value; uint8_t *p; };
/* Code of a compilation unit; die: offset of its entry in .debug_info */
struct exe_unit { uint64_t addr, size, die; };
/* Code of a function that is inlined in another; up: index of the entry that contains it plus 1, or 0 */
struct exe_inlined { uint64_t addr, size; size_t up; const char *name; };
/* Those of the unit whose entry is at die: n of them from `from` on, by address */
struct exe_inlinings { uint64_t die; size_t from, n; };

struct exe {
	char err[160];                  /* the message after a failure */
	uint16_t machine;               /* ELF's number */
	uint8_t word, big;              /* bytes of its addresses; is it big-endian? */
	uint8_t moves;                  /* it is position independent */
	uint8_t library;                /* it is a shared library */
	uint8_t id[EXE_IDMAX];          /* build id */
	unsigned idlen;                 /* 0: it has none */
	const uint8_t *schema;          /* the units, in a row */
	size_t nschema;
	uint64_t schema_off;            /* their offset in the file */
	/* entries of aefn: three words, the first one is the function's address */
	const uint8_t *fn;
	size_t nfn;                     /* bytes */
	/* the parts of the address space that are in the file, by address, as the machine sees them */
	struct exe_span *image;
	size_t nimage;
	struct exe_span *ro;            /* the part that is data and never written, by address */
	size_t nro;
	struct exe_reloc *reloc;        /* by address; only of a file with schemas */
	size_t nreloc;
	struct exe_sym *sym;            /* functions by address */
	size_t nsym;
	struct exe_sym *exported;       /* those that other files can use, which stripped libraries still have */
	size_t nexported;
	struct exe_span *traced;        /* ranges of traced functions by address; p is NULL; see exe_traced */
	size_t ntraced;
	int fd;                         /* -1: none */
	uint8_t *bytes;                 /* the file, instead of fd; owned */
	void *elf, *dwarf;
	int dwarf_tried;
	struct exe_unit *unit;          /* by address; read with dwarf */
	size_t nunit, capunit;
	struct exe_inlined *inlined;    /* of the units in inlinings */
	size_t ninlined, capinlined;
	struct exe_inlinings *inlinings;        /* of units that were asked for; by die */
	size_t ninlinings, capinlinings;
	/* the file with this file's debugging information, which was split off; owned; NULL: none */
	struct exe *debug;
	void *joined;                   /* paths of files in relative folders; owned */
	void *source[2];                /* names in the source of symbols, without and with parameters; owned */
	int debug_tried;
	void *cfi;                      /* of .eh_frame, for format/debug; NULL: not read yet */
};

/*
 * Opens the executable at path. 0, or -1 with x->err set; exe_close may then be called, but need
 * not. A file without schemas opens (nschema is 0): exe_need_schema then gives the message.
 */
int exe_open(struct exe *x, const char *path);
int exe_open_mem(struct exe *x, uint8_t *p, size_t n);  /* the same of a file in memory, which becomes x's */
int exe_need_schema(struct exe *x);             /* 0, or -1 with x->err */
void exe_close(struct exe *x);

/* Copies n bytes of the file's image at addr: 1, or 0 if the file does not have all of them. */
int exe_image(const struct exe *x, uint64_t addr, void *buf, size_t n);
int exe_rodata(const struct exe *x, uint64_t addr, void *buf, size_t n);        /* only from ro */

/* relocate.c: for exe_open: finds what the loader adds its address to; as if that were 0. 0 or -1 */
int exe_read_relocs(struct exe *x);
/* The file's read-only data as it is when addresses are by `base` more than in the file. */
void exe_relocate(struct exe *x, uint64_t base);

/* The function symbol at or before pc that covers it; *off is the distance. NULL if there is none. */
const char *exe_func(const struct exe *x, uint64_t pc, uint64_t *off);
/* The exported function that covers pc. NULL if there is none. */
const char *exe_exported(const struct exe *x, uint64_t pc);
/*
 * names.c: the name of the function that pc is in, from the file's symbols, those that were split off, or
 * those that it exports, as symbol_source has it.  EXE_INLINED: if another function is inlined there, the name of that
 * one.  EXE_FULL: with types of parameters.  NULL: unknown.  The string lives as long as x.
 */
enum { EXE_INLINED = 1, EXE_FULL = 2 };
const char *exe_name(struct exe *x, uint64_t pc, unsigned how);
/* A symbol of x as symbol_source has it; it must live as long as x, as the result does. */
const char *exe_symbol_source(struct exe *x, const char *symbol, int full);
/*
 * The file under /usr/lib/debug with the symbols and the debugging information of a file that has none of
 * its own, by its build id; NULL: there is none.  It is opened once.
 */
struct exe *exe_debug(struct exe *x);
/*
 * The next variable with this name at or after symbol *at, which becomes the one after it: 1 with its
 * place, or 0: no more.  Begin with *at = 0.  thread: a thread-local one, with its offset in the block of these
 */
int exe_variable(struct exe *x, const char *name, int thread, size_t *at, uint64_t *addr, uint64_t *size);

/* Is pc in a function that has this name, by symbol_is, among others? */
int exe_in_function(struct exe *x, uint64_t pc, const char *name);
int exe_has_function(struct exe *x, const char *name);

/* The compilation unit that pc is in, by the file's own debugging information; NULL: there is none */
const struct exe_unit *exe_own_unit(struct exe *x, uint64_t pc);

/* lines.c, names.c; for exe_close */
void exe_lines_free(struct exe *x);
void exe_names_free(struct exe *x);

/* Calls fn with the entry of each compilation unit of the file's own debugging information, a Dwarf_Die. */
void exe_each_unit(struct exe *x, void (*fn)(void *arg, void *die), void *arg);

/*
 * The entry of the compilation unit that pc is in, a Dwarf_Die, also from a file that it was split off to: 0, or
 * -1: there is none
 */
int exe_unit(struct exe *x, uint64_t pc, void *die);

/*
 * Calls fn with each row of the line tables, also of a file that they were split off to.  begins: a statement of the
 * line begins there; other rows are of code that was moved, and of what is left of the line after such code.
 */
typedef void exe_row_fn(void *arg, const char *file, int line, uint64_t addr, int begins);
void exe_each_line(struct exe *x, exe_row_fn *fn, void *arg);

/*
 * 0: no line of this file, or of the one that its debugging information was split off to, is of a source file with
 * this name (without folders).  Does not read that information, which takes long where it is large and compressed.
 */
int exe_may_have_source(struct exe *x, const char *name);

/* File and line of pc; NULL without debugging information.  The string lives as long as x. */
const char *exe_line(struct exe *x, uint64_t pc, int *line);
/*
 * The same, with a file below the folder of its compilation as a path from there; after that folder if it is
 * relative, as systems' packages have it: "./elf/rtld.c"
 */
const char *exe_short_line(struct exe *x, uint64_t pc, int *line);
/* A file that the unit of pc names, in the same way; NULL stays NULL. */
const char *exe_short_file(struct exe *x, uint64_t pc, const char *file);

/* Is pc in a traced function? -1: the schemas are malformed (x->err). The first call reads them. */
int exe_traced(struct exe *x, uint64_t pc);

#endif
