# The machines of this folder, how the runtime of their programs is compiled: see GNUmakefile
define mips
MACHINES       += $(1)
FOLDER_$(1)     = mips
RTCC_$(1)       = $(1)-linux-gnu-gcc
RTAR_$(1)       = $(1)-linux-gnu-ar
RTPKG_$(1)      = gcc-$(1)-linux-gnu libc6-dev-$(1)-cross
RTFLAGS_$(1)    = -mno-shared -G0
# calls go where they say and leave $gp alone
RTCORE_$(1)     = -mplt
endef
$(foreach m,mipsel mips,$(eval $(call mips,$(m))))
