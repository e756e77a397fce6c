"""Runs the product on a schedule: its clock, randomness, threads, cloud and models are those of the current schedule.

Modules of the product bind what they import to names of their own, so each binding is replaced, and restored after.
"""

import logging
import os
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import is_dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from importlib import import_module
from random import Random
from types import FunctionType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

from botocore.client import BaseClient

from tests.simulation.scheduler import START

if TYPE_CHECKING:
    from tests.simulation.invocations import FunctionCloud

CALL_USD = 0.000123
FANOUT = 3
"""Small, so that the tree of a run of ten probes has three levels."""

FIRST_DAY, DAY_SECONDS = date(2026, 1, 1), 120.0
LEAVES_PER_FILE = 2
"""Small, so that runs are counted in several tasks."""

_MODULES = (
    "cupel_core.analysis.comparisons",
    "cupel_core.analysis.jobs",
    "cupel_core.analysis.workflow",
    "cupel_core.chats.exchanges",
    "cupel_core.chats.worker",
    "cupel_core.runs.start",
    "cupel_core.runs.control",
    "cupel_core.runs.continuation",
    "cupel_core.runs.budgets",
    "cupel_core.runs.dispatch",
    "cupel_core.definitions.catalog",
    "cupel_core.runs.probing.worker",
    "cupel_core.runs.finishing.phases",
    "cupel_core.scoring.pattern_search",
    "cupel_core.workspace.sweeping.erasure",
    "cupel_core.workspace.sweeping.job_recovery",
    "cupel_core.workspace.sweeping.sweep",
    "cupel_core.workspace.sweeping.turn_recovery",
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


class Simulation:
    """The current schedule, seen as clock, random source, AWS and models."""

    cloud: "FunctionCloud | None" = None

    def time(self) -> float:
        if self.cloud is None:
            return START
        current = self.cloud.scheduler.current
        return START + self.cloud.scheduler.now + (current.invocation.skew if current else 0.0)

    def monotonic(self) -> float:
        return self.cloud.scheduler.now if self.cloud else 0.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time(), UTC)

    def bits(self, count: int) -> int:
        return self.cloud.scheduler.rng.getrandbits(count) if self.cloud else 0

    def random(self, *seed: Any) -> Random:
        return Random(*seed) if seed else Random(self.bits(64))

    def call(self, client: BaseClient, operation: str, request: Any) -> Any:
        assert self.cloud is not None
        return self.cloud.network.call(client, operation, request)

    def has_workspace_budget(self) -> bool:
        return self.cloud is not None and self.cloud.has_workspace_budget

    async def complete(self, *call: Any) -> Any:
        assert self.cloud is not None
        return await self.cloud.models.complete(*call)

    async def complete_streaming(self, *call: Any) -> Any:
        assert self.cloud is not None
        return await self.cloud.models.complete_streaming(*call)

    def chat_expiry(self, now: datetime, *, playground: bool = False) -> datetime | None:
        """When a chat expires that is changed now; no simulated one is of the playground."""
        assert not playground
        retention = self.cloud.chat_retention if self.cloud else None
        return now + retention if retention is not None else None

    async def execute_tool(self, *call: Any, **options: Any) -> Any:
        assert self.cloud is not None
        assert self.cloud.tools is not None
        return await self.cloud.tools.execute(*call, **options)


simulation = Simulation()


class _InlineExecutor:
    """A ThreadPoolExecutor without threads: the code that uses one does not depend on the order of its tasks."""

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
    """Changes to attributes, undone in reverse order."""

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
def install() -> Iterator[None]:
    """Make the product run on `simulation.cloud`."""
    patches, environment, disabled = Patches(), dict(os.environ), logging.root.manager.disable
    os.environ.update(_ENVIRONMENT)
    logging.disable()  # Warnings of faults would fill the output.
    for name in _MODULES:
        import_module(name)
    from cupel_core.providers.model_metadata import metadata_of

    metadata_of("sim/steady")  # Reads a file that knows of all providers.
    _generate_data_classes()
    _replace(patches)
    _shrink_limits(patches)
    _shorten_days(patches)
    _limit_sweeper(patches)
    patches.set(
        BaseClient, "_make_api_call", lambda client, operation, request: simulation.call(client, operation, request)
    )
    clear_caches()
    try:
        yield
    finally:
        patches.undo()
        logging.disable(disabled)
        simulation.cloud = None
        os.environ.clear()
        os.environ.update(environment)
        clear_caches()


def clear_caches() -> None:
    """Clear all caches of a process of the product."""
    from cupel_core.accounts import keys as accounts
    from cupel_core.sandbox import pool
    from cupel_core.store import scenarios, snapshots
    from cupel_core.store.settings import settings

    settings.cache_clear()
    pool._threads.cache_clear()
    accounts.clear_key_cache()
    snapshots.get.cache_clear()
    scenarios.read_page.cache_clear()


def product_modules() -> list[ModuleType]:
    return [module for name, module in list(sys.modules.items()) if name.startswith("cupel_core.")]


def rebind(patches: Patches, before: object, after: object) -> None:
    """Replace `before` by `after` in every module and every default of an argument."""
    for module in product_modules():
        for name, value in list(vars(module).items()):
            if value is before:
                patches.set(module, name, after)
        for function in _functions(module):
            if any(value is before for value in function.__defaults__ or ()):
                defaults = tuple(after if value is before else value for value in function.__defaults__ or ())
                patches.set(function, "__defaults__", defaults)
            if any(value is before for value in (function.__kwdefaults__ or {}).values()):
                kwdefaults = {
                    n: after if value is before else value for n, value in (function.__kwdefaults__ or {}).items()
                }
                patches.set(function, "__kwdefaults__", kwdefaults)


def _generate_data_classes() -> None:
    """Their `__init__` has defaults that are replaced, such as clocks."""
    for name, module in list(sys.modules.items()):
        if name.startswith("cupel_core."):
            for value in list(vars(module).values()):
                is_dataclass(value)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for value in vars(module).values():
        members = vars(value).values() if isinstance(value, type) and value.__module__ == module.__name__ else [value]
        yield from (
            member for member in members if isinstance(member, FunctionType) and member.__module__ == module.__name__
        )


def _replace(patches: Patches) -> None:
    import secrets
    import time
    from concurrent.futures import ThreadPoolExecutor

    from cupel_core.base.clock import utc_now
    from cupel_core.budgets.budget_metrics import publish_used
    from cupel_core.providers import PROVIDERS, QUEUES
    from cupel_core.providers.completion import complete
    from cupel_core.providers.connectors.tools import execute
    from cupel_core.providers.prices import cost_usd
    from cupel_core.providers.streaming import complete_streaming
    from cupel_core.store.chats import expiry
    from tests.simulation.bills import simulated_cost

    clock = SimpleNamespace(
        time=simulation.time,
        time_ns=lambda: int(simulation.time() * 1e9),
        monotonic=simulation.monotonic,
        perf_counter=simulation.monotonic,
        process_time=lambda: 0.0,
        sleep=lambda _: None,
    )
    replacements: dict[int, tuple[object, object]] = {
        id(before): (before, after)
        for before, after in (
            (time, clock),
            (time.time, simulation.time),
            (time.monotonic, simulation.monotonic),
            (utc_now, simulation.now),
            (
                secrets,
                SimpleNamespace(randbits=simulation.bits, randbelow=lambda stop: simulation.random().randrange(stop)),
            ),
            (secrets.randbelow, lambda stop: simulation.random().randrange(stop)),
            (uuid, SimpleNamespace(**vars(uuid) | {"uuid4": lambda: uuid.UUID(int=simulation.bits(128), version=4)})),
            (Random, simulation.random),
            (ThreadPoolExecutor, _InlineExecutor),
            (complete, simulation.complete),
            (complete_streaming, simulation.complete_streaming),
            (expiry, simulation.chat_expiry),
            (cost_usd, simulated_cost),
            (publish_used, lambda *_: None),  # Prints.
            (execute, simulation.execute_tool),
            (PROVIDERS, {name: PROVIDERS[name] for name in ("sim", "connector")}),
            (QUEUES, ("sim",)),
        )
    }
    for before, after in replacements.values():
        rebind(patches, before, after)


def _limit_sweeper(patches: Patches) -> None:
    """Switch off the sweeper's search for lost work where a schedule asks for it: it would hide that work was lost."""
    from cupel_core.workspace.sweeping import run_recovery

    propagate, redispatch = run_recovery._propagate_full_leaves, run_recovery._redispatch_if_silent
    ensure_finishing = run_recovery._ensure_finishing

    def is_limited() -> bool:
        return simulation.cloud is not None and simulation.cloud.has_limited_sweeper

    def ensure_finishing_if_started(run: Any, now: datetime) -> Any:
        assert simulation.cloud is not None
        was_started = f"{run.id}-{run.fencing_token}" in simulation.cloud.machines.executions
        return ensure_finishing(run, now) if was_started or not is_limited() else []

    patches.set(run_recovery, "_ensure_finishing", ensure_finishing_if_started)
    patches.set(run_recovery, "_propagate_full_leaves", lambda *args: 0 if is_limited() else propagate(*args))
    patches.set(run_recovery, "_redispatch_if_silent", lambda *args: [] if is_limited() else redispatch(*args))


def _shorten_days(patches: Patches) -> None:
    """Days of two minutes. A workspace without budgets costs no request, so that its schedules stay as they are."""
    from cupel_core.domain.budgets.periods import PeriodLimits
    from cupel_core.store import evaluation_settings

    get_budgets = evaluation_settings.get_budgets

    def get(workspace: str) -> PeriodLimits:
        return get_budgets(workspace) if simulation.has_workspace_budget() else PeriodLimits()

    rebind(patches, get_budgets, get)
    patches.set(PeriodLimits, "day_at", lambda _, seconds: FIRST_DAY + timedelta((seconds - START) // DAY_SECONDS))


def _shrink_limits(patches: Patches) -> None:
    limits = {
        "FANOUT": FANOUT,
        "LEAVES_PER_FILE": LEAVES_PER_FILE,
        "WINDOW_LEAVES": 2,
        "FINAL_WINDOW_EXTRA_LEAVES": 1,
        "MIN_SLICE_SIZE": 2,
        "POINTERS_PER_PAGE": 2,
    }
    for name, size in limits.items():
        modules = [module for module in product_modules() if isinstance(vars(module).get(name), int)]
        if not modules:
            raise LookupError(f"no module of the product has a constant {name}")
        for module in modules:
            patches.set(module, name, size)
