// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See php_check.h. Each member of the layout is compared with something that it must agree with: a
 * frame with the stack that it is on and with the instructions of its function, a function with
 * its lines and with its last instruction, a generator with its own frame.
 */
#include "symbols/runtime/php_check.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define FRAMES_MAX	512u
#define FUNCTION_MAX	256u
#define TEXT_MAX	256u
#define TEXT_LENGTH_MAX (1u << 20)
#define LINE_LIMIT	(1u << 24)
#define OPS_MAX		(1u << 22)
#define OPCODE_MAX	230u
/* executor_globals: vm_stack_top, vm_stack_end, vm_stack, and one more word before the frame */
#define GLOBALS_STACK 32u

struct php_checker {
	const struct php_layout *l;
	php_read_fn *read;
	void *arg;
	const char *why;
	uint64_t page; /* of the stack of frames */
	unsigned int frames, lines;
};

struct frame {
	uint64_t addr, opline, function, back;
	uint32_t info;
};

struct function {
	uint64_t opcodes;
	uint32_t last, start, end;
	uint8_t type;
};

static int refuse(struct php_checker *c, const char *why)
{
	c->why = why;
	return -EINVAL;
}

static int read_word(struct php_checker *c, uint64_t addr, uint64_t *value)
{
	return c->read(c->arg, addr, value, sizeof(*value));
}

static uint64_t word_at(const uint8_t *bytes, uint32_t at)
{
	uint64_t value = 0;

	if (at <= FUNCTION_MAX - sizeof(value))
		memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static uint32_t int_at(const uint8_t *bytes, uint32_t at)
{
	return (uint32_t)word_at(bytes, at);
}

/* --- functions ------------------------------------------------------------------------------- */

/* A zend_string, as much of it as there is room for; 0: it is none. */
static size_t read_text(struct php_checker *c, uint64_t addr, char to[TEXT_MAX])
{
	uint32_t references;
	uint64_t length;
	char last;

	if (!addr || addr & 7 || c->read(c->arg, addr, &references, sizeof(references)) ||
	    !references || read_word(c, addr + PHP_STRING_LENGTH, &length) || !length ||
	    length > TEXT_LENGTH_MAX ||
	    c->read(c->arg, addr + PHP_STRING_TEXT + length, &last, sizeof(last)) || last)
		return 0;
	if (length >= TEXT_MAX)
		length = TEXT_MAX - 1;
	if (c->read(c->arg, addr + PHP_STRING_TEXT, to, length))
		return 0;
	to[length] = '\0';
	return length;
}

/* Letters, digits, what stands between names of spaces and in {closure}; all that is not ASCII. */
static bool is_name(const char *text)
{
	for (; *text; text++)
		if (!strchr("_\\{}:()$", *text) && !(*text >= '0' && *text <= '9') &&
		    !((*text | 32) >= 'a' && (*text | 32) <= 'z') && !((unsigned char)*text & 0x80))
			return false;
	return true;
}

/* Standard input code, Command line code, php shell code */
static bool is_path(const char *text)
{
	const size_t length = strlen(text);

	return strchr(text, '/') || strstr(text, ".php") ||
	       (length > 5 && !strcmp(text + length - 5, " code"));
}

static int check_texts(struct php_checker *c, const uint8_t *bytes)
{
	const uint64_t name = word_at(bytes, PHP_FUNCTION_NAME),
		       class = word_at(bytes, PHP_FUNCTION_SCOPE);
	char text[TEXT_MAX];
	uint64_t class_name;

	if (name && (!read_text(c, name, text) || !is_name(text)))
		return refuse(c, "a function has no name");
	if (class &&
	    (read_word(c, class + PHP_CLASS_NAME, &class_name) || !read_text(c, class_name, text)))
		return refuse(c, "a function's class has no name");
	if (!read_text(c, word_at(bytes, c->l->function_file), text) || !is_path(text))
		return refuse(c, "a function has no file");
	return 0;
}

static int read_op(struct php_checker *c, uint64_t addr, uint32_t *line, uint8_t *opcode)
{
	uint8_t op[PHP_OP_SIZE];

	if (c->read(c->arg, addr, op, sizeof(op)))
		return -EFAULT;
	memcpy(line, op + PHP_OP_LINE, sizeof(*line));
	*opcode = op[PHP_OP_CODE];
	return 0;
}

/* JMP, RETURN, THROW, RETURN_BY_REF, FAST_RET, GENERATOR_RETURN, JMPZNZ, MATCH_ERROR, VERIFY_NEVER
 */
static bool is_last(uint8_t opcode)
{
	static const uint8_t last[] = {42, 62, 108, 111, 163, 161, 45, 197, 201};

	return memchr(last, opcode, sizeof(last)) || opcode == 79 /* EXIT */;
}

/* The code of a file begins somewhere, but ends at the end of the file. */
static int check_code(struct php_checker *c, const struct function *f, bool file)
{
	uint32_t line;
	uint8_t opcode;

	if (!f->opcodes || f->opcodes & 7 || !f->last || f->last > OPS_MAX)
		return refuse(c, "a function has no instructions");
	if (f->start > f->end || f->end > LINE_LIMIT || (!file && !f->start) ||
	    (file && f->start > 1))
		return refuse(c, "a function is at impossible lines");
	if (read_op(c, f->opcodes, &line, &opcode) || opcode > OPCODE_MAX || line < f->start ||
	    line > f->end)
		return refuse(c, "a function does not begin with an instruction of its own");
	if (read_op(c, f->opcodes + (uint64_t)PHP_OP_SIZE * (f->last - 1), &line, &opcode) ||
	    !is_last(opcode) || line < f->start || line > f->end)
		return refuse(c, "a function does not end with an instruction that leaves it");
	return 0;
}

static int check_function(struct php_checker *c, uint64_t addr, struct function *out)
{
	uint8_t bytes[FUNCTION_MAX] = {0};
	int err;

	*out = (struct function){0};
	if (addr & 7 || c->read(c->arg, addr, &out->type, sizeof(out->type)))
		return refuse(c, "a frame has no function");
	if (out->type == PHP_INTERNAL)
		return 0;
	if (out->type != PHP_USER && out->type != PHP_EVAL)
		return refuse(c, "a frame's function is of no kind");
	if (c->l->function_size > FUNCTION_MAX || c->read(c->arg, addr, bytes, c->l->function_size))
		return refuse(c, "a function cannot be read");
	out->opcodes = word_at(bytes, c->l->function_opcodes);
	out->last = int_at(bytes, c->l->function_last);
	out->start = int_at(bytes, c->l->function_start);
	out->end = int_at(bytes, c->l->function_end);
	err = check_texts(c, bytes);
	return err ? err : check_code(c, out, !word_at(bytes, PHP_FUNCTION_NAME));
}

/* --- frames ---------------------------------------------------------------------------------- */

/*
 * The line where a frame is. The innermost one keeps its instruction in a register; after an
 * exception it is in none of its own.
 */
static int check_line(struct php_checker *c, const struct frame *frame, const struct function *f)
{
	const uint64_t at = frame->opline - f->opcodes;
	uint32_t line;
	uint8_t opcode;

	if (at >= (uint64_t)PHP_OP_SIZE * f->last) {
		if (c->frames == 1 || !frame->opline)
			return 0;
		if (!read_op(c, frame->opline, &line, &opcode) && opcode == 149)
			return 0; /* HANDLE_EXCEPTION */
		return refuse(c, "a frame is outside of its function");
	}
	if (at % PHP_OP_SIZE || read_op(c, frame->opline, &line, &opcode) || opcode > OPCODE_MAX ||
	    line < f->start || line > f->end)
		return refuse(c, "a frame is at no line of its function");
	c->lines++;
	return 0;
}

/* A generator's frame is its own; what stands for others is a part of the generator. */
static int check_generator(struct php_checker *c, const struct frame *frame)
{
	uint64_t generator, own, parent, other;

	if (!(frame->info & PHP_CALL_GENERATOR) || c->l->version < PHP_GENERATORS)
		return 0;
	if (read_word(c, frame->addr + PHP_FRAME_RETURN, &generator) || generator & 7 ||
	    read_word(c, generator + PHP_GENERATOR_FRAME, &own) || own != frame->addr)
		return refuse(c, "a generator's frame is not its own");
	if (read_word(c, generator + PHP_GENERATOR_PARENT, &parent) || parent)
		return refuse(c, "a generator runs and waits");
	if (read_word(c, frame->back + PHP_FRAME_FUNCTION, &own) || own)
		return 0;
	if (read_word(c, frame->back + PHP_FRAME_THIS, &other) ||
	    other + PHP_GENERATOR_FAKE != frame->back ||
	    read_word(c, other + PHP_GENERATOR_PARENT, &parent) || !parent)
		return refuse(c, "a generator that waits is not in its place");
	return 0;
}

static int read_frame(struct php_checker *c, uint64_t addr, struct frame *out)
{
	uint8_t bytes[FUNCTION_MAX] = {0};

	if (addr & 7 || c->read(c->arg, addr, bytes, PHP_FRAME_SIZE))
		return refuse(c, "a frame cannot be read");
	*out = (struct frame){.addr = addr,
			      .opline = word_at(bytes, PHP_FRAME_OPLINE),
			      .function = word_at(bytes, PHP_FRAME_FUNCTION),
			      .info = int_at(bytes, PHP_FRAME_INFO),
			      .back = word_at(bytes, PHP_FRAME_BACK)};
	return 0;
}

static int check_frame(struct php_checker *c, uint64_t *addr, bool *top)
{
	struct function function;
	struct frame frame;
	int err = read_frame(c, *addr, &frame);

	if (err)
		return err;
	*addr = frame.back;
	if (!frame.function) /* a placeholder */
		return 0;
	err = check_function(c, frame.function, &function);
	if (err || function.type == PHP_INTERNAL)
		return err;
	*top = frame.info & PHP_CALL_TOP;
	c->frames++;
	err = check_generator(c, &frame);
	return err ? err : check_line(c, &frame, &function);
}

/* The stack of frames, whose first words say where it ends: _zend_vm_stack. */
static int check_stack(struct php_checker *c, uint64_t globals)
{
	uint64_t stack[3], end;

	if (c->read(c->arg, globals + c->l->globals_current - GLOBALS_STACK, stack, sizeof(stack)))
		return refuse(c, "the state cannot be read");
	c->page = stack[2];
	if (!c->page)
		return -ENOENT;
	if (c->page & 7 || read_word(c, c->page + 8, &end) || end != stack[1] ||
	    stack[0] < c->page || stack[0] > end)
		return refuse(c, "the stack of frames has no end");
	return 0;
}

/* Members that not every process uses stand where they are seen from others; a lone wrong one
 * shows.
 */
static bool is_consistent(const struct php_layout *l)
{
	return l->function_start == l->function_file + 8 &&
	       l->function_end == l->function_file + 12 &&
	       l->function_size == l->function_file + 16 && l->function_size <= FUNCTION_MAX &&
	       (l->function_opcodes == l->function_last + 4 ||
		l->function_opcodes == l->function_last + 8);
}

int php_check(const struct php_layout *layout, uint64_t globals, php_read_fn *read, void *arg,
	      const char **why)
{
	struct php_checker c = {.l = layout, .read = read, .arg = arg};
	bool top = true;
	uint64_t addr;
	int err = is_consistent(layout) ? 0 : refuse(&c, "its layout contradicts itself");

	if (!err)
		err = check_stack(&c, globals);
	if (!err && read_word(&c, globals + layout->globals_current, &addr))
		err = refuse(&c, "the state cannot be read");
	for (unsigned int n = 0; !err && addr && n < FRAMES_MAX; n++)
		err = check_frame(&c, &addr, &top);
	if (!err && !addr && !top)
		err = refuse(&c, "the outermost frame does not begin a call");
	if (!err && !c.lines)
		err = -ENOENT;
	*why = c.why;
	return err;
}
