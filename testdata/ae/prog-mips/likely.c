/*
 * Branch-likely instructions: the slot is executed only if the branch is taken.  Loads, stores and address arithmetic
 * in the slots, both ways, all kinds of condition; loops that turn on them.
 * targets: mipsel mips
 */
#include <stdio.h>
#include <stdlib.h>

static unsigned long sum;
unsigned cells[64];
struct node { struct node *next; int v; };
static struct node nodes[16];

static void mix(unsigned long v) { sum = sum * 31 + v; }

extern unsigned kinds(unsigned *p, int x, int y);
extern unsigned turns(unsigned *p, int n);
extern unsigned list(struct node *p);
extern unsigned floats(float a, float b, unsigned *p);
extern unsigned links(unsigned *p, int x);

#define FUNC(name, body) \
    "	.align	2\n	.globl	" #name "\n	.type	" #name ", @function\n	.ent	" #name "\n" \
    #name ":\n" body "	.end	" #name "\n	.size	" #name ", . - " #name "\n"

__asm__(
    "	.text\n	.set	push\n	.set	noreorder\n	.set	nomacro\n"
    FUNC(kinds,
	"	move	$2, $0\n"
	"	move	$8, $4\n"
	"	beql	$5, $6, 1f\n"
	"	lw	$2, 4($4)\n"
	"	sw	$5, 8($4)\n"
	"1:	bnel	$5, $6, 1f\n"
	"	addiu	$8, $4, 16\n"           /* the address depends on whether it ran */
	"	addiu	$2, $2, 1\n"
	"1:	lw	$9, 0($8)\n"
	"	addu	$2, $2, $9\n"
	"	blezl	$5, 1f\n"
	"	sw	$2, 12($4)\n"
	"	addiu	$2, $2, 3\n"
	"1:	bgtzl	$5, 1f\n"
	"	lbu	$9, 13($4)\n"
	"	addiu	$9, $9, 5\n"
	"1:	bltzl	$6, 1f\n"
	"	sb	$9, 1($8)\n"
	"	lh	$9, 2($8)\n"
	"1:	bgezl	$6, 1f\n"
	"	sh	$9, 18($8)\n"
	"	nop\n"
	"1:	addu	$2, $2, $9\n"
	"	beql	$2, $0, 1f\n"            /* to behind the slot */
	"	lw	$2, 0($4)\n"
	"1:	bnel	$2, $2, 1f\n"            /* never taken */
	"	sw	$2, 0($0)\n"
	"	beql	$2, $2, 1f\n"            /* always */
	"	sw	$2, 40($4)\n"
	"	break\n"
	"1:	jr	$31\n"
	"	nop\n")
    FUNC(turns,
	"	move	$2, $0\n"
	"	lw	$8, 0($4)\n"
	"1:	addu	$2, $2, $8\n"
	"	addiu	$5, $5, -1\n"
	"	addiu	$4, $4, 4\n"
	"	bgtzl	$5, 1b\n"
	"	lw	$8, 0($4)\n"             /* the next turn's load */
	"	jr	$31\n"
	"	sw	$2, 0($4)\n")
    FUNC(list,
	"	beql	$4, $0, 2f\n"
	"	li	$2, -1\n"
	"	move	$2, $0\n"
	"1:	lw	$8, 4($4)\n"
	"	lw	$4, 0($4)\n"
	"	bnel	$4, $0, 1b\n"
	"	addu	$2, $2, $8\n"
	"2:	jr	$31\n"
	"	nop\n")
    FUNC(floats,
	"	c.lt.s	$f12, $f14\n"
	"	bc1tl	1f\n"
	"	lwc1	$f12, 0($6)\n"
	"	swc1	$f14, 4($6)\n"
	"1:	c.eq.s	$f12, $f12\n"
	"	bc1fl	1f\n"
	"	swc1	$f12, 8($6)\n"
	"	lw	$2, 4($6)\n"
	"1:	jr	$31\n"
	"	lw	$3, 8($6)\n")
    FUNC(links,
	"	addiu	$29, $29, -32\n"
	"	sw	$31, 28($29)\n"
	"	move	$2, $0\n"
	"	bgezall	$5, leaf\n"
	"	lw	$6, 0($4)\n"
	"	addu	$3, $2, $6\n"
	"	bltzall	$5, leaf\n"
	"	lw	$6, 8($4)\n"
	"	bal	leaf\n"
	"	addiu	$6, $3, 5\n"
	"	lw	$31, 28($29)\n"
	"	jr	$31\n"
	"	addiu	$29, $29, 32\n")
    FUNC(leaf,
	"	sw	$6, 12($4)\n"
	"	jr	$31\n"
	"	addu	$2, $2, $6\n")
    "	.set	pop\n");

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 20;

	for (int i = 0; i < 16; i++) {
		nodes[i].v = i * 3;
		nodes[i].next = i % 5 == 4 ? NULL : &nodes[(i + 1) % 16];
	}
	for (int i = 0; i < n; i++) {
		cells[i & 63] = (unsigned)i * 0x01030507u;
		mix(kinds(cells + (i & 7), i % 7 - 3, i % 3 - 1));
		mix(turns(cells, 1 + i % 9));
		mix(list(i % 6 == 5 ? NULL : &nodes[i & 15]));
		mix(floats(i * 0.5f, 4, cells + 3));
		mix(links(cells + (i & 3), i % 5 - 2));
	}
	printf("%08lx\n", sum);
	return 0;
}
