"""The report of a client: a line for each step. `run` makes a table of the lines."""

import os
import sys
import traceback
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from pathlib import Path

import anyio

STEP_TIMEOUT = 20.0


class NotApplicable(Exception):
    """A step does not apply to a revision."""


class Report:
    """Prints `verdict TAB step TAB reason`; a failed step does not stop the next."""

    def __init__(self) -> None:
        self.failures = 0

    async def step(self, name: str, body: Callable[[], Awaitable[None]], timeout: float | None = STEP_TIMEOUT) -> None:
        verdict, reason = "ok", ""
        try:
            with anyio.fail_after(timeout) if timeout else nullcontext():
                await body()
        except NotApplicable as absent:
            verdict, reason = "-", str(absent)
        except Exception as error:
            verdict, reason = "FAIL", described(error)
            self.failures += 1
        print(verdict, name, reason, sep="\t", flush=True)


def described(error: Exception) -> str:
    """Returns the error with its source line, because an assertion has no message."""
    line = traceback.extract_tb(error.__traceback__)[-1].line
    return " ".join(f"{type(error).__name__} {error} at: {line}".split())


async def until(what: str, holds: Callable[[], bool], seconds: float = 3.0) -> None:
    """Waits until a condition holds."""
    try:
        with anyio.fail_after(seconds):
            while not holds():
                await anyio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"{what}: not within {seconds} s") from None


def logged(text: str) -> int:
    """Returns how often a text is in the log of the server."""
    return Path(os.environ["INTEROP_LOG"]).read_text().count(text)


def arguments() -> tuple[str, str, list[str]]:
    """The era, and a URL or `--` with a command behind it."""
    era, url, *command = sys.argv[1:]
    return era, url, command
