"""`cupel compare` on runs of the sample definition: a model is not found to differ from itself."""

import json
from dataclasses import dataclass, replace

import pytest

import cupel as library
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import ProbeError, Summary, Transcript
from tests.answered_runs import AnsweredRun
from tests.conftest import ROOT
from tests.unit.cupel.fake_api import Cupel
from tests.unit.cupel.test_compare import cupel as cupel

SAMPLE = ROOT / "samples" / "value-dilemma.yaml"
NO_DIFFERENCE = {"EQUIVALENT", "INCONCLUSIVE"}
REPEATS = 3


@dataclass
class DecidedRun(AnsweredRun):
    """With the decisions of an evaluation, by probe index."""

    decisions: tuple[Summary | None, ...] = ()

    def outcome(self, run: Run, index: int) -> Transcript | ProbeError:
        answered = super().outcome(run, index)
        assert isinstance(answered, Transcript)
        return replace(answered, summary=self.decisions[index])


def stored_run(model: str, seed: int, repeats: int = 1) -> Run:
    """A run on the API with the decisions that the model makes in this process."""
    evaluation = library.evaluate(SAMPLE, model, seed=seed, repeats=repeats)
    results = sorted(evaluation.results, key=lambda result: result.probe.index)
    scenarios = {result.probe.scenario.id: replace(result.probe.scenario, id="") for result in results}
    return DecidedRun(
        scenarios=tuple(scenarios.values()),
        models=("sim/steady",),
        repeats=repeats,
        content=Content(decision=evaluation.content.decision),
        workspace="acme",
        definition_id="def_dilemma",
        scoring=lambda _: None,
        decisions=tuple(result.transcript.summary if result.transcript else None for result in results),
    ).completed()


@pytest.mark.parametrize(("seed", "repeats"), [(1, 1), (3, REPEATS)])
def test_steady_is_not_found_to_differ_from_itself(cupel: Cupel, seed: int, repeats: int) -> None:
    """With other random numbers, so that its answers differ."""
    first, second = (stored_run("sim/steady", each, repeats) for each in (seed, seed + 1))
    compared = cupel("compare", first.id, second.id, "--fail-if", "lower", "--fail-if", "different", "--json")
    assert compared.exit_code == 0
    (row,) = json.loads(compared.stdout)["figures"]["rows"]
    assert row["verdict"] in NO_DIFFERENCE
    assert (row["scenarios"], row["test"]) == (36, "PAIRED_T")
    assert row["difference"] != 0
    assert row["interval"][0] < 0 < row["interval"][1]
    printed = cupel("compare", first.id, second.id).stdout
    assert row["verdict"] in printed
    assert not any(each in printed for each in ("HIGHER", "LOWER"))


def test_steady_is_found_to_differ_from_contrarian(cupel: Cupel) -> None:
    first, second = stored_run("sim/steady", 1), stored_run("sim/contrarian", 1)
    assert cupel("compare", first.id, second.id, "--fail-if", "different").exit_code == 1
