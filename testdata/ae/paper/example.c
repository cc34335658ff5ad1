/* Figure 1 of the abstract-execution paper (Larus 1990), with its types spelt out: each element becomes the sum of its coordinates. */
extern int a[100][100];
extern void sub(int x[], int i);

int a[100][100];

void
sub(int x[], int i)
{
	int j;

	for (j = 0; j < 100; j = j + 1)
		x[j] = i + j;
}

int
main(void)
{
	int i;

	for (i = 0; i < 100; i = i + 1)
		sub(a[i], i);
	return 0;
}
