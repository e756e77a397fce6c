"""The command as a whole: help, version, completion, suggestions, and messages that name commands."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version

import httpx
import pytest
import typer
from typer.core import TyperArgument, TyperGroup
from typer.testing import CliRunner

from cupel.cli import app
from cupel.commands.command_messages import name_commands, name_option
from cupel.commands.suggestions import complete_choice, complete_model, complete_provider
from cupel.session import PlainTextConsole, Session
from cupel_core.domain.runs.run import RunStatus
from tests.conftest import ROOT
from tests.in_one_test import in_one_test
from tests.unit.cupel.fake_api import Connect, Cupel, FakeApi, an_error

COMMANDS = typer.main.get_command(app)


def leaves(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], typer.core.TyperCommand]]:
    if isinstance(command, TyperGroup):
        for name, each in command.commands.items():
            yield from leaves(each, (*path, name))
    elif isinstance(command, typer.core.TyperCommand):
        yield path, command


EVERY_COMMAND = dict(leaves(COMMANDS))


def test_the_version_is_printed(cupel: Cupel) -> None:
    assert cupel("--version").stdout == f"cupel {version('cupel')}\n"


@pytest.mark.parametrize("arguments", [(), ("run",), ("queue", "pause"), ("definitions",)])
def test_h_is_help(cupel: Cupel, arguments: tuple[str, ...]) -> None:
    result = cupel(*arguments, "-h")
    assert (result.exit_code, "Usage: " in result.stdout) == (0, True)


@in_one_test("path", EVERY_COMMAND, ids=" ".join)
def test_arguments_are_named_in_capitals(path: tuple[str, ...]) -> None:
    arguments = [each for each in EVERY_COMMAND[path].params if isinstance(each, TyperArgument)]
    assert [each.metavar for each in arguments if not re.fullmatch(r"[A-Z]+(\.\.\.)?", each.metavar or "")] == []


@in_one_test("path", EVERY_COMMAND, ids=" ".join)
def test_commands_and_their_parameters_have_help(path: tuple[str, ...]) -> None:
    command = EVERY_COMMAND[path]
    assert command.help
    assert [each.name for each in command.params if not getattr(each, "help", None)] == []


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (("rnu",), "Did you mean 'run'"),
        (("definitions", "shwo"), "Did you mean 'show'"),
        (("runs", "--stauts", "x"), "--status"),
        (("runs", "--status", "runing"), "did you mean RUNNING?"),
    ],
)
def test_misspellings_are_answered_with_the_nearest_name(
    cupel: Cupel, arguments: tuple[str, ...], suggestion: str
) -> None:
    refused = cupel(*arguments)
    text = " ".join(refused.stderr.replace("│", " ").split())
    assert (refused.exit_code, suggestion in text) == (2, True), text


def test_a_status_is_accepted_in_any_case(api: FakeApi, cupel: Cupel) -> None:
    assert cupel("runs", "--status", "running").exit_code == 0
    assert api.requests[0].url.params["status"] == "RUNNING"


@pytest.mark.parametrize(("answer", "exit_code", "requests"), [("n", 1, 0), ("y", 0, 1)])
def test_pausing_every_queue_is_confirmed_at_a_terminal(
    api: FakeApi, connect: Connect, answer: str, exit_code: int, requests: int
) -> None:
    api.respond_to_posts = httpx.Response(200, json={"items": []})
    session = Session(connect=connect, err=PlainTextConsole(stderr=True, force_terminal=True))
    result = CliRunner().invoke(app, ["queue", "pause"], input=f"{answer}\n", obj=session)
    assert (result.exit_code, len(api.requests)) == (exit_code, requests)
    assert "Pause the queues of all providers?" in result.stderr


def test_lists_are_limited_to_a_time_and_reversed(api: FakeApi, cupel: Cupel) -> None:
    cupel("runs", "--after", "2026-01-31T09:30+01:00", "--before", "2026-02-01", "--oldest-first")
    cupel("definitions", "list", "--after", "2026-01-31T09:30+01:00")
    of_runs, of_definitions = (request.url.params for request in api.requests)
    assert datetime.fromisoformat(of_runs["createdAfter"]) == datetime(2026, 1, 31, 8, 30, tzinfo=UTC)
    assert datetime.fromisoformat(of_runs["createdBefore"]) == datetime(2026, 2, 1).astimezone()
    assert (of_runs["sort"], of_definitions["createdAfter"]) == ("createdAt", of_runs["createdAfter"])


def test_a_time_that_is_none_is_a_usage_error(cupel: Cupel) -> None:
    refused = cupel("runs", "--after", "yesterday")
    assert (refused.exit_code, "2026-01-31T09:30" in refused.stderr) == (2, True)


def test_transcripts_are_filtered_by_result_decision_and_tag(api: FakeApi, cupel: Cupel) -> None:
    cupel("transcripts", "run_1", "--result", "FAILED", "--decision", "5", "--tag", "FORMAT_ERROR")
    sent = api.requests[0].url.params
    assert (sent["result"], sent["decision"], sent["tag"]) == ("failed", "5", "FORMAT_ERROR")


def test_models_providers_and_statuses_are_completed() -> None:
    assert complete_model("sim/ste") == ["sim/steady"]
    assert complete_model("sim/bold,openai/gpt-5-mi")[0] == "sim/bold,openai/gpt-5-mini"
    assert complete_provider("OPENA") == ["openai"]
    assert complete_choice(RunStatus)("pa") == ["PAUSED"]


def test_completion_can_be_installed(cupel: Cupel) -> None:
    assert "--install-completion" in cupel("--help").stdout


def http_requests_in_messages() -> set[str]:
    """The requests that messages of the API name, without those of docstrings, patterns and declarations."""
    others = re.compile(r'"""(?s:.*?)"""|@operation\(\s*"[^"]*"|re\.compile\(.*')
    texts = (others.sub("", path.read_text()) for path in (ROOT / "shared").rglob("*.py"))
    return {found for text in texts for found in re.findall(r"(?:PUT|POST|PATCH|DELETE) /v1/[\w/{}.-]+", text)}


def test_messages_of_the_api_name_commands() -> None:
    assert http_requests_in_messages()
    named = {each: name_commands(re.sub(r"{.*?}", "openai", each)) for each in http_requests_in_messages()}
    assert {each: text for each, text in named.items() if "/v1/" in text} == {}


@pytest.mark.parametrize(
    ("field", "named"),
    [
        ("models.0", "--models"),
        ("run.models.1", "--models"),
        ("config.judgeModel", "--judge-model"),
        ("run.config.maxConcurrency", "--concurrency"),
        ("prices.0.inputUsdPerMillion", "--price"),
        ("run.maxBudgetUsd", "--budget"),
        ("config.profileId", "--profile"),
        ("profileId", "--profile"),
        ("run.config.retryDelaySeconds", "--retry-delay-seconds"),
        ("budgets.timezone", "--timezone"),
        ("run.config.maxTurns", "--max-turns"),
        ("scenarios.0.name", "scenarios.0.name"),
    ],
)
def test_an_invalid_field_is_named_after_its_option(field: str, named: str) -> None:
    assert name_option(field) == named


@pytest.mark.parametrize(
    ("arguments", "field", "named"),
    [
        (("tokens", "create", "--name", " "), "name", "--name"),
        (("settings", "--judge-model", "x"), "judgeModel", "--judge-model"),
        (("rerun", "run_1", "--tag", " "), "tags.0", "--tag"),
        (("rerun", "run_1", "--param", "topP=7"), "config.params.topP", "--param topP"),
        (("rerun", "run_1", "--experiment", "x"), "experimentId", "--experiment"),
        (("schedules", "update", "sch_1", "--rate", "x"), "expression", "--cron or --rate or --at"),
        (("schedules", "update", "sch_1", "--rate", "x"), "run.models.0", "--models"),
        (("providers", "set", "openai", "--base-url", "x"), "baseUrl", "--base-url"),
        (("tokens", "create", "--name", "x"), "unknown.0", "unknown.0"),
    ],
)
def test_a_refused_field_is_named_after_an_option_of_its_command(
    api: FakeApi, cupel: Cupel, arguments: tuple[str, ...], field: str, named: str
) -> None:
    problem = {"title": "Invalid request", "errors": [{"field": field, "message": "is wrong"}]}
    api.refusals = [httpx.Response(422, json=problem)] * 9
    assert cupel(*arguments).stderr.splitlines()[-1] == f"  {named}: is wrong"


def test_the_name_of_a_run_is_not_that_of_its_schedule() -> None:
    options = {"--name", "--run-name"}
    assert (name_option("name", options), name_option("run.name", options)) == ("--name", "--run-name")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [("--sample", "0", "must be at least 1"), ("--temperature", "3", "must be at most 2"), ("--priority", "x", "'x'")],
)
def test_an_invalid_value_of_an_option_is_explained_in_our_words(
    cupel: Cupel, option: str, value: str, message: str
) -> None:
    shown = " ".join(cupel("run", "file.yaml", "--models", "sim/steady", option, value).stderr.split())
    assert f"Invalid value for '{option}': {message}" in shown


@pytest.mark.parametrize(
    "name", ["personas", "connectors", "evals", "files", "schedules", "tokens", "chats", "profiles"]
)
def test_every_kind_of_resource_has_a_list(api: FakeApi, cupel: Cupel, name: str) -> None:
    api.refusals = [httpx.Response(200, json={"items": [], "nextCursor": None})]
    assert cupel(name, "list", "--json").exit_code == 0
    assert [each.url.path for each in api.requests] == [f"/v1/{name}"]


def test_a_refusal_names_the_command(api: FakeApi, cupel: Cupel) -> None:
    detail = "provider openai has no API key: PUT /v1/providers/openai sets it"
    api.refusals = [httpx.Response(409, json={"title": "Conflict", "detail": detail})]
    assert cupel("retry", "run_1").stderr == (
        "cupel: 409 Conflict: provider openai has no API key: cupel providers set openai sets it\n"
    )


def test_probes_of_a_run_are_filtered_by_their_error(api: FakeApi, cupel: Cupel) -> None:
    api.errors = [
        {"id": f"run_1-{index}", **an_error(index, "openai/x", code), "scenarioId": f"scn_{index}"}
        for index, code in enumerate(["timeout", "auth", "timeout"])
    ]
    table = cupel("probes", "run_1", "--error", "timeout").stdout
    assert [line.split()[0] for line in table.splitlines()[1:]] == ["run_1-0", "run_1-2"]
    assert api.requests[0].url.params["status"] == "ERROR"
    one = cupel("probes", "run_1", "--status", "error", "--scenario", "scn_1").stdout
    assert "auth: no answer in 60 s" in one


def test_probes_of_all_runs_are_filtered_by_the_api(api: FakeApi, cupel: Cupel) -> None:
    api.errors = [{"id": "run_1-0", **an_error(0, "openai/x"), "scenarioId": "scn_0"}]
    assert "run_1-0" in cupel("probes", "--scenario", "scn_0", "--status", "ERROR").stdout
    assert api.requests[0].url.path == "/v1/probes"
    assert api.requests[0].url.params["scenarioId"] == "scn_0"
    assert cupel("probes", "run_1", "--eval", "evl_1").exit_code == 2
    assert "--error" in cupel("probes", "run_1", "--error", "timeout", "--status", "completed").stderr
