# SPDX-License-Identifier: GPL-2.0-or-later
"""BENCH=names: CPU time for names, lines and inlined calls of 1,000 new addresses of a large file,
beside addr2line and eu-addr2line, in turns. The file is one C++ object many times over: each copy has
names and addresses of its own, and their number sets the size."""

import os
import random
import re
import resource
import subprocess
import tempfile

COPIES = 30
ADDRESSES = 1000
TURNS = 3

SOURCE = """
#include <algorithm>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>
std::map<std::string, std::vector<int>> table;
bool matches(const std::string &s) { return std::regex_search(s, std::regex("a+(b|c)*d")); }
int work(int n)
{
	std::ostringstream out;
	for (int i = 0; i < n; i++) { out << i; table[out.str()].push_back(i); }
	std::vector<std::string> v;
	for (auto &p : table) v.push_back(p.first);
	std::sort(v.begin(), v.end(), [](auto &a, auto &b) { return a.size() < b.size(); });
	return (int)v.size() + matches(v[0]);
}
"""


def library(folder):
    """Builds the file with everything that linkers would otherwise drop; returns its path."""
    def tool(*command):
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    with open(os.path.join(folder, "part.cc"), "w", encoding="ascii") as file:
        file.write(SOURCE)
    tool("g++", "-O2", "-g", "-fno-pie", "-c", "part.cc")
    parts = [f"part{i}.o" for i in range(COPIES)]
    for i, part in enumerate(parts):
        tool("objcopy", f"--prefix-symbols=copy{i}_", "part.o", part)
    # Hidden symbols must be defined, all others may be missing.
    hidden = [f"--defsym=copy{i}___dso_handle=0" for i in range(COPIES)]
    tool("ld", "-static", "-e", "0", "--unresolved-symbols=ignore-all", *hidden, "-o", "large",
         *parts)
    return os.path.join(folder, "large")


def addresses(path):
    out = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True,
                         check=True).stdout
    functions = [(int(m.group(1), 16), int(m.group(2)))
                 for m in re.finditer(r": ([0-9a-f]{16}) +(\d+) FUNC", out) if int(m.group(2))]
    random.seed(1)
    chosen = [start + random.randrange(size)
              for start, size in random.choices(functions, k=ADDRESSES)]
    return "".join(f"{address:#x}\n" for address in chosen)


def cpu_seconds(command, text):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=text, text=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(stacktop):
    """(bytes of the file, least seconds of stacktop, of addr2line, of eu-addr2line)"""
    with tempfile.TemporaryDirectory() as folder:
        path = library(folder)
        text = addresses(path)
        commands = ([stacktop, "--debug-memory", "4096", "--symbolize", path],
                    ["addr2line", "-f", "-i", "-e", path],
                    ["eu-addr2line", "-f", "-i", "-e", path])
        least = [min(times) for times in
                 zip(*([cpu_seconds(command, text) for command in commands] for _ in range(TURNS)))]
        return os.path.getsize(path), least
