"""A hostile workspace repeats and stops nothing of another in the same worker. `bench.hostile` measures the time."""

from collections.abc import Iterator

import pytest

from cupel_core.domain.runs.run import Progress
from cupel_core.sandbox import pool
from cupel_core.store.settings import Settings, settings
from tests.hostile.attacks import ATTACKS
from tests.hostile.shared_worker import ORDINARY, OTHER, PROBES, run_beside

HOSTILE_PROBES = 20


@pytest.fixture(autouse=True)
def _private_agents(cloud: Settings, finish_starts: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ALLOW_PRIVATE_ENDPOINTS", "true")
    settings.cache_clear()
    yield
    pool.close()
    pool.reset_budgets()


@pytest.mark.parametrize("attack", ATTACKS)
async def test_an_attack_repeats_nothing_and_every_probe_ends(attack: str) -> None:
    attacked = await run_beside([ATTACKS[attack]], HOSTILE_PROBES)
    assert attacked.calls == {ORDINARY: PROBES, OTHER: HOSTILE_PROBES}
    assert attacked.ordinary == Progress(PROBES, completed=PROBES)
    assert attacked.is_other_over
    assert attacked.left == 0
