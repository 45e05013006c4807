# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the zoo: for a terminal, as Markdown, and the details of one program."""

import os
import platform
import re
import textwrap

GOAL = 99.0
ZOO = f"zoo of Debian {platform.freedesktop_os_release().get('VERSION_ID', 'sid')}"
BEGIN, END = f"<!-- {ZOO}: written by make zoo -->", f"<!-- {ZOO}: end -->"
HEAD = (f"{'program':<24} {'class':<12} {'samples':>7} {'complete':>8} {'guessed':>7} {'false':>6} "
        f"{'perf':>6} {'named':>6} {'perf':>6} {'own':>4} {'perf':>4} {'depth':>6} {'perf':>6} {'cpu':>5}  "
        "most frequent end")
TOP_STACKS = 12


def line(name, result):
    if "skipped" in result:
        return f"{name:<24} {result['class']:<12} skipped: {result['skipped']}"
    ours, perf = result["stacktop"], result["perf"]
    return (f"{name:<24} {result['class']:<12} {ours['samples']:>7} {ours['complete']:>8.1f} "
            f"{ours['guessed']:>7.1f} {ours['false']:>6.1f} {perf['complete']:>6.1f} {ours['named']:>6.1f} "
            f"{perf['named']:>6.1f} {ours['own']:>4} {perf['own']:>4} {ours['depth']:>6.1f} "
            f"{perf['depth']:>6.1f} {result['cpu']:>5.1f}  {cause(ours)}"
            + (" (perf script took too long and was cut off)" if result.get("cut") else ""))


def cause(ours):
    if not ours["reasons"]:
        return ""
    name, share = ours["reasons"][0]
    return f"{name} {share:.1f}" if share >= 0.05 else ""


def totals(results):
    done = {name: result for name, result in results.items() if "skipped" not in result}

    def count(test):
        return sum(bool(test(result["stacktop"], result["perf"])) for result in done.values())

    beaten = [name for name, result in done.items()
              if result["perf"]["complete"] > result["stacktop"]["complete"] + 0.5]
    false = [name for name, result in done.items() if result["stacktop"]["false"] >= 0.05]
    return "\n".join((
        f"{len(done)} programs sampled, {len(results) - len(done)} skipped",
        f"complete in {GOAL:.0f} % of the samples or more: stacktop "
        f"{count(lambda ours, perf: ours['complete'] >= GOAL)}, perf "
        f"{count(lambda ours, perf: perf['complete'] >= GOAL)}",
        f"the language's own functions are shown: stacktop {count(lambda ours, perf: ours['own'] == 'yes')}"
        f", perf {count(lambda ours, perf: perf['own'] == 'yes')} of "
        f"{count(lambda ours, perf: ours['own'] != '-')}",
        f"falsely complete stacks: {len(false)}" + (f" ({', '.join(false)})" if false else ""),
        f"perf has over 0.5 points more complete stacks: {len(beaten)}"
        + (f" ({', '.join(beaten)})" if beaten else "")))


def left(results):
    """{reason: programs below the goal of which it is the most frequent end}"""
    found = {}
    for name, result in results.items():
        if "skipped" in result or result["stacktop"]["complete"] >= GOAL:
            continue
        ours = result["stacktop"]
        reason = "falsely complete" if not ours["reasons"] or ours["false"] > ours["reasons"][0][1] else \
            ours["reasons"][0][0]
        found.setdefault(reason, []).append(f"{name} {ours['complete']:.1f}")
    return found


def write_details(path, program, verdicts):
    with open(path, "w", encoding="utf-8") as file:
        print(f"{program.name}: {program.command}", file=file)
        for tool, verdict in verdicts.items():
            summary = verdict.summary(program)
            print(f"\n== {tool}: {verdict.samples} samples, complete {summary['complete']:.1f} %, named "
                  f"{summary['named']:.1f} %, depth {summary['depth']:.1f}", file=file)
            if summary["missing"]:
                print(f"  own functions that are not shown: {', '.join(summary['missing'])}", file=file)
            for title, stacks in (("falsely complete", verdict.wrong), ("ended early", verdict.broken)):
                for (reason, frames), count in stacks.most_common(TOP_STACKS):
                    print(f"  {title} {verdict.share(count):5.1f} % {reason}: {frames}", file=file)


def escape(words):
    return re.sub(r"([|<>_*\[\]])", r"\\\1", words)


def markdown(results, seconds, frequency, date):
    kernel = os.uname().release.split("-")[0]
    rows = [f"The last run of each program, until {date}, Linux {kernel}, {os.cpu_count()} CPUs, {seconds} s a program at "
            f"{frequency} Hz.", "",
            "| program | class | samples | complete % | guessed % | false % | perf complete % | named % | "
            "perf named % | own functions | perf | depth | perf depth | own CPU % | most frequent end |",
            "|---|---|--:|--:|--:|--:|--:|--:|--:|---|---|--:|--:|--:|---|"]
    skipped = []
    for name, result in results.items():
        if "skipped" in result:
            skipped.append(f"`{name}`: {escape(result['skipped'].splitlines()[0][:80])}")
            continue
        ours, perf = result["stacktop"], result["perf"]
        cells = [name, result["class"], str(ours["samples"])]
        cells += [f"{value:.1f}" for value in (ours["complete"], ours["guessed"], ours["false"],
                                               perf["complete"], ours["named"], perf["named"])]
        cells += [ours["own"], perf["own"], f"{ours['depth']:.1f}", f"{perf['depth']:.1f}",
                  f"{result['cpu']:.1f}", escape(cause(ours))]
        rows.append("| " + " | ".join(cells) + " |")
    rows += [""] + ["- " + row for row in totals(results).splitlines()]
    rows += [f"- below {GOAL:.0f} % by {escape(reason)}: " + ", ".join(names)
             for reason, names in left(results).items()]
    rows += ["- skipped: " + row for row in skipped]
    return "\n".join(wrap(row) for row in rows)


def wrap(row):
    """Prose has 100 columns; tables may be wider."""
    if row.startswith("|"):
        return row
    return textwrap.fill(row, 99, subsequent_indent="  " if row.startswith("- ") else "",
                         break_long_words=False, break_on_hyphens=False)


def write_markdown(path, results, seconds, frequency, date):
    table = f"{BEGIN}\n{markdown(results, seconds, frequency, date)}\n{END}\n"
    try:
        old = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        old = ""
    if BEGIN in old and END in old:
        table = old[:old.index(BEGIN)] + table + old[old.index(END) + len(END):].lstrip("\n")
    path.write_text(table, encoding="utf-8")
