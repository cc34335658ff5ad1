/* The second file of tls.c */
extern __thread long tls_far;
extern __thread int tls_array[10];
extern __thread long tls_here;
extern long *tls_address(int);

__thread long tls_far = 77;
__thread int tls_array[10] = { 1, 2, 3 };
static __thread long own;

long *
tls_address(int i)
{
	own += i;
	return i % 3 ? &tls_here : i % 2 ? &tls_far : &own;
}
