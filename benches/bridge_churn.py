#!/usr/bin/env python3
"""Memory and processes of `pintle serve` while sessions come and go.

  benches/bridge_churn.py PINTLE BENCH_SERVER [--sessions N] [--clients N] [--minutes N] [--behind children|HTTP]

Each session of 2025-11-25 opens over HTTP, calls a tool, and ends with DELETE; between them are calls of 2026-07-28. The
server behind the bridge is a child process for each session, and then one HTTP server. The sessions of each part are
spread over the minutes. A row has the resident memory of the bridge and the number of its descendants. The exit code is
1 if the memory grows by more than a tenth from the second row to the last, or if a descendant is left at the end.
"""

import argparse
import http.client
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

from bridges import LEGACY, MODERN, ended, family, free_address, listening, started

ROWS = 10
PREFIX = "io.modelcontextprotocol/"
CLIENT = {"name": "bridges", "version": "1"}
ENVELOPE = {PREFIX + "protocolVersion": MODERN, PREFIX + "clientCapabilities": {}, PREFIX + "clientInfo": CLIENT}
ECHO = {"name": "echo", "arguments": {"text": "hello there"}}
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def message(revision, number, method, params):
    if revision == MODERN:
        params = {**params, "_meta": ENVELOPE}
    text = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps({**text, "id": number} if number is not None else text)


def request(connection, method, text, headers):
    connection.request(method, "/mcp", text, {**HEADERS, **headers})
    response = connection.getresponse()
    body = response.read()
    assert response.status < 300 and b'"error"' not in body, (response.status, body)
    return response


def session(address):
    connection = http.client.HTTPConnection(address, timeout=60)
    hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT}
    opened = request(connection, "POST", message(LEGACY, 0, "initialize", hello), {})
    headers = {"Mcp-Session-Id": opened.headers["Mcp-Session-Id"], "MCP-Protocol-Version": LEGACY}
    request(connection, "POST", message(LEGACY, None, "notifications/initialized", {}), headers)
    request(connection, "POST", message(LEGACY, 1, "tools/call", ECHO), headers)
    request(connection, "DELETE", None, headers)
    modern = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "echo"}
    request(connection, "POST", message(MODERN, 1, "tools/call", ECHO), modern)
    connection.close()


def resident_kib(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def churn(name, command, address, options):
    """Runs the sessions, and returns the faults."""
    bridge = started(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    faults, memory, began = [], [], time.time()
    pause = options.minutes * 60 * options.clients / options.sessions
    try:
        listening(bridge, address)

        def client(count):
            for _ in range(count):
                begun = time.monotonic()
                try:
                    session(address)
                except Exception as error:  # noqa: BLE001
                    faults.append(f"{name}: {error!r}")
                time.sleep(max(0, begun + pause - time.monotonic()))

        for row in range(ROWS):
            share = options.sessions // ROWS // options.clients
            clients = [threading.Thread(target=client, args=(share,)) for _ in range(options.clients)]
            for each in clients:
                each.start()
            for each in clients:
                each.join()
            # Ended sessions are removed once a second.
            time.sleep(3)
            memory.append(resident_kib(bridge))
            done = share * options.clients * (row + 1)
            print(f"{name}: {done} sessions, {memory[-1]} KiB, {len(family(bridge.pid)) - 1} descendants, "
                  f"{time.time() - began:.0f} s", flush=True)
        if memory[-1] > memory[1] * 1.1:
            faults.append(f"{name}: the memory grows from {memory[1]} to {memory[-1]} KiB")
        descendants = family(bridge.pid)[1:]
    finally:
        ended(bridge)
    time.sleep(3)
    left = [each for each in descendants if pathlib.Path(f"/proc/{each}").exists()]
    return faults + [f"{name}: process {each} is left" for each in left]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pintle", type=os.path.realpath)
    parser.add_argument("server", type=os.path.realpath)
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--behind", choices=["children", "HTTP"], help="one part only")
    options = parser.parse_args()
    here, there = free_address(), free_address()
    serve = [options.pintle, "serve", "--http", here]
    faults = [] if options.behind == "HTTP" else churn("children", [*serve, "--revision", LEGACY, "--", options.server, "stdio"], here, options)
    if options.behind == "children":
        end(faults)
    behind = started([options.server, "http", there, "stateful"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        listening(behind, there)
        faults += churn("HTTP", [*serve, f"http://{there}/mcp"], here, options)
    finally:
        ended(behind)
    end(faults)


def end(faults):
    for fault in faults[:20]:
        print(fault)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
