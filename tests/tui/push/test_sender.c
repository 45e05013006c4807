/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread that sends, with a server that takes, refuses, is busy, finds requests too large,
 * resets connections or hangs: all samples arrive or are counted, what is sent again is the same,
 * and the end waits for no server.
 * Covers: tui/push/sender.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/base/clock.h"
#include "tests/support/httpserver.h"
#include "tests/support/protoread.h"
#include "tests/support/randommodel.h"
#include "tests/support/rights.h"
#include "tests/support/scratch.h"
#include "tests/support/shell.h"
#include "tui/net/http.h"
#include "tui/profile/board.h"
#include "tui/push/pack.h"
#include "tui/push/queue.h"
#include "tui/push/sender.h"

#define KEPT 4096u

/* Nothing here says how fast, only that it comes. */
#define WAIT(condition)                                                                            \
	do {                                                                                       \
		uint64_t until_ = clock_ns(CLOCK_MONOTONIC) + 60 * CLOCK_NS_PER_SEC;               \
		while (!(condition)) {                                                             \
			if (clock_ns(CLOCK_MONOTONIC) > until_)                                    \
				fail_msg("never: %s", #condition);                                 \
			usleep(2000);                                                              \
		}                                                                                  \
	} while (0)

/* --- what the server does, and what it has seen ------------------------------------------------
 */

struct seen {
	char *path, *head;
	uint8_t *body;
	size_t size;
	uint64_t when; /* CLOCK_MONOTONIC ns */
	bool taken;    /* it was answered by 200 */
};

struct world;
typedef enum http_then (*script_fn)(struct world *w, const struct http_got *got, FILE *answer);

struct world {
	atomic_bool hangs; /* a request that is as small as it has to be */
	struct httpserver *server;
	struct push_queue *queue;
	struct push_sender *sender;
	struct board *board;
	struct push_options options;
	char url[128];
	script_fn script; /* once the body is there; NULL: takes all */
	enum http_then head;
	pthread_mutex_t lock; /* of what follows */
	struct seen seen[KEPT];
	size_t nseen;
	uint64_t limit; /* of the script */
};

static bool taken; /* of the server's thread: the answer is 200 */

static enum http_then take(FILE *answer)
{
	taken = true;
	http_answer(answer, "200 OK", "Content-Type: application/proto\r\n", "", 0);
	return HTTP_GO_ON;
}

static enum http_then serve(void *arg, const struct http_got *got, FILE *answer)
{
	struct world *w = arg;
	enum http_then then;
	struct seen *seen;

	if (!got->body) {
		then = w->head;
		w->head = HTTP_GO_ON;
		return then;
	}
	taken = false;
	then = w->script ? w->script(w, got, answer) : take(answer);
	pthread_mutex_lock(&w->lock);
	if (w->nseen < KEPT) {
		seen = &w->seen[w->nseen++];
		*seen = (struct seen){.path = http_got_path(got),
				      .head = strdup(got->head),
				      .body = malloc(got->size + 1),
				      .size = got->size,
				      .when = clock_ns(CLOCK_MONOTONIC),
				      .taken = taken};
		memcpy(seen->body, got->body, got->size);
	}
	pthread_mutex_unlock(&w->lock);
	return then;
}

static void refuse(FILE *answer, const char *status, const char *extra, const char *text)
{
	http_answer(answer, status, extra, text, strlen(text));
}

/* --- the parts together ------------------------------------------------------------------------
 */

static struct world w;

static int begin(void **state)
{
	(void)state;
	if (http_missing()) {
		skip_since(http_missing());
	}
	w = (struct world){.options = {.service = "{comm}", .threads = true}};
	pthread_mutex_init(&w.lock, NULL);
	w.server = httpserver_new(serve, &w);
	w.board = board_new();
	assert_non_null(w.board);
	snprintf(w.url, sizeof(w.url), "pyroscope+http://127.0.0.1:%u", httpserver_port(w.server));
	w.options.url = w.url;
	return 0;
}

static void open_queue(const char *folder)
{
	char error[256];

	if (push_queue_open(folder, (uint64_t)64 << 20, &w.queue, error, sizeof(error)))
		fail_msg("%s", error);
}

static void start(void)
{
	char error[256];

	if (!w.queue)
		open_queue(NULL);
	if (push_sender_start(&w.sender, w.queue, w.board, &w.options, error, sizeof(error)))
		fail_msg("%s", error);
}

/* A request may take 30 s; this is for machines that are busy. */
static void stop_sending(void)
{
	assert_true(push_sender_free(w.sender, 15000));
	w.sender = NULL;
}

static int end(void **state)
{
	(void)state;
	if (w.sender)
		stop_sending();
	push_queue_free(w.queue);
	httpserver_free(w.server);
	board_free(w.board);
	for (size_t i = 0; i < w.nseen; i++) {
		free(w.seen[i].path);
		free(w.seen[i].head);
		free(w.seen[i].body);
	}
	pthread_mutex_destroy(&w.lock);
	w = (struct world){0};
	return 0;
}

/* Queues random samples, at least that many stacks of them; how often they were seen in all. */
static uint64_t queue_some(uint64_t seed, size_t least)
{
	struct export_model c;
	uint64_t count;
	size_t size, n = 0;
	uint8_t *data = NULL;

	for (;; seed += 1000) {
		random_model(&c, seed);
		count = c.count;
		assert_int_equal(push_pack(&c, &w.options, "node1", &data, &size, &n), 0);
		export_model_free(&c);
		if (n >= least)
			break;
		free(data);
	}
	assert_int_equal(push_queue_add(w.queue, data, size, count), 0);
	if (w.sender)
		push_sender_wake(w.sender);
	return count;
}

static struct push_sent sent(void)
{
	struct push_sent s;

	push_sender_state(w.sender, &s);
	return s;
}

static size_t entries(void)
{
	struct push_queue_state s;

	push_queue_state(w.queue, &s);
	return s.entries;
}

static size_t nseen(void)
{
	size_t n;

	pthread_mutex_lock(&w.lock);
	n = w.nseen;
	pthread_mutex_unlock(&w.lock);
	return n;
}

/* Of the first value of each sample (how often it was seen) in all profiles of a request. */
static uint64_t samples_of(struct message body, size_t *stacks)
{
	uint64_t sum = 0;

	*stacks = 0;
	for (unsigned int i = 0; i < message_count(body, 1); i++) {
		struct message series = message_part(body, 1, i), profile, field;
		struct message_field f;

		profile = message_gunzip(message_part(message_part(series, 2, 0), 1, 0));
		for (field = profile; message_next(&field, &f);)
			if (f.number == 2) {
				struct message values = message_part(f.bytes, 2, 0);

				sum += message_number(&values);
				++*stacks;
			}
		free((void *)(uintptr_t)profile.data);
	}
	return sum;
}

static char *id_of(const struct seen *seen, unsigned int i)
{
	return message_text(
		message_part(message_part((struct message){seen->body, seen->size}, 1, i), 2, 0),
		2);
}

/* Requests that the server has written down. */
static size_t seen_count(void)
{
	size_t n;

	pthread_mutex_lock(&w.lock);
	n = w.nseen;
	pthread_mutex_unlock(&w.lock);
	return n;
}

/* What was taken was taken once: no id is in two requests. The sum of samples. */
static uint64_t assert_once(void)
{
	uint64_t sum = 0;
	size_t stacks;
	char **ids = NULL;
	size_t nids = 0, nseen = seen_count();

	for (size_t i = 0; i < nseen; i++) {
		const struct message body = {w.seen[i].body, w.seen[i].size};

		if (!w.seen[i].taken)
			continue;
		sum += samples_of(body, &stacks);
		for (unsigned int k = 0; k < message_count(body, 1); k++) {
			ids = realloc(ids, (nids + 1) * sizeof(*ids));
			assert_non_null(ids);
			ids[nids] = id_of(&w.seen[i], k);
			for (size_t other = 0; other < nids; other++)
				assert_string_not_equal(ids[other], ids[nids]);
			nids++;
		}
	}
	for (size_t i = 0; i < nids; i++)
		free(ids[i]);
	free(ids);
	return sum;
}

static void assert_same_request(size_t a, size_t b)
{
	assert_true(a < w.nseen && b < w.nseen);
	assert_int_equal(w.seen[a].size, w.seen[b].size);
	assert_memory_equal(w.seen[a].body, w.seen[b].body, w.seen[a].size);
	assert_string_equal(w.seen[a].path, w.seen[b].path);
}

/* Whether the board has a message with that in it. */
static bool was_said(const char *part)
{
	struct board_message message;
	uint64_t serial = 0;

	while (board_next(w.board, &serial, &message)) {
		for (const char *s = message.text; *s; s++)
			assert_true((unsigned char)*s >= ' ');
		if (strstr(message.text, part))
			return true;
	}
	return false;
}

/* --- taken -------------------------------------------------------------------------------------
 */

static void test_taken(void **state)
{
	uint64_t count = 0;

	(void)state;
	setenv("STACKTOP_PUSH_TOKEN", "hunter2", 1);
	start();
	for (uint64_t i = 0; i < 5; i++)
		count += queue_some(i, 1);
	WAIT(entries() == 0 && sent().idle);
	unsetenv("STACKTOP_PUSH_TOKEN");
	assert_int_equal(sent().samples, count);
	assert_int_equal(sent().requests, 5);
	assert_int_equal(sent().failed, 0);
	assert_int_equal(sent().refused, 0);
	assert_int_equal(sent().since, 0);
	assert_int_not_equal(sent().last, 0);
	assert_int_equal(sent().protocol, PUSH_PYROSCOPE);
	assert_string_equal(sent().trouble, "");
	assert_int_equal(nseen(), 5);
	assert_int_equal(assert_once(), count);
	for (int i = 0; i < 5; i++) {
		assert_string_equal(w.seen[i].path, "/push.v1.PusherService/Push");
		assert_non_null(strcasestr(w.seen[i].head, "content-type: application/proto\r\n"));
		assert_non_null(strcasestr(w.seen[i].head, "authorization: Bearer hunter2\r\n"));
	}
}

/* --- busy --------------------------------------------------------------------------------------
 */

static enum http_then busy_once(struct world *world, const struct http_got *got, FILE *answer)
{
	(void)world;
	if (got->number)
		return take(answer);
	refuse(answer, "429 Too Many Requests", "Retry-After: 2\r\n", "slow\033[31m down");
	return HTTP_GO_ON;
}

static void test_busy(void **state)
{
	uint64_t count;

	(void)state;
	w.script = busy_once;
	open_queue(NULL);
	count = queue_some(1, 1);
	start();
	WAIT(sent().failed == 1);
	assert_string_equal(sent().trouble, "HTTP 429: slow?[31m down");
	assert_int_not_equal(sent().since, 0);
	WAIT(entries() == 0);
	assert_int_equal(sent().failed, 1);
	assert_int_equal(sent().samples, count);
	assert_string_equal(sent().trouble, "");
	assert_int_equal(nseen(), 2);
	assert_same_request(0, 1);
	/* Not before the server has asked for it. */
	assert_true(w.seen[1].when - w.seen[0].when >= 2 * CLOCK_NS_PER_SEC);
	assert_true(was_said("429"));
	assert_true(was_said("works again"));
}

/* --- too large ---------------------------------------------------------------------------------
 */

/* Takes at most so many samples at a time. */
static enum http_then limited(struct world *world, const struct http_got *got, FILE *answer)
{
	size_t stacks;

	samples_of((struct message){got->body, got->size}, &stacks);
	if (stacks <= world->limit)
		return take(answer);
	refuse(answer, "413 Payload Too Large", "", "too large");
	return HTTP_GO_ON;
}

static void test_too_large(void **state)
{
	(void)state;
	for (uint64_t limit = 1; limit < 8; limit += 3) {
		uint64_t count;

		end(NULL);
		begin(NULL);
		w.script = limited;
		w.limit = limit;
		open_queue(NULL);
		count = queue_some(3, 40);
		count += queue_some(4, 20);
		start();
		WAIT(entries() == 0);
		assert_int_equal(sent().samples, count);
		assert_int_equal(sent().refused, 0);
		assert_true(sent().split >= 3);
		assert_int_equal(sent().failed, 0);
		assert_int_equal(assert_once(), count);
	}
}

static void test_one_too_large(void **state)
{
	uint64_t count;

	(void)state;
	w.script = limited;
	w.limit = 0;
	open_queue(NULL);
	count = queue_some(20, 8);
	start();
	WAIT(entries() == 0);
	assert_int_equal(sent().samples, 0);
	assert_int_equal(sent().refused, count);
	/* 8, 4, 2, and then each for itself, with half a second in between */
	assert_int_equal(nseen(), 3 + 8);
	assert_true(w.seen[10].when - w.seen[3].when >= CLOCK_NS_PER_SEC);
	assert_true(was_said("larger than the server takes"));
}

/* --- refused -----------------------------------------------------------------------------------
 */

static enum http_then refuses_first(struct world *world, const struct http_got *got, FILE *answer)
{
	(void)world;
	if (got->number)
		return take(answer);
	refuse(answer, "400 Bad Request", "", "no such tenant");
	return HTTP_GO_ON;
}

static void test_refused(void **state)
{
	uint64_t first, second;

	(void)state;
	w.script = refuses_first;
	open_queue(NULL);
	first = queue_some(1, 1);
	second = queue_some(2, 1);
	start();
	WAIT(entries() == 0);
	assert_int_equal(sent().refused, first);
	assert_int_equal(sent().samples, second);
	assert_int_equal(nseen(), 2);
	assert_true(was_said("no such tenant"));
}

static enum http_then rejects(struct world *world, const struct http_got *got, FILE *answer)
{
	(void)world;
	(void)got;
	http_answer(answer, "200 OK", "Content-Type: application/x-protobuf\r\n",
		    "\x0a\x05\x08\x02\x12\x01x", 7);
	return HTTP_GO_ON;
}

static void test_rejected(void **state)
{
	(void)state;
	w.script = rejects;
	snprintf(w.url, sizeof(w.url), "otlp+http://127.0.0.1:%u", httpserver_port(w.server));
	open_queue(NULL);
	queue_some(1, 1);
	start();
	WAIT(entries() == 0);
	assert_int_equal(sent().rejected, 2);
	assert_true(was_said("2 profiles rejected"));
}

/* --- connections that break --------------------------------------------------------------------
 */

static enum http_then resets_first(struct world *world, const struct http_got *got, FILE *answer)
{
	(void)world;
	return got->number ? take(answer) : HTTP_RESET;
}

/* The head of an answer that was cut off: what was taken is not known. */
static enum http_then half_first(struct world *world, const struct http_got *got, FILE *answer)
{
	(void)world;
	if (got->number)
		return take(answer);
	fprintf(answer, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
	return HTTP_RESET;
}

static void test_resets(void **state)
{
	static const script_fn scripts[] = {resets_first, half_first};

	(void)state;
	for (int i = 0; i < 2; i++) {
		uint64_t count;

		end(NULL);
		begin(NULL);
		w.script = scripts[i];
		open_queue(NULL);
		count = queue_some(1, 20);
		start();
		WAIT(entries() == 0);
		assert_int_equal(nseen(), 2);
		assert_same_request(0, 1);
		assert_int_equal(sent().samples, count);
		assert_int_equal(sent().failed, 1);
	}
}

static void test_reset_before_body(void **state)
{
	uint64_t count;

	(void)state;
	w.head = HTTP_RESET;
	open_queue(NULL);
	count = queue_some(1, 20);
	start();
	WAIT(entries() == 0);
	assert_int_equal(nseen(), 1);
	assert_int_equal(sent().failed, 1);
	assert_int_equal(assert_once(), count);
}

/* --- ends in between ---------------------------------------------------------------------------
 */

static enum http_then limited_then_hangs(struct world *world, const struct http_got *got,
					 FILE *answer)
{
	size_t stacks;

	samples_of((struct message){got->body, got->size}, &stacks);
	if (stacks > world->limit) {
		refuse(answer, "413 Payload Too Large", "", "");
		return HTTP_GO_ON;
	}
	atomic_store(&world->hangs, true);
	return HTTP_HANG;
}

static char top[SCRATCH], spool[2 * SCRATCH];

/* A process that ends while a part of an interval was taken, and another one that goes on. */
static void test_ends_in_between(void **state)
{
	uint64_t count;
	size_t hung;

	(void)state;
	w.script = limited_then_hangs;
	w.limit = 7;
	open_queue(spool);
	count = queue_some(3, 40);
	start();
	/* 413s until the pieces are small enough, then one that hangs. */
	WAIT(atomic_load(&w.hangs));
	assert_true(sent().split >= 2);
	stop_sending();
	push_queue_free(w.queue);
	w.queue = NULL;
	assert_int_equal(assert_once(), 0);
	hung = seen_count() - 1;

	w.script = NULL;
	open_queue(spool);
	assert_int_equal(entries(), 1);
	start();
	WAIT(entries() == 0);
	/* What may have been taken comes again as it was. */
	assert_same_request(hung, hung + 1);
	assert_int_equal(assert_once(), count);
	assert_int_equal(sent().samples, count);
}

/* Whatever a damaged file says of what was sent. */
static void test_damaged_progress(void **state)
{
	struct push_entry entry;
	uint64_t count;

	(void)state;
	open_queue(NULL);
	count = queue_some(3, 20);
	assert_true(push_queue_first(w.queue, &entry));
	push_entry_free(&entry);
	push_queue_note(w.queue, entry.number, &(struct push_progress){UINT64_MAX / 2, UINT64_MAX});
	start();
	WAIT(entries() == 0);
	assert_int_equal(sent().samples, count);
	assert_int_equal(assert_once(), count);
}

static void test_damaged_entry(void **state)
{
	uint64_t count;
	uint8_t *data = malloc(10);

	(void)state;
	open_queue(NULL);
	memset(data, 7, 10);
	push_queue_add(w.queue, data, 10, 5);
	count = queue_some(1, 1);
	start();
	WAIT(entries() == 0);
	assert_int_equal(sent().samples, count);
	assert_true(was_said("damaged"));
}

static enum http_then hangs(struct world *world, const struct http_got *got, FILE *answer)
{
	(void)world;
	(void)got;
	(void)answer;
	return HTTP_HANG;
}

static void test_stop_while_it_hangs(void **state)
{
	(void)state;
	w.script = hangs;
	open_queue(NULL);
	queue_some(1, 1);
	start();
	WAIT(nseen() == 1);
	stop_sending();
	assert_int_equal(entries(), 1);
}

/* Until the server ends, which its request does not. */
static void test_stop_while_it_waits(void **state)
{
	(void)state;
	w.script = busy_once;
	open_queue(NULL);
	queue_some(1, 1);
	start();
	WAIT(sent().failed == 1);
	stop_sending();
	assert_int_equal(entries(), 1);
}

static void test_drain(void **state)
{
	uint64_t count;

	(void)state;
	open_queue(NULL);
	start();
	assert_true(push_sender_drain(w.sender, false, 60000));
	count = queue_some(1, 1) + queue_some(2, 1);
	assert_true(push_sender_drain(w.sender, false, 60000));
	assert_int_equal(entries(), 0);
	assert_int_equal(sent().samples, count);
	/* Not longer than that. */
	w.script = hangs;
	queue_some(3, 1);
	assert_false(push_sender_drain(w.sender, false, 20));
}

/* With a spool the end does not wait for a server that is down. */
static void test_drain_spool(void **state)
{
	(void)state;
	open_queue(spool);
	snprintf(w.url, sizeof(w.url), "pyroscope+http://127.0.0.1:1");
	queue_some(1, 1);
	start();
	/* Returns by itself: this is longer than the test may take. */
	assert_false(push_sender_drain(w.sender, true, 3600000));
	assert_int_equal(entries(), 1);
	stop_sending();
	push_queue_free(w.queue);
	w.queue = NULL;
	open_queue(spool);
	assert_int_equal(entries(), 1);
}

/* --- which server it is ------------------------------------------------------------------------
 */

/* Knows one path. */
static const char *known;
static const char *answered;

static enum http_then knows_one(struct world *world, const struct http_got *got, FILE *answer)
{
	char *path = http_got_path(got), extra[128];
	const bool right = !strncmp(path, known, strlen(known));

	(void)world;
	snprintf(extra, sizeof(extra), "Content-Type: %s\r\n", answered);
	free(path);
	http_answer(answer, right ? "200 OK" : "404 Not Found", extra, "", 0);
	return HTTP_GO_ON;
}

static void test_asks(void **state)
{
	static const struct {
		const char *path, *type;
		enum push_protocol protocol;
	} servers[] = {
		{"/push.v1.PusherService/Push", "application/proto", PUSH_PYROSCOPE},
		{"/profiles/writeraw", "application/json", PUSH_PARCA},
		{"/v1development/profiles", "application/x-protobuf", PUSH_OTLP},
	};

	(void)state;
	for (int i = 0; i < 3; i++) {
		uint64_t count;

		end(NULL);
		begin(NULL);
		known = servers[i].path;
		answered = servers[i].type;
		w.script = knows_one;
		snprintf(w.url, sizeof(w.url), "http://127.0.0.1:%u/", httpserver_port(w.server));
		open_queue(NULL);
		count = queue_some(1, 1);
		start();
		WAIT(entries() == 0);
		assert_int_equal(sent().protocol, servers[i].protocol);
		assert_int_equal(sent().samples, count);
		assert_true(was_said("it speaks"));
	}
}

/* What speaks only HTTP/2 ends connections of HTTP/1.1 in the middle. */
static enum http_then resets_others(struct world *world, const struct http_got *got, FILE *answer)
{
	char *path = http_got_path(got);
	const bool right = !strcmp(path, "/v1development/profiles");

	(void)world;
	free(path);
	return right ? take(answer) : HTTP_RESET;
}

static void test_asks_on(void **state)
{
	uint64_t count;

	(void)state;
	w.script = resets_others;
	snprintf(w.url, sizeof(w.url), "http://127.0.0.1:%u", httpserver_port(w.server));
	open_queue(NULL);
	count = queue_some(1, 1);
	start();
	WAIT(entries() == 0);
	assert_int_equal(sent().protocol, PUSH_OTLP);
	assert_int_equal(sent().samples, count);
}

static enum http_then overloaded(struct world *world, const struct http_got *got, FILE *answer)
{
	(void)world;
	(void)got;
	refuse(answer, "503 Service Unavailable", "", "come back");
	return HTTP_GO_ON;
}

static void test_ask_later(void **state)
{
	(void)state;
	w.script = overloaded;
	snprintf(w.url, sizeof(w.url), "http://127.0.0.1:%u", httpserver_port(w.server));
	open_queue(NULL);
	queue_some(1, 1);
	start();
	WAIT(sent().failed > 0);
	assert_string_equal(sent().trouble, "HTTP 503: come back");
	assert_int_equal(entries(), 1);
}

static void test_knows_nothing(void **state)
{
	(void)state;
	known = "/nothing";
	answered = "text/html";
	w.script = knows_one;
	snprintf(w.url, sizeof(w.url), "http://127.0.0.1:%u", httpserver_port(w.server));
	open_queue(NULL);
	queue_some(1, 1);
	start();
	WAIT(sent().failed > 0);
	assert_non_null(strstr(sent().trouble, "none of the protocols"));
	assert_int_equal(entries(), 1);
	assert_int_equal(sent().refused, 0);
}

static void test_older_pyroscope(void **state)
{
	uint64_t count;

	(void)state;
	known = "/ingest?name=prog";
	answered = "text/plain";
	w.script = knows_one;
	open_queue(NULL);
	count = queue_some(1, 20);
	start();
	WAIT(entries() == 0);
	assert_int_equal(sent().protocol, PUSH_INGEST);
	assert_int_equal(sent().samples, count);
	assert_int_equal(sent().refused, 0);
}

/* --- other options -----------------------------------------------------------------------------
 */

static void test_change(void **state)
{
	static struct push_options wrong, secret, right;
	uint64_t count;

	(void)state;
	right = w.options;
	wrong = w.options;
	wrong.url = "gopher://hunter2";
	secret = w.options;
	secret.secrets = "/nonexistent/secrets";
	w.options.url = "pyroscope+http://127.0.0.1:1";
	open_queue(NULL);
	count = queue_some(1, 1);
	start();
	WAIT(sent().failed > 0);
	push_sender_change(w.sender, &wrong);
	WAIT(strstr(sent().trouble, "is not a URL"));
	push_sender_change(w.sender, &secret);
	WAIT(strstr(sent().trouble, "/nonexistent/secrets"));
	push_sender_change(w.sender, &right);
	WAIT(entries() == 0);
	assert_int_equal(sent().samples, count);
	assert_string_equal(sent().trouble, "");
	assert_false(was_said("hunter2"));
}

static int make_top(void **state)
{
	(void)state;
	scratch_folder(top, "sender");
	snprintf(spool, sizeof(spool), "%s/spool", top);
	return 0;
}

static int end_spool(void **state)
{
	end(state);
	must("rm -rf %s", spool);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end_spool)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_taken),
		TEST(test_busy),
		TEST(test_too_large),
		TEST(test_one_too_large),
		TEST(test_refused),
		TEST(test_rejected),
		TEST(test_resets),
		TEST(test_reset_before_body),
		TEST(test_ends_in_between),
		TEST(test_damaged_progress),
		TEST(test_damaged_entry),
		TEST(test_stop_while_it_hangs),
		TEST(test_stop_while_it_waits),
		TEST(test_drain),
		TEST(test_drain_spool),
		TEST(test_asks),
		TEST(test_asks_on),
		TEST(test_ask_later),
		TEST(test_knows_nothing),
		TEST(test_older_pyroscope),
		TEST(test_change),
	};

	return cmocka_run_group_tests(tests, make_top, scratch_remove);
}
