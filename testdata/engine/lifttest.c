/* Instructions with prefixes that the x86-64 lifter must not take for those without */
#include <string.h>

#include "../check.h"
#include "isa/x86/lift.h"

/* What x86_lift says of it, "" for nothing */
static const char *
lift(const char *bytes, size_t n, struct insn *in)
{
	uint8_t p[16] = { 0 }, rel[16] = { 0 };
	const char *why;

	memcpy(p, bytes, n);
	why = x86_lift(p, n, rel, in);
	return why ? why : "";
}

#define LIFT(bytes) lift(bytes, sizeof bytes - 1, &in)

int
main(void)
{
	struct insn in;

	CHECK("push imm8, imm32", !*LIFT("\x6a\x01") && in.nref == 1 && !*LIFT("\x68\x01\x02\x03\x04"));
	CHECK("push imm of 16 bits", !strcmp(LIFT("\x66\x6a\x01"), "16-bit push") &&
	    !strcmp(LIFT("\x66\x68\x01\x02"), "16-bit push"));
	CHECK("push and pop of 16-bit registers and memory", !strcmp(LIFT("\x66\x50"), "16-bit push") &&
	    !strcmp(LIFT("\x66\xff\x30"), "16-bit push") &&
	    !strcmp(LIFT("\x66\x58"), "16-bit pop") && !strcmp(LIFT("\x66\x8f\x00"), "16-bit pop"));
	CHECK("leave", !*LIFT("\xc9") && in.nref == 1 && !strcmp(LIFT("\x66\xc9"), "16-bit leave"));
	CHECK("string instructions", !*LIFT("\xa4") && in.nref == 2 && !*LIFT("\xf3\xa5") && in.rep &&
	    !*LIFT("\xac"));
	CHECK("of another segment", *LIFT("\x64\xa4") && *LIFT("\xf3\x65\x48\xa5") && *LIFT("\x64\xac") &&
	    *LIFT("\xf3\x64\xa6"));
	CHECK("stos and scas have none, ds is none", !*LIFT("\x64\xaa") && !*LIFT("\xf3\x65\xae") &&
	    !*LIFT("\x3e\xa4"));
	return check_end();
}
