from dataclasses import replace

from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Run, RunStatus
from cupel_core.messages import RunRef
from cupel_core.probing.run_cache import Watch
from tests.started_runs import NOW

REF = RunRef("ws_a", "run_1")
PAUSED = Run(
    "ws_a", "run_1", "def_1", 1, Plan(("sim/steady",), (1,)), 100, 1, "key", NOW, NOW, status=RunStatus.PAUSED, epoch=2
)


class Sights:
    """Answers one run after the other."""

    def __init__(self, *runs: Run) -> None:
        self.left = list(runs)

    async def read(self, _: RunRef) -> Run | None:
        return self.left.pop(0)


async def test_a_run_is_looked_at_again_for_a_message_of_a_later_epoch() -> None:
    sights = Sights(PAUSED, replace(PAUSED, status=RunStatus.RUNNING, epoch=3))
    watch = Watch(sights.read, clock=lambda: 0.0)
    assert await watch.open_run(REF, 1) is None
    assert await watch.open_run(REF, 3) is not None


async def test_a_run_is_not_looked_at_again_for_a_message_of_an_earlier_epoch() -> None:
    sights = Sights(PAUSED)
    watch = Watch(sights.read, clock=lambda: 0.0)
    assert [await watch.open_run(REF, 1) for _ in range(2)] == [None, None]


async def test_a_sight_that_was_long_on_its_way_is_not_acted_on() -> None:
    now, left = [0.0], [(6.0, replace(PAUSED, status=RunStatus.RUNNING)), (0.1, PAUSED)]

    async def read(_: RunRef) -> Run | None:
        seconds, run = left.pop(0)
        now[0] += seconds
        return run

    assert await Watch(read, clock=lambda: now[0]).open_run(REF, 2) is None
