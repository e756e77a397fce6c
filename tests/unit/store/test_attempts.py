"""Errors of retried probes, read back by index."""

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.store import attempts
from cupel_core.store.settings import Settings
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW

REF = RunRef("ws_a", "run_a")
RETRIED = (0, 5, 999, 1_000, 1_500, 2_000)


@pytest.fixture
def retried(cloud: Settings) -> None:
    """Probes of three blocks whose errors were copied before their retry."""
    run = Run(
        workspace=REF.workspace,
        id=REF.run_id,
        definition_id="def_a",
        definition_version=1,
        plan=Plan(plain_targets("sim/steady"), (2_001,)),
        sample_percentage=100,
        sample_seed=1,
        snapshot_key="",
        created_at=NOW,
        updated_at=NOW,
        definition_name="rating",
        scenario_count=1,
        scenario_total=1,
    )
    store_outcomes(run, 1, [error(index) for index in RETRIED])
    attempts.record(REF, RETRIED)


def error(index: int) -> ProbeError:
    return ProbeError(index, f"scn_{index}", "sim/steady", ProbeErrorCode.AUTH, f"error {index}", 1, NOW)


@pytest.mark.usefixtures("retried")
@pytest.mark.parametrize("indexes", [RETRIED, RETRIED[::-1], (1_500, 0, 2_000, 999, 5, 1_000)])
def test_attempts_are_listed_for_indexes_in_any_order(indexes: tuple[int, ...]) -> None:
    assert attempts.list_attempts(REF, indexes) == {index: [error(index)] for index in RETRIED}


@pytest.mark.usefixtures("retried")
def test_attempts_of_other_probes_are_left_out() -> None:
    assert attempts.list_attempts(REF, [1_000, 7, 0]) == {0: [error(0)], 1_000: [error(1_000)]}


@pytest.mark.usefixtures("retried")
def test_no_indexes_have_no_attempts() -> None:
    assert attempts.list_attempts(REF, []) == {}
