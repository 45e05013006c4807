// SPDX-License-Identifier: GPL-2.0-or-later
/* See pprof_value.h. */
#include "tui/import/pprof_value.h"

#include <string.h>

#include "symbols/base/text.h"

/* ns of a unit; 0: it is no unit of time. */
static uint64_t unit_ns(const struct pprof *p, uint64_t unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"nanoseconds", 1},	{"nanosecond", 1},	  {"ns", 1},
		     {"microseconds", 1000},	{"microsecond", 1000},	  {"us", 1000},
		     {"milliseconds", 1000000}, {"millisecond", 1000000}, {"ms", 1000000},
		     {"seconds", 1000000000},	{"second", 1000000000},	  {"s", 1000000000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (pprof_string_is(p, unit, units[i].name))
			return units[i].ns;
	return 0;
}

static bool is_count(const struct pprof *p, uint32_t type)
{
	return pprof_string_is(p, p->types[type].unit, "count");
}

static bool name_is_one(const struct pprof *p, uint32_t type, const char *const *names)
{
	for (; *names; names++)
		if (pprof_string_is(p, p->types[type].name, *names))
			return true;
	return false;
}

/*
 * Of a time or of bytes the count just before ("inuse_objects" of "inuse_space"), of a count that
 * of the samples in which it was found, if there is one, else it is its own.
 */
static uint32_t count_of(const struct pprof *p, uint32_t shown)
{
	static const char *const samples[] = {"samples", "waits", NULL};

	for (uint32_t i = shown; i-- > 0;)
		if (is_count(p, i) && (!is_count(p, shown) || name_is_one(p, i, samples)))
			return i;
	if (is_count(p, shown))
		return shown;
	for (uint32_t i = 0; i < p->ntypes; i++)
		if (is_count(p, i))
			return i;
	return PPROF_NONE;
}

void pprof_value_choose(struct pprof_value *v, const struct pprof *p)
{
	struct import_text named = pprof_string(p, p->default_type);

	*v = (struct pprof_value){.regular = true, .counted_so = true};
	v->shown = (uint32_t)p->ntypes - 1;
	for (uint32_t i = 0; named.length && i < p->ntypes; i++) {
		struct import_text name = pprof_string(p, p->types[i].name);

		if (name.length == named.length && !memcmp(name.at, named.at, name.length)) {
			v->shown = i;
			break;
		}
	}
	v->count = count_of(p, v->shown);
	v->unit = unit_ns(p, p->types[v->shown].unit);
	v->period = p->period * unit_ns(p, p->period_type.unit);
}

/* Values and periods are below 2^63 and 2^50 * 10^9 at most: compared in 128 bits. */
void pprof_value_see(struct pprof_value *v, const uint64_t *values)
{
	unsigned __int128 ns = (unsigned __int128)values[v->shown] * v->unit;

	if (!v->period || !v->unit)
		return;
	v->regular &= ns % v->period == 0;
	if (v->count != PPROF_NONE)
		v->counted_so &= ns == (unsigned __int128)values[v->count] * v->period;
}

static bool is_clock(const struct pprof_value *v, const struct pprof *p)
{
	static const char *const counts[] = {"samples", "cpu", NULL};
	static const char *const waits[] = {"off-cpu", NULL};

	if (!v->period || name_is_one(p, v->shown, waits))
		return false;
	if (!v->unit)
		return v->count == v->shown && name_is_one(p, v->shown, counts);
	return v->count == PPROF_NONE ? v->regular : v->counted_so;
}

void pprof_value_event(struct pprof_value *v, const struct pprof *p)
{
	static const char *const cpu[] = {"cpu", "samples", "cpu-time", "cpu_time", "on-cpu", NULL};
	static const char *const waits[] = {"off-cpu", "wall", NULL};
	struct import_text name = pprof_string(p, p->types[v->shown].name);
	struct import_event *e = &v->event;

	text_clean(e->name, sizeof(e->name), name.at, name.length);
	v->clock = is_clock(v, p);
	if (v->clock) {
		double frequency = 1e9 / (double)v->period;

		e->time = true;
		e->frequency = frequency < 1 ? 1 : (unsigned int)(frequency + 0.5);
		/* A period is a whole number of ns, so 99 Hz have one of 10101010 ns. */
		v->derived =
			e->frequency < 1000000 && v->period == 1000000000 / (uint64_t)e->frequency;
		if (name_is_one(p, v->shown, cpu))
			strcpy(e->name, "cpu-clock");
	} else if (v->unit && name_is_one(p, v->shown, waits)) {
		e->waits = true;
	} else if (v->count == v->shown && pprof_string_is(p, p->types[v->shown].name, "samples")) {
		strcpy(e->name, IMPORT_SAMPLES);
	} else {
		e->counted = true;
	}
	if (!*e->name)
		strcpy(e->name, "values");
}

void pprof_value_of(const struct pprof_value *v, const uint64_t *values, uint64_t *rest,
		    uint64_t *count, uint64_t *weight)
{
	uint64_t value = values[v->shown];
	unsigned __int128 us = (unsigned __int128)value * v->unit + *rest;

	*count = 0;
	*weight = 0;
	if (!value)
		return;
	*count = v->count != PPROF_NONE ? values[v->count] : 1;
	if (v->clock && v->count == PPROF_NONE)
		*count = (uint64_t)((unsigned __int128)value * v->unit / v->period);
	if (!*count)
		*count = 1;
	if (v->clock && !v->unit)
		us = (unsigned __int128)value * v->period + *rest;
	*rest = (uint64_t)(us % 1000);
	us /= 1000;
	if (us > INT64_MAX)
		us = INT64_MAX;
	if (v->unit || v->clock)
		*weight = v->derived ? 0 : (uint64_t)us;
	else if (v->event.counted)
		*weight = value;
}
