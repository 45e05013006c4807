// SPDX-License-Identifier: GPL-2.0-or-later
/* See settings_process.h. Parent and child are one program, so they exchange its structs. */
#include "tui/ui/settings_process.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "symbols/base/forked.h"
#include "tui/screen/theme.h"

#define THEME_BYTES_MAX (1 << 20)
#define END_TURNS	1000 /* of a millisecond, on a very busy machine */
#define STUCK_TURNS	20

static bool send_all(int socket, const void *data, size_t size)
{
	const char *at = data;
	ssize_t n;

	for (; size; at += n, size -= (size_t)n) {
		n = TEMP_FAILURE_RETRY(send(socket, at, size, MSG_NOSIGNAL));
		if (n <= 0)
			return false;
	}
	return true;
}

static bool receive_all(int socket, void *data, size_t size)
{
	char *at = data;
	ssize_t n;

	for (; size; at += n, size -= (size_t)n) {
		n = TEMP_FAILURE_RETRY(recv(socket, at, size, 0));
		if (n <= 0)
			return false;
	}
	return true;
}

/* --- in the process ------------------------------------------------------------------------- */

static void config_warning(void *arg, const char *text)
{
	board_message(arg, MESSAGE_WARNING, "config: %s", text);
}

static void read_config(struct settings_reply *reply, struct board *board)
{
	char path[PATH_MAX], text[PATH_MAX + 128];

	if (!config_path(path, sizeof(path)))
		return;
	reply->unknown = config_read(&reply->config, path, config_warning, board);
	if (!reply->unknown)
		return;
	config_explain(path, reply->unknown, text, sizeof(text));
	config_warning(board, text);
}

static void load_theme(struct settings_reply *reply, const char *name, struct theme **theme,
		       struct board *board)
{
	snprintf(reply->theme, sizeof(reply->theme), "%s", name);
	themes_stamp(name, &reply->stamp);
	reply->err = themes_load(theme, name, board);
}

static void save(const struct config *config, struct settings_reply *reply, struct board *board)
{
	char path[PATH_MAX], text[PATH_MAX + 128];

	if (!config_path(path, sizeof(path))) {
		board_message(board, MESSAGE_ERROR, "settings are not kept: HOME is not set");
		return;
	}
	reply->err = config_write(config, path);
	if (reply->err) {
		config_explain(path, reply->err, text, sizeof(text));
		board_message(board, MESSAGE_ERROR, "%s", text);
	} else {
		board_message(board, MESSAGE_INFO, "%s: written", path);
	}
}

/* curses looks there, too: while this does not answer, it must not. */
static void touch_home(void)
{
	const char *home = getenv("HOME");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/.terminfo", home ? home : "");
	if (home && access(path, F_OK))
		return; /* only whether it answers counts */
}

/* The theme of the command line must be there, that of the settings may be missing. */
static void open_all(const struct settings_request *request, struct settings_reply *reply,
		     struct theme **theme, struct board *board)
{
	char text[160];

	touch_home();
	read_config(reply, board);
	if (request->theme[0] || !reply->config.theme[0]) {
		load_theme(reply, request->theme[0] ? request->theme : "default", theme, board);
		return;
	}
	load_theme(reply, reply->config.theme, theme, board);
	if (!reply->err)
		return;
	snprintf(text, sizeof(text), "theme %s: %s", reply->theme, themes_error(reply->err));
	config_warning(board, text);
	load_theme(reply, "default", theme, board);
}

static void execute(const struct settings_request *request, struct settings_reply *reply,
		    struct theme **theme, struct board *board)
{
	uint64_t serial = 0;

	switch (request->order) {
	case SETTINGS_OPEN:
		open_all(request, reply, theme, board);
		break;
	case SETTINGS_THEME:
		load_theme(reply, request->theme, theme, board);
		break;
	case SETTINGS_STAMP:
		themes_stamp(request->theme, &reply->stamp);
		break;
	case SETTINGS_SAVE:
		save(&request->config, reply, board);
		break;
	}
	while (reply->nsaid < SETTINGS_SAID_MAX &&
	       board_next(board, &serial, &reply->said[reply->nsaid]))
		reply->nsaid++;
}

static void __attribute__((noreturn)) serve(int socket)
{
	static struct settings_request request;
	static struct settings_reply reply;
	struct theme *theme;
	struct board *board;
	const void *bytes;

	while (receive_all(socket, &request, sizeof(request))) {
		memset(&reply, 0, sizeof(reply));
		theme = NULL;
		bytes = NULL;
		board = board_new();
		if (!board)
			_exit(1);
		execute(&request, &reply, &theme, board);
		board_free(board);
		if (theme)
			bytes = theme_bytes(theme, &reply.theme_size);
		if (!send_all(socket, &reply, sizeof(reply)) ||
		    !send_all(socket, bytes, reply.theme_size))
			_exit(1);
		theme_free(theme);
	}
	_exit(0);
}

/* --- in stacktop ------------------------------------------------------------------------------ */

int settings_process_new(struct settings_process *p)
{
	int sockets[2];

	*p = (struct settings_process){.socket = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	p->pid = fork();
	if (!p->pid) {
		forked_let_go(sockets[1]);
		if (chdir("/"))
			_exit(1);
		serve(FORKED_FD);
	}
	close(sockets[1]);
	p->socket = sockets[0];
	if (p->pid > 0)
		return 0;
	p->pid = 0;
	close(p->socket);
	p->socket = -1;
	return -EAGAIN;
}

/* One that waits for a file system in vain is left to init, which may never reap it. */
void settings_process_free(struct settings_process *p)
{
	const int turns = p->busy ? STUCK_TURNS : END_TURNS;
	const struct timespec turn = {.tv_nsec = 1000000};

	if (p->socket >= 0)
		close(p->socket);
	p->socket = -1;
	if (p->pid <= 0)
		return;
	kill(p->pid, SIGKILL);
	for (int i = 0; i < turns && !waitpid(p->pid, NULL, WNOHANG); i++)
		nanosleep(&turn, NULL);
	p->pid = 0;
}

int settings_process_send(struct settings_process *p, const struct settings_request *request)
{
	p->busy = true;
	return send_all(p->socket, request, sizeof(*request)) ? 0 : -EPIPE;
}

int settings_process_receive(struct settings_process *p, struct settings_reply *reply,
			     struct theme **theme)
{
	void *bytes;
	bool all;

	*theme = NULL;
	if (!receive_all(p->socket, reply, sizeof(*reply)))
		return -EPIPE;
	p->busy = false;
	if (!reply->theme_size)
		return 0;
	bytes = reply->theme_size <= THEME_BYTES_MAX ? malloc(reply->theme_size) : NULL;
	if (!bytes)
		return -ENOMEM;
	all = receive_all(p->socket, bytes, reply->theme_size);
	if (all)
		*theme = theme_copy(bytes, reply->theme_size);
	free(bytes);
	return !all ? -EPIPE : *theme ? 0 : -ENOMEM;
}
