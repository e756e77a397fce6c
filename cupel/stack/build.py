"""Builds the template with `sam build` when one of its sources has changed."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cupel.stack.locks import lock_file
from cupel.stack.paths import StackPaths
from cupel.stack.sources import deployed_files
from cupel.stack.subprocesses import child_environment, run
from cupel.whole_files import replace_file


def sources_digest(paths: StackPaths) -> str:
    """A digest over the names and contents of all files that determine what is deployed."""
    digest = hashlib.sha256()
    for name, path in sorted(deployed_files(paths).items()):
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_built(paths: StackPaths, digest: str) -> bool:
    record = _record(paths)
    return record.is_file() and record.read_text() == digest and paths.build.is_dir()


def build(paths: StackPaths, digest: str) -> None:
    """Build the template. The layer is built for this machine, on which the embedded cloud runs the handlers."""
    _record(paths).unlink(missing_ok=True)
    environment = child_environment(paths) | {"ARCHITECTURE": "host"}
    command = ["sam", "build", "--build-dir", str(paths.build), "--template-file", "template.yaml"]
    run(command, paths, environment, paths.tools / "build.log")
    replace_file(_record(paths), digest)


@contextmanager
def build_lock(paths: StackPaths) -> Iterator[None]:
    """Held while building and deploying: a build must not change while another process deploys it."""
    paths.tools.mkdir(parents=True, exist_ok=True)
    with lock_file(paths.tools / "build.lock"):
        yield


def _record(paths: StackPaths) -> Path:
    return paths.tools / "build.digest"
