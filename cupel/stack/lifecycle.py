"""Starting, stopping and inspecting the local stack: the interface for the command and the tests."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter

from cupel.stack import emulator
from cupel.stack.address import LocalStack, accepts_token, issue_token, read_local, write_local
from cupel.stack.build import build, build_lock, is_built, sources_digest
from cupel.stack.deploy import deploy, is_deployed, is_recorded
from cupel.stack.emulator import Emulator
from cupel.stack.paths import StackPaths
from cupel.stack.sources import refresh

type Notify = Callable[[str], None]


@dataclass(frozen=True)
class StackStatus:
    emulator: Emulator
    local: LocalStack | None
    is_current: bool
    """Whether the sources have not changed since the last deployment."""


def up(paths: StackPaths, port: int | None, notify: Notify) -> LocalStack:
    """Start the stack if it is down, and deploy the sources if they have changed."""
    paths.make_private()
    digest = sources_digest(paths)
    running = emulator.find_running(paths)
    if running and not emulator.is_supported(paths, running):
        emulator.stop(paths)
        running = None
    if running:
        emulator.refuse_other_port(running, port)
        known = read_local(paths)
        if known and known.access == running.access and is_recorded(paths, digest) and accepts_token(known):
            return known
    with build_lock(paths):
        refresh(paths)
    if running is None:
        with _report_duration(notify, "embedded cloud started"):
            running = emulator.start(paths, port)
    with build_lock(paths):
        if not is_deployed(paths, running, digest):
            _build_and_deploy(paths, running, digest, notify)
    local = _ensure_token(paths, running, notify)
    _warm(running, notify)
    return local


def down(paths: StackPaths, *, discard: bool = False) -> bool:
    """Stop the stack. Its data is kept for the next start unless it is discarded. Returns whether it was running."""
    stopped = emulator.stop(paths)
    if discard:
        emulator.discard(paths)
    return stopped


def get_status(paths: StackPaths) -> StackStatus | None:
    running = emulator.find_running(paths)
    if running is None:
        return None
    return StackStatus(running, read_local(paths), is_deployed(paths, running, sources_digest(paths)))


def _build_and_deploy(paths: StackPaths, running: Emulator, digest: str, notify: Notify) -> None:
    if not is_built(paths, digest):
        with _report_duration(notify, "template, functions and layer built"):
            build(paths, digest)
    with _report_duration(notify, "stack deployed"):
        deploy(paths, running, digest)


def _ensure_token(paths: StackPaths, running: Emulator, notify: Notify) -> LocalStack:
    known = read_local(paths)
    if known and known.endpoint_url == running.endpoint_url and accepts_token(known):
        local = replace(known, access=running.access)  # Each start has a key of its own.
        write_local(paths, local)
        return local
    with _report_duration(notify, "admin token written"):
        local = issue_token(paths, running)
        write_local(paths, local)
        accepts_token(local)
    return local


def _warm(running: Emulator, notify: Notify) -> None:
    from cupel.stack.warmup import warm  # imports boto3 and pydantic, which a stack that is already up does not need

    with _report_duration(notify, "functions warmed up"):
        failures = warm(running)
    for function, failure in failures.items():
        notify(f"  {function} failed: {failure}")


@contextmanager
def _report_duration(notify: Notify, step: str) -> Iterator[None]:
    start = perf_counter()
    yield
    notify(f"{step} ({perf_counter() - start:.1f} s)")
