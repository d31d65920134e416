"""Packages for npm: one for each platform carries the program, and `@pintle-mcp/pintle` starts the right one."""

import json
import shutil
from pathlib import Path

import archive
from targets import ROOT, TARGETS, Target, version

SCOPE = "@pintle-mcp"
SOURCES = Path(__file__).resolve().parent / "npm"


def write(archives: Path, folder: Path) -> list[Path]:
    """Writes the packages of all archives of a folder. The package that depends on them is the last one."""
    packages = [_platform(target, archives, folder) for target in carried(archives)]
    return [*packages, _launcher(folder)]


def carried(archives: Path) -> list[Target]:
    return [target for target in TARGETS if target.npm and (archives / target.archive).exists()]


def _name(target: Target) -> str:
    return f"pintle-{'-'.join(target.npm)}"


def _platform(target: Target, archives: Path, folder: Path) -> Path:
    package = _fresh(folder / _name(target))
    program = package / "bin" / target.program
    program.parent.mkdir()
    program.write_bytes(archive.read_program(target, archives))
    program.chmod(0o755)
    platform, machine = target.npm
    return _finish(
        package,
        {
            "name": f"{SCOPE}/{_name(target)}",
            "description": f"The command pintle for {platform} on {machine}.",
            "os": [platform],
            "cpu": [machine],
            "preferUnplugged": True,
        },
    )


def _launcher(folder: Path) -> Path:
    package = _fresh(folder / "pintle")
    shutil.copy(SOURCES / "pintle.js", package)
    dependencies = {f"{SCOPE}/{_name(target)}": version() for target in TARGETS if target.npm}
    return _finish(
        package,
        {
            "name": f"{SCOPE}/pintle",
            "description": "The command-line tool of Pintle: inspect, call and serve MCP servers.",
            "keywords": ["mcp", "model-context-protocol", "cli", "inspector"],
            "bin": {"pintle": "pintle.js"},
            "engines": {"node": ">=18"},
            "optionalDependencies": dependencies,
        },
    )


def _fresh(package: Path) -> Path:
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    return package


def _finish(package: Path, manifest: dict) -> Path:
    """Adds the members that all packages have, and the licences."""
    manifest |= {
        "version": version(),
        "license": "MIT OR Apache-2.0",
        "repository": {"type": "git", "url": "git+https://github.com/pintle-mcp/pintle.git"},
        "publishConfig": {"access": "public"},
    }
    (package / "package.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        shutil.copy(ROOT / name, package)
    shutil.copy(ROOT / "crates/cli/README.md", package)
    return package
