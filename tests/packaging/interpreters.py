"""The Python interpreters on this machine that the package supports."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SUPPORTED = ((3, 12), (3, 13), (3, 14))
RUNNING = sys.version_info[:2]


@cache
def find_interpreters() -> dict[str, Path]:
    """One per supported version, by version such as `3.13`; the running interpreter for its own."""
    found = {name_of(RUNNING): Path(sys.executable)}
    for version in SUPPORTED:
        usable = (path for path in _candidates(name_of(version)) if _runs(path, version))
        if name_of(version) not in found and (path := next(usable, None)):
            found[name_of(version)] = path
    return dict(sorted(found.items()))


def _candidates(name: str) -> Iterator[Path]:
    if command := shutil.which(f"python{name}"):
        yield Path(command)
    for folder in (Path.home() / ".pyenv/versions", Path.home() / ".local/share/uv/python"):
        yield from sorted(folder.glob(f"*/bin/python{name}"))


def _runs(path: Path, version: tuple[int, int]) -> bool:
    """Whether the program is that interpreter: pyenv's commands exist also for versions that are not selected."""
    code = "import sys; print(*sys.version_info[:2])"
    finished = subprocess.run([str(path), "-c", code], capture_output=True, text=True, check=False)
    return finished.stdout.split() == [str(part) for part in version]


def name_of(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
