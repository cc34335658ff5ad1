/* Not traced: sets the processor's trap flag for a call. */
long stepped(long (*f)(long), long n);

long
stepped(long (*f)(long), long n)
{
	__asm__ volatile("sub $128, %%rsp; pushfq; orl $0x100, (%%rsp); popfq; add $128, %%rsp" ::: "cc", "memory");
	n = f(n);
	__asm__ volatile("sub $128, %%rsp; pushfq; andl $~0x100, (%%rsp); popfq; add $128, %%rsp" ::: "cc", "memory");
	return n;
}
