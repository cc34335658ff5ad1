/*
 * polyd: tilings of a rectangle with the twelve pentominoes, by depth-first search at the first empty cell.
 *
 *   polyd [rows [limit]]       rows 3, 4, 5 or 6; stop after so many placements (0: never)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXFORM 8
#define WIDE 32                 /* a row of the board, with a border */

struct form { int cell[4]; };   /* where the other four cells are, from the first */
struct piece { char name; int nform; struct form form[MAXFORM]; };

static const char *const shape[12] = {
	"F.XX/XX/.X", "IXXXXX", "LXXXX/X", "NXX/.XXX", "PXX/XX/X", "TXXX/.X/.X",
	"UX.X/XXX", "VX/X/XXX", "WX/XX/.XX", "X.X/XXX/.X", "YXXXX/.X", "ZXX/.X/.XX",
};

static struct piece piece[12];
static char board[WIDE * 12];
static int used[12], rows, columns;
static long placed, limit, solutions;
static unsigned sum;

struct point { int r, c; };

static int
by_place(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	return p->r != q->r ? p->r - q->r : p->c - q->c;
}

static void
add_form(struct piece *p, struct point *pt)
{
	struct form f;

	qsort(pt, 5, sizeof *pt, by_place);
	for (int i = 1; i < 5; i++)
		f.cell[i - 1] = (pt[i].r - pt[0].r) * WIDE + pt[i].c - pt[0].c;
	for (int i = 0; i < p->nform; i++)
		if (memcmp(&p->form[i], &f, sizeof f) == 0)
			return;
	p->form[p->nform++] = f;
}

static void
make_pieces(void)
{
	for (int k = 0; k < 12; k++) {
		struct point pt[5];
		int n = 0, r = 0, c = 0;

		piece[k].name = shape[k][0];
		for (const char *s = shape[k] + 1; *s; s++, c++) {
			if (*s == 'X')
				pt[n++] = (struct point){ r, c };
			else if (*s == '/')
				r++, c = -1;
		}
		for (int turn = 0; turn < 8; turn++) {
			add_form(&piece[k], pt);
			for (int i = 0; i < 5; i++)
				pt[i] = (struct point){ pt[i].c, -pt[i].r };
			if (turn == 3)
				for (int i = 0; i < 5; i++)
					pt[i].c = -pt[i].c;
		}
	}
}

static void
solved(const char *b)
{
	solutions++;
	for (int r = 0; r < rows; r++)
		for (int c = 0; c < columns; c++)
			sum = sum * 31 + (unsigned char)b[(r + 1) * WIDE + c + 5];
}

static int
fits(const char *at, const struct form *f)
{
	return !at[f->cell[0]] && !at[f->cell[1]] && !at[f->cell[2]] && !at[f->cell[3]];
}

static void
put(char *at, const struct form *f, char c)
{
	at[0] = c;
	for (int i = 0; i < 4; i++)
		at[f->cell[i]] = c;
}

static void
search(char *at, int left)
{
	if (left == 0) {
		solved(board);
		return;
	}
	while (*at)
		at++;
	for (int k = 0; k < 12; k++) {
		if (used[k])
			continue;
		used[k] = 1;
		for (int i = 0; i < piece[k].nform; i++) {
			const struct form *f = &piece[k].form[i];

			if (!fits(at, f))
				continue;
			if (limit && placed >= limit)
				break;
			placed++;
			put(at, f, piece[k].name);
			search(at, left - 1);
			put(at, f, 0);
		}
		used[k] = 0;
	}
}

int
main(int argc, char **argv)
{
	rows = argc > 1 ? atoi(argv[1]) : 6;
	limit = argc > 2 ? atol(argv[2]) : 1000;
	if (rows < 3 || rows > 6)
		return 2;
	columns = 60 / rows;
	make_pieces();
	memset(board, '#', sizeof board);
	for (int r = 0; r < rows; r++)
		memset(board + (r + 1) * WIDE + 5, 0, (size_t)columns);
	search(board, 12);
	printf("%d x %d: %ld placements, %ld solutions, %08x\n", rows, columns, placed, solutions, sum);
	return 0;
}
