#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules for profiles of OTLP: a good request has no finding, and a request that breaks one rule has
exactly that finding. So a request of stacktop's without findings says something.

Covers: tests/push/otlp_rules.py
"""

import os
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live")]
import messages  # noqa: E402
from live import Tap  # noqa: E402
from otlp_rules import findings  # noqa: E402

pb = messages.import_all()
START, LENGTH = 1_700_000_000_000_000_000, 3_000_000_000
ONE = "resource_profiles[0].scope_profiles[0].profiles[0]"
TWO = "resource_profiles[0].scope_profiles[0].profiles[1]"
STRINGS = ("", "cpu", "nanoseconds", "main", "app", "/bin/app", "thread.id", "profile.frame.type",
           "native", "main.c", "build", "count", "service.name", "web")


def good():
    """Two profiles, one without timestamps and one with them; everything is used at least once."""
    request = pb.collector.ExportProfilesServiceRequest()
    tables = request.dictionary
    tables.string_table.extend(STRINGS)
    tables.mapping_table.add()
    tables.mapping_table.add(filename_strindex=5, memory_start=0x1000, memory_limit=0x2000,
                             attribute_indices=[3])
    tables.function_table.add()
    tables.function_table.add(name_strindex=3, filename_strindex=9, start_line=7)
    tables.function_table.add(name_strindex=4)
    tables.location_table.add()
    tables.location_table.add(mapping_index=1, attribute_indices=[2]).lines.add(function_index=1, line=8)
    tables.location_table.add(mapping_index=1, attribute_indices=[2]).lines.add(function_index=2)
    tables.link_table.add()
    tables.link_table.add(trace_id=b"t" * 16, span_id=b"s" * 8)
    tables.stack_table.add()
    tables.stack_table.add(location_indices=[2, 1])
    tables.stack_table.add(location_indices=[1])
    tables.attribute_table.add()
    tables.attribute_table.add(key_strindex=6, unit_strindex=11).value.int_value = 7
    tables.attribute_table.add(key_strindex=7).value.string_value_strindex = 8
    tables.attribute_table.add(key_strindex=10).value.string_value = "abc"
    group = request.resource_profiles.add()
    group.resource.attributes.add(key_strindex=12).value.string_value_strindex = 13
    group.resource.attributes.add(key="host.name").value.string_value = "box"
    scope = group.scope_profiles.add()
    scope.scope.name = "test"
    for i in range(2):
        profile = scope.profiles.add(time_unix_nano=START, duration_nano=LENGTH, period=10101010,
                                     profile_id=bytes([i]) + b"p" * 15, attribute_indices=[3])
        profile.sample_type.type_strindex, profile.sample_type.unit_strindex = 1, 2
        profile.period_type.type_strindex, profile.period_type.unit_strindex = 1, 2
        for stack in (1, 2):
            sample = profile.samples.add(stack_index=stack, attribute_indices=[1], link_index=1,
                                         values=[5])
            if i:
                sample.timestamps_unix_nano.append(START + stack)
    return request


def profile_of(request, number=0):
    return request.resource_profiles[0].scope_profiles[0].profiles[number]


def sample_of(request, number=0, profile=0):
    return profile_of(request, profile).samples[number]


def new_sample(request, stack=0, **members):
    return profile_of(request).samples.add(stack_index=stack, **{"values": [1], **members})


def used_location(request, **members):
    """One more location, which a stack has."""
    tables = request.dictionary
    location = tables.location_table.add(**members)
    tables.stack_table[2].location_indices.append(len(tables.location_table) - 1)
    return location


def used_function(request, **members):
    tables = request.dictionary
    tables.function_table.add(**members)
    used_location(request).lines.add(function_index=len(tables.function_table) - 1)


def used_mapping(request, **members):
    tables = request.dictionary
    tables.mapping_table.add(**members)
    used_location(request, mapping_index=len(tables.mapping_table) - 1)


def used_attribute(request, **members):
    tables = request.dictionary
    one = tables.attribute_table.add(**members)
    new_sample(request, attribute_indices=[len(tables.attribute_table) - 1])
    return one


def used_string(request, text):
    strings = request.dictionary.string_table
    strings.append(text)
    used_function(request, name_strindex=len(strings) - 1)


def set_first(table, **members):
    def act(request):
        entry = getattr(request.dictionary, table)[0]
        for name, value in members.items():
            setattr(entry, name, value)
    return act


def first_string(request):
    request.dictionary.string_table[0] = "x"


def set_member(target, **members):
    def act(request):
        thing = target(request)
        for name, value in members.items():
            setattr(thing, name, value)
    return act


def first_link_of_zeros(request):
    request.dictionary.link_table[0].trace_id = bytes(16)
    request.dictionary.link_table[0].span_id = bytes(8)


def out(table, number, size):
    return f"index {number} is out of range [0..{size}) of {table}"


def used_link(request, **members):
    tables = request.dictionary
    tables.link_table.add(**members)
    new_sample(request, link_index=len(tables.link_table) - 1)


def both_keys(request):
    request.resource_profiles[0].resource.attributes[0].key = "service.name"


def attribute_pair(**members):
    def act(request):
        request.resource_profiles[0].resource.attributes.add(**members)
    return act


def scope_pair(request):
    for _ in range(2):
        request.resource_profiles[0].scope_profiles[0].scope.attributes.add(key="a")


def nested(request):
    value = request.resource_profiles[0].resource.attributes[1].value
    value.array_value.values.add().kvlist_value.values.add(key="a").value.string_value_strindex = 99


def without(member):
    return lambda request: profile_of(request).ClearField(member)


def stamps(request):
    sample_of(request, 0, 1).timestamps_unix_nano.append(START)


def late(request):
    sample_of(request, 0, 1).timestamps_unix_nano[0] = START + LENGTH


def early(request):
    sample_of(request, 0, 1).timestamps_unix_nano[0] = START - 1


def other_shape(request):
    del sample_of(request, 1, 1).timestamps_unix_nano[:]


def other_order(request):
    """The same set of attributes counts, not the list."""
    new_sample(request, attribute_indices=[1, 2])
    new_sample(request, attribute_indices=[2, 1])


def same_id(request):
    profile_of(request, 1).profile_id = profile_of(request).profile_id


S, A, M, F, L, K = (len(STRINGS), 4, 2, 3, 3, 2)     # sizes of the tables
# (what breaks the rule, the finding)
BROKEN = [
    # Zero entries.
    (set_first("mapping_table", memory_limit=9), "mapping_table[0]: is not zero"),
    (set_first("location_table", address=9), "location_table[0]: is not zero"),
    (set_first("function_table", start_line=9), "function_table[0]: is not zero"),
    (set_first("link_table", trace_id=b"t" * 16), "link_table[0]: is not zero"),
    (first_string, "string_table[0]: is not zero"),
    (set_first("attribute_table", unit_strindex=11), "attribute_table[0]: is not zero"),
    (lambda r: r.dictionary.stack_table[0].location_indices.extend([1, 2]),
     "stack_table[0]: is not zero"),
    # Index ranges.
    (lambda r: new_sample(r, 99), f"{ONE}.samples[2].stack_index: {out('stack_table', 99, 3)}"),
    (lambda r: new_sample(r, -1), f"{ONE}.samples[2].stack_index: {out('stack_table', -1, 3)}"),
    (lambda r: new_sample(r, link_index=99), f"{ONE}.samples[2].link_index: {out('link_table', 99, K)}"),
    (lambda r: new_sample(r, attribute_indices=[99]),
     f"{ONE}.samples[2].attribute_indices[0]: {out('attribute_table', 99, A)}"),
    (lambda r: profile_of(r).attribute_indices.append(99),
     f"{ONE}.attribute_indices[1]: {out('attribute_table', 99, A)}"),
    (set_member(lambda r: profile_of(r).sample_type, type_strindex=99),
     f"{ONE}.sample_type.type_strindex: {out('string_table', 99, S)}"),
    (set_member(lambda r: profile_of(r).sample_type, unit_strindex=99),
     f"{ONE}.sample_type.unit_strindex: {out('string_table', 99, S)}"),
    (set_member(lambda r: profile_of(r).period_type, type_strindex=99),
     f"{ONE}.period_type.type_strindex: {out('string_table', 99, S)}"),
    (set_member(lambda r: profile_of(r).period_type, unit_strindex=99),
     f"{ONE}.period_type.unit_strindex: {out('string_table', 99, S)}"),
    (lambda r: used_mapping(r, filename_strindex=99),
     f"mapping_table[2].filename_strindex: {out('string_table', 99, S)}"),
    (lambda r: used_mapping(r, attribute_indices=[99]),
     f"mapping_table[2].attribute_indices[0]: {out('attribute_table', 99, A)}"),
    (lambda r: used_location(r, mapping_index=99),
     f"location_table[3].mapping_index: {out('mapping_table', 99, M)}"),
    (lambda r: used_location(r, attribute_indices=[99]),
     f"location_table[3].attribute_indices[0]: {out('attribute_table', 99, A)}"),
    (lambda r: used_location(r).lines.add(function_index=99),
     f"location_table[3].lines[0].function_index: {out('function_table', 99, F)}"),
    (lambda r: used_function(r, name_strindex=99),
     f"function_table[3].name_strindex: {out('string_table', 99, S)}"),
    (lambda r: used_function(r, system_name_strindex=99),
     f"function_table[3].system_name_strindex: {out('string_table', 99, S)}"),
    (lambda r: used_function(r, filename_strindex=99),
     f"function_table[3].filename_strindex: {out('string_table', 99, S)}"),
    (lambda r: used_attribute(r, key_strindex=99),
     f"attribute_table[4].key_strindex: {out('string_table', 99, S)}"),
    (lambda r: used_attribute(r, key_strindex=1, unit_strindex=99),
     f"attribute_table[4].unit_strindex: {out('string_table', 99, S)}"),
    (lambda r: setattr(used_attribute(r, key_strindex=1).value, "string_value_strindex", 99),
     f"attribute_table[4].value.string_value_strindex: {out('string_table', 99, S)}"),
    (lambda r: r.dictionary.stack_table[2].location_indices.append(99),
     f"stack_table[2].location_indices[1]: {out('location_table', 99, L)}"),
    (attribute_pair(key_strindex=99),
     f"resource_profiles[0].resource.attributes[2].key_strindex: {out('string_table', 99, S)}"),
    (nested, "resource_profiles[0].resource.attributes[1].value[0][0].value.string_value_strindex: " +
     out("string_table", 99, S)),
    # Duplicates.
    (lambda r: used_string(r, "cpu"), f"string_table[{S}]: is a duplicate of [1]"),
    (lambda r: used_mapping(r, filename_strindex=5, memory_start=0x1000, memory_limit=0x2000,
                            attribute_indices=[3]), "mapping_table[2]: is a duplicate of [1]"),
    (lambda r: used_location(r, mapping_index=1, attribute_indices=[2]).lines.add(function_index=2),
     "location_table[3]: is a duplicate of [2]"),
    (lambda r: used_function(r, name_strindex=4), "function_table[3]: is a duplicate of [2]"),
    (lambda r: used_link(r, trace_id=b"t" * 16, span_id=b"s" * 8), "link_table[2]: is a duplicate of [1]"),
    (lambda r: setattr(used_attribute(r, key_strindex=10).value, "string_value", "abc"),
     "attribute_table[4]: is a duplicate of [3]"),
    (lambda r: (r.dictionary.stack_table.add(location_indices=[2, 1]), new_sample(r, 3)),
     "stack_table[3]: is a duplicate of [1]"),
    (lambda r: (r.dictionary.stack_table.add(), new_sample(r, 3)), "stack_table[3]: is a duplicate of [0]"),
    # Entries that nothing uses.
    (lambda r: r.dictionary.string_table.append("x"), f"string_table[{S}]: is not referenced"),
    (lambda r: r.dictionary.mapping_table.add(filename_strindex=4), "mapping_table[2]: is not referenced"),
    (lambda r: r.dictionary.location_table.add(address=5), "location_table[3]: is not referenced"),
    (lambda r: r.dictionary.function_table.add(start_line=5), "function_table[3]: is not referenced"),
    (lambda r: r.dictionary.link_table.add(trace_id=b"u" * 16, span_id=b"s" * 8),
     "link_table[2]: is not referenced"),
    (lambda r: r.dictionary.attribute_table.add(key_strindex=1), "attribute_table[4]: is not referenced"),
    (lambda r: r.dictionary.stack_table.add(location_indices=[2]), "stack_table[3]: is not referenced"),
    # Members of entries.
    (lambda r: used_mapping(r, memory_start=0x2000, memory_limit=0x2000),
     "mapping_table[2]: memory_start 0x2000 is not below memory_limit 0x2000"),
    (lambda r: used_location(r).lines.add(function_index=1, line=-1),
     "location_table[3].lines[0].line: -1 is negative"),
    (lambda r: used_location(r).lines.add(function_index=1, column=-1),
     "location_table[3].lines[0].column: -1 is negative"),
    (lambda r: used_function(r, start_line=-1), "function_table[3].start_line: -1 is negative"),
    (lambda r: used_link(r, trace_id=b"t" * 15, span_id=b"s" * 8),
     "link_table[2].trace_id: has 15 bytes, not 16"),
    (lambda r: used_link(r, trace_id=b"t" * 16), "link_table[2].span_id: has 0 bytes, not 8"),
    (lambda r: setattr(used_attribute(r).value, "int_value", 1), "attribute_table[4]: has no key"),
    # Keys.
    (lambda r: (used_attribute(r, key_strindex=6), new_sample(r, attribute_indices=[1, 4])),
     f"{ONE}.samples[3].attribute_indices[1]: the key 'thread.id' came before"),
    (lambda r: profile_of(r).attribute_indices.append(3),
     f"{ONE}.attribute_indices[1]: the key 'build' came before"),
    (lambda r: r.dictionary.mapping_table[1].attribute_indices.append(3),
     "mapping_table[1].attribute_indices[1]: the key 'build' came before"),
    (lambda r: r.dictionary.location_table[1].attribute_indices.append(2),
     "location_table[1].attribute_indices[1]: the key 'profile.frame.type' came before"),
    (attribute_pair(key="service.name"),
     "resource_profiles[0].resource.attributes[2]: the key 'service.name' came before"),
    (attribute_pair(key=""), "resource_profiles[0].resource.attributes[2]: has no key"),
    (both_keys, "resource_profiles[0].resource.attributes[0]: has both a key and key_strindex"),
    (scope_pair, "resource_profiles[0].scope_profiles[0].scope.attributes[1]: the key 'a' came before"),
    # Samples.
    (early, f"{TWO}.samples[0].timestamps_unix_nano[0]: {START - 1} is not in [{START}, {START + LENGTH})"),
    (late, f"{TWO}.samples[0].timestamps_unix_nano[0]: {START + LENGTH} is not in "
           f"[{START}, {START + LENGTH})"),
    (stamps, f"{TWO}.samples[0]: has 1 values and 2 timestamps"),
    (lambda r: sample_of(r).values.append(1), f"{ONE}.samples[0]: has 2 values without timestamps"),
    (lambda r: new_sample(r, values=[]), f"{ONE}.samples[2]: has neither values nor timestamps"),
    (other_shape, f"{TWO}.samples[1]: has values or timestamps where those before have none, or the "
                  "reverse"),
    (lambda r: new_sample(r, 1, attribute_indices=[1], link_index=1),
     f"{ONE}.samples[2]: has the stack, attributes and link of a sample before it"),
    (other_order, f"{ONE}.samples[3]: has the stack, attributes and link of a sample before it"),
    # Profiles.
    (set_member(profile_of, profile_id=b""), f"{ONE}.profile_id: has 0 bytes, not 16"),
    (set_member(profile_of, profile_id=b"p" * 36), f"{ONE}.profile_id: has 36 bytes, not 16"),
    (set_member(profile_of, profile_id=bytes(16)), f"{ONE}.profile_id: is zero"),
    (same_id, f"{TWO}.profile_id: came before"),
    (set_member(profile_of, period=-1), f"{ONE}.period: -1 is negative"),
    (without("period_type"), f"{ONE}.period_type: is missing, but there is a period"),
    (without("sample_type"), f"{ONE}.sample_type: has no type or no unit"),
    (set_member(profile_of, original_payload=b"x"),
     f"{ONE}.original_payload_format: must be there if and only if a payload is"),
    # Something must be there.
    (lambda r: r.resource_profiles.add(), "resource_profiles[1].scope_profiles: is empty"),
    (lambda r: r.resource_profiles[0].scope_profiles.add(),
     "resource_profiles[0].scope_profiles[1].profiles: is empty"),
]


def main():
    tap = Tap()
    tap.ok(findings(good()) == [], "a good request has no finding", "; ".join(findings(good())))
    request = good()
    first_link_of_zeros(request)
    tap.ok(findings(request) == [], "the first link may have ids of zeros")
    request = good()
    for name in ("period_type", "period"):
        profile_of(request).ClearField(name)
    tap.ok(findings(request) == [], "a profile may be without a period")
    for act, want in BROKEN:
        request = good()
        act(request)
        # A message on the wire is what counts.
        request = type(request).FromString(request.SerializeToString())
        found = findings(request)
        tap.ok(found == [want], want, "" if found == [want] else "; ".join(found) or "no finding")
    request = pb.collector.ExportProfilesServiceRequest()
    found = findings(request)
    tap.ok(found == ["resource_profiles: is empty"] +
           [f"{name}: is empty; it must have a zero entry" for name in
            ("mapping_table", "location_table", "function_table", "link_table", "string_table",
             "attribute_table", "stack_table")], "an empty request has no table", "; ".join(found))
    tap.done()


main()
