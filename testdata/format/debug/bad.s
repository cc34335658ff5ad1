# Debugging information that goes round in circles: expressions, types and the order of entries
	.text
	.globl _start
	.type _start, @function
_start:
	.fill 4096, 1, 0x90
	ret
.Lend:
	.size _start, .-_start
	.section .debug_abbrev,"",@progbits
	.uleb128 1; .uleb128 0x11; .byte 1		# unit: low, high
	.uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7; .uleb128 0; .uleb128 0
	.uleb128 2; .uleb128 0x2e; .byte 1		# function: name, low, high, frame base
	.uleb128 3; .uleb128 8; .uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7; .uleb128 0x40; .uleb128 0x18; .uleb128 0; .uleb128 0
	.uleb128 3; .uleb128 0x34; .byte 0		# variable: name, type, location
	.uleb128 3; .uleb128 8; .uleb128 0x49; .uleb128 0x13; .uleb128 2; .uleb128 0x18; .uleb128 0; .uleb128 0
	.uleb128 4; .uleb128 0x16; .byte 0		# typedef: type
	.uleb128 0x49; .uleb128 0x13; .uleb128 0; .uleb128 0
	.uleb128 5; .uleb128 0x13; .byte 1		# structure: size
	.uleb128 0xb; .uleb128 0xb; .uleb128 0; .uleb128 0
	.uleb128 6; .uleb128 0xd; .byte 0		# member: name, type, offset
	.uleb128 3; .uleb128 8; .uleb128 0x49; .uleb128 0x13; .uleb128 0x38; .uleb128 0xb; .uleb128 0; .uleb128 0
	.uleb128 7; .uleb128 1; .byte 1			# array: type
	.uleb128 0x49; .uleb128 0x13; .uleb128 0; .uleb128 0
	.uleb128 8; .uleb128 0x21; .byte 0		# subrange: type, count, sibling
	.uleb128 0x49; .uleb128 0x13; .uleb128 0x37; .uleb128 0xb; .uleb128 1; .uleb128 0x13; .uleb128 0; .uleb128 0
	.uleb128 9; .uleb128 0x39; .byte 1		# namespace: sibling
	.uleb128 1; .uleb128 0x13; .uleb128 0; .uleb128 0
	.byte 0
	.section .debug_info,"",@progbits
.Lu:	.long .Lue-.Lus
.Lus:	.value 5
	.byte 1, 8
	.long 0
	.uleb128 1; .quad _start; .quad .Lend-_start
	.uleb128 2; .string "f"; .quad _start; .quad .Lend-_start
	.uleb128 2; .byte 0x91, 0			# the frame base is where the frame base says
	.uleb128 3; .string "base"; .long .Lstruct-.Lu; .uleb128 2; .byte 0x91, 0
	.uleb128 3; .string "loop"; .long .Lstruct-.Lu; .uleb128 4; .byte 0x30, 0x2f; .value -4
	.uleb128 3; .string "own"; .long .Lstruct-.Lu; .uleb128 9; .byte 0x3; .quad _start
	.uleb128 3; .string "cycle"; .long .Ltypedef-.Lu; .uleb128 9; .byte 0x3; .quad _start
	.uleb128 3; .string "arrays"; .long .Larray-.Lu; .uleb128 9; .byte 0x3; .quad _start
	.uleb128 3; .string "back"; .long .Lback-.Lu; .uleb128 9; .byte 0x3; .quad _start
	.byte 0
.Ltypedef: .uleb128 4; .long .Ltypedef-.Lu
.Lstruct: .uleb128 5; .byte 8
	.rept 40
	.uleb128 6; .string "m"; .long .Lstruct-.Lu; .byte 0
	.endr
	.byte 0
.Larray: .uleb128 7; .long .Larray-.Lu
.Lsub:	.uleb128 8; .long .Lstruct-.Lu; .byte 2; .long .Lsubend-.Lu
.Lsubend: .byte 0
.Lback:	.uleb128 7; .long .Lstruct-.Lu
.Lbsub:	.uleb128 8; .long .Lstruct-.Lu; .byte 2; .long .Lbsub-.Lu
	.byte 0
	.byte 0
.Lue:
