/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph as one self-contained SVG file: a picture with tooltips, which scripts, if enabled,
 * make zoomable and searchable. Frames are written in the order of the tree, parents first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "tui/export/export_model.h"
#include "tui/export/export_priv.h"
#include "tui/export/flametree.h"
#include "tui/export/folded.h"
#include "tui/util/share.h"

#define WIDTH	   1200
#define ROW	   17
#define TOP	   54 /* title and the line of buttons */
#define BOTTOM	   24 /* the line of details */
#define CHAR	   7.3
#define FRAMES_MAX 100000u
#define NARROWEST  60000u /* frames of less than this share of all are left out */
#define DARK	   0x16181du
#define LIGHT	   0xf4f5f7u
#define SHADES	   3

/* The assembler finds the script from the top of the tree, where make runs. */
__asm__(".pushsection .rodata\n"
	"export_svg_script:\n"
	".incbin \"tui/export/flame.js\"\n"
	".byte 0\n"
	".popsection\n");
extern __attribute__((visibility("hidden"))) const char export_svg_script[];

struct svg_drawing {
	FILE *to;
	const struct flametree *tree;
	const struct theme *theme;
	const struct svg_look *look;
	uint64_t all, least;
	uint32_t depth, left_out;
};

/* --- colours --------------------------------------------------------------------------------- */

static unsigned int brightness(uint32_t rgb)
{
	return (299 * (rgb >> 16 & 255) + 587 * (rgb >> 8 & 255) + 114 * (rgb & 255)) / 1000;
}

static uint32_t mix(uint32_t a, uint32_t b, unsigned int percent)
{
	uint32_t out = 0;

	for (int shift = 0; shift < 24; shift += 8)
		out |= ((a >> shift & 255) * (100 - percent) + (b >> shift & 255) * percent) / 100
		       << shift;
	return out;
}

/* A role's colour on the screen is a box here: its background, or else its text colour. */
static uint32_t fill_of(const struct theme *theme, enum role role)
{
	const struct style *style = theme_style(theme, VIEW_FLAME, role);

	if (!style->bg.terminal)
		return style->bg.rgb;
	return style->fg.terminal ? 0xb0b8c4u : style->fg.rgb;
}

/* The terminal's own background is unknown; titles are readable on this one. */
static uint32_t paper_of(const struct theme *theme)
{
	const struct style *style = theme_style(theme, VIEW_FLAME, ROLE_TITLE);

	if (!style->bg.terminal)
		return style->bg.rgb;
	return style->fg.terminal || brightness(style->fg.rgb) > 128 ? DARK : LIGHT;
}

static uint32_t ink_on(uint32_t rgb)
{
	return brightness(rgb) > 128 ? DARK : LIGHT;
}

static const enum role roles[] = {ROLE_TITLE,	ROLE_HEADER,  ROLE_BROKEN,  ROLE_FLAME_1,
				  ROLE_FLAME_2, ROLE_FLAME_3, ROLE_FLAME_4, ROLE_LANGUAGE};

/* Roles without a colour would be as bright as the paper. */
static uint32_t role_fill(const struct svg_drawing *d, enum role role)
{
	uint32_t fill = fill_of(d->theme, role), paper = paper_of(d->theme);

	if (role == ROLE_TITLE || role == ROLE_HEADER)
		return mix(paper, ink_on(paper), role == ROLE_TITLE ? 30 : 45);
	return fill;
}

static void write_style(const struct svg_drawing *d)
{
	uint32_t paper = paper_of(d->theme), ink = ink_on(paper);
	uint32_t match = fill_of(d->theme, ROLE_CURSOR);

	fprintf(d->to,
		"<style>\ntext{fill:#%06x}.t{font-size:17px}.key{cursor:pointer;"
		"text-decoration:underline}.h{display:none}.f{cursor:pointer}.f text{"
		"pointer-events:none}.f:hover rect{stroke:#%06x}.d{opacity:.55}"
		".m rect{fill:#%06x!important}.m text{fill:#%06x!important}\n",
		ink, ink, match, ink_on(match));
	fprintf(d->to, ".k text{fill:#%06x}.w text{fill:#%06x}\n", DARK, LIGHT);
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
		uint32_t fill = role_fill(d, roles[i]);

		for (unsigned int s = 0; s < SHADES; s++)
			fprintf(d->to, ".r%zu%u rect{fill:#%06x}", i, s, mix(fill, paper, s * 6));
		fprintf(d->to, ".r%zu0 text,.r%zu1 text,.r%zu2 text{fill:#%06x}\n", i, i, i,
			ink_on(fill));
	}
	fputs("</style>\n", d->to);
}

/* The strength of a change is relative to the former count: 1 is all gone, or new. */
static uint32_t diff_fill(const struct svg_drawing *d, const struct flametree_node *node)
{
	const struct flametree_node *all = d->tree->nodes;
	uint32_t paper = paper_of(d->theme);
	double before, after, change;
	const struct style *style;

	before = share_of(node->total[1], all->total[1]);
	after = share_of(node->total[0], all->total[0]);
	change = (after - before) / (after > before ? after : before > 0 ? before : 1);
	style = theme_style(d->theme, VIEW_FLAME, change > 0 ? ROLE_UP : ROLE_DOWN);
	return mix(mix(paper, ink_on(paper), 30),
		   style->fg.terminal ? (change > 0 ? 0xe05050u : 0x5080e0u) : style->fg.rgb,
		   (unsigned int)(100 * (change < 0 ? -change : change)));
}

/* --- frames ---------------------------------------------------------------------------------- */

static double share(const struct svg_drawing *d, uint64_t count, int side)
{
	return percent_of(count, d->tree->nodes->total[side]);
}

/* What a frame has, its share, and what it has of its own. */
static void write_value(const struct svg_drawing *d, const struct flametree_node *node, int side)
{
	char total[32], self[32];
	double percent = share(d, node->total[side], side);

	if (d->look->unit == EXPORT_TIME) {
		fprintf(d->to, "%s (%.2f %%), %s of its own",
			export_span(total, sizeof(total), node->total[side]), percent,
			export_span(self, sizeof(self), node->self[side]));
		return;
	}
	fprintf(d->to, "%" PRIu64 " ", node->total[side]);
	xml_text(d->to, d->look->counted ? d->look->counted : "samples");
	fprintf(d->to, " (%.2f %%), %" PRIu64 " of its own", percent, node->self[side]);
}

static void write_title(const struct svg_drawing *d, const struct flametree_node *node)
{
	const struct flametree_frame *frame = &d->tree->frames[node->frame];

	fputs("<title>", d->to);
	xml_text(d->to, d->tree->pool.text + frame->name);
	fputc('\n', d->to);
	xml_text(d->to, d->tree->pool.text + frame->detail);
	fputc('\n', d->to);
	write_value(d, node, 0);
	if (d->look->events)
		fprintf(d->to, "; %" PRIu64 " %s", node->events, d->look->events);
	if (d->look->diff) {
		fputs("\nbefore: ", d->to);
		write_value(d, node, 1);
		fprintf(d->to, "; %+.2f %%",
			share(d, node->total[0], 0) - share(d, node->total[1], 1));
	}
	fputs("</title>", d->to);
}

/* Bytes of the first characters. */
static size_t prefix(const char *text, size_t characters)
{
	size_t at = 0;

	while (text[at] && characters) {
		at++;
		while (((unsigned char)text[at] & 0xc0) == 0x80)
			at++;
		characters--;
	}
	return at;
}

static void write_label(const struct svg_drawing *d, const char *name, double x, double y,
			double width)
{
	double fits = (width - 6) / CHAR;
	size_t room = fits < 3 ? 0 : (size_t)fits, end;
	char text[WIDTH * 4];

	if (!room)
		return;
	end = prefix(name, room);
	if (!name[end])
		snprintf(text, sizeof(text), "%s", name);
	else
		snprintf(text, sizeof(text), "%.*s..", (int)prefix(name, room - 2), name);
	fprintf(d->to, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y + 12);
	xml_text(d->to, text);
	fputs("</text>", d->to);
}

static void write_frame(const struct svg_drawing *d, const struct flametree_node *node, double x,
			double width)
{
	const struct flametree_frame *frame = &d->tree->frames[node->frame];
	const char *name = d->tree->pool.text + frame->name;
	uint32_t level = d->look->flame ? d->depth - node->depth : node->depth;
	double y = TOP + (double)level * ROW;
	unsigned int shade = 0;
	size_t role = 0;

	for (const char *c = name; *c; c++)
		shade = shade * 31 + (unsigned char)*c;
	while (role + 1 < sizeof(roles) / sizeof(*roles) && roles[role] != frame->role)
		role++;
	fputs("<g class=\"f\">", d->to);
	write_title(d, node);
	if (d->look->diff)
		fprintf(d->to, "<g class=\"%s\" style=\"fill:#%06x\">",
			ink_on(diff_fill(d, node)) == DARK ? "k" : "w", diff_fill(d, node));
	else
		fprintf(d->to, "<g class=\"r%zu%u\">", role, node->depth ? shade % SHADES : 0);
	fprintf(d->to, "<rect x=\"%.6f\" y=\"%.0f\" width=\"%.6f\" height=\"%d\" rx=\"1\"/>", x, y,
		width, ROW - 1);
	write_label(d, name, x, y, width);
	fputs("</g></g>\n", d->to);
}

/* Parents first, siblings from left to right; no recursion, since stacks may be deep. */
static int write_frames(struct svg_drawing *d)
{
	const struct flametree *t = d->tree;
	uint64_t *at = calloc(t->nnodes, sizeof(*at)); /* samples to the left */
	double scale = d->all ? (double)WIDTH / (double)d->all : 0;
	uint32_t node = 0;

	if (!at)
		return -ENOMEM;
	while (node != FLAMETREE_NONE) {
		const struct flametree_node *n = &t->nodes[node];
		bool drawn = n->total[0] >= d->least && n->total[0];
		uint32_t next = drawn ? n->first : FLAMETREE_NONE;
		uint64_t left = at[node];

		if (drawn)
			write_frame(d, n, (double)at[node] * scale, (double)n->total[0] * scale);
		for (; next == FLAMETREE_NONE && node; node = t->nodes[node].parent) {
			left = at[node] + t->nodes[node].total[0];
			next = t->nodes[node].next;
		}
		if (next != FLAMETREE_NONE)
			at[next] = left;
		node = next;
	}
	free(at);
	return 0;
}

/* Invisibly narrow frames are left out, and more of them if there are many. */
static void choose_frames(struct svg_drawing *d)
{
	const struct flametree *t = d->tree;
	uint32_t frames, some;

	d->least = d->all / NARROWEST;
	for (;; d->least = d->least * 2 + 1) {
		frames = some = d->depth = 0;
		for (uint32_t i = 0; i < t->nnodes; i++) {
			some += t->nodes[i].total[0] > 0;
			if (!t->nodes[i].total[0] || t->nodes[i].total[0] < d->least)
				continue;
			frames++;
			if (t->nodes[i].depth > d->depth)
				d->depth = t->nodes[i].depth;
		}
		if (frames <= FRAMES_MAX)
			break;
	}
	d->left_out = some - frames;
}

static void write_head(const struct svg_drawing *d)
{
	int height = TOP + (int)(d->depth + 1) * ROW + BOTTOM;
	uint32_t paper = paper_of(d->theme);

	/* As an image it has this size; opened in a browser, the script makes it as wide as that.
	 */
	fprintf(d->to,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\" style=\"background:#%06x\" "
		"font-family=\"'DejaVu Sans Mono',Menlo,Consolas,monospace\" font-size=\"12\" "
		"xml:space=\"preserve\">\n",
		WIDTH, height, WIDTH, height, paper);
	write_style(d);
	fprintf(d->to,
		"<rect x=\"0\" y=\"0\" width=\"100%%\" height=\"100%%\" style=\"fill:#%06x\"/>\n"
		"<text class=\"t\" x=\"50%%\" y=\"24\" text-anchor=\"middle\">",
		paper);
	xml_text(d->to, d->look->title);
	fprintf(d->to,
		"</text>\n<text x=\"8\" y=\"44\" id=\"reset\" class=\"h\">Reset zoom</text>\n"
		"<text x=\"100%%\" dx=\"-8\" y=\"44\" id=\"search\" class=\"h\" "
		"text-anchor=\"end\">Search /</text>\n"
		"<text x=\"100%%\" dx=\"-100\" y=\"44\" id=\"matched\" text-anchor=\"end\">"
		"</text>\n<text x=\"8\" y=\"%d\" id=\"info\"></text>\n",
		height - 8);
	if (d->left_out)
		fprintf(d->to,
			"<text x=\"50%%\" y=\"44\" text-anchor=\"middle\">%u frames of less than "
			"%.3f %% left out</text>\n",
			d->left_out, share(d, d->least, 0));
}

int export_svg_tree(FILE *to, struct flametree *t, const struct theme *theme,
		    const struct svg_look *look)
{
	struct svg_drawing d = {.to = to, .tree = t, .look = look, .all = t->nodes->total[0]};
	struct theme *own = NULL;
	int err = flametree_sort(t);

	if (!err && !theme)
		err = theme_load(&own, "default", NULL, NULL, NULL);
	d.theme = theme ? theme : own;
	if (!err) {
		choose_frames(&d);
		write_head(&d);
		err = write_frames(&d);
		fprintf(to, "<script><![CDATA[\n%s]]></script>\n</svg>\n", export_svg_script);
	}
	theme_free(own);
	return err;
}

/* --- from samples ---------------------------------------------------------------------------- */

/* Coloured as in the Flame view: by module, kernel, and early end. */
static enum role role_of(const struct export_model *c, const struct export_model_func *func)
{
	uint32_t hash = 0;

	if (func->kind == FUNC_END)
		return ROLE_BROKEN;
	if (func->kind == FUNC_KERNEL || func->kind == FUNC_WAIT)
		return ROLE_FLAME_4;
	if (func_is_language(func->kind))
		return ROLE_LANGUAGE;
	for (const char *s = export_model_text(c, func->module); *s; s++)
		hash = hash * 31 + (unsigned char)*s;
	return (enum role)(ROLE_FLAME_1 + hash % 3);
}

static int64_t add_func(struct flametree *t, const struct export_model *c, uint32_t func,
			bool plain)
{
	const struct export_model_func *f = &c->funcs[func];
	char name[EXPORT_NAME_MAX];

	folded_label(name, sizeof(name), f->kind, export_model_text(c, f->name));
	if (plain)
		return flametree_frame(t, ROLE_FLAME_1, name, "");
	return flametree_frame(t, role_of(c, f), name, export_model_text(c, f->module));
}

int export_svg_samples(struct flametree *t, const struct export_model *c, int side, bool plain)
{
	int64_t *known = calloc((size_t)c->nfuncs + 1, sizeof(*known));
	uint32_t *frames = export_model_frames_new(c);
	int err = known && frames ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < c->nfuncs && !err; i++) {
		known[i] = add_func(t, c, i, plain);
		err = known[i] < 0 ? -ENOMEM : 0;
	}
	for (size_t i = 0; i < c->nsamples && !err; i++) {
		const struct export_model_sample *sample = &c->samples[i];
		uint32_t n = export_model_frames(c, sample->node, frames);
		char comm[64];
		int64_t node;

		folded_frame(comm, sizeof(comm), export_model_text(c, c->procs[sample->proc].comm));
		node = flametree_frame(t, ROLE_HEADER, comm, plain ? "" : "process");
		if (node >= 0)
			node = flametree_child(t, 0, (uint32_t)node);
		for (uint32_t f = 0; f < n && node >= 0; f++)
			node = flametree_child(t, (uint32_t)node, (uint32_t)known[frames[f]]);
		if (node < 0) {
			err = -ENOMEM;
			continue;
		}
		flametree_count(t, (uint32_t)node, side, export_model_value(c, sample));
		if (!side)
			flametree_events(t, (uint32_t)node, sample->count);
	}
	free(frames);
	free(known);
	return err;
}

/* "1.23 s off-cpu in 12 waits, 2.0 s" */
static void title_of(const struct export_model *c, char *to, size_t size)
{
	double seconds = (double)c->health.elapsed / 1e9;
	char span[32];

	if (export_model_unit(c) == EXPORT_TIME)
		snprintf(to, size, "%s %s in %" PRIu64 " %s, %.1f s",
			 export_span(span, sizeof(span), c->weight), export_counted(c), c->count,
			 export_events(c), seconds);
	else if (export_model_unit(c) == EXPORT_EVENTS)
		snprintf(to, size, "%" PRIu64 " %s by %" PRIu64 " samples, %.1f s", c->weight,
			 export_counted(c), c->count, seconds);
	else
		snprintf(to, size, "%" PRIu64 " samples of %s, %.1f s", c->count,
			 *c->health.event ? c->health.event : "nothing", seconds);
}

int export_svg(FILE *to, const struct export_model *c, const struct theme *theme, bool flame)
{
	struct flametree tree;
	struct svg_look look = {.flame = flame, .unit = export_model_unit(c)};
	char title[160];
	int err = flametree_new(&tree, "all");

	title_of(c, title, sizeof(title));
	look.title = title;
	if (look.unit != EXPORT_SAMPLES) {
		look.counted = export_counted(c);
		look.events = export_events(c);
	}
	if (!err)
		err = export_svg_samples(&tree, c, 0, false);
	if (!err)
		err = export_svg_tree(to, &tree, theme, &look);
	flametree_free(&tree);
	return err;
}
