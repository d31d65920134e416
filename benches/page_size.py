#!/usr/bin/env python3
"""Size of the page of `pintle web` in the shipped program, and the time of its start.

  benches/page_size.py PROGRAM [--starts N]

PROGRAM is built with `cargo build --profile dist --package pintle-cli` on x86-64 Linux. Its functions and data form a
graph: calls, addresses in instructions, addresses in data. Everything that is reachable from the start of the program,
and not without the page, is counted: so a function that other commands need, too, is not. `readelf`, `nm` and `objdump`
read the program. A start ends when the last file of the page has arrived.
"""

import argparse
import bisect
import collections
import concurrent.futures
import re
import statistics
import subprocess
import time
import urllib.request

PAGE = ("pintle_web::", "pintle_cli::command::web::")
DATA = (".rodata", ".data.rel.ro", ".data", ".got", ".got.plt", ".init_array", ".fini_array")
TABLES = (".eh_frame", ".eh_frame_hdr", ".gcc_except_table")
RELOCATION_BYTES = 24
TARGET = re.compile(r"(?:call|j[a-z]+)\s+([0-9a-f]+) <|# ([0-9a-f]+)(?: <|$)")


def lines(*command):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace")
    yield from process.stdout


class Program:
    def __init__(self, path):
        self.sections = {}
        for line in lines("readelf", "-SW", path):
            found = re.match(r"\s*\[\s*\d+\]\s+(\S+)\s+\S+\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)", line)
            if found:
                self.sections[found[1]] = int(found[2], 16), int(found[3], 16)
        self.functions = {}
        for line in lines("nm", "-S", "-C", "--defined-only", path):
            found = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwW] (.*)", line)
            if found and self.is_in(int(found[1], 16), ".text"):
                self.functions[int(found[1], 16)] = int(found[2], 16), found[3]
        self.relocations = {}
        for line in lines("readelf", "-rW", path):
            found = re.match(r"([0-9a-f]+)\s+[0-9a-f]+\s+R_X86_64_RELATIVE\s+([0-9a-f]+)", line)
            if found:
                self.relocations[int(found[1], 16)] = int(found[2], 16)
        self.references = self.read_code(path)
        self.starts, self.places = sorted(self.functions), sorted(self.relocations)
        self.blobs = self.divide_data()
        self.blob_starts = sorted(self.blobs)

    def is_in(self, address, *names):
        spans = (self.sections[name] for name in names if name in self.sections)
        return any(start <= address < start + size for start, size in spans)

    def read_code(self, path):
        references, function = collections.defaultdict(set), None
        for line in lines("objdump", "-dw", "--no-show-raw-insn", "-j", ".text", path):
            if line.startswith(" "):
                found = TARGET.search(line)
                if found and function is not None:
                    references[function].add(int(found[1] or found[2], 16))
            elif found := re.match(r"([0-9a-f]+) <", line):
                function = int(found[1], 16)
        return references

    def divide_data(self):
        """Data from each address that something refers to, up to the next one."""
        targets = {target for targets in self.references.values() for target in targets} | set(self.relocations.values())
        blobs = {}
        for name in DATA:
            start, size = self.sections.get(name, (0, 0))
            bounds = sorted({start, *(target for target in targets if start <= target < start + size)})
            blobs.update(zip(bounds, [*bounds[1:], start + size]))
        return blobs

    def at(self, address):
        if self.is_in(address, ".got", ".init_array", ".fini_array"):
            return self.at(self.relocations[address]) if address in self.relocations else None
        if self.is_in(address, ".text"):
            start = self.starts[bisect.bisect_right(self.starts, address) - 1]
            return start if address < start + max(self.functions[start][0], 1) else None
        position = bisect.bisect_right(self.blob_starts, address) - 1
        start = self.blob_starts[position] if position >= 0 else None
        return start if start is not None and address < self.blobs[start] else None

    def addresses(self, blob):
        first = bisect.bisect_left(self.places, blob)
        last = bisect.bisect_left(self.places, self.blobs[blob])
        return [self.relocations[place] for place in self.places[first:last]]

    def reachable(self, excluded):
        roots = [start for start, (_, name) in self.functions.items() if name in ("_start", "main")]
        for name in (".init_array", ".fini_array"):
            start, size = self.sections.get(name, (0, 0))
            roots += range(start, start + size, 8)
        seen, left = set(), roots
        while left:
            found = self.at(left.pop())
            if found is None or found in seen:
                continue
            if found in self.functions and any(part in self.functions[found][1] for part in excluded):
                continue
            seen.add(found)
            left += self.references[found] if found in self.functions else self.addresses(found)
        return seen


def measure(path, most):
    program = Program(path)
    page = program.reachable(()) - program.reachable(PAGE)
    code = [program.functions[found] for found in page if found in program.functions]
    data = [found for found in page if found not in program.functions]
    text = sum(size for size, _ in code)
    share = sum(program.sections.get(name, (0, 0))[1] for name in TABLES) / program.sections[".text"][1]
    parts = {
        "code": text,
        "data": sum(program.blobs[found] - found for found in data),
        "tables of the stack": int(text * share),
        "relocations": RELOCATION_BYTES * sum(len(program.addresses(found)) for found in data),
    }
    for name, size in parts.items():
        print(f"{size / 1000:7.0f} KB  {name}")
    print(f"{sum(parts.values()) / 1000:7.0f} KB  in all, of {len(code)} functions; the largest:")
    for size, name in sorted(code, reverse=True)[:most]:
        print(f"{size:9,}  {name[:110]}")


def started(program):
    """Milliseconds from the start of the program to the last byte of the page."""
    began = time.monotonic()
    page = subprocess.Popen([program, "web", "--no-open"], stderr=subprocess.PIPE, text=True)
    try:
        output = iter(page.stderr.readline, "")
        url = next(line for line in output if line.startswith("http")).split("#")[0].strip().rstrip("/")
        fetch = lambda path: urllib.request.urlopen(url + path).read().decode()
        document = fetch("/")
        fetch("/page.css")
        known, left = set(), set(re.findall(r'src="(/js/[^"]+)"', document))
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            while left:
                known |= left
                texts = pool.map(fetch, left)
                left = {f"/js/{name}" for text in texts for name in re.findall(r'from "\./([^"]+)"', text)} - known
        return (time.monotonic() - began) * 1000
    finally:
        page.terminate()
        page.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--starts", type=int, default=15)
    parser.add_argument("--most", type=int, default=20)
    arguments = parser.parse_args()
    measure(arguments.program, arguments.most)
    times = [started(arguments.program) for _ in range(arguments.starts)]
    print(f"start: median {statistics.median(times):.0f} ms, slowest {max(times):.0f} ms")


main()
