#!/usr/bin/env python3
"""CPU time of an echo through a bridge, beside the same echo without one, and through other bridges.

  benches/bridges.py PINTLE BENCH_SERVER [--rounds N] [--echoes N] [--flight N]

PINTLE and BENCH_SERVER are built with `cargo build --profile dist`. The other bridges are installed by npm in a
temporary folder, in the versions below. All rows take turns in each round. The time is that of all processes except
this one: the bridge, its children, and the server.
"""

import argparse
import http.client
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
WARM_UP = 500
PATIENCE = 60
LEGACY, MODERN = "2025-11-25", "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
CLIENT = {"name": "bridges", "version": "1"}
ENVELOPE = {PREFIX + "protocolVersion": MODERN, PREFIX + "clientCapabilities": {}, PREFIX + "clientInfo": CLIENT}


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


def cpu(processes):
    """Returns the CPU time of the threads that run, in microseconds."""
    ids = [each for process in processes for each in family(process.pid)]
    tasks = [task for each in ids for task in pathlib.Path(f"/proc/{each}/task").iterdir()]
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1000


def message(revision, number, method, params):
    if revision == MODERN:
        params = {**params, "_meta": ENVELOPE}
    text = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps({**text, "id": number} if number is not None else text)


class Stdio:
    """A conversation on standard streams."""

    def __init__(self, command, revision):
        self.revision = revision
        self.process = started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if revision == LEGACY:
            hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT}
            self.send(message(LEGACY, 0, "initialize", hello))
            self.answer()
            self.send(message(LEGACY, None, "notifications/initialized", {}))

    def send(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def answer(self):
        while True:
            line = self.process.stdout.readline()
            assert line, "the program has ended"
            if b'"result"' in line:
                return line
            assert b'"error"' not in line, line

    def echoes(self, count, flight):
        sent = 0
        for done in range(count):
            while sent < min(count, done + flight):
                sent += 1
                arguments = {"name": "echo", "arguments": {"text": "hello there"}}
                self.send(message(self.revision, sent, "tools/call", arguments))
            self.answer()


class Web:
    """A conversation over HTTP, one request at a time."""

    def __init__(self, command, address, revision):
        self.revision = revision
        self.process = started(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        listening(self.process, address)
        self.connection = http.client.HTTPConnection(address, timeout=PATIENCE)
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if revision == LEGACY:
            hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT}
            response = self.post(message(LEGACY, 0, "initialize", hello))
            self.headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
        self.headers["MCP-Protocol-Version"] = revision
        if revision == LEGACY:
            self.post(message(LEGACY, None, "notifications/initialized", {}))
        else:
            self.headers.update({"Mcp-Method": "tools/call", "Mcp-Name": "echo"})

    def post(self, text):
        self.connection.request("POST", "/mcp", text, self.headers)
        response = self.connection.getresponse()
        body = response.read()
        assert response.status < 300, (response.status, body)
        assert b'"error"' not in body, body
        return response

    def echoes(self, count, _flight):
        for number in range(1, count + 1):
            self.post(message(self.revision, number, "tools/call", {"name": "echo", "arguments": {"text": "hello there"}}))


class Row:
    """A way to the server. `front` and `behind` are transports; without a `bridge` the client is at the server."""

    def __init__(self, revision, front, behind, name, bridge):
        self.revision, self.front, self.behind, self.name, self.bridge = revision, front, behind, name, bridge
        self.times = []

    def measure(self, server, echoes, flight):
        processes = []
        target, here = [server, "stdio"], free_address()
        if self.behind == "HTTP":
            there = free_address()
            target = [server, "http", there, "stateful" if self.revision == LEGACY else "stateless"]
            if self.bridge:
                processes.append(started(target, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
                listening(processes[0], there)
                target = ["http://%s/mcp" % there]
            else:
                here = there
        command = self.bridge(target, here) if self.bridge else target
        client = Stdio(command, self.revision) if self.front == "stdio" else Web(command, here, self.revision)
        processes.append(client.process)
        try:
            client.echoes(WARM_UP, flight)
            before = cpu(processes)
            client.echoes(echoes, flight)
            self.times.append((cpu(processes) - before) / echoes)
        finally:
            for process in reversed(processes):
                ended(process)


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
    print("| revision | client to bridge to server | program | CPU of an echo, µs | times the direct one | times ours |")
    print("|---|---|---|---|---|---|")
    for row in measured:
        def times(other):
            ratios = [own / theirs for own, theirs in zip(row.times, other.times)]
            return "%.2f" % statistics.median(ratios)

        def direct(transport):
            return named[row.revision, transport, transport, "direct"]

        plain = "" if row.name == "direct" else " / ".join(times(direct(each)) for each in dict.fromkeys((row.front, row.behind)))
        ours = named.get((row.revision, row.front, row.behind, "pintle serve"))
        beside = times(ours) if row.name not in ("direct", "pintle serve") else ""
        path = row.front if row.name == "direct" else f"{row.front} to {row.behind}"
        print(f"| {row.revision} | {path} | {row.name} | {statistics.median(row.times):.1f} | {plain} | {beside} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pintle", type=os.path.realpath)
    parser.add_argument("server", type=os.path.realpath)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--echoes", type=int, default=3000)
    parser.add_argument("--flight", type=int, default=1, help="requests in flight on standard streams")
    parser.add_argument("--rows", default="", help="a pattern of the rows to measure")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bridges-"))
    try:
        install = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]
        subprocess.run([*install, *PACKAGES], check=True)
        measured = list(rows(options.pintle, folder / "node_modules"))
        measured = [row for row in measured if row.name == "direct" or re.search(options.rows, f"{row.revision} {row.front} to {row.behind} {row.name}")]
        for _ in range(options.rounds):
            for row in measured:
                row.measure(options.server, options.echoes, options.flight)
        table(measured)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
