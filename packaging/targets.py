"""The targets of a release, and the names that npm and PyPI have for them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Target:
    """One target. A target without a name for npm and without tags is in no package."""

    triple: str
    # `process.platform` and `process.arch` of Node.
    npm: tuple[str, str] | None = None
    # Platform tags of a wheel.
    wheel: tuple[str, ...] = ()
    # The platform of a container, as Docker names it.
    container: str | None = None

    @property
    def is_windows(self) -> bool:
        return "windows" in self.triple

    @property
    def program(self) -> str:
        return "pintle.exe" if self.is_windows else "pintle"

    @property
    def archive(self) -> str:
        return f"pintle-{version()}-{self.triple}{'.zip' if self.is_windows else '.tar.gz'}"


def _linux_tags(machine: str) -> tuple[str, ...]:
    """The static program needs no C library, so it runs on every Linux."""
    return tuple(f"{libc}_{machine}" for libc in ("manylinux_2_17", "manylinux2014", "musllinux_1_1"))


TARGETS = (
    Target("x86_64-unknown-linux-gnu"),
    Target("aarch64-unknown-linux-gnu"),
    Target("x86_64-unknown-linux-musl", ("linux", "x64"), _linux_tags("x86_64"), "linux/amd64"),
    Target("aarch64-unknown-linux-musl", ("linux", "arm64"), _linux_tags("aarch64"), "linux/arm64"),
    Target("x86_64-apple-darwin", ("darwin", "x64"), ("macosx_10_12_x86_64",)),
    Target("aarch64-apple-darwin", ("darwin", "arm64"), ("macosx_11_0_arm64",)),
    Target("x86_64-pc-windows-msvc", ("win32", "x64"), ("win_amd64",)),
)


def by_triple(triple: str) -> Target:
    for target in TARGETS:
        if target.triple == triple:
            return target
    known = ", ".join(target.triple for target in TARGETS)
    raise SystemExit(f"unknown target: {triple}; the targets are {known}")


def version() -> str:
    """The version of the workspace."""
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    package = manifest.split("[workspace.package]", 1)[1]
    return re.search(r'^version = "(.+)"$', package, re.MULTILINE).group(1)
