"""Requests for runs set every setting of a run, whatever starts it."""

from dataclasses import fields
from typing import Any

import pytest

from cupel_core.contract.run_requests import CreateEvalRun, CreatePlaygroundRun, CreateRun, RerunRun
from cupel_core.domain.runs.settings import RunSettings, values_of
from cupel_core.domain.runs.spec import EvalRunSpec, RunSpec
from cupel_core.domain.runs.targets import Target
from cupel_core.runs.spec import scheduled_from_text, spec_to_text

REQUEST: dict[str, Any] = {
    "priority": "HIGH",
    "repeats": 3,
    "experimentId": "exp_1",
    "name": "all",
    "tags": ["a", "b"],
    "metadata": {"commit": "6f1"},
    "maxBudgetUsd": 12.5,
    "allowUnpriced": True,
    "confirmedUsd": 20,
    "config": {
        "params": {"temperature": 0.25, "maxOutputTokens": 77},
        "maxAttempts": 2,
        "retryDelaySeconds": 1.5,
        "callTimeoutSeconds": 9,
        "profileId": "prof_1",
        "profileVersion": 4,
        "maxTurns": 4,
        "maxConcurrency": 5,
        "staggerMs": [10, 20],
        "judgeModel": "sim/bold",
        "personaModel": "sim/contrarian",
        "embeddingModel": "sim/steady",
        "evaluatorUrl": "https://grader.example.com/eval",
        "summarizerModel": "sim/echo",
        "judgeMaxOutputTokens": 321,
    },
}
REPORTED = {"report": True, **REQUEST}
_NOT_GIVEN = {"disabled_graders"}
"""It has the graders that a request switches off; this one switches on all of them."""


def settings_of(source: RunSettings) -> dict[str, Any]:
    return values_of(RunSettings, source)


@pytest.fixture(scope="module")
def started() -> RunSpec:
    return CreateRun.model_validate({"definitionId": "def_1", "models": ["sim/steady"], **REPORTED}).spec()


def test_the_request_of_a_run_sets_everything(started: RunSpec) -> None:
    found, defaults = settings_of(started), RunSettings()
    assert {each.name for each in fields(RunSettings) if found[each.name] == getattr(defaults, each.name)} == _NOT_GIVEN
    assert {name for name, value in vars(started.grader_config).items() if value is None} == {
        "evaluator_headers_version"
    }


def test_other_requests_set_the_same(started: RunSpec) -> None:
    expected = settings_of(started)
    assert settings_of(CreateEvalRun.model_validate(REPORTED).settings()) == expected
    playground = {"scenarioId": "scn_1", "model": "sim/steady", **REQUEST}
    assert settings_of(CreatePlaygroundRun.model_validate(playground).spec()) == {**expected, "report": False}


def test_a_rerun_replaces_everything_that_is_given(started: RunSpec) -> None:
    run = RunSpec(definition_id="def_1", targets=(Target("sim/steady"),))
    assert settings_of(RerunRun.model_validate(REPORTED).spec("run_1").apply_to(run)) == settings_of(started)


def test_a_rerun_without_changes_has_the_settings_of_the_run(started: RunSpec) -> None:
    kept = settings_of(RerunRun.model_validate({}).spec("run_1").apply_to(started))
    assert {name for name, value in settings_of(started).items() if kept[name] != value} == {"labels"}


def test_a_schedule_stores_everything(started: RunSpec) -> None:
    for requested in (started, EvalRunSpec.of("eval_1", started)):
        assert settings_of(scheduled_from_text(spec_to_text(requested))) == settings_of(started)
