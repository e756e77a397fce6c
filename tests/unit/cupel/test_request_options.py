"""Options of commands follow from the fields of requests."""

from typing import Annotated

import pytest
import typer
from pydantic import Field, create_model
from typer.testing import CliRunner

from cupel.commands.request_options import _OPTIONS, WITHOUT_OPTION, option_of, with_settings
from cupel.in_process.options import EvaluationOptions, checked_options, settings_of
from cupel.json_types import Json
from cupel.request_fields import RequestField, fields_of
from cupel_core.contract.run_requests import CreateRun, RunConfigInput
from cupel_core.domain.runs.labels import LabelChanges
from cupel_core.domain.runs.settings import RunSettings, names_of
from cupel_core.domain.scoring.grader_config import GraderConfig
from tests.unit.cupel.fake_api import Cupel, FakeApi
from tools import request_fields

SCALARS = {"integer", "number", "boolean", "string", "texts", "pair"}
REQUESTS = ("CreateRun", "RerunRun", "CreateEvalRun", "CreateScaleRun", "ExperimentFields", "UpdateRun")
FIRST = ["--models", "--sample", "--repeats", "--judge-model", "--budget", "--in-process", "--watch", "--fail-under"]


def bodies_of(fields: dict[str, RequestField], *options: str) -> Json:
    """The request that a command with options for these fields would send."""
    app, bodies = typer.Typer(), []

    @app.command()
    @with_settings("CreateRun", fields=fields)
    def start(name_of_run: str = "", *, settings: Json) -> None:
        bodies.append(settings)

    result = CliRunner().invoke(app, list(options), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return bodies[0]


def test_the_fields_are_those_of_the_contract() -> None:
    assert request_fields.FILE.read_text() == request_fields.render(), "python -m tools.request_fields --update"
    limits = request_fields.render_limits()
    assert request_fields.PAGE_FILE.read_text() == limits, "python -m tools.request_fields --update"


@pytest.mark.parametrize("model", REQUESTS)
def test_every_field_has_an_option_or_a_reason_for_having_none(model: str) -> None:
    without = {
        name
        for name, field in fields_of(model).items()
        if field.type not in SCALARS and option_of(model, name).read is None
    }
    assert without - set(WITHOUT_OPTION) == set()


def test_the_tables_name_only_fields_that_exist() -> None:
    names = {f"{model.__name__}.{each}" for model in request_fields.MODELS for each in fields_of(model.__name__)}
    last = {name.rpartition(".")[2] for name in names}
    assert {each for each in (*_OPTIONS, *WITHOUT_OPTION) if each not in names | last} == set()


def test_a_new_field_of_the_contract_is_an_option_without_further_code() -> None:
    flavour = Annotated[int | None, Field(strict=True, ge=1, le=9, description="How sweet the conversations are")]
    config = create_model("Config", __base__=RunConfigInput, sweetness_level=(flavour, None))
    model = create_model("Run", __base__=CreateRun, config=(config, config()), is_dry=(bool, False))
    fields = {name: RequestField(**field) for name, field in request_fields.describe(model).items()}
    body = bodies_of(fields, "--sweetness-level", "3", "--is-dry")
    assert (body["config"], body["isDry"]) == ({"sweetnessLevel": 3}, True)
    assert "isDry" not in bodies_of(fields)


def test_the_limits_of_the_contract_apply_to_options(cupel: Cupel) -> None:
    refused = cupel("run", "def_1", "--models", "sim/steady", "--repeats", "1001")
    assert (refused.exit_code, "'--repeats'" in refused.stderr, "1000" in refused.stderr) == (2, True, True)


def test_the_limits_of_the_contract_apply_in_process() -> None:
    assert checked_options({"repeats": 1_000, "seed": 2**53 - 1}) == {"repeats": 1_000, "seed": 2**53 - 1}


def test_every_setting_of_a_run_is_one_of_an_evaluation_unless_it_needs_a_stack() -> None:
    needs_a_stack = {"priority", "experiment_id", "stagger_ms", "report", "confirmed_usd"}
    made_of_others = {"grader_config", "disabled_graders", "labels", "max_budget_usd", "profile_id", "profile_version"}
    options = {name for name in names_of(RunSettings) if name in EvaluationOptions.__annotations__}
    assert {*names_of(RunSettings)} - needs_a_stack - made_of_others == options


def test_the_options_of_an_evaluation_become_the_settings_of_a_run() -> None:
    options: EvaluationOptions = {
        "repeats": 3,
        "max_turns": 4,
        "temperature": 0.5,
        "params": {"topP": 0.9},
        "judge_model": "a/judge",
        "judge_max_output_tokens": 300,
        "budget_usd": 2.5,
        "allow_unpriced": True,
        "name": "nightly",
        "tags": ["release"],
        "seed": 7,
    }
    assert settings_of(checked_options(options)) == RunSettings(
        repeats=3,
        max_turns=4,
        params={"temperature": 0.5, "topP": 0.9},
        grader_config=GraderConfig("a/judge", judge_max_output_tokens=300),
        max_budget_usd=2.5,
        allow_unpriced=True,
        labels=LabelChanges("nightly", ("release",)),
    )
    assert settings_of({}) == RunSettings()


@pytest.mark.parametrize(
    "command", [("rerun", "run_1"), ("evals", "run", "evl_1"), ("run", "def_1", "--models", "a/b")]
)
def test_settings_that_the_api_has_are_options_of_every_start(
    api: FakeApi, cupel: Cupel, command: tuple[str, ...]
) -> None:
    cupel(*command, "--call-timeout-seconds", "30", "--priority", "low", "--evaluator-url", "https://e.example")
    body = api.bodies("POST", {"rerun": "/runs/run_1/rerun", "evals": "/evals/evl_1/runs", "run": "/runs"}[command[0]])
    assert body[0]["priority"] == "LOW"
    assert body[0]["config"] == {"callTimeoutSeconds": 30, "evaluatorUrl": "https://e.example"}


def test_an_option_of_runs_on_a_stack_is_refused_in_process(cupel: Cupel) -> None:
    for command in ("run", "estimate"):
        refused = cupel(command, "x.yaml", "--models", "sim/steady", "--in-process", "--profile-version", "2")
        assert (refused.exit_code, "--profile-version: needs a stack" in refused.stderr) == (2, True)


def test_the_help_of_run_fits_two_screens_and_begins_with_what_is_used_most(
    cupel: Cupel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = cupel("run", "--help").stdout.splitlines()
    assert len(lines) <= 100
    options = [line.split()[1] for line in lines if line.startswith("│ --")]
    assert options[:10] == [*FIRST, "--junit", "--json"]
    titles = [line.split("─ ")[1].split(" ─")[0] for line in lines if line.startswith("╭─")]
    assert titles[2:] == ["Targets", "Sample", "Grading", "Limits and cost", "Output", "CI"]


@pytest.mark.parametrize(
    "command", [("run",), ("rerun",), ("estimate",), ("scale",), ("evals", "run"), ("schedules", "create")]
)
def test_no_option_of_a_start_is_in_no_panel(cupel: Cupel, command: tuple[str, ...]) -> None:
    """A new option belongs into a panel, unless it is among those that are used most."""
    lines = cupel(*command, "--help").stdout.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("╭─ Options"))
    end = next(index for index, line in enumerate(lines[start:], start) if line.startswith("╰"))
    assert sum(" --" in line.partition("  ")[0] for line in lines[start:end]) <= 14


def test_a_version_of_a_definition_needs_its_id(api: FakeApi, cupel: Cupel) -> None:
    options = ("schedules", "create", "--name", "Nightly", "--rate", "1 day", "--definition-version", "2")
    for started in (("--eval", "evl_1"), ("nightly.yaml", "--models", "sim/steady")):
        refused = cupel(*options, *started)
        assert (refused.exit_code, "--definition-version: needs the id" in refused.stderr) == (2, True)
    assert api.requests == []


def test_a_schedule_has_the_settings_that_a_run_has(api: FakeApi, cupel: Cupel) -> None:
    when = ("--name", "Nightly", "--rate", "1 day", "--run-name", "Night", "--priority", "high")
    cupel("schedules", "create", "def_1", *when, "--models", "sim/steady", "--max-attempts", "2", "--seed", "7")
    schedule = api.bodies("POST", "/schedules")[0]
    assert (schedule["name"], schedule["run"]["name"], schedule["run"]["sampleSeed"]) == ("Nightly", "Night", 7)
    assert (schedule["run"]["priority"], schedule["run"]["config"]) == ("HIGH", {"maxAttempts": 2})
