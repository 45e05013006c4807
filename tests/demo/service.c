/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Part of the demonstration: a server that answers requests and is mostly idle, until it sorts
 * its list of prices again and again: the spike that the demonstration explains.
 *
 *	service FROM TO		the spike is between these seconds after the start
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PRICES	   1000
#define CUSTOMERS  4096
#define BATCH	   12000 /* requests per batch */
#define BATCH_NS   10000000
#define SPIKE_NS   60000000 /* of sorting before each answer to a batch */
#define ANSWER_MAX 64

struct price {
	char name[24];
	unsigned int cents;
};

static struct price prices[PRICES];
static uint32_t customers[CUSTOMERS];
static unsigned int sorts;

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

__attribute__((noinline)) static uint32_t find_customer(uint32_t number)
{
	uint32_t slot = number % CUSTOMERS;

	for (int probe = 0; probe < 24; probe++)
		slot = (slot * 31 + customers[slot] + 7) % CUSTOMERS;
	return customers[slot];
}

__attribute__((noinline)) static size_t format_answer(uint32_t customer, char *answer)
{
	const struct price *price = &prices[customer % PRICES];

	return (size_t)snprintf(answer, ANSWER_MAX, "%u: %s costs %u", customer, price->name,
				price->cents);
}

static int compare_prices(const void *a, const void *b)
{
	const struct price *x = a, *y = b;

	return strcmp(x->name, y->name);
}

__attribute__((noinline)) static void sort_price_list(void)
{
	uint32_t state = 1;

	for (size_t i = 0; i < PRICES; i++)
		snprintf(prices[i].name, sizeof(prices[i].name), "article-%06u",
			 next_random(&state) % 1000000);
	qsort(prices, PRICES, sizeof(prices[0]), compare_prices);
	sorts++; /* keeps the call above from becoming a jump */
}

__attribute__((noinline)) static size_t handle_request(uint32_t number)
{
	char answer[ANSWER_MAX];

	return format_answer(find_customer(number), answer);
}

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

__attribute__((noinline)) static size_t serve(double spike_from, double spike_to)
{
	const struct timespec pause = {.tv_nsec = BATCH_NS};
	struct timespec start;
	uint32_t state = 7;
	size_t sent = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (seconds_since(&start) < 3600) {
		double batch = seconds_since(&start);

		while (batch >= spike_from && batch < spike_to &&
		       (seconds_since(&start) - batch) * 1e9 < SPIKE_NS)
			sort_price_list();
		for (int i = 0; i < BATCH; i++)
			sent += handle_request(next_random(&state));
		nanosleep(&pause, NULL);
	}
	return sent;
}

int main(int argc, char **argv)
{
	uint32_t state = 3;

	for (size_t i = 0; i < CUSTOMERS; i++)
		customers[i] = next_random(&state);
	sort_price_list();
	printf("%u %zu\n", sorts,
	       serve(argc > 2 ? atof(argv[1]) : 20, argc > 2 ? atof(argv[2]) : 30));
	return 0;
}
