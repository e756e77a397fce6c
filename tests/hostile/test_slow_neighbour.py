"""A slow agent takes nothing from other workspaces, whatever its owner starts. The load waits; it does not compute."""

import pytest

from cupel_core.store.settings import Settings, settings
from tests.hostile.slow_neighbour import CARRIED, NEIGHBOUR, PROBES, SLOW, WORKERS, Load, run_beside

LOADS = {
    "three wide runs": Load(),
    "thirty runs": Load(runs=30, probes=1_000),
    "ten connectors": Load(runs=1, connectors=10),
    "the default limit": Load(parallel=50),
    "a limit of one call": Load(parallel=4),
}


@pytest.fixture(autouse=True)
def _private_agents(cloud: Settings, finish_starts: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOW_PRIVATE_ENDPOINTS", "true")
    settings.cache_clear()


@pytest.mark.parametrize("load", LOADS)
async def test_a_run_ends_before_its_neighbours_agent_answers_a_single_call(load: str) -> None:
    result = await run_beside(LOADS[load])
    assert (result.completed, result.answered) == (PROBES, 0)
    assert result.calls[NEIGHBOUR] == PROBES
    assert result.calls[SLOW] <= WORKERS * CARRIED * 4 // 5
