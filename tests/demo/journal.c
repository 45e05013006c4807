/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Part of the demonstration: slow though idle. Clerks take orders under a lock, and a writer holds
 * the same lock while it waits for the disk. No thread uses the CPU for long, and orders are slow.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLERKS	   3
#define PAUSE_US   500
#define RECORD	   65536
#define RECORDS	   32 /* of a sync */
#define FILE_BYTES (32 << 20)
#define MAX_ORDERS 1000000000ul

static pthread_mutex_t book = PTHREAD_MUTEX_INITIALIZER;
static unsigned long orders;
static char record[RECORD];
static int file;
static off_t at;

__attribute__((noinline)) static bool wait_for_disk(void)
{
	return fsync(file) == 0;
}

__attribute__((noinline)) static bool save_book(void)
{
	bool saved = true;

	pthread_mutex_lock(&book);
	for (int i = 0; i < RECORDS; i++, at = (at + RECORD) % FILE_BYTES)
		saved = saved && pwrite(file, record, RECORD, at) == RECORD;
	saved = wait_for_disk() && saved;
	pthread_mutex_unlock(&book);
	return saved;
}

__attribute__((noinline)) static unsigned long take_order(void)
{
	unsigned long order;

	pthread_mutex_lock(&book);
	order = ++orders;
	pthread_mutex_unlock(&book);
	return order;
}

static void *clerk(void *arg)
{
	while (take_order() < MAX_ORDERS)
		usleep(PAUSE_US);
	return arg;
}

int main(void)
{
	char path[] = "/var/tmp/journal.XXXXXX";
	pthread_t threads[CLERKS];

	file = mkstemp(path);
	if (file < 0) {
		perror(path);
		return EXIT_FAILURE;
	}
	unlink(path);
	for (int i = 0; i < CLERKS; i++)
		if (pthread_create(&threads[i], NULL, clerk, NULL))
			return EXIT_FAILURE;
	while (save_book())
		usleep(PAUSE_US);
	return EXIT_FAILURE;
}
