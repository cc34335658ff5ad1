# The machines of this folder, how the runtime of their programs is compiled: see GNUmakefile
MACHINES       += x86-64
FOLDER_x86-64   = x86
# by gcc also where $(CC) is clang, which keeps no register for a variable
RTCC_x86-64     = $(if $(findstring clang,$(CC)),gcc,$(CC))
RTAR_x86-64     = $(AR)
# it may touch no vector register; programs may be position independent
RTFLAGS_x86-64  = -fpie -Wa,-mrelax-relocations=no -fcf-protection=none -mgeneral-regs-only
