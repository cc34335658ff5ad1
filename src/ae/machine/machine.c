/* The machines there are. */
#include <string.h>
#include "ae/machine/machine.h"

#define M(folder) extern const struct machine *const machines_##folder[];
#include "machines.def"         /* made by the makefile: M(x86) M(mips) ... */
#undef M

static const struct machine *const *const folders[] = {
#define M(folder) machines_##folder,
#include "machines.def"
#undef M
};

#define NFOLDERS (sizeof folders / sizeof folders[0])

const struct machine *
machine_byname(const char *name)
{
	for (size_t i = 0; i < NFOLDERS; i++)
		for (const struct machine *const *m = folders[i]; *m; m++)
			if (strcmp((*m)->name, name) == 0)
				return *m;
	return NULL;
}

const struct machine *
machine_byelf(unsigned elf, unsigned elfclass, unsigned elfdata)
{
	for (size_t i = 0; i < NFOLDERS; i++)
		for (const struct machine *const *m = folders[i]; *m; m++)
			if (machine_iself(*m, elf, elfclass, elfdata))
				return *m;
	return NULL;
}

const struct machine *
machine_byschema(unsigned elf, unsigned big)
{
	for (size_t i = 0; i < NFOLDERS; i++)
		for (const struct machine *const *m = folders[i]; *m; m++)
			if ((*m)->elf == elf && (*m)->big == big)
				return *m;
	return NULL;
}
