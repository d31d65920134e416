"""Wheels for PyPI: a wheel has the program as its script, and no Python."""

import base64
import hashlib
import re
import zipfile
from pathlib import Path

import archive
from targets import ROOT, TARGETS, Target, version

NAME = "pintle-mcp"
METADATA = """\
Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: The command-line tool of Pintle: inspect, call and serve MCP servers.
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
Keywords: mcp,model-context-protocol,cli,inspector
Project-URL: Repository, https://github.com/pintle-mcp/pintle
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{readme}"""


def write(archives: Path, folder: Path) -> list[Path]:
    """Writes a wheel for each archive of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    carried = [target for target in TARGETS if target.wheel and (archives / target.archive).exists()]
    return [_wheel(target, archives, folder) for target in carried]


def python_version(release: str) -> str:
    """PyPI writes `1.0.0-rc.1` as `1.0.0rc1`."""
    return re.sub(r"-(a|b|rc)\w*\.(\d+)$", r"\1\2", release)


def _wheel(target: Target, archives: Path, folder: Path) -> Path:
    stem = f"{NAME.replace('-', '_')}-{python_version(version())}"
    path = folder / f"{stem}-py3-none-{'.'.join(target.wheel)}.whl"
    content = _content(target, stem, archive.read_program(target, archives))
    content[f"{stem}.dist-info/RECORD"] = _record(content, stem)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as wheel:
        for name, data in content.items():
            entry = zipfile.ZipInfo(name, archive.TIME)
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return path


def _content(target: Target, stem: str, program: bytes) -> dict[str, bytes]:
    readme = (ROOT / "crates/cli/README.md").read_text(encoding="utf-8")
    metadata = METADATA.format(name=NAME, version=python_version(version()), readme=readme)
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in target.wheel)
    form = f"Wheel-Version: 1.0\nGenerator: pintle\nRoot-Is-Purelib: false\n{tags}"
    content = {f"{stem}.data/scripts/{target.program}": program}
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        content[f"{stem}.dist-info/licenses/{name}"] = (ROOT / name).read_bytes()
    content[f"{stem}.dist-info/METADATA"] = metadata.encode()
    content[f"{stem}.dist-info/WHEEL"] = form.encode()
    return content


def _record(content: dict[str, bytes], stem: str) -> bytes:
    """Every file with its digest and size; the record itself has neither."""
    lines = []
    for name, data in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join([*lines, f"{stem}.dist-info/RECORD,,\n"]).encode()
