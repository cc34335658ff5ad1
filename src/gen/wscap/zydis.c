/*
 * Zydis is loaded when an instruction is decoded, which few runs of short programs need: that a program has a library
 * costs it a millisecond at each start.  The functions of Zydis that are called stand for those of the library.
 */
#ifdef ZYDIS_FILE               /* the library's name; without it, the linker takes what there is */
#include <dlfcn.h>
#include <Zydis/Zydis.h>

#include "base/diag.h"

/* A function of the library; NULL: it cannot be loaded, and nothing is an instruction. */
static void *
zydis_function(const char *name)
{
	static void *library;
	static int tried;

	if (!tried && (library = dlopen(ZYDIS_FILE, RTLD_LAZY)) == NULL)
		warn("%s: instructions cannot be decoded", dlerror());
	tried = 1;
	return library ? dlsym(library, name) : NULL;
}

#define CALL(name, params, args) \
	ZyanStatus name params \
	{ \
		static ZyanStatus (*f) params; \
		if (!f) \
			*(void **)&f = zydis_function(#name); \
		return f ? f args : ZYAN_STATUS_FAILED; \
	}

CALL(ZydisDecoderInit, (ZydisDecoder *d, ZydisMachineMode mode, ZydisStackWidth width), (d, mode, width))
CALL(ZydisDecoderEnableMode, (ZydisDecoder *d, ZydisDecoderMode mode, ZyanBool on), (d, mode, on))
CALL(ZydisDecoderDecodeInstruction,
    (const ZydisDecoder *d, ZydisDecoderContext *x, const void *p, ZyanUSize n, ZydisDecodedInstruction *z),
    (d, x, p, n, z))
CALL(ZydisDecoderDecodeFull,
    (const ZydisDecoder *d, const void *p, ZyanUSize n, ZydisDecodedInstruction *z,
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT]),
    (d, p, n, z, op))
CALL(ZydisCalcAbsoluteAddressEx,
    (const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op, ZyanU64 pc, const ZydisRegisterContext *r,
	ZyanU64 *addr),
    (z, op, pc, r, addr))
#else
typedef int zydis_is_linked;
#endif
