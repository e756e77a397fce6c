"""Up, down and how it stands: the only module that the command and the tests need."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from cupel.stack import emulator
from cupel.stack.address import Local, is_open, issue_token, read_local, write_local
from cupel.stack.build import build, building, is_built, sources_digest
from cupel.stack.deploy import deploy, is_deployed, is_recorded
from cupel.stack.emulator import Emulator
from cupel.stack.paths import Place

type Say = Callable[[str], None]


@dataclass(frozen=True)
class Standing:
    emulator: Emulator
    local: Local | None
    is_current: bool
    """Whether what is deployed is what the sources say."""


def up(place: Place, port: int | None, say: Say) -> Local:
    """Brings the stack to what the sources say; what is already so is left alone."""
    digest = sources_digest(place)
    running = emulator.running(place)
    if running:
        emulator.refuse_other_port(running, port)
        known = read_local(place)
        if known and is_recorded(place, digest) and is_open(known):
            return known
    else:
        place.state.mkdir(parents=True, exist_ok=True)
        with _told(say, "embedded cloud started"):
            running = emulator.start(place, port)
    with building(place):
        if not is_deployed(place, running, digest):
            _build_and_deploy(place, running, digest, say)
    local = _opened(place, running, say)
    _warm(running, say)
    return local


def down(place: Place, *, discard: bool = False) -> bool:
    """Stops the stack; its data stays for the next start unless it is discarded."""
    stopped = emulator.stop(place)
    if discard:
        emulator.discard(place)
    return stopped


def standing(place: Place) -> Standing | None:
    running = emulator.running(place)
    if running is None:
        return None
    return Standing(running, read_local(place), is_deployed(place, running, sources_digest(place)))


def _build_and_deploy(place: Place, running: Emulator, digest: str, say: Say) -> None:
    if not is_built(place, digest):
        with _told(say, "template, functions and layer built"):
            build(place, digest)
    with _told(say, "stack deployed"):
        deploy(place, running, digest)


def _opened(place: Place, running: Emulator, say: Say) -> Local:
    known = read_local(place)
    if known and known.endpoint_url == running.endpoint_url and is_open(known):
        return known
    with _told(say, "admin token written"):
        local = issue_token(place, running)
        write_local(place, local)
        is_open(local)
    return local


def _warm(running: Emulator, say: Say) -> None:
    from cupel.stack.warmup import warm  # boto3 and pydantic, which a stack that is up already does not need

    with _told(say, "functions warmed up"):
        failures = warm(running)
    for function, failure in failures.items():
        say(f"  {function} failed: {failure}")


@contextmanager
def _told(say: Say, what: str) -> Iterator[None]:
    began = perf_counter()
    yield
    say(f"{what} ({perf_counter() - began:.1f} s)")
