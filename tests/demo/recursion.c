/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of the demonstration: queens on a board, a stack that goes up and down. */
#include <stdio.h>

#define SIDE 13

static unsigned long solutions;

static int attacked(const int *queens, int row, int column)
{
	for (int i = 0; i < row; i++)
		if (queens[i] == column || queens[i] - column == row - i ||
		    column - queens[i] == row - i)
			return 1;
	return 0;
}

static int place_queen(int *queens, int row)
{
	if (row == SIDE) {
		solutions++;
		return 1;
	}
	for (int column = 0; column < SIDE; column++) {
		queens[row] = column;
		if (!attacked(queens, row, column))
			solutions += place_queen(queens, row + 1) > SIDE;
	}
	return row;
}

int main(void)
{
	int queens[SIDE];

	for (;;) {
		place_queen(queens, 0);
		if (!solutions)
			puts("none");
	}
}
