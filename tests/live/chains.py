# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges the chains of an interpreted language. A program (programs/chains.*) prints the chains of calls
that it can be in, as its own runtime has them, and then goes through them for ever. Each sample's chain must
be one of them, or the beginning of one; how many have frames of the language at all is counted."""

import collections
import json
import os
import re
import select
import shlex
import shutil
import subprocess
import tempfile

import live

SECONDS = 60    # for enough samples
SUFFIX = re.compile(r"_\[(php|pl|py|rb)\]$")


def interpreter(name):
    """The command that the environment names (PERL="chroot ROOT perl"), else the one of this machine, if any."""
    command = shlex.split(os.environ.get(name.upper(), name))
    return command if shutil.which(command[0]) else None


def folder():
    """One for programs that another root sees under the same name, too."""
    return tempfile.TemporaryDirectory(dir="/dev/shm")


class Chains:
    """runs: native functions that run the language's frames
    start: a native function without which a stack is one of its own, with only the inner part of a chain
    bare: frames of the language inside of which C may run a native one that has none"""

    def __init__(self, known, runs, start=None, bare=()):
        self.runs, self.start, self.bare = runs, start, bare
        self.possible = set()
        for chain in known:
            names = chain.split(";")
            self.possible.update(tuple(names[:n]) for n in range(len(names) + 1))
        self.names = {name for chain in self.possible for name in chain}
        self.inner = {chain[n:] for chain in self.possible for n in range(len(chain))}
        self.total = self.merged = 0
        self.counts, self.last, self.known = False, 0, False
        self.bad, self.partly = collections.Counter(), collections.Counter()

    def of(self, user):
        """The frames of the language, * where a native frame that runs some has none."""
        chain = ["*"] if self.start and self.start not in user else []
        whole = True
        for frame, after in zip(user, user[1:] + [""]):
            if frame in self.names:
                chain.append(frame)
            elif frame in self.runs and after not in self.names:
                whole = whole and any(name in self.bare for name in chain[-2:])
                chain.append("*")
        return tuple(chain), whole

    def is_possible(self, chain):
        if "*" not in chain:
            return chain in self.possible
        if chain[0] == "*" and "*" not in chain[1:]:
            return not chain[1:] or chain[1:] in self.inner
        pattern = re.compile("".join("(?:[^;]+;)*" if name == "*" else re.escape(name) + ";"
                                     for name in chain))
        return any(pattern.fullmatch("".join(name + ";" for name in known)) for known in self.possible)

    def add(self, text):
        for user, _, count in live.folded(text):
            user = [SUFFIX.sub("", frame) for frame in user]
            if not any(frame in self.runs for frame in user):
                continue
            chain, whole = self.of(user)
            # A report begins with its highest count. What counts begins behind the first report that
            # has frames of the language: until then the runtime is not known.
            self.counts |= self.known and count > self.last
            self.known |= whole and any(frame in self.names for frame in user)
            self.last = count
            if not self.counts:
                continue
            self.total += count
            self.merged += count * whole
            if not whole:
                self.partly[chain] += count
            if not self.is_possible(chain):
                self.bad[chain] += count


def watch(command, runs, enough, start=None, bare=(), seconds=SECONDS):
    """Samples the program until it has so many samples with all frames. (its Chains, messages)"""
    with live.Load(command, stdout=subprocess.PIPE) as process:
        ready, _, _ = select.select([process.stdout], [], [], 30)
        chains = Chains(json.loads(process.stdout.readline()) if ready else [], runs, start, bare)
        sampler = subprocess.Popen([live.STACKTOP, "-b", "-F", "4999", "-d", "1", "-n", str(seconds), "-p",
                                    str(process.pid), "--format", "folded", "--frames", "all"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        ended = False
        # To its end: what is read otherwise would begin in the middle of a line.
        for line in sampler.stdout:
            chains.add(line)
            if chains.merged >= enough and not ended:
                sampler.terminate()
                ended = True
        messages = sampler.stderr.read()
        sampler.wait(timeout=30)
    return chains, messages


def judge(tap, seen, title, enough, merged):
    """title: what stands before each name; merged: the share of samples that must have all of their frames."""
    tap.ok(seen.merged >= enough / 2, f"{title}there are enough samples", f"{seen.merged}")
    tap.ok(seen.total and seen.merged >= merged * seen.total, f"{title}most have all of their frames",
           f"{seen.merged} of {seen.total}")
    tap.ok(not seen.bad, f"{title}none has a chain that cannot be", f"{sum(seen.bad.values())}")
    for chain, count in seen.bad.most_common(5):
        tap.note(f"impossible, {count}: {';'.join(chain)[:300]}")
    for chain, count in seen.partly.most_common(5):
        tap.note(f"in part, {count}: {';'.join(chain)[:300]}")
