from dataclasses import replace

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Run, RunStatus
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.runs.probing.run_cache import RunCache
from tests.started_runs import NOW

REF = RunRef("ws_a", "run_1")
PAUSED = Run(
    "ws_a",
    "run_1",
    "def_1",
    1,
    Plan(plain_targets("sim/steady"), (1,)),
    100,
    1,
    "key",
    NOW,
    NOW,
    "rating",
    1,
    1,
    status=RunStatus.PAUSED,
    fencing_token=2,
)


class ScriptedReads:
    """Returns one run after the other."""

    def __init__(self, *runs: Run) -> None:
        self.left = list(runs)

    async def read(self, _: RunRef) -> Run | None:
        return self.left.pop(0)


async def test_a_run_is_read_again_for_a_newer_fencing_token() -> None:
    reads = ScriptedReads(PAUSED, replace(PAUSED, status=RunStatus.RUNNING, fencing_token=3))
    cache = RunCache(reads.read, clock=lambda: 0.0)
    assert await cache.get_open_run(REF, 1) is None
    assert await cache.get_open_run(REF, 3) is not None


async def test_a_run_is_not_read_again_for_an_older_fencing_token() -> None:
    reads = ScriptedReads(PAUSED)
    cache = RunCache(reads.read, clock=lambda: 0.0)
    assert [await cache.get_open_run(REF, 1) for _ in range(2)] == [None, None]


async def test_a_read_that_took_too_long_is_repeated() -> None:
    now, left = [0.0], [(6.0, replace(PAUSED, status=RunStatus.RUNNING)), (0.1, PAUSED)]

    async def read(_: RunRef) -> Run | None:
        seconds, run = left.pop(0)
        now[0] += seconds
        return run

    assert await RunCache(read, clock=lambda: now[0]).get_open_run(REF, 2) is None
