/* Figure 1 of the paper: each element of the array is the sum of its coordinates. */
int a[100][100];
static void sub(int *x, int i);

int
main(void)
{
	int i;

	for (i = 0; i < 100; i = i + 1)
		sub(a[i], i);
	return a[3][4] != 7;
}

__attribute__((noinline)) static void
sub(int *x, int i)
{
	int j;

	for (j = 0; j < 100; j = j + 1)
		x[j] = i + j;
}
