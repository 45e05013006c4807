// SPDX-License-Identifier: GPL-2.0-or-later
/* Recursion, a callback from the library, allocation and strings, for ever. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline))

struct tree {
	struct tree *left, *right;
	unsigned key;
};

static unsigned seed = 1;

static unsigned next_random(void)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 8;
}

KEEP static struct tree *tree_add(struct tree *tree, unsigned key)
{
	if (!tree) {
		tree = calloc(1, sizeof(*tree));
		tree->key = key;
	} else if (key < tree->key) {
		tree->left = tree_add(tree->left, key);
	} else {
		tree->right = tree_add(tree->right, key);
	}
	return tree;
}

KEEP static void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	tree_free(tree->left);
	tree_free(tree->right);
	free(tree);
}

KEEP int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return x < y ? -1 : x > y;
}

KEEP unsigned sort_numbers(void)
{
	static unsigned numbers[5000];

	for (size_t i = 0; i < 5000; i++)
		numbers[i] = next_random();
	qsort(numbers, 5000, sizeof(*numbers), compare);
	return numbers[0];
}

KEEP unsigned format_words(void)
{
	char line[200];
	unsigned sum = 0;

	for (int i = 0; i < 500; i++) {
		snprintf(line, sizeof(line), "%d %s %08x %.3f", i, "words", next_random(), i / 3.0);
		sum += strlen(line) + (strstr(line, "99") != NULL);
	}
	return sum;
}

KEEP unsigned work(void)
{
	struct tree *tree = NULL;

	for (int i = 0; i < 3000; i++)
		tree = tree_add(tree, next_random());
	tree_free(tree);
	return sort_numbers() + format_words();
}

int main(void)
{
	volatile unsigned sum = 0;

	for (;;)
		sum += work();
}
