/*
 * The length of most x86-64 instructions.  See length.h.
 *
 * The tables have what is an instruction with any operands, or nearly so; what is rare, depends on the processor
 * (branches with an operand-size prefix) or is not an instruction with some operands is left out.
 */
#include <string.h>

#include "isa/x86/length.h"

#define LONGEST 15u             /* bytes of an instruction */
#define LOCKED  "a12089+t"      /* with memory, these may have the lock prefix */

/* Prefixes, as sets: those that choose between instructions after 0f first. */
enum { NONE = 1, P66 = 2, PF3 = 4, PF2 = 8, LOCK = 16 };

/*
 * What follows an opcode of one byte:
 *   .  not known here            m  modrm                M  modrm, memory only
 *   n  nothing                   B  modrm, 1 byte        Z  modrm, 2 or 4 bytes
 *   s  the same, may repeat      b  1 byte               z  2 or 4 bytes
 *   h  2 bytes                   v  2, 4 or 8 bytes      q  8 bytes
 *   j  a branch, 1 byte          J  a branch, 4 bytes    a  modrm, as m
 *   R  modrm, register only      Q  the same, 1 byte      others: see length_group
 */
static const char one[257] =
    /* 0   1   2   3   4   5   6   7   8   9   a   b   c   d   e   f */
    "aammbz.." "aammbz.."       /* 00 */
    "aammbz.." "aammbz.."       /* 10 */
    "aammbz.." "aammbz.."       /* 20 */
    "aammbz.." "mmmmbz.."       /* 30 */
    "........" "........"       /* 40: REX */
    "nnnnnnnn" "nnnnnnnn"       /* 50 */
    "...m...." "zZbB...."       /* 60 */
    "jjjjjjjj" "jjjjjjjj"       /* 70 */
    "12.1mmaa" "mmmm.M.p"       /* 80 */
    "snnnnnnn" "nn.nnnnn"       /* 90 */
    "qqqqssss" "bzssssss"       /* a0 */
    "bbbbbbbb" "vvvvvvvv"       /* b0 */
    "44hs..56" ".n..n..."       /* c0 */
    "3333...." "7......."       /* d0 */
    "...j...." "JJ.j...."       /* e0 */
    ".....n89" "nn..nn0+";      /* f0 */

/* The same after 0f, and the prefixes with which it is one. */
static const struct { uint8_t from, to; char what; uint8_t with; } two[] = {
	{0x01, 0x01, 'x', NONE}, {0x05, 0x05, 'n', NONE}, {0x0b, 0x0b, 'n', NONE}, {0x10, 0x11, 'm', NONE | P66 | PF3 | PF2},
	{0x12, 0x12, 'm', NONE | PF3 | PF2}, {0x13, 0x13, 'M', NONE | P66}, {0x14, 0x15, 'm', NONE | P66},
	{0x16, 0x16, 'm', NONE | PF3}, {0x17, 0x17, 'M', NONE | P66}, {0x18, 0x18, 'f', NONE},
	{0x1f, 0x1f, 'm', NONE | P66},
	{0x28, 0x29, 'm', NONE | P66}, {0x2a, 0x2a, 'm', PF3 | PF2}, {0x2b, 0x2b, 'M', NONE | P66},
	{0x2c, 0x2d, 'm', PF3 | PF2}, {0x2e, 0x2f, 'm', NONE | P66}, {0x31, 0x31, 'n', NONE},
	{0x40, 0x4f, 'm', NONE | P66}, {0x51, 0x51, 'm', NONE | P66 | PF3 | PF2}, {0x52, 0x53, 'm', NONE | PF3},
	{0x54, 0x57, 'm', NONE | P66}, {0x58, 0x5a, 'm', NONE | P66 | PF3 | PF2}, {0x5b, 0x5b, 'm', NONE | P66 | PF3},
	{0x5c, 0x5f, 'm', NONE | P66 | PF3 | PF2}, {0x60, 0x6b, 'm', NONE | P66}, {0x6c, 0x6d, 'm', P66},
	{0x6e, 0x6e, 'm', NONE | P66}, {0x6f, 0x6f, 'm', NONE | P66 | PF3}, {0x70, 0x70, 'B', NONE | P66 | PF3 | PF2},
	{0x71, 0x72, 'u', NONE | P66}, {0x73, 0x73, 'U', P66}, {0x74, 0x76, 'm', NONE | P66}, {0x7c, 0x7d, 'm', P66 | PF2}, {0x7e, 0x7f, 'm', NONE | P66 | PF3},
	{0x80, 0x8f, 'J', NONE}, {0x90, 0x9f, 'm', NONE}, {0xa2, 0xa2, 'n', NONE}, {0xa3, 0xa3, 'm', NONE | P66},
	{0xa4, 0xa4, 'B', NONE | P66}, {0xa5, 0xa5, 'm', NONE | P66}, {0xab, 0xab, 'a', NONE | P66},
	{0xac, 0xac, 'B', NONE | P66}, {0xad, 0xad, 'm', NONE | P66}, {0xae, 0xae, 'e', NONE},
	{0xaf, 0xaf, 'm', NONE | P66}, {0xb0, 0xb1, 'a', NONE | P66}, {0xb3, 0xb3, 'a', NONE | P66}, {0xb6, 0xb7, 'm', NONE | P66},
	{0xb8, 0xb8, 'm', PF3}, {0xba, 0xba, 't', NONE | P66}, {0xbb, 0xbb, 'a', NONE | P66}, {0xbc, 0xbd, 'm', NONE | P66 | PF3},
	{0xbe, 0xbf, 'm', NONE | P66}, {0xc0, 0xc1, 'a', NONE | P66}, {0xc2, 0xc2, 'B', NONE | P66 | PF3 | PF2},
	{0xc3, 0xc3, 'M', NONE}, {0xc4, 0xc4, 'B', NONE | P66}, {0xc5, 0xc5, 'Q', NONE | P66}, {0xc6, 0xc6, 'B', NONE | P66}, {0xc8, 0xcf, 'n', NONE},
	{0xd0, 0xd0, 'm', P66 | PF2}, {0xd1, 0xd5, 'm', NONE | P66}, {0xd6, 0xd6, 'm', P66}, {0xd7, 0xd7, 'R', NONE | P66},
	{0xd8, 0xe5, 'm', NONE | P66}, {0xe6, 0xe6, 'm', P66 | PF3 | PF2}, {0xe7, 0xe7, 'M', NONE | P66},
	{0xe8, 0xef, 'm', NONE | P66}, {0xf1, 0xf6, 'm', NONE | P66}, {0xf8, 0xfe, 'm', NONE | P66},
};

/* An instruction that is being decoded: its bytes up to n, of which `at` were seen. */
struct length { const uint8_t *p; size_t n, at; unsigned with; int wide; };

/* With a byte `more` of immediate operand: the length, or 0. */
static unsigned
length_end(const struct length *l, unsigned more)
{
	return l->at + more <= l->n && l->at + more <= LONGEST ? (unsigned)l->at + more : 0;
}

/* Bytes of an operand that the operand-size prefix makes smaller. */
static unsigned
length_z(const struct length *l)
{
	return l->with & P66 && !l->wide ? 2 : 4;
}

/* modrm, and what it says; returns it, or -1: the instruction is cut. */
static int
length_modrm(struct length *l)
{
	unsigned m, mod, base;

	if (l->at >= l->n)
		return -1;
	m = l->p[l->at++];
	mod = m >> 6;
	if (mod == 3)
		return (int)m;
	base = m & 7;
	if (base == 4) {
		if (l->at >= l->n)
			return -1;
		base = l->p[l->at++] & 7;
	}
	if (mod == 1)
		l->at += 1;
	else if (mod == 2 || base == 5)
		l->at += 4;
	return (int)m;
}

/* Opcodes whose modrm chooses the instruction. */
static unsigned
length_group(struct length *l, char what)
{
	int m = length_modrm(l), reg = m >> 3 & 7, memory = m >= 0 && m < 0xc0;

	if (m < 0 || (l->with & LOCK && !memory))
		return 0;
	switch (what) {
	case '1':                       /* operations with a byte */
		return l->with & LOCK && reg == 7 ? 0 : length_end(l, 1);
	case '2':
		return l->with & LOCK && reg == 7 ? 0 : length_end(l, length_z(l));
	case '0':                       /* inc, dec */
		return reg > 1 ? 0 : length_end(l, 0);
	case '+':                       /* and near call, jump; push */
		if (reg > 1 && (l->with & (LOCK | P66) || reg == 3 || reg == 5 || reg == 7))
			return 0;
		return length_end(l, 0);
	case '8': case '9':             /* test; not, neg; multiplication, division */
		if (reg == 1 || (l->with & LOCK && reg != 2 && reg != 3))
			return 0;
		return length_end(l, reg ? 0 : what == '8' ? 1 : length_z(l));
	case 't':                       /* bit tests by a byte */
		return reg < 4 || (l->with & LOCK && reg == 4) ? 0 : length_end(l, 1);
	case 'x':                       /* xgetbv, xend, xtest, rdtscp */
		return m == 0xd0 || m == 0xd5 || m == 0xd6 || m == 0xf9 ? length_end(l, 0) : 0;
	case 'e':                       /* saves and loads of states, fences */
		return memory || m == 0xe8 || m == 0xf0 || m == 0xf8 ? length_end(l, 0) : 0;
	case 'f':                       /* prefetches */
		return memory && reg < 4 ? length_end(l, 0) : 0;
	case 'u': case 'U':             /* shifts of vectors */
		return memory || reg < 2 || (reg & 1 && what == 'u') || (!(reg & 2) && what == 'U') || reg == 5 ? 0 :
		    length_end(l, 1);
	case '4':                       /* shifts by a byte */
		return reg == 6 ? 0 : length_end(l, 1);
	case '3':                       /* by 1 or cl */
		return reg == 6 ? 0 : length_end(l, 0);
	case 'p':                       /* pop */
		return reg ? 0 : length_end(l, 0);
	case '5':                       /* mov */
		return reg ? 0 : length_end(l, 1);
	case '6':
		return reg ? 0 : length_end(l, length_z(l));
	case '7':                       /* floating point: d8 */
		return length_end(l, 0);
	}
	return 0;
}

static unsigned
length_operands(struct length *l, char what)
{
	int m;

	if (l->with & LOCK && !strchr(LOCKED, what))
		return 0;
	switch (what) {
	case 'n':
	case 's':
		return length_end(l, 0);
	case 'm': case 'M': case 'R': case 'Q': case 'a': case 'B': case 'Z':
		m = length_modrm(l);
		if (m < 0 || (m >= 0xc0 ? what == 'M' || l->with & LOCK : what == 'R' || what == 'Q'))
			return 0;
		return length_end(l, what == 'B' || what == 'Q' ? 1 : what == 'Z' ? length_z(l) : 0);
	case 'b':
		return length_end(l, 1);
	case 'h':
		return length_end(l, 2);
	case 'z':
		return length_end(l, length_z(l));
	case 'v':
		return length_end(l, l->wide ? 8 : length_z(l));
	case 'q':
		return length_end(l, 8);
	case 'j':
		return l->with & P66 ? 0 : length_end(l, 1);
	case 'J':
		return l->with & P66 ? 0 : length_end(l, 4);
	case '.':
		return 0;
	}
	return length_group(l, what);
}

/* After a VEX or EVEX prefix, or two bytes of opcode, with the number of the opcode's map. */
static unsigned
length_vector(struct length *l, unsigned map, int evex)
{
	unsigned op;

	if (l->at >= l->n || !map || map > (evex ? 6 : 3) || map == 4)
		return 0;
	op = l->p[l->at++];
	if (map == 1 && op == 0x77 && !evex)    /* vzeroupper */
		return length_end(l, 0);
	if (map == 1 && (op & 0xfe) == 0x84 && !evex)   /* branches of Knights Corner */
		return 0;
	if (length_modrm(l) < 0)
		return 0;
	return length_end(l, map == 3 || (map == 1 && ((op >= 0x70 && op <= 0x73) || op == 0xc2 ||
	    (op >= 0xc4 && op <= 0xc6))));
}

/* After 0f. */
static unsigned
length_two(struct length *l, int *assumed)
{
	/* index of the line of `two`, and 1; 0: none */
	static uint8_t line[256];
	unsigned with = l->with & (P66 | PF3 | PF2), i;

	if (!line[0x05])
		for (i = 0; i < sizeof(two) / sizeof(two[0]); i++)
			memset(line + two[i].from, (int)i + 1, two[i].to - two[i].from + 1u);
	if (l->at >= l->n)
		return 0;
	if (l->n - l->at >= 2 && !memcmp(l->p + l->at, "\x1e\xfa", 2) && l->with == PF3) {      /* endbr64 */
		l->at += 2;
		return length_end(l, 0);
	}
	if (l->p[l->at] == 0x38 || l->p[l->at] == 0x3a) {       /* three bytes of opcode, whatever they are */
		*assumed = 1;
		return length_vector(l, l->p[l->at++] == 0x38 ? 2 : 3, 0);
	}
	i = line[l->p[l->at++]];
	if (!i || !(two[i - 1].with & (with ? with : NONE)) || with & (with - 1))
		return 0;
	return length_operands(l, two[i - 1].what);
}

static unsigned
length_vex(struct length *l, unsigned op, int *assumed)
{
	unsigned map = op != 0xc5 && l->at < l->n ? l->p[l->at] & (op == 0x62 ? 7 : 31) : 1;

	l->at += op == 0x62 ? 3 : op == 0xc4 ? 2 : 1;
	*assumed = 1;
	return length_vector(l, map, op == 0x62);
}

unsigned
x86_length(const uint8_t *p, size_t n, int *assumed)
{
	struct length l = {.p = p, .n = n};
	unsigned op;

	for (;; l.at++) {
		if (l.at == n || l.at >= LONGEST)
			return 0;
		switch (p[l.at]) {
		case 0x66:
			l.with |= P66;
			continue;
		case 0xf3:
			l.with |= PF3;
			continue;
		case 0xf2:
			l.with |= PF2;
			continue;
		case 0xf0:
			l.with |= LOCK;
			continue;
		case 0x2e: case 0x36: case 0x3e: case 0x26: case 0x64: case 0x65:
			continue;
		}
		break;
	}
	if (p[l.at] == 0xc4 || p[l.at] == 0xc5 || p[l.at] == 0x62)
		return l.with & (P66 | PF3 | PF2 | LOCK) ? 0 : length_vex(&l, p[l.at++], assumed);
	if ((p[l.at] & 0xf0) == 0x40) {
		l.wide = p[l.at++] >> 3 & 1;
		if (l.at == n)
			return 0;
	}
	op = p[l.at++];
	if (op == 0x0f)
		return length_two(&l, assumed);
	if (l.with & (PF3 | PF2) && one[op] != 's')
		return 0;
	return length_operands(&l, one[op]);
}
