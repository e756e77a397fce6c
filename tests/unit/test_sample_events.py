"""Each sample in events/ is run through its function, as `sam local invoke` would; the API's are in unit/api."""

import importlib
import json
from typing import Any

import pytest

from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Action, Run, RunStatus
from cupel_core.domain.scoring.rescores import Rescoring, RescoringConfig
from cupel_core.messages import RunRef
from cupel_core.settings import Settings
from cupel_core.store import barrier, rescores, runs
from cupel_core.store.barrier import Tree
from tests.conftest import ROOT
from tests.lambda_context import Context
from tests.started_runs import NOW, Given, ref_of


def invoke(name: str) -> Any:
    event = json.loads((ROOT / "events" / f"{name}.json").read_text())
    return importlib.import_module(f"{name.partition('-')[0]}.app").handler(event, Context())


@pytest.fixture
def sample_run(cloud: Settings, finishing: list[tuple[str, int]]) -> Run:
    """The run that the samples name."""
    return Given(scenario_count=3, workspace="default", run_id="run_00000000000000000000000000").start()


def settled(run: Run) -> Run:
    runs.move(ref_of(run), Action.START, run.created_at)
    barrier.record(Tree.of(run), Node(0, 0), dict.fromkeys(range(3), True))
    return run


def test_every_function_has_a_sample() -> None:
    functions = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}
    assert {path.stem.partition("-")[0] for path in (ROOT / "events").glob("*.json")} == functions


@pytest.mark.parametrize("name", ["dispatch-run", "probe-slice"])
def test_a_message_is_carried_out(name: str, sample_run: Run) -> None:
    assert invoke(name) == {"batchItemFailures": []}


def test_a_slice_is_probed(sample_run: Run, finishing: list[tuple[str, int]]) -> None:
    invoke("probe-slice")
    assert finishing == [(sample_run.id, 1)]


@pytest.mark.parametrize("name", ["dispatch-poison", "probe-poison", "generate-order"])
def test_a_message_that_makes_no_sense_or_names_nothing_comes_again(name: str, sample_run: Run) -> None:
    assert len(invoke(name)["batchItemFailures"]) == 1


def test_the_phases_end_a_run(sample_run: Run) -> None:
    settled(sample_run)
    assert invoke("finish-settle") == {"status": "SUMMARIZING", "slices": []}
    assert invoke("finish-complete") == {"status": "COMPLETED"}


def test_a_phase_that_gave_up_fails_the_run_by_its_name(sample_run: Run) -> None:
    settled(sample_run)
    invoke("finish-settle")
    assert invoke("finish-fail") == {"status": "FAILED"}
    failure = runs.get(ref_of(sample_run)).failure
    assert failure is not None
    assert (failure.where, failure.why) == ("summarize", "States.Timeout: the judge took too long")


def test_summarizing_a_run_that_is_not_summarizing_does_nothing(sample_run: Run) -> None:
    assert invoke("finish-summarize") == {"firstLeaf": 0}
    assert runs.get(ref_of(sample_run)).status is RunStatus.PENDING


@pytest.fixture
def sample_scoring(sample_run: Run) -> Rescoring:
    """The scoring that the samples name."""
    scoring_id = "scr_00000000000000000000000000"
    scoring = Rescoring(sample_run.workspace, sample_run.id, scoring_id, RescoringConfig(), 3, 3, 1, NOW)
    rescores.create(scoring)
    return scoring


def test_the_phases_carry_out_a_scoring(sample_scoring: Rescoring) -> None:
    assert invoke("score-begin") == {"status": "RUNNING", "slices": [{"firstLeaf": 0, "leaves": 1}]}
    assert invoke("score-slice") == {"firstLeaf": 0}
    assert invoke("score-complete") == {"status": "COMPLETED"}


def test_a_phase_that_gave_up_fails_the_scoring_by_its_name(sample_scoring: Rescoring) -> None:
    invoke("score-begin")
    assert invoke("score-fail") == {"status": "FAILED"}
    failure = rescores.get(ref_of_scoring(sample_scoring), sample_scoring.id).failure
    assert failure is not None
    assert (failure.where, failure.why) == ("score", "States.Timeout: the judge took too long")


def ref_of_scoring(scoring: Rescoring) -> RunRef:
    return RunRef(scoring.workspace, scoring.run_id)


def test_a_minute_without_leftovers_sweeps_nothing(cloud: Settings) -> None:
    assert set(invoke("sweep-minute").values()) == {0}
