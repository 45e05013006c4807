/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STACKTOP_TUI_VIEWS_ANNOTATE_PRIV_H
#define STACKTOP_TUI_VIEWS_ANNOTATE_PRIV_H

/* The inside of the screen of a function's code, for annotate*.c only. */

#include "symbols/code/listing.h"
#include "tui/views/annotate.h"
#include "tui/screen/list.h"
#include "tui/ui/view.h"

/*
 * A listing as rows of a screen: instructions, before them the source line that they begin, and in
 * lanes beside them the jumps within the function.
 */

#define CODEROWS_LANES 8 /* more jumps side by side are not drawn */

struct coderow {
	uint32_t insn; /* of the listing; a line's: the one that follows */
	uint32_t line; /* of the listing; LISTING_NONE: the row is an instruction */
	/* A bit for each lane, of which 0 is nearest to the code. */
	uint8_t pass;	      /* goes through */
	uint8_t down, up;     /* ends here, and goes on down, up */
	uint8_t source, head; /* of them those that begin here, and those that end here */
};

struct coderows {
	struct coderow *row; /* to be freed */
	uint32_t count;
	uint32_t *of_insn; /* to be freed: row of each instruction */
};

/* Makes the rows again. -ENOMEM: there are none. */
int coderows_make(struct coderows *rows, const struct listing *listing);
void coderows_free(struct coderows *rows);

struct annotate {
	struct annotation_wish wish;
	struct profile_func func; /* its names are those of the wish */
	struct annotation *shown; /* NULL: no answer yet */
	struct coderows rows;
	struct list list;
	uint32_t rank; /* of the hottest that was gone to last; 0: none */
	int scroll;
	bool moved;   /* the user has chosen a row; before, the hottest is in the middle */
	bool settled; /* the hottest was chosen of enough samples */
	bool gone;    /* the process has exited, or executes another program */
	bool cfi;     /* that is shown, not the code */
	struct list cfi_list;
};

/* The overlay is this one. */
static inline struct annotate *annotate_of(const struct ui *ui)
{
	return ui->overlay.state;
}

/* Lines of a source are shown, not machine code. */
static inline bool annotate_has_source(const struct annotate *a)
{
	return func_has_source(a->wish.kind);
}

void annotate_draw(struct ui *ui, struct grid *g, int top, int rows);
/* All instructions or lines are too many to listen to: the hottest. -ENOMEM. */
int annotate_plain(const struct ui *ui, struct plain_list *list);
/* The counts of each instruction, of the span that is shown. The annotation is READY. */
const struct annotation_count *annotate_counts(const struct ui *ui);
/* The text of an instruction as it is shown and searched. */
void annotate_insn_text(const struct ui *ui, const struct listing *l,
			const struct listing_insn *insn, char *to, size_t size);
/* That of a line: where the source is not there, its path. */
const char *annotate_line_text(const struct listing *l, const struct listing_line *line);
/* The address to show CFI for: that of the instruction under the cursor. */
uint64_t annotate_cfi_address(const struct annotate *a);

#endif
