from cupel_core.contract.run_requests import CreateRun, EvalRunFields, RunConfigInput
from cupel_core.contract.runs import RunConfigResponse
from cupel_core.contract.schedules import ScheduledEvalRunResponse, ScheduledRunConfigResponse
from cupel_core.domain.runs.settings import RunConfig, RunSettings, names_of, values_of
from cupel_core.domain.runs.spec import RerunSpec, RunSpec
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.grader_config import GraderConfig

NAMES_OF_LABELS = {"name", "tags", "metadata"}
MADE_OF_OTHERS = {"labels", "grader_config", "disabled_graders"}
"""These settings are made of several fields of a request."""


def test_every_setting_is_a_field_of_each_request_of_a_start() -> None:
    for request in (CreateRun, EvalRunFields):
        own = {*request.model_fields, *RunConfigInput.model_fields}
        missing = {*names_of(RunSettings)} - MADE_OF_OTHERS - own
        assert missing <= {"report"}, request
        assert own >= NAMES_OF_LABELS, request


def test_every_setting_is_shown_of_a_schedule() -> None:
    shown = {*ScheduledEvalRunResponse.model_fields, *ScheduledRunConfigResponse.model_fields}
    assert {*names_of(RunSettings)} - MADE_OF_OTHERS <= shown


def test_what_a_run_keeps_of_its_settings_is_shown_with_it() -> None:
    of_the_run_itself = {"priority", "experiment_id", "report", "grader_config"}
    assert {*names_of(RunConfig)} - of_the_run_itself <= RunConfigResponse.model_fields.keys()


def test_the_values_of_a_specification_are_those_of_its_settings() -> None:
    settings = RunSettings(repeats=3, max_turns=4, stagger_ms=(200, 400))
    assert RunSettings(**values_of(RunSettings, settings)) == settings
    assert settings.pace.stagger_ms == (200, 400)
    assert "repeats" not in values_of(RunConfig, settings)


def test_a_judge_that_is_set_is_no_longer_switched_off() -> None:
    off = RunSettings(grader_config=GraderConfig("a/judge", "a/user")).with_judge(None)
    assert (off.grader_config.judge_model, off.disabled_graders) == (None, ("judge_model",))
    on = off.with_judge("b/judge")
    assert (on.grader_config, on.disabled_graders) == (GraderConfig("b/judge", "a/user"), ())


def test_a_grader_that_is_switched_off_takes_no_default() -> None:
    defaults = GraderConfig("w/judge", "w/user", summarizer_model="w/writer")
    settings = RunSettings(grader_config=GraderConfig(persona_model="a/user"), disabled_graders=("summarizer_model",))
    assert settings.graders(defaults) == GraderConfig("w/judge", "a/user")


def test_a_rerun_replaces_only_the_settings_that_its_request_names() -> None:
    run = RunSpec(
        "def_1",
        (Target("a/model"),),
        repeats=3,
        max_turns=4,
        params={"topP": 0.9, "seed": 7},
        grader_config=GraderConfig(
            "a/judge", evaluator_url="https://grader.example.com", evaluator_headers_version="v1"
        ),
    )
    requested = RerunSpec(
        "run_1",
        replaced=("evaluator_url", "max_turns"),
        repeats=9,
        params={"topP": 0.5},
        grader_config=GraderConfig("b/judge"),
    )
    rerun = requested.apply_to(run)
    assert (rerun.repeats, rerun.max_turns, rerun.targets) == (3, None, run.targets)
    assert rerun.params == {"topP": 0.5, "seed": 7}
    assert rerun.grader_config == GraderConfig("a/judge")
