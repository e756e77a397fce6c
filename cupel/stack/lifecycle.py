from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from time import perf_counter
from typing import TYPE_CHECKING

from cupel.errors import CupelError
from cupel.stack import emulator
from cupel.stack.address import (
    FirstToken,
    LocalStack,
    accepts_token,
    issue_local,
    issue_token,
    read_local,
    write_local,
)
from cupel.stack.deploy import deploy, is_deployed, is_recorded
from cupel.stack.emulator import Emulator
from cupel.stack.locks import lock_file
from cupel.stack.paths import StackPaths, write_private
from cupel.stack.sources import build, build_lock, generate, is_built, refresh, sources_digest
from cupel_core.base.clock import utc_now
from cupel_core.domain.access import AccessRole
from cupel_core.store.data_format import DATA_FORMAT

if TYPE_CHECKING:
    from cupel.stack.first_calls import Recovery

type Notify = Callable[[str], None]


@dataclass(frozen=True)
class StackStatus:
    emulator: Emulator
    local: LocalStack | None
    is_current: bool


def up(paths: StackPaths, port: int | None, notify: Notify) -> LocalStack:
    """Start the stack if it is down, and deploy the sources if they have changed.

    One process at a time starts or stops the stack; another one waits. Raises CupelError if the data are those of a
    build that stored them differently.
    """
    paths.make_private()
    with _stack_lock(paths, notify):
        check_data_format(paths)
        return _up(paths, port, notify)


def _up(paths: StackPaths, port: int | None, notify: Notify) -> LocalStack:
    generate(paths)
    digest = sources_digest(paths)
    running = emulator.find_running(paths)
    if running:
        emulator.refuse_other_port(running, port)
        known = read_local(paths)
        if known and known.access == running.access and is_recorded(paths, digest) and accepts_token(known):
            return known
    with build_lock(paths):
        refresh(paths)
    started_at = None
    if running is None:
        started_at = utc_now()
        with _report_duration(notify, "embedded cloud started"):
            running = emulator.start(paths, port, notify)
    with build_lock(paths):
        is_current = is_deployed(paths, running, digest)
        if not is_current:
            _build_and_deploy(paths, running, digest, notify)
    try:
        with ThreadPoolExecutor(1) as beside:
            ensured = beside.submit(_ensure_token, paths, running, notify)
            _warm(running, notify, only_needed=is_current)
        local = ensured.result()
    finally:  # A later `cupel up` finds the stack running, and then resumes nothing.
        recovery = _resume(running, started_at) if started_at else None
        if recovery:
            _report(recovery, notify)
    if is_current and not (recovery and recovery.resumed):  # Resumed work needs the processors first.
        _warm_in_background(running)
    return local


def down(paths: StackPaths, notify: Notify, *, discard: bool = False) -> bool:
    """Stop the stack, and wait until nothing of it is left but its files. Return whether it was running.

    Its data is kept for the next start unless it is discarded.
    """
    if not paths.state.is_dir():
        return False
    with _stack_lock(paths, notify):
        stopped = emulator.stop(paths)
        if discard:
            emulator.discard(paths)
    return stopped


def issue_first_token(paths: StackPaths, workspace: str, name: str, role: AccessRole) -> FirstToken:
    """Issue a token of the running stack for a workspace, which may be new. Raises CupelError if the stack is down."""
    running = emulator.find_running(paths)
    if running is None:
        raise CupelError("no local stack runs here: start it with `cupel up`, or name one on AWS with --stack-name")
    operator = ["--operator"] if role is AccessRole.OPERATOR else []
    return issue_token(paths, running, "--workspace", workspace, "--name", name, *operator)


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
        local = replace(known, access=running.access)  # Each start has another key.
        write_local(paths, local)
        return local
    with _report_duration(notify, "admin token written"):
        local = issue_local(paths, running)
        write_local(paths, local)
        accepts_token(local)
    return local


def _resume(running: Emulator, started_at: datetime) -> "Recovery":
    from cupel.stack.first_calls import resume_lost  # A stack that is already up needs no boto3.

    return resume_lost(running, started_at)


def _report(recovery: "Recovery", notify: Notify) -> None:
    if recovery.resumed:
        notify(f"interrupted work resumed: {recovery.resumed}")
    if recovery.failure:
        notify(f"interrupted work resumes within minutes, because resuming it at once failed: {recovery.failure}")


def _warm(running: Emulator, notify: Notify, *, only_needed: bool) -> None:
    from cupel.stack import first_calls  # It imports boto3 and pydantic.

    calls = first_calls.warmup_calls()
    needed = [call for call in calls if not only_needed or call.function in first_calls.NEEDED_BY_A_CALL]
    with _report_duration(notify, "functions warmed up"):
        failures = first_calls.warm(running, needed)
    for function, failure in failures.items():
        notify(f"  {function} failed: {failure}")


def _warm_in_background(running: Emulator) -> None:
    from cupel.stack import first_calls

    further = [call for call in first_calls.warmup_calls() if call.function not in first_calls.NEEDED_BY_A_CALL]
    first_calls.start_warming(running, further)


@contextmanager
def _stack_lock(paths: StackPaths, notify: Notify) -> Iterator[None]:
    waiting = "another `cupel up` or `cupel down` is at work in this folder; waiting for it to end"
    with lock_file(paths.state / "stack.lock", lambda: notify(waiting)):
        yield


@contextmanager
def _report_duration(notify: Notify, step: str) -> Iterator[None]:
    start = perf_counter()
    yield
    notify(f"{step} ({perf_counter() - start:.1f} s)")


def check_data_format(paths: StackPaths) -> None:
    """Mark new data with the format of this build. Raises CupelError if data have another mark or none."""
    present = str(DATA_FORMAT)
    if _read_mark(paths) == present:
        return
    if paths.data.is_dir() and any(paths.data.iterdir()):
        raise CupelError(
            f"the data in {paths.data} are in another format than this build of Cupel reads; "
            "`cupel down --discard` deletes them"
        )
    write_private(paths.data_format, present)


def _read_mark(paths: StackPaths) -> str | None:
    try:
        return paths.data_format.read_text().strip()
    except (FileNotFoundError, ValueError):
        return None
