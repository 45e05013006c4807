# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules for profiles of OTLP, as its conformance checker has them and some of its protocol's text.

findings(request) returns what is wrong with an ExportProfilesServiceRequest, as lines of text.

The checker: github.com/open-telemetry/sig-profiling, profcheck/check.go. Rules that are not in it:
duplicates in tables other than those of strings and mappings, references from resources, scopes and
values to strings, the profile's id and period, empty keys, and that no two samples are the same.
"""

import collections

TABLES = ("mapping_table", "location_table", "function_table", "link_table", "string_table",
          "attribute_table", "stack_table")


class Rules:
    def __init__(self, request):
        self.request = request
        self.tables = request.dictionary
        self.used = {name: {0} for name in TABLES}
        self.found = []

    def say(self, where, what):
        self.found.append(f"{where}: {what}")

    def index(self, table, number, where):
        """Whether there is such an entry, which is then used."""
        size = len(getattr(self.tables, table))
        if not 0 <= number < size:
            self.say(where, f"index {number} is out of range [0..{size}) of {table}")
            return False
        self.used[table].add(number)
        return True

    def not_negative(self, number, where):
        if number < 0:
            self.say(where, f"{number} is negative")

    # Attributes.

    def indices(self, numbers, where):
        """A list of attributes, whose keys are unique."""
        keys = set()
        for i, number in enumerate(numbers):
            if not self.index("attribute_table", number, f"{where}[{i}]"):
                continue
            key = self.tables.attribute_table[number].key_strindex
            if key in keys:
                self.say(f"{where}[{i}]", f"the key {self.text(key)} came before")
            keys.add(key)

    def text(self, number):
        strings = self.tables.string_table
        return repr(strings[number]) if 0 <= number < len(strings) else str(number)

    def value(self, value, where):
        kind = value.WhichOneof("value")
        if kind == "string_value_strindex":
            self.index("string_table", value.string_value_strindex, f"{where}.string_value_strindex")
        elif kind == "array_value":
            for i, one in enumerate(value.array_value.values):
                self.value(one, f"{where}[{i}]")
        elif kind == "kvlist_value":
            self.pairs(value.kvlist_value.values, where)

    def pairs(self, pairs, where):
        """A list of attributes that are not in the table."""
        keys = set()
        for i, pair in enumerate(pairs):
            at = f"{where}[{i}]"
            key = pair.key
            if pair.key_strindex:
                if key:
                    self.say(at, "has both a key and key_strindex")
                if not self.index("string_table", pair.key_strindex, f"{at}.key_strindex"):
                    continue
                key = self.tables.string_table[pair.key_strindex]
            if not key:
                self.say(at, "has no key")
            elif key in keys:
                self.say(at, f"the key {key!r} came before")
            keys.add(key)
            self.value(pair.value, f"{at}.value")

    # The tables.

    def zero_entries(self):
        for name in TABLES:
            table = getattr(self.tables, name)
            if not table:
                self.say(name, "is empty; it must have a zero entry")
                continue
            first = table[0]
            zero = not first if name == "string_table" else not first.ByteSize()
            if name == "link_table" and first.trace_id == bytes(16) and first.span_id == bytes(8):
                zero = True
            if name == "attribute_table" and not (first.key_strindex or first.unit_strindex):
                zero = first.value.WhichOneof("value") is None
            if not zero:
                self.say(f"{name}[0]", "is not zero")

    def duplicates(self):
        def sorted_indices(message):
            copy = type(message)()
            copy.CopyFrom(message)
            numbers = sorted(copy.attribute_indices)
            del copy.attribute_indices[:]
            copy.attribute_indices.extend(numbers)
            return copy.SerializeToString(deterministic=True)

        for name in TABLES:
            seen = {}
            for i, entry in enumerate(getattr(self.tables, name)):
                if name == "string_table":
                    key = entry
                elif name in ("mapping_table", "location_table"):
                    key = sorted_indices(entry)
                else:
                    key = entry.SerializeToString(deterministic=True)
                if key in seen:
                    self.say(f"{name}[{i}]", f"is a duplicate of [{seen[key]}]")
                else:
                    seen[key] = i

    def entries(self):
        tables = self.tables
        for i, mapping in enumerate(tables.mapping_table):
            at = f"mapping_table[{i}]"
            self.index("string_table", mapping.filename_strindex, f"{at}.filename_strindex")
            self.indices(mapping.attribute_indices, f"{at}.attribute_indices")
            if (mapping.memory_start or mapping.memory_limit) and \
                    mapping.memory_start >= mapping.memory_limit:
                self.say(at, f"memory_start {mapping.memory_start:#x} is not below memory_limit "
                             f"{mapping.memory_limit:#x}")
        for i, location in enumerate(tables.location_table):
            at = f"location_table[{i}]"
            self.index("mapping_table", location.mapping_index, f"{at}.mapping_index")
            self.indices(location.attribute_indices, f"{at}.attribute_indices")
            for j, line in enumerate(location.lines):
                self.index("function_table", line.function_index, f"{at}.lines[{j}].function_index")
                self.not_negative(line.line, f"{at}.lines[{j}].line")
                self.not_negative(line.column, f"{at}.lines[{j}].column")
        for i, function in enumerate(tables.function_table):
            at = f"function_table[{i}]"
            for name in ("name_strindex", "system_name_strindex", "filename_strindex"):
                self.index("string_table", getattr(function, name), f"{at}.{name}")
            self.not_negative(function.start_line, f"{at}.start_line")
        for i, link in enumerate(tables.link_table):
            if i:
                for name, size in (("trace_id", 16), ("span_id", 8)):
                    got = len(getattr(link, name))
                    if got != size:
                        self.say(f"link_table[{i}].{name}", f"has {got} bytes, not {size}")
        for i, attribute in enumerate(tables.attribute_table):
            at = f"attribute_table[{i}]"
            self.index("string_table", attribute.key_strindex, f"{at}.key_strindex")
            self.index("string_table", attribute.unit_strindex, f"{at}.unit_strindex")
            self.value(attribute.value, f"{at}.value")
            if i and not attribute.key_strindex:
                self.say(at, "has no key")
        for i, stack in enumerate(tables.stack_table):
            for j, number in enumerate(stack.location_indices):
                self.index("location_table", number, f"stack_table[{i}].location_indices[{j}]")

    def orphans(self):
        for name in TABLES:
            for i in range(len(getattr(self.tables, name))):
                if i not in self.used[name]:
                    self.say(f"{name}[{i}]", "is not referenced")

    # Profiles and samples.

    def samples(self, profile, where):
        shape = None
        identities = collections.Counter()
        for i, sample in enumerate(profile.samples):
            at = f"{where}.samples[{i}]"
            self.index("stack_table", sample.stack_index, f"{at}.stack_index")
            self.indices(sample.attribute_indices, f"{at}.attribute_indices")
            self.index("link_table", sample.link_index, f"{at}.link_index")
            start, end = profile.time_unix_nano, profile.time_unix_nano + profile.duration_nano
            for j, stamp in enumerate(sample.timestamps_unix_nano):
                if not start <= stamp < end:
                    self.say(f"{at}.timestamps_unix_nano[{j}]", f"{stamp} is not in [{start}, {end})")
            values, stamps = len(sample.values), len(sample.timestamps_unix_nano)
            own = (values > 0, stamps > 0)
            if own == (False, False):
                self.say(at, "has neither values nor timestamps")
                continue
            if values and stamps and values != stamps:
                self.say(at, f"has {values} values and {stamps} timestamps")
            if values > 1 and not stamps:
                self.say(at, f"has {values} values without timestamps")
            if shape not in (None, own):
                self.say(at, "has values or timestamps where those before have none, or the reverse")
            shape = shape or own
            identity = (sample.stack_index, tuple(sorted(sample.attribute_indices)), sample.link_index)
            identities[identity] += 1
            if identities[identity] > 1:
                self.say(at, "has the stack, attributes and link of a sample before it")

    def value_type(self, kind, where):
        self.index("string_table", kind.type_strindex, f"{where}.type_strindex")
        self.index("string_table", kind.unit_strindex, f"{where}.unit_strindex")

    def profile(self, profile, where):
        self.indices(profile.attribute_indices, f"{where}.attribute_indices")
        self.value_type(profile.sample_type, f"{where}.sample_type")
        self.value_type(profile.period_type, f"{where}.period_type")
        if not profile.sample_type.type_strindex or not profile.sample_type.unit_strindex:
            self.say(f"{where}.sample_type", "has no type or no unit")
        self.not_negative(profile.period, f"{where}.period")
        if profile.period > 0 and not profile.period_type.type_strindex:
            self.say(f"{where}.period_type", "is missing, but there is a period")
        if len(profile.profile_id) != 16:
            self.say(f"{where}.profile_id", f"has {len(profile.profile_id)} bytes, not 16")
        elif not any(profile.profile_id):
            self.say(f"{where}.profile_id", "is zero")
        if bool(profile.original_payload) != bool(profile.original_payload_format):
            self.say(f"{where}.original_payload_format", "must be there if and only if a payload is")
        self.samples(profile, where)

    def profiles(self):
        ids = set()
        if not self.request.resource_profiles:
            self.say("resource_profiles", "is empty")
        for i, group in enumerate(self.request.resource_profiles):
            at = f"resource_profiles[{i}]"
            self.pairs(group.resource.attributes, f"{at}.resource.attributes")
            if not group.scope_profiles:
                self.say(f"{at}.scope_profiles", "is empty")
            for j, scope in enumerate(group.scope_profiles):
                self.pairs(scope.scope.attributes, f"{at}.scope_profiles[{j}].scope.attributes")
                if not scope.profiles:
                    self.say(f"{at}.scope_profiles[{j}].profiles", "is empty")
                for k, profile in enumerate(scope.profiles):
                    where = f"{at}.scope_profiles[{j}].profiles[{k}]"
                    self.profile(profile, where)
                    if profile.profile_id in ids:
                        self.say(f"{where}.profile_id", "came before")
                    ids.add(profile.profile_id)


def findings(request):
    rules = Rules(request)
    rules.profiles()
    rules.zero_entries()
    rules.entries()
    rules.duplicates()
    rules.orphans()
    return rules.found
