"""The product's clock, randomness, threads, cloud and models, taken from the schedule that is running.

Modules of the product keep what they import by name, so each name is replaced where it is kept, and put back after.
"""

import os
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from random import Random
from types import FunctionType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

from botocore.client import BaseClient

from tests.simulation.scheduler import START

if TYPE_CHECKING:
    from tests.simulation.cloud import Cloud

FANOUT = 3
"""Small, so that a run of ten probes has a tree of three levels."""

_MODULES = (
    "cupel_core.runs.start",
    "cupel_core.runs.control",
    "cupel_core.runs.dispatch",
    "cupel_core.definitions.catalog",
    "cupel_core.probing.worker",
    "cupel_core.finishing.phases",
    "cupel_core.finishing.summarize",
    "cupel_core.sweeping.sweep",
)
_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "POWERTOOLS_SERVICE_NAME": "cupel",
    "STACK_NAME": "sim",
    "TABLE_NAME": "sim",
    "BUCKET_NAME": "sim",
    "DISPATCH_QUEUE_URL": "https://sqs.test/1/sim-dispatch",
    "GENERATE_QUEUE_URL": "https://sqs.test/1/sim-generate",
    "FINISH_MACHINE_ARN": "arn:aws:states:us-east-1:1:stateMachine:sim-finish",
    "ALLOWED_ORIGINS": "",
    "CALL_TIMEOUT_SECONDS": "10",
}


class Stage:
    """Holds the schedule that is running."""

    cloud: "Cloud | None" = None

    def time(self) -> float:
        if self.cloud is None:
            return START
        current = self.cloud.world.current
        return START + self.cloud.world.now + (current.invocation.skew if current else 0.0)

    def monotonic(self) -> float:
        return self.cloud.world.now if self.cloud else 0.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time(), UTC)

    def bits(self, count: int) -> int:
        return self.cloud.world.rng.getrandbits(count) if self.cloud else 0

    def random(self, *seed: Any) -> Random:
        return Random(*seed) if seed else Random(self.bits(64))

    def call(self, client: BaseClient, operation: str, request: Any) -> Any:
        assert self.cloud is not None
        return self.cloud.network.call(client, operation, request)

    async def complete(self, *call: Any) -> Any:
        assert self.cloud is not None
        return await self.cloud.models.complete(*call)


stage = Stage()


class _Inline:
    """A ThreadPoolExecutor of no threads: which of them is first makes no difference to the code that uses one."""

    def __init__(self, *_: Any, **__: Any) -> None:
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def map(self, work: Callable[[Any], Any], *items: Iterable[Any]) -> Iterator[Any]:
        return map(work, *items)

    def submit(self, work: Callable[..., Any], *args: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(work(*args))
        return future


class Patches:
    """Changes to attributes, undone in reverse."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        self._undo.append(partial(setattr, owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def set_item(self, mapping: dict[Any, Any], key: Any, value: Any) -> None:
        self._undo.append(partial(mapping.__setitem__, key, mapping[key]))
        mapping[key] = value

    def undo(self) -> None:
        while self._undo:
            self._undo.pop()()


@contextmanager
def set_up() -> Iterator[None]:
    """Lets the product run on `stage.cloud`."""
    patches, environment = Patches(), dict(os.environ)
    os.environ.update(_ENVIRONMENT)
    for name in _MODULES:
        import_module(name)
    _replace(patches)
    _shrink(patches)
    _bare(patches)
    patches.set(BaseClient, "_make_api_call", lambda client, operation, request: stage.call(client, operation, request))
    forget()
    try:
        yield
    finally:
        patches.undo()
        stage.cloud = None
        os.environ.clear()
        os.environ.update(environment)
        forget()


def forget() -> None:
    """What a process of the product remembers."""
    from cupel_core import accounts
    from cupel_core.settings import settings
    from cupel_core.store import scenarios, snapshots

    settings.cache_clear()
    accounts.forget()
    snapshots.get.cache_clear()
    scenarios.read_page.cache_clear()


def product() -> list[ModuleType]:
    return [module for name, module in list(sys.modules.items()) if name.startswith("cupel_core.")]


def rebind(patches: Patches, before: object, after: object) -> None:
    """Puts `after` wherever a module, or the default of an argument, holds `before`."""
    for module in product():
        for name, value in list(vars(module).items()):
            if value is before:
                patches.set(module, name, after)
        for function in _functions(module):
            if any(value is before for value in function.__defaults__ or ()):
                defaults = tuple(after if value is before else value for value in function.__defaults__ or ())
                patches.set(function, "__defaults__", defaults)
            if any(value is before for value in (function.__kwdefaults__ or {}).values()):
                kept = {n: after if value is before else value for n, value in (function.__kwdefaults__ or {}).items()}
                patches.set(function, "__kwdefaults__", kept)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for value in vars(module).values():
        members = vars(value).values() if isinstance(value, type) and value.__module__ == module.__name__ else [value]
        yield from (each for each in members if isinstance(each, FunctionType) and each.__module__ == module.__name__)


def _replace(patches: Patches) -> None:
    import secrets
    import time
    from concurrent.futures import ThreadPoolExecutor

    from cupel_core.clock import utc_now
    from cupel_core.providers import PROVIDERS
    from cupel_core.providers.completion import complete

    clock = SimpleNamespace(
        time=stage.time,
        time_ns=lambda: int(stage.time() * 1e9),
        monotonic=stage.monotonic,
        perf_counter=stage.monotonic,
    )
    replacements: dict[int, tuple[object, object]] = {
        id(before): (before, after)
        for before, after in (
            (time, clock),
            (time.time, stage.time),
            (time.monotonic, stage.monotonic),
            (utc_now, stage.now),
            (secrets, SimpleNamespace(randbits=stage.bits, randbelow=lambda most: stage.random().randrange(most))),
            (secrets.randbelow, lambda most: stage.random().randrange(most)),
            (uuid, SimpleNamespace(**vars(uuid) | {"uuid4": lambda: uuid.UUID(int=stage.bits(128), version=4)})),
            (Random, stage.random),
            (ThreadPoolExecutor, _Inline),
            (complete, stage.complete),
            (PROVIDERS, {"sim": PROVIDERS["sim"]}),
        )
    }
    for before, after in replacements.values():
        rebind(patches, before, after)


def _bare(patches: Patches) -> None:
    """Lets a schedule do without the sweeper's last resort, which would hide that something was lost."""
    from cupel_core.sweeping import recovery

    tell, redispatch, revive = recovery._tell_full, recovery._redispatch_if_silent, recovery._revive_finish

    def is_bare() -> bool:
        return stage.cloud is not None and stage.cloud.is_bare

    def revive_what_began(run: Any, now: datetime) -> Any:
        assert stage.cloud is not None
        began = f"{run.id}-{run.epoch}" in stage.cloud.machines.executions
        return revive(run, now) if began or not is_bare() else []

    patches.set(recovery, "_revive_finish", revive_what_began)
    patches.set(recovery, "_tell_full", lambda *args: 0 if is_bare() else tell(*args))
    patches.set(recovery, "_redispatch_if_silent", lambda *args: [] if is_bare() else redispatch(*args))


def _shrink(patches: Patches) -> None:
    for module in product():
        for name, size in (("FANOUT", FANOUT), ("WINDOW_LEAVES", 2), ("REST_LEAVES", 1), ("SMALLEST", 2)):
            if isinstance(vars(module).get(name), int):
                patches.set(module, name, size)
