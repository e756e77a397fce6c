"""Each sample event in events/ is handled by its function, as with `sam local invoke`; for the API see unit/api."""

import importlib
import json
from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.run import Action, Run, RunStatus
from cupel_core.domain.scoring.rescores import Rescore, RescoreConfig
from cupel_core.store import analyses, blobs, rescores, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.conftest import ROOT
from tests.lambda_context import Context
from tests.recorded_outcomes import count_outcomes
from tests.started_runs import NOW, RunSetup, ref_of


def invoke(name: str) -> Any:
    event = json.loads((ROOT / "events" / f"{name}.json").read_text())
    return importlib.import_module(f"{name.partition('-')[0]}.app").handler(event, Context())


@pytest.fixture
def sample_run(cloud: Settings, finish_starts: list[tuple[str, int]]) -> Run:
    """The run with the id used in the samples."""
    return RunSetup(scenario_count=3, workspace="default", run_id="run_00000000000000000000000000").start()


def with_full_barrier(run: Run) -> Run:
    runs.transition(ref_of(run), Action.START, run.created_at)
    count_outcomes(Tree.for_run(run), Node(0, 0), dict.fromkeys(range(3), True))
    return run


def test_every_function_has_a_sample() -> None:
    functions = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}
    assert {path.stem.partition("-")[0] for path in (ROOT / "events").glob("*.json")} == functions


@pytest.mark.parametrize("name", ["dispatch-run", "probe-slice", "notify-run", "notify-probes"])
def test_a_message_is_processed(name: str, sample_run: Run) -> None:
    assert invoke(name) == {"batchItemFailures": []}


def test_a_probed_slice_starts_the_finishing_execution(sample_run: Run, finish_starts: list[tuple[str, int]]) -> None:
    invoke("probe-slice")
    assert finish_starts == [(sample_run.id, 1)]


@pytest.mark.parametrize("name", ["dispatch-poison", "probe-poison", "generate-request", "notify-poison"])
def test_a_malformed_or_unresolvable_message_is_redelivered(name: str, sample_run: Run) -> None:
    assert len(invoke(name)["batchItemFailures"]) == 1


def test_the_phases_complete_a_run(sample_run: Run) -> None:
    with_full_barrier(sample_run)
    assert invoke("finish-settle") == {"status": "SUMMARIZING", "slices": [], "maxRounds": 2_223, "files": []}
    assert invoke("finish-analyze") == {"analysis": "COMPLETED"}
    assert invoke("finish-complete") == {"status": "COMPLETED"}


def test_a_slice_of_a_large_run_is_counted(sample_run: Run) -> None:
    with_full_barrier(sample_run)
    invoke("finish-settle")
    assert invoke("finish-tabulate") == {"firstLeaf": 0}
    assert len(list(blobs.list_keys("analyses/"))) == 1


def test_a_failed_analysis_is_recorded_and_the_run_completes(sample_run: Run) -> None:
    with_full_barrier(sample_run)
    invoke("finish-settle")
    assert invoke("finish-skip-analysis") == {"analysis": "FAILED"}
    assert invoke("finish-complete") == {"status": "COMPLETED"}
    analysis = analyses.find_newest(ref_of(sample_run), None)
    assert analysis is not None
    assert analysis.failure is not None
    assert (analysis.status, analysis.failure.why) == ("FAILED", "States.Timeout: the analysis took too long")


def test_a_failed_phase_is_named_in_the_failure_of_the_run(sample_run: Run) -> None:
    with_full_barrier(sample_run)
    invoke("finish-settle")
    assert invoke("finish-fail") == {"status": "FAILED"}
    failure = runs.get(ref_of(sample_run)).failure
    assert failure is not None
    assert (failure.where, failure.why) == ("summarize", "States.Timeout: the judge took too long")


def test_summarizing_a_run_that_is_not_summarizing_does_nothing(sample_run: Run) -> None:
    assert invoke("finish-summarize") == {
        "firstLeaf": 0,
        "left": 0,
        "rounds": 1,
        "again": False,
        "waitSeconds": 0,
        "waited": 0,
    }
    assert runs.get(ref_of(sample_run)).status is RunStatus.PENDING


@pytest.fixture
def sample_rescore(sample_run: Run) -> Rescore:
    """The rescore with the id used in the samples."""
    rescore_id = "rsc_00000000000000000000000000"
    rescore = Rescore(sample_run.workspace, sample_run.id, rescore_id, RescoreConfig(), 3, 3, 1, NOW)
    rescores.create(rescore)
    return rescore


def test_the_phases_complete_a_rescore(sample_rescore: Rescore) -> None:
    slices = [{"firstLeaf": 0, "leaves": 1}]
    begun = {"status": "RUNNING", "slices": slices, "maxRounds": 2_222, "comparisons": []}
    assert invoke("score-begin") == begun
    assert invoke("score-slice") == {
        "firstLeaf": 0,
        "left": 0,
        "rounds": 1,
        "again": False,
        "waitSeconds": 0,
        "waited": 0,
    }
    assert invoke("score-compare") == {"compared": 0}
    assert invoke("score-complete") == {"status": "COMPLETED"}


def test_a_failed_phase_is_named_in_the_failure_of_the_rescore(sample_rescore: Rescore) -> None:
    invoke("score-begin")
    assert invoke("score-fail") == {"status": "FAILED"}
    failure = rescores.get(ref_of_rescore(sample_rescore), sample_rescore.id).failure
    assert failure is not None
    assert (failure.where, failure.why) == ("score", "States.Timeout: the judge took too long")


def ref_of_rescore(rescore: Rescore) -> RunRef:
    return RunRef(rescore.workspace, rescore.run_id)


def test_a_sweep_without_lost_work_does_nothing(cloud: Settings) -> None:
    assert set(invoke("sweep-minute").values()) == {0}
