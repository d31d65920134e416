#!/usr/bin/env python3
"""CPU time of an echo through a bridge, beside the same echo without one, and through other bridges.

  benches/bridges.py PROGRAMS [--rounds N] [--seconds N] [--flight N] [--rows PATTERN]

PROGRAMS is a folder with `pintle`, `bench-client` and `bench-server`, built with `cargo build --profile dist`. The other
bridges are installed by npm in a temporary folder, in the versions below. All rows take turns in each round. One time is
that of all processes: the client, the bridge, its children, and the server. The other one leaves out the client.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time

PACKAGES = ["mcp-remote@0.15.1", "supergateway@4.0.0"]
WARM_UP = 2
PATIENCE = 60
LEGACY, MODERN = "2025-11-25", "2026-07-28"


def started(command, **pipes):
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True, **pipes)


def ended(process):
    """Ends a program and its descendants."""
    if process.stdin:
        process.stdin.close()
    else:
        process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def free_address():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % listener.getsockname()[1]


def listening(process, address):
    host, port = address.split(":")
    for _ in range(PATIENCE * 20):
        try:
            return socket.create_connection((host, int(port))).close()
        except OSError:
            assert process.poll() is None, "the program has ended"
            time.sleep(0.05)
    raise AssertionError("the program does not listen")


def family(process_id):
    """Returns the ids of a process and of its descendants."""
    ids = [process_id]
    for task in pathlib.Path(f"/proc/{process_id}/task").iterdir():
        for child in (task / "children").read_text().split():
            ids += family(int(child))
    return ids


def cpu(ids):
    """Returns the CPU time of the threads that run, in microseconds."""
    tasks = [task for each in ids for task in pathlib.Path(f"/proc/{each}/task").iterdir()]
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1000


class Row:
    """A way to the server. `front` and `behind` are transports; without a `bridge` the client is at the server."""

    def __init__(self, revision, front, behind, name, bridge):
        self.revision, self.front, self.behind, self.name, self.bridge = revision, front, behind, name, bridge
        self.times, self.behind_client = [], []

    def measure(self, programs, seconds, flight):
        processes, era = [], self.revision[:4]
        target, here = [str(programs / "bench-server"), "stdio"], free_address()
        if self.behind == "HTTP":
            there = free_address() if self.bridge else here
            target = [*target[:1], "http", there, "stateful" if self.revision == LEGACY else "stateless"]
            processes.append(server(target, there))
            target = ["http://%s/mcp" % there]
        if self.bridge:
            target = self.bridge(target, here)
        if self.front == "HTTP":
            if self.bridge:
                processes.append(server(target, here))
            target = ["http://%s/mcp" % here]
        plan = [era, str(flight), str(seconds), str(WARM_UP)]
        arguments = [*plan, "--", *target] if self.front == "stdio" else [*target, *plan]
        client = started([str(programs / "bench-client"), self.front.lower(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        try:
            # The client measures from `WARM_UP` after its connection. It must not end within the window of the others.
            time.sleep(WARM_UP)
            others = [each for process in processes for each in family(process.pid)] + family(client.pid)[1:]
            before, began = cpu(others), time.monotonic()
            time.sleep(seconds / 2)
            rate = (cpu(others) - before) / (time.monotonic() - began)
            figures = json.loads(client.communicate(timeout=PATIENCE)[0])
            calls = figures["calls"] / figures["wall_s"]
            self.behind_client.append(rate / calls)
            self.times.append(rate / calls + figures["cpu_s"] * 1e6 / figures["calls"])
        finally:
            for process in [client, *reversed(processes)]:
                ended(process)


def server(command, address):
    process = started(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    listening(process, address)
    return process


def rows(pintle, modules):
    def node(package, entry):
        manifest = json.loads((modules / package / "package.json").read_text())
        return ["node", str(modules / package / (entry or next(iter(manifest["bin"].values()))))]

    def ours(front):
        at = lambda here: ["--stdio"] if front == "stdio" else ["--http", here]
        return lambda target, here: [pintle, "serve", *at(here), *(target if len(target) == 1 else ["--", *target])]

    remote = lambda target, here: [*node("mcp-remote", "dist/proxy.js"), *target, "--transport", "http-only"]
    gateway = node("supergateway", None)
    to_web = lambda target, here: [*gateway, "--streamableHttp", *target]
    to_stdio = lambda target, here: [
        *gateway, "--stdio", " ".join(target), "--outputTransport", "streamableHttp", "--stateful",
        "--logLevel", "none", "--port", here.split(":")[1],
    ]
    for revision in (LEGACY, MODERN):
        for transport in ("stdio", "HTTP"):
            yield Row(revision, transport, transport, "direct", None)
        for front in ("stdio", "HTTP"):
            for behind in ("stdio", "HTTP"):
                yield Row(revision, front, behind, "pintle serve", ours(front))
    yield Row(LEGACY, "stdio", "HTTP", "mcp-remote", remote)
    yield Row(LEGACY, "stdio", "HTTP", "supergateway", to_web)
    yield Row(LEGACY, "HTTP", "stdio", "supergateway", to_stdio)


def table(measured):
    """Prints the medians, and the medians of the ratios within each round."""
    named = {(row.revision, row.front, row.behind, row.name): row for row in measured}
    print("| revision | client to bridge to server | program | CPU of an echo, µs | times the direct one | without the client, µs | times the direct one | times ours |")
    print("|---|---|---|---|---|---|---|---|")
    for row in measured:
        def ratio(own, theirs):
            return "%.2f" % statistics.median([a / b for a, b in zip(own, theirs)])

        def to_direct(of):
            direct = [named[row.revision, each, each, "direct"] for each in dict.fromkeys((row.front, row.behind))]
            return "" if row.name == "direct" else " / ".join(ratio(of(row), of(each)) for each in direct)

        ours = named.get((row.revision, row.front, row.behind, "pintle serve"))
        beside = ratio(row.times, ours.times) if ours and row.name not in ("direct", "pintle serve") else ""
        path = row.front if row.name == "direct" else f"{row.front} to {row.behind}"
        whole, part = (statistics.median(each) for each in (row.times, row.behind_client))
        columns = [row.revision, path, row.name, "%.1f" % whole, to_direct(lambda row: row.times), "%.1f" % part, to_direct(lambda row: row.behind_client), beside]
        print("| %s |" % " | ".join(columns))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--flight", type=int, default=1, help="requests in flight")
    parser.add_argument("--rows", default="", help="a pattern of the rows to measure")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bridges-"))
    try:
        install = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]
        subprocess.run([*install, *PACKAGES], check=True)
        measured = list(rows(str(options.programs / "pintle"), folder / "node_modules"))
        measured = [row for row in measured if row.name == "direct" or re.search(options.rows, f"{row.revision} {row.front} to {row.behind} {row.name}")]
        for _ in range(options.rounds):
            for row in measured:
                row.measure(options.programs, options.seconds, options.flight)
        table(measured)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
