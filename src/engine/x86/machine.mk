# The machines of this folder, how the runtime of their programs is compiled: see GNUmakefile
MACHINES       += x86-64
FOLDER_x86-64   = x86
RTCC_x86-64     = $(CC)
RTAR_x86-64     = $(AR)
# it may touch no vector register
RTFLAGS_x86-64  = -fcf-protection=none -mgeneral-regs-only
