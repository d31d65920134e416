"""The archive of a release: the program, completions for shells, the manual and the licences."""

import calendar
import gzip
import hashlib
import io
import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

from targets import ROOT, Target, version

# The names that each shell looks for.
COMPLETIONS = {
    "bash": "pintle.bash",
    "elvish": "pintle.elv",
    "fish": "pintle.fish",
    "powershell": "_pintle.ps1",
    "zsh": "_pintle",
}
DOCUMENTS = {
    "CHANGELOG.md": "CHANGELOG.md",
    "LICENSE-APACHE": "LICENSE-APACHE",
    "LICENSE-MIT": "LICENSE-MIT",
    "README.md": "crates/cli/README.md",
}
# Zip has no earlier time. A fixed time makes the archive of equal files equal.
TIME = (1980, 1, 1, 0, 0, 0)


def write(target: Target, program: Path, folder: Path) -> Path:
    """Writes the archive and its checksum. The program has to run on this machine, because it prints its manual."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / target.archive
    content = _content(target, program)
    (_write_zip if target.is_windows else _write_tar)(path, content)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    Path(f"{path}.sha256").write_text(f"{digest}  {path.name}\n", encoding="utf-8")
    return path


def read_program(target: Target, folder: Path) -> bytes:
    """The program of an archive."""
    path = folder / target.archive
    name = f"{_top(target)}/{target.program}"
    if target.is_windows:
        with zipfile.ZipFile(path) as archive:
            return archive.read(name)
    with tarfile.open(path) as archive:
        return archive.extractfile(name).read()


def _top(target: Target) -> str:
    return f"pintle-{version()}-{target.triple}"


def _content(target: Target, program: Path) -> dict[str, bytes]:
    content = {target.program: program.read_bytes()}
    for name, source in DOCUMENTS.items():
        content[name] = (ROOT / source).read_bytes()
    for shell, name in COMPLETIONS.items():
        content[f"completions/{name}"] = _output(program, "completions", shell)
    content.update(_pages(_output(program, "man").decode()))
    return {f"{_top(target)}/{name}": content[name] for name in sorted(content)}


def _output(program: Path, *arguments: str) -> bytes:
    return subprocess.run([program.resolve(), *arguments], check=True, stdout=subprocess.PIPE).stdout


def _pages(manual: str) -> dict[str, bytes]:
    """`man` reads one page per file. The program prints all pages, and each begins with the definition of a string."""
    pages = re.split(r"(?m)^(?=\.ie )", manual.replace("\r\n", "\n"))
    content = {}
    for page in filter(None, pages):
        name = re.search(r"^\.TH (\S+)", page, re.MULTILINE).group(1)
        content[f"man/{name}.1"] = page.encode()
    return content


def _mode(name: str) -> int:
    return 0o755 if Path(name).stem == "pintle" and name.count("/") == 1 else 0o644


def _write_tar(path: Path, content: dict[str, bytes]) -> None:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for name, data in content.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), _mode(name)
            entry.mtime = calendar.timegm(TIME)
            archive.addfile(entry, io.BytesIO(data))
    path.write_bytes(gzip.compress(plain.getvalue(), compresslevel=6, mtime=0))


def _write_zip(path: Path, content: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, data in content.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = _mode(name) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
