/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbol tables in files answer "where is this name". The profiler asks the reverse, for some
 * hundred thousand symbols a file and many files at once, of which it wants a few hundred names. So
 * each table is boiled down to 16 bytes for every address with a name, and names are read from the
 * file on demand.
 *
 * Functions may lie in one another (an entry point inside of assembly, a label with a size). The
 * innermost wins, and each symbol knows its distance to the one around it, so that a search that
 * lands behind the end of an inner one goes on outwards.
 */
#include "symbols/names/symtab.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/base/grow.h"
#include "symbols/base/search.h"
#include "symbols/elf/debugfile.h"
#include "symbols/elf/pclntab.h"
#include "symbols/names/demangle.h"
#include "symbols/names/langname.h"
#include "symbols/names/symname.h"
#include "symbols/names/symread.h"

#define START_BITS  40
#define OUTER_BITS  23
#define SIZE_BITS   27
#define SIZE_MAX_   ((1u << SIZE_BITS) - 1)
#define NESTING_MAX 16u		       /* bounds a search; real ones are 2 or 3 deep */
#define NAMES_MAX   ((size_t)64 << 20) /* kept in memory */
#define BLOCK	    ((size_t)8192)
#define NAME_ROOM   (SYMLIST_STRING + 1)
#define PLT_MARK    "@plt"
#define SEARCH_MAX  ((uint64_t)64 << 20) /* of strings, for what they mention */
#define SEARCH_STEP 65536u
#define CLOSED(i)   (-2 - (i)) /* in place of a descriptor in fds: reads fail */

struct symtab_entry {
	uint64_t start : START_BITS; /* from the table's base */
	uint64_t outer : OUTER_BITS; /* the entry around is so many before; 0: none */
	uint64_t guessed : 1;	     /* as in struct symbol */
	uint32_t size : SIZE_BITS;
	uint32_t source : 3; /* enum symlist_source */
	uint32_t named : 1;  /* name is a place in blocks */
	uint32_t many : 1;   /* name is a place in aliases */
	uint32_t name;	     /* otherwise as in symlist_item */
};

_Static_assert(sizeof(struct symtab_entry) == 16, "a symbol is 16 bytes");
_Static_assert(SYMLIST_SOURCES <= 8, "a source is 3 bits");
_Static_assert(SYMLIST_REACH < 1ull << START_BITS && SYMLIST_MAX <= 1u << OUTER_BITS, "limits fit");
_Static_assert(NAME_ROOM <= BLOCK, "a name fits in a block");

struct symtab_origin {			   /* where names are read from */
	struct symread_strings strings[2]; /* SYMLIST_SYMTAB, SYMLIST_DYNSYM and _PLT */
	struct bytes file;		   /* SYMLIST_GO */
};

struct symtab {
	uint64_t base;
	struct symtab_entry *entries; /* ascending by start, outer ones first */
	size_t count;
	/* Names among which the best is chosen on demand: their number, then the names. */
	uint32_t *aliases;
	size_t naliases;
	bool complete;
	struct symtab_origin origin;
	struct pclntab go;
	int fds[2]; /* our descriptors that the above refer to; -1: none, or closed for now */
	bool resting;
	struct stat other; /* of the second file, when it was closed */
	bool both;	   /* there is a second file */
	char **blocks;	   /* of names that were read */
	size_t nblocks, blocks_room;
	size_t used;		       /* bytes used of the last block */
	unsigned int asked, languages; /* of langname.h: searched for, and found */
};

/* --- reading --------------------------------------------------------------------------------- */

/* The file with the best .symtab: this one, its debug file or the one inside. Frees *other. */
static const struct elf_file *best_symtab(const struct elf_file *file,
					  const struct debug_place *place, struct elf_file **other)
{
	struct symread_strings strings;

	*other = NULL;
	if (!symread_is_thin(file, file))
		return file;
	if (elf_file_is_narrow(file))
		return file;
	if (place && !debugfile_open(file, place, other)) {
		if (!symread_strings(*other, SYMLIST_SYMTAB, &strings))
			return *other;
		elf_file_free(*other);
		*other = NULL;
	}
	return minidebug_open(file, other) ? file : *other;
}

static int list_read(struct symtab *table, struct symlist *list, const struct elf_file *file,
		     const struct elf_file *best)
{
	struct symread_strings *from = table->origin.strings;
	bool thin = symread_is_thin(best, file);
	int err;

	err = symlist_init(list, file);
	if (err || !list->nranges)
		return err;
	table->base = list->ranges[0].start;
	table->complete = !thin;
	err = symread(best, SYMLIST_SYMTAB, list, &from[SYMLIST_SYMTAB]);
	if (err == -ENOENT && !elf_file_is_narrow(file)) {
		err = gopclntab_read(file, list, &table->go);
		table->complete = !err;
	}
	if (err != -ENOMEM && err != -ECANCELED && thin)
		err = symread(file, SYMLIST_DYNSYM, list, &from[SYMLIST_DYNSYM]);
	if (err == -ENOMEM || err == -ECANCELED)
		return err;
	/* Stubs get their names from there, whether the table was read or not. */
	symread_strings(file, SYMLIST_DYNSYM, &from[SYMLIST_DYNSYM]);
	err = elf_file_is_narrow(file) ? 0 : plt_read(file, list);
	return err ? err : symlist_settle(list);
}

/* --- names ----------------------------------------------------------------------------------- */

/* Room for a name in the blocks, at *place; NULL: no memory, or too many names. */
static char *name_room(struct symtab *table, size_t size, uint32_t *place)
{
	if (!table->nblocks || BLOCK - table->used < size) {
		if (GROW(table->blocks, table->nblocks, table->blocks_room, NAMES_MAX / BLOCK))
			return NULL;
		table->blocks[table->nblocks] = malloc(BLOCK);
		if (!table->blocks[table->nblocks])
			return NULL;
		table->nblocks++;
		table->used = 0;
	}
	*place = (uint32_t)((table->nblocks - 1) * BLOCK + table->used);
	table->used += size;
	return table->blocks[table->nblocks - 1] + *place % BLOCK;
}

static size_t string_read(const struct symread_strings *strings, uint32_t name, char *text,
			  size_t room)
{
	size_t length;

	if (name >= strings->end - strings->offset)
		return 0;
	length = bytes_string(&strings->bytes, strings->offset + name, strings->end, text, room);
	return symname_cut_version(text, length);
}

/* The stub of an ifunc has the name of the resolver, which has no stub. */
static size_t resolver_read(struct symtab *table, uint64_t at, char *text, size_t room);

/* Reads the name from the file; its length, 0 if it cannot be read. */
static size_t entry_read(struct symtab *table, const struct symtab_entry *e, char *text)
{
	size_t room = NAME_ROOM - strlen(PLT_MARK), length = 0;

	switch ((enum symlist_source)e->source) {
	case SYMLIST_SYMTAB:
	case SYMLIST_DYNSYM:
		return string_read(&table->origin.strings[e->source], e->name, text, NAME_ROOM);
	case SYMLIST_PLT:
		length = string_read(&table->origin.strings[SYMLIST_DYNSYM], e->name, text, room);
		break;
	case SYMLIST_IPLT:
		length = resolver_read(table, e->name, text, room);
		break;
	case SYMLIST_GO:
		return pclntab_name(&table->go, &table->origin.file, e->name, text, NAME_ROOM);
	case SYMLIST_SOURCES:
		break;
	}
	if (!length)
		return 0;
	memcpy(text + length, PLT_MARK, sizeof(PLT_MARK));
	return length + strlen(PLT_MARK);
}

static const char *name_keep(struct symtab *table, struct symtab_entry *e, const char *text,
			     size_t length)
{
	uint32_t place;
	char *kept = name_room(table, length + 1, &place);

	if (!kept)
		return NULL;
	memcpy(kept, text, length);
	kept[length] = '\0';
	e->named = 1;
	e->many = 0;
	e->name = place;
	return kept;
}

static const char *entry_name(struct symtab *table, struct symtab_entry *e)
{
	char text[2][NAME_ROOM], *best = text[0], *other = text[1], *swap;
	const uint32_t *names = &e->name;
	struct symtab_entry one = *e;
	size_t length = 0, n;
	uint32_t count = 1;

	if (e->named)
		return table->blocks[e->name / BLOCK] + e->name % BLOCK;
	if (e->many) {
		count = table->aliases[e->name];
		names = &table->aliases[e->name + 1];
	}
	for (uint32_t i = 0; i < count; i++) {
		one.name = names[i];
		n = entry_read(table, &one, other);
		if (!n || symname_is_marker(other, n) ||
		    (length &&
		     symname_compare(&(struct symname){other, n, SYMNAME_GLOBAL},
				     &(struct symname){best, length, SYMNAME_GLOBAL}) > 0))
			continue;
		length = n;
		swap = best;
		best = other;
		other = swap;
	}
	return length ? name_keep(table, e, best, length) : NULL;
}

/* --- the table ------------------------------------------------------------------------------- */

static uint64_t entry_end(const struct symtab_entry *entry)
{
	return entry->start + (uint64_t)entry->size;
}

/*
 * Links entry i to the nearest one before that reaches beyond its end, or to the end that was
 * guessed. Entries in between end no later, so every search can skip them. False: nested too deep
 * to be real.
 */
static bool entry_link(struct symtab_entry *entries, size_t i)
{
	uint64_t end = entry_end(&entries[i]) + !entries[i].guessed;
	unsigned int depth = 0;
	size_t outer, at;

	entries[i].outer = 0;
	if (!i)
		return true;
	for (outer = i - 1; entry_end(&entries[outer]) < end; outer -= entries[outer].outer)
		if (!entries[outer].outer)
			return true;
	for (at = outer; entries[at].outer; at -= entries[at].outer)
		if (++depth == NESTING_MAX)
			return false;
	entries[i].outer = i - outer;
	return true;
}

/* The names of an item and its aliases; returns how many, the item being the first. */
static size_t aliases_fill(struct symtab *table, const struct symlist *list, size_t i,
			   struct symtab_entry *e)
{
	size_t n = 1;

	while (i + n < list->count && list->items[i + n].alias)
		n++;
	if (n == 1)
		return n;
	e->many = 1;
	e->name = (uint32_t)table->naliases;
	table->aliases[table->naliases++] = (uint32_t)n;
	for (size_t k = 0; k < n; k++)
		table->aliases[table->naliases++] = list->items[i + k].name;
	return n;
}

static int table_reserve(struct symtab *table, const struct symlist *list)
{
	size_t count = 0, aliases = 0, i;

	for (i = 0; i < list->count; i++) {
		count += !list->items[i].alias;
		if (!list->items[i].alias && i + 1 < list->count && list->items[i + 1].alias)
			aliases += 2;
		aliases += list->items[i].alias;
	}
	table->entries = reallocarray(NULL, count, sizeof(*table->entries));
	table->aliases = reallocarray(NULL, aliases + 1, sizeof(*table->aliases));
	return table->entries && table->aliases ? 0 : -ENOMEM;
}

static int table_fill(struct symtab *table, const struct symlist *list)
{
	const struct symlist_item *item;
	struct symtab_entry *e;
	uint64_t size;
	size_t i;

	if (!list->count)
		return 0;
	if (table_reserve(table, list))
		return -ENOMEM;
	for (i = 0; i < list->count;) {
		item = &list->items[i];
		size = item->end - item->start;
		e = &table->entries[table->count];
		*e = (struct symtab_entry){
			.start = item->start - table->base,
			.size = size > SIZE_MAX_ ? SIZE_MAX_ : size,
			.guessed = item->guessed,
			.source = item->source,
			.name = item->name,
		};
		i += aliases_fill(table, list, i, e);
		if (entry_link(table->entries, table->count))
			table->count++;
	}
	return 0;
}

/* True if the entry's name cannot be read from there. */
static bool entry_is_lost(const struct symtab_entry *e, const struct symtab_origin *origin)
{
	bool symtab = origin->strings[SYMLIST_SYMTAB].bytes.fd < 0;

	switch ((enum symlist_source)e->source) {
	case SYMLIST_SYMTAB:
		return symtab;
	case SYMLIST_GO:
		return origin->file.fd < 0;
	case SYMLIST_IPLT:
		return symtab || origin->file.fd < 0;
	case SYMLIST_DYNSYM:
	case SYMLIST_PLT:
	case SYMLIST_SOURCES:
		break;
	}
	return origin->strings[SYMLIST_DYNSYM].bytes.fd < 0;
}

/* The same bytes through a descriptor of the table's own; without one, nothing can be read. */
static struct bytes bytes_adopt(const struct symtab *table, struct bytes bytes, const int fds[2])
{
	for (size_t i = 0; i < 2; i++)
		if (bytes.fd >= 0 && bytes.fd == fds[i])
			return (struct bytes){.fd = table->fds[i]};
	return (struct bytes){.fd = -1};
}

/*
 * From here on the elf files are not needed: the table reads through its own descriptors. Names in
 * an image, or in a file that cannot be kept open, are read now.
 */
static void table_detach(struct symtab *table, const struct elf_file *file,
			 const struct elf_file *other)
{
	const int fds[2] = {elf_file_fd(file), other ? elf_file_fd(other) : -1};
	struct symtab_origin own = table->origin;
	size_t i;

	for (i = 0; i < 2; i++)
		table->fds[i] = fds[i] < 0 ? -1 : fcntl(fds[i], F_DUPFD_CLOEXEC, 0);
	for (i = 0; i < 2; i++)
		own.strings[i].bytes = bytes_adopt(table, own.strings[i].bytes, fds);
	own.file = bytes_adopt(table, own.file, fds);
	for (i = 0; i < table->count; i++)
		if (entry_is_lost(&table->entries[i], &own))
			entry_name(table, &table->entries[i]);
	table->origin = own;
}

int symtab_new(const struct elf_file *file, const struct debug_place *place, struct symtab **out)
{
	const struct elf_file *best;
	struct symtab *table;
	struct elf_file *other;
	struct symlist list;
	int err;

	/* Addresses in relocatable files count from each section's start. */
	if (elf_file_type(file) == ET_REL)
		return -EINVAL;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->fds[0] = table->fds[1] = -1;
	table->origin.file = elf_file_bytes(file);
	table->origin.strings[0].bytes.fd = table->origin.strings[1].bytes.fd = -1;
	best = best_symtab(file, place, &other);
	err = list_read(table, &list, file, best);
	if (!err)
		err = table_fill(table, &list);
	symlist_destroy(&list);
	if (!err)
		table_detach(table, file, other);
	elf_file_free(other);
	if (err) {
		symtab_free(table);
		return err;
	}
	*out = table;
	return 0;
}

static void files_close(struct symtab *table)
{
	for (size_t i = 0; i < 2; i++) {
		if (table->fds[i] >= 0)
			close(table->fds[i]);
		table->fds[i] = -1;
	}
}

void symtab_free(struct symtab *table)
{
	if (!table)
		return;
	files_close(table);
	for (size_t i = 0; i < table->nblocks; i++)
		free(table->blocks[i]);
	free(table->blocks);
	free(table->aliases);
	free(table->entries);
	free(table);
}

/* --- files that are closed for a while ------------------------------------------------------- */

static void bytes_replace(struct symtab *table, int before, int after)
{
	struct symtab_origin *from = &table->origin;

	for (size_t i = 0; i < 2; i++)
		if (from->strings[i].bytes.fd == before)
			from->strings[i].bytes.fd = after;
	if (from->file.fd == before)
		from->file.fd = after;
}

void symtab_rest(struct symtab *table)
{
	if (table->fds[0] < 0 && table->fds[1] < 0)
		return;
	table->both = table->fds[1] >= 0;
	if (table->both && fstat(table->fds[1], &table->other))
		table->other = (struct stat){0};
	for (int i = 0; i < 2; i++)
		if (table->fds[i] >= 0)
			bytes_replace(table, table->fds[i], CLOSED(i));
	files_close(table);
	table->resting = true;
}

bool symtab_rests(const struct symtab *table)
{
	return table->resting;
}

/* Finds the debug file again; its names are still in place only if it is the very same file. */
static int other_open(struct symtab *table, int fd, const struct debug_place *place)
{
	struct elf_file *file = NULL, *other = NULL;
	struct stat st;
	int err = elf_file_open_fd(fd, &file);

	if (!err)
		err = place ? debugfile_open(file, place, &other) : -ENOENT;
	elf_file_free(file);
	if (err)
		return err;
	if (fstat(elf_file_fd(other), &st) || !debugfile_is_same(&st, &table->other)) {
		err = -ESTALE;
	} else {
		table->fds[1] = fcntl(elf_file_fd(other), F_DUPFD_CLOEXEC, 0);
		err = table->fds[1] < 0 ? -errno : 0;
	}
	elf_file_free(other);
	return err;
}

int symtab_wake(struct symtab *table, int fd, const struct debug_place *place)
{
	int err;

	if (!table->resting)
		return 0;
	table->fds[0] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	err = table->fds[0] < 0 ? -errno : 0;
	if (!err && table->both)
		err = other_open(table, fd, place);
	if (err) {
		files_close(table);
		return err;
	}
	for (int i = 0; i < 2; i++)
		bytes_replace(table, CLOSED(i), table->fds[i]);
	table->resting = false;
	return 0;
}

/* --- questions ------------------------------------------------------------------------------- */

size_t symtab_count(const struct symtab *table)
{
	return table->count;
}

size_t symtab_bytes(const struct symtab *table)
{
	return sizeof(*table) + table->count * sizeof(*table->entries) +
	       table->naliases * sizeof(*table->aliases) +
	       table->nblocks * (BLOCK + sizeof(*table->blocks));
}

bool symtab_complete(const struct symtab *table)
{
	return table->complete;
}

static bool entry_reaches(const struct symtab *table, const struct symtab_entry *e, uint64_t at,
			  const struct symtab_extents *extents)
{
	if (at >= entry_end(e))
		return false;
	return !e->guessed || !extents || at == e->start ||
	       extents->reaches(extents->arg, table->base + e->start, table->base + at);
}

static struct symtab_entry *entry_find(const struct symtab *table, uint64_t vaddr,
				       const struct symtab_extents *extents)
{
	uint64_t at = vaddr - table->base;
	struct symtab_entry *e;
	size_t low;

	if (vaddr < table->base)
		return NULL;
	low = SEARCH(table->count, i, table->entries[i].start <= at);
	if (!low)
		return NULL;
	for (e = &table->entries[low - 1]; !entry_reaches(table, e, at, extents); e -= e->outer)
		if (!e->outer)
			return NULL;
	return e;
}

static size_t resolver_read(struct symtab *table, uint64_t at, char *text, size_t room)
{
	struct symtab_entry *e = entry_find(table, table->base + at, NULL);
	const char *name;
	size_t length;

	if (!e || e->source == SYMLIST_PLT || e->source == SYMLIST_IPLT)
		return 0;
	name = entry_name(table, e);
	length = name ? strlen(name) : 0;
	if (length >= room)
		length = room - 1;
	if (length)
		memcpy(text, name, length);
	return length;
}

int symtab_find_within(struct symtab *table, uint64_t vaddr, const struct symtab_extents *extents,
		       struct symbol *out)
{
	struct symtab_entry *e = entry_find(table, vaddr, extents);

	if (!e)
		return -ENOENT;
	out->name = entry_name(table, e);
	out->start = table->base + e->start;
	out->size = e->size;
	out->guessed = e->guessed;
	return out->name ? 0 : -ENOENT;
}

int symtab_find(struct symtab *table, uint64_t vaddr, struct symbol *out)
{
	return symtab_find_within(table, vaddr, NULL, out);
}

/* --- languages ------------------------------------------------------------------------------- */

/* True if a string begins with the prefix, which has a NUL before it. */
static bool strings_mention(const struct symread_strings *strings, const char *prefix,
			    size_t length, char *chunk)
{
	const uint64_t size = strings->end - strings->offset;
	const uint64_t end = strings->offset + (size < SEARCH_MAX ? size : SEARCH_MAX);
	ssize_t n;

	for (uint64_t at = strings->offset; end - at > length; at += (uint64_t)n - length) {
		n = bytes_read_some(strings->bytes.fd, at, chunk,
				    end - at < SEARCH_STEP ? (size_t)(end - at) : SEARCH_STEP);
		if (n <= (ssize_t)length)
			break;
		if (memmem(chunk, (size_t)n, prefix, length))
			return true;
	}
	return false;
}

static bool table_mentions(const struct symtab *table, const char *name)
{
	const struct symread_strings *strings = table->origin.strings;
	char *chunk = malloc(SEARCH_STEP), prefix[16] = "";
	const size_t length = 1 + strlen(name);
	bool found = false;

	memcpy(prefix + 1, name, length);
	for (size_t i = 0; i < 2 && chunk && !found; i++)
		found = strings[i].bytes.fd >= 0 &&
			strings_mention(&strings[i], prefix, length, chunk);
	free(chunk);
	return found;
}

char *symtab_demangle(struct symtab *table, const char *name)
{
	const unsigned int language = langname_asks(name);

	if (language && !(table->asked & language) && !table->resting) {
		table->asked |= language;
		if (table_mentions(table, langname_runtime(language)))
			table->languages |= language;
	}
	return demangle_in(name, table->languages);
}
