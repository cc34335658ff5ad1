volatile long guard[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
long with_r15(long (*f)(long), long n, volatile long *r15);

__asm__(".text\n\t.globl\twith_r15\n\t.type\twith_r15, @function\nwith_r15:\n\tpushq\t%r15\n\tmovq\t%rdi, %rax\n\t"
    "movq\t%rsi, %rdi\n\tmovq\t%rdx, %r15\n\tcall\t*%rax\n\tpopq\t%r15\n\tret\n\t.size\twith_r15, .-with_r15");
