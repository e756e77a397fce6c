"""From sources to what is deployed: `sam build`, when something it reads has changed."""

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cupel.stack.paths import Place
from cupel.stack.subprocesses import child_environment, run

_SOURCES = (
    "template.yaml",
    "uv.lock",
    "shared/Makefile",
    "statemachines/*.json",
    "shared/**/*.py",
    "functions/**/*.py",
)


def sources_digest(place: Place) -> str:
    """Of every file that decides what is deployed, their names included."""
    digest = hashlib.sha256()
    for path in sorted(found for pattern in _SOURCES for found in place.repository.glob(pattern)):
        digest.update(str(path.relative_to(place.repository)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_built(place: Place, digest: str) -> bool:
    record = _record(place)
    return record.is_file() and record.read_text() == digest and place.build.is_dir()


def build(place: Place, digest: str) -> None:
    """The layer is made for this machine: the embedded cloud runs handlers here."""
    _record(place).unlink(missing_ok=True)
    environment = child_environment(place) | {"ARCHITECTURE": "host"}
    command = ["sam", "build", "--build-dir", str(place.build), "--template-file", "template.yaml"]
    run(command, place, environment, place.tools / "build.log")
    _record(place).write_text(digest)


@contextmanager
def building(place: Place) -> Iterator[None]:
    """One at a time: a build must not change under somebody who deploys from it."""
    place.tools.mkdir(parents=True, exist_ok=True)
    with (place.tools / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _record(place: Place) -> Path:
    return place.tools / "build.digest"
