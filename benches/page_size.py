#!/usr/bin/env python3
"""Size of the page of `pintle web` in the shipped program, and the time of its start.

  benches/page_size.py [--starts N]

Builds `pintle` twice in the profile `dist`: as it is, and with the dispatch of `pintle web` replaced by an error. Without
this one call, the linker drops the page and all code that only the page reaches. The difference of the two is the
growth. A start ends when the last file of the page has arrived.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
DISPATCH = ROOT / "crates/cli/src/command.rs"
CALL = "Action::Web(page) => web::run(page, invocation.server, invocation.settings).await,"
ERROR = 'Action::Web(_) => Err(CliError::new(Exit::Usage, "there is no page")),'


def built(folder, name):
    build = ["cargo", "build", "--profile", "dist", "--package", "pintle-cli", "--bin", "pintle"]
    subprocess.run(build, cwd=ROOT, check=True)
    return pathlib.Path(shutil.copy2(TARGET / "dist/pintle", folder / name))


def without_page(folder):
    source = DISPATCH.read_text(encoding="utf-8")
    if source.count(CALL) != 1:
        raise SystemExit(f"{DISPATCH} does not have one line {CALL!r}")
    try:
        DISPATCH.write_text(source.replace(CALL, ERROR), encoding="utf-8")
        return built(folder, "without")
    finally:
        DISPATCH.write_text(source, encoding="utf-8")


def started(program):
    """Milliseconds from the start of the program to the last byte of the page."""
    began = time.monotonic()
    page = subprocess.Popen([program, "web", "--no-open"], stderr=subprocess.PIPE, text=True)
    try:
        lines = iter(page.stderr.readline, "")
        url = next(line for line in lines if line.startswith("http")).split("#")[0].strip().rstrip("/")
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
    parser.add_argument("--starts", type=int, default=15)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        whole, rest = built(folder, "with"), without_page(folder)
        sizes = [program.stat().st_size for program in (whole, rest)]
        print(f"with the page {sizes[0]:,} bytes, without it {sizes[1]:,}: {(sizes[0] - sizes[1]) / 1000:.0f} KB")
        times = [started(whole) for _ in range(arguments.starts)]
        print(f"start: median {statistics.median(times):.0f} ms, slowest {max(times):.0f} ms")


main()
