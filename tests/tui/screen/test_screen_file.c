// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pictures of the screen: what a terminal makes of the coloured text is the grid with the theme's
 * colours, and what stands in the drawing, put together again by its coordinates, is its text.
 * Covers: tui/screen/screen_file.c
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vterm.h>

#include "tests/support/scratch.h"
#include "tests/support/typist.h"
#include "tui/screen/screen_file.h"
#include "tui/screen/theme.h"
#include "tui/app/dispatch.h"

#define ROWS 30
#define COLS 100

struct kept {
	struct typist *t;
	struct theme *theme;
	char *made;
	size_t size;
};

static void ignore(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

static int setup(void **state)
{
	struct kept *k = calloc(1, sizeof(*k));
	struct machine *f;

	k->t = typist_new();
	f = &k->t->feed;
	profile_lock(f->p);
	f->stacks[f->nstacks++] = machine_stack(
		f, "<script>alert('&\"1')</script>@<b>.so;\xe6\xbc\xa2\xe5\xad\x97@x");
	f->stacks[4] = f->stacks[f->nstacks - 1];
	f->nstacks--;
	profile_unlock(f->p);
	for (int i = 0; i < 12; i++)
		assert_int_equal(machine_slice(f, 0), 0);
	assert_int_equal(ui_refresh(k->t->ui), 0);
	assert_int_equal(
		theme_load(&k->theme, "default", (const char *const[]){NULL}, ignore, NULL), 0);
	*state = k;
	return 0;
}

static int teardown(void **state)
{
	struct kept *k = *state;

	typist_free(k->t);
	theme_free(k->theme);
	free(k->made);
	free(k);
	return 0;
}

static const char *make(struct kept *k, enum screen_file_format format)
{
	free(k->made);
	screen(k->t);
	assert_int_equal(screen_file_make(k->t->g, k->theme, format, &k->made, &k->size), 0);
	assert_int_equal(strlen(k->made), k->size);
	return k->made;
}

static void formats_by_name(void **state)
{
	(void)state;
	assert_int_equal(screen_file_format("a.svg"), SCREEN_FILE_SVG);
	assert_int_equal(screen_file_format("/x.y/a.SVG"), SCREEN_FILE_SVG);
	assert_int_equal(screen_file_format("a.ansi"), SCREEN_FILE_ANSI);
	assert_int_equal(screen_file_format("a.ans"), SCREEN_FILE_ANSI);
	assert_int_equal(screen_file_format("svg"), SCREEN_FILE_TEXT);
	assert_int_equal(screen_file_format("a.txt"), SCREEN_FILE_TEXT);
	assert_int_equal(screen_file_format("a.svg/b"), SCREEN_FILE_TEXT);
}

static void text_is_the_grid(void **state)
{
	struct kept *k = *state;

	make(k, SCREEN_FILE_TEXT);
	assert_string_equal(k->made, k->t->text);
}

static uint32_t rgb(VTermScreen *vs, VTermColor color)
{
	vterm_screen_convert_color_to_rgb(vs, &color);
	return (uint32_t)color.rgb.red << 16 | (uint32_t)color.rgb.green << 8 | color.rgb.blue;
}

static void check_cell(const struct kept *k, VTermScreen *vs, int row, int col)
{
	const struct gridcell *c = &k->t->g->cells[row * COLS + col];
	const struct style *style = theme_style(k->theme, c->view, c->role);
	VTermScreenCell cell;

	if (!c->ch)
		return;
	assert_true(vterm_screen_get_cell(vs, (VTermPos){row, col}, &cell));
	assert_int_equal(cell.chars[0] ? cell.chars[0] : ' ', c->ch);
	assert_int_equal(cell.attrs.bold, !!(style->attributes & ATTR_BOLD));
	assert_int_equal(cell.attrs.reverse, !!(style->attributes & ATTR_REVERSE));
	assert_int_equal(!!cell.attrs.underline, !!(style->attributes & ATTR_UNDERLINE));
	if (!style->fg.terminal)
		assert_int_equal(rgb(vs, cell.fg), style->fg.rgb);
	if (!style->bg.terminal)
		assert_int_equal(rgb(vs, cell.bg), style->bg.rgb);
}

static void terminal_shows_the_grid(void **state)
{
	static const char *const keys[] = {"1", "3", "5", "7"};
	struct kept *k = *state;
	VTerm *vt = vterm_new(ROWS + 1, COLS);
	VTermScreen *vs = vterm_obtain_screen(vt);
	const char *at, *end;

	vterm_set_utf8(vt, 1);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		type(k->t, keys[i]);
		vterm_screen_reset(vs, 1);
		for (at = make(k, SCREEN_FILE_ANSI); *at; at = end + 1) {
			end = strchr(at, '\n');
			vterm_input_write(vt, at, (size_t)(end - at));
			vterm_input_write(vt, "\r\n", 2);
		}
		for (int cell = 0; cell < ROWS * COLS; cell++)
			check_cell(k, vs, cell / COLS, cell % COLS);
	}
	vterm_free(vt);
}

/* The character that at begins with, plain; returns what follows it. */
static const char *decode(const char *at, char *to)
{
	static const struct {
		const char *entity, *plain;
	} entities[] = {
		{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"\302\240", " "}};

	for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
		if (!strncmp(at, entities[i].entity, strlen(entities[i].entity))) {
			strcpy(to, entities[i].plain);
			return at + strlen(entities[i].entity);
		}
	}
	assert_int_not_equal(*at, '&');
	*to++ = *at++;
	while (((unsigned char)*at & 0xc0) == 0x80)
		*to++ = *at++;
	*to = '\0';
	return at;
}

static void drawing_has_the_text(void **state)
{
	struct kept *k = *state;
	static char cells[ROWS][COLS][16];
	char line[COLS * 16];
	const char *want;

	type(k->t, "3EG");
	make(k, SCREEN_FILE_SVG);
	assert_null(strstr(k->made, "<script"));
	memset(cells, 0, sizeof(cells));
	for (const char *at = k->made; (at = strstr(at, "<text x=\"")); at++) {
		int x, y, width, col;
		const char *from = strchr(at, '>') + 1;

		assert_int_equal(
			sscanf(at, "<text x=\"%d\" y=\"%d\" textLength=\"%d\"", &x, &y, &width), 3);
		assert_true(x % 8 == 0 && width % 8 == 0 && y / 17 < ROWS);
		for (col = x / 8; *from != '<'; col++) {
			from = decode(from, cells[y / 17][col]);
			/* a wide one takes two */
			if ((unsigned char)cells[y / 17][col][0] >= 0xe4)
				strcpy(cells[y / 17][++col], "-");
		}
		assert_int_equal(col, (x + width) / 8);
	}
	want = k->t->text;
	for (int row = 0; row < ROWS; row++) {
		size_t n = 0;

		for (int col = 0; col < COLS; col++) {
			const char *c = cells[row][col];

			if (strcmp(c, "-") || k->t->g->cells[row * COLS + col].ch)
				n += (size_t)sprintf(line + n, "%s", *c ? c : " ");
		}
		while (n && line[n - 1] == ' ')
			n--;
		assert_int_equal(strcspn(want, "\n"), n);
		assert_memory_equal(line, want, n);
		want += n + 1;
	}
	assert_non_null(strstr(k->t->text, "<script>alert('&\"1')</script>"));
}

static void saved_once(void **state)
{
	char directory[SCRATCH], path[96], text[16] = "";
	struct stat st;
	FILE *f;

	(void)state;
	scratch_folder(directory, "picture");
	snprintf(path, sizeof(path), "%s/a.txt", directory);
	assert_int_equal(screen_file_save(path, "hello", 5), 0);
	assert_int_equal(screen_file_save(path, "again", 5), -EEXIST);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, sizeof(text), f), 5);
	fclose(f);
	assert_string_equal(text, "hello");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/full", path), 0);
	assert_int_equal(screen_file_save(path, "hello", 5), -EEXIST);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/none/a.txt", directory);
	assert_int_equal(screen_file_save(path, "hello", 5), -ENOENT);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(rmdir(directory), 0);
}

static void asked_by_a_key(void **state)
{
	struct kept *k = *state;

	ui_key(k->t->ui, 'P');
	assert_shows(k->t, "Write the screen to (.svg, .ansi, .txt): stacktop-14-03-21.svg");
	assert_int_equal(ui_key(k->t->ui, KEYCODE_ENTER) & UI_PICTURE, UI_PICTURE);
	assert_string_equal(k->t->ui->picture, "stacktop-14-03-21.svg");
	ui_key(k->t->ui, 'P');
	assert_int_equal(ui_key(k->t->ui, KEYCODE_ESCAPE) & UI_PICTURE, 0);
}

#define PICTURE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_by_name),     PICTURE_TEST(text_is_the_grid),
		PICTURE_TEST(terminal_shows_the_grid), PICTURE_TEST(drawing_has_the_text),
		cmocka_unit_test(saved_once),	       PICTURE_TEST(asked_by_a_key),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
