"""The command against the real API function on moto: both agree on the JSON."""

import json
from io import StringIO
from pathlib import Path

import pytest
from junitparser import JUnitXml
from rich.console import Console
from typer.testing import CliRunner

from cupel.cli import app
from cupel.client import Client
from cupel.live_view import live_view
from cupel_core.domain.runs.sampling import sample as sample_of
from cupel_core.store.settings import Settings
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel

SAMPLES = sorted((Path(__file__).parents[3] / "samples").glob("*.yaml"))
APPOINTMENT = next(path for path in SAMPLES if path.stem == "appointment")
JUDGED = ("--judge-model", "sim/steady")


@pytest.fixture
def client(cloud: Settings) -> Client:
    return connect_to_api_function()


@pytest.fixture
def cupel(client: Client) -> Cupel:
    return command_of(client)


def output_of(cupel: Cupel, *arguments: str):
    result = cupel(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_simulated_models_can_be_used_at_once(cupel: Cupel):
    assert "sim/steady" in [model["id"] for model in output_of(cupel, "models")]
    assert cupel("models").exit_code == 0


def test_a_provider_is_set_up_and_listed(cupel: Cupel):
    changed = output_of(
        cupel, "providers", "set", "custom", "--base-url", "http://127.0.0.1:1/v1", "--tokens-per-minute", "9"
    )
    assert changed in output_of(cupel, "providers")
    assert "http://127.0.0.1:1/v1" in cupel("providers").stdout


def test_a_token_is_created_listed_and_revoked(cupel: Cupel):
    created = output_of(cupel, "tokens", "create", "--name", "ci", "--role", "viewer")
    assert created["token"].startswith("cupel_")
    assert cupel("tokens", "revoke", created["id"]).exit_code == 0
    listed = {token["id"]: token for token in output_of(cupel, "tokens")}
    assert listed[created["id"]]["revokedAt"] is not None
    assert cupel("tokens").exit_code == 0


def test_the_live_view_shows_what_holds_up_a_run(cupel: Cupel, client: Client):
    started = output_of(cupel, "run", str(APPOINTMENT), "--models", "sim/steady,sim/bold", *JUDGED)
    client.pause_queues("sim")
    progress = client.get_run_progress(started["run"]["id"])
    console = Console(file=StringIO(), width=120)
    console.print(live_view(progress, started["run"], 120, 40))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert f"0 completed, 0 errored of {started['jobCount']}" in shown
    assert shown.count("the queue of sim is paused; cupel queue resume --provider sim resumes it") == 1


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_started_twice_from_one_definition(cupel: Cupel, client: Client, sample: Path):
    first = output_of(
        cupel, "run", str(sample), "--models", "sim/steady,sim/bold", "--sample", "50", "--seed", "7", *JUDGED
    )
    second = output_of(cupel, "run", str(sample), "--models", "sim/steady", *JUDGED)
    assert first["run"]["definitionId"] == second["run"]["definitionId"]
    cases = [len(each["personaIds"]) or 1 for each in client.list_scenarios(first["run"]["definitionId"])]
    half = [cases[position] for position in sample_of(len(cases), 50, 7)]
    assert (first["jobCount"], second["jobCount"]) == (sum(half) * 2, sum(cases))


def test_the_personas_of_a_file_are_created_once_and_referred_to_by_id(cupel: Cupel, client: Client):
    for _ in range(2):
        output_of(cupel, "run", str(APPOINTMENT), "--models", "sim/steady", "--judge-model", "sim/bold")
    ids = {persona["name"]: persona["id"] for persona in client.list_personas()}
    assert ids.keys() == {"Ada", "Ben"}
    (definition,) = client.list_definitions()
    named = [scenario["personaIds"] for scenario in client.list_scenarios(definition["id"])]
    assert named == [[ids["Ada"], ids["Ben"]], [ids["Ben"]]]


def test_a_persona_that_is_created_again_makes_the_next_version(cupel: Cupel, client: Client):
    output_of(cupel, "run", str(APPOINTMENT), "--models", "sim/steady", *JUDGED)
    client.delete_persona(next(client.list_personas())["id"])
    assert output_of(cupel, "run", str(APPOINTMENT), "--models", "sim/steady", *JUDGED)["jobCount"] == 3
    assert [definition["version"] for definition in client.list_definitions()] == [2]


def test_an_edited_file_makes_one_version(cupel: Cupel, client: Client, tmp_path: Path):
    path = tmp_path / "facts.yaml"
    path.write_text("name: F\ncontent: {system: x, maxTurns: 2}\nscenarios: [{prompt: a}, {prompt: b}]\n")
    output_of(cupel, "run", str(path), "--models", "sim/steady")
    path.write_text("name: F\ncontent: {system: y}\nscenarios: [{prompt: c}]\n")
    runs = [output_of(cupel, "run", str(path), "--models", "sim/steady")["run"] for _ in range(2)]
    assert [(run["definitionVersion"], run["scenarioTotal"]) for run in runs] == [(2, 1), (2, 1)]
    definition = client.get_definition(runs[0]["definitionId"])
    assert (definition["version"], definition["content"]["system"], definition["content"]["maxTurns"]) == (2, "y", None)


def test_a_different_persona_of_the_same_name_is_refused(cupel: Cupel, client: Client):
    client.create_persona({"name": "ada", "description": "somebody else"})
    refused = cupel("run", str(APPOINTMENT), "--models", "sim/steady", *JUDGED)
    assert refused.exit_code == 2
    assert "in the workspace has this name but another description" in refused.stderr


def test_a_connector_of_a_file_is_referred_to_by_name(cupel: Cupel, client: Client, tmp_path: Path):
    agent = {"name": "agent", "type": "openai", "baseUrl": "http://127.0.0.1:1/v1", "config": {"model": "x"}}
    file = {"name": "A", "content": {"system": "x"}, "scenarios": [{"prompt": "x"}], "connectors": [agent]}
    (tmp_path / "a.json").write_text(json.dumps(file))
    run = output_of(cupel, "run", str(tmp_path / "a.json"), "--models", "connector/agent,sim/steady")["run"]
    (connector,) = client.list_connectors()
    assert run["config"]["models"] == [f"connector/{connector['id']}", "sim/steady"]


def test_a_connector_that_executes_calls_is_referred_to_by_name(cupel: Cupel, client: Client, tmp_path: Path):
    shops = [{"name": name, "type": "tools", "baseUrl": "http://127.0.0.1:1"} for name in ("a", "b", "c", "unused")]
    prompts = [{"id": "p", "template": "Hi", "params": {"toolConnectorId": "b"}}]
    content = {"params": {"toolConnectorId": "a"}, "prompts": prompts}
    file = {"name": "A", "content": content, "scenarios": [{"prompt": "x"}], "connectors": shops}
    (tmp_path / "a.json").write_text(json.dumps(file))
    (tmp_path / "t.json").write_text(json.dumps([{"model": "sim/steady", "params": {"toolConnectorId": "c"}}]))
    for _ in range(2):
        arguments = ("run", str(tmp_path / "a.json"), "--targets", str(tmp_path / "t.json"))
        run = output_of(cupel, *arguments)["run"]
    ids = {connector["name"]: connector["id"] for connector in client.list_connectors()}
    stored = client.get_definition(run["definitionId"])["content"]
    layers = (stored, stored["prompts"][0], run["config"]["targets"][0])
    assert [layer["params"]["toolConnectorId"] for layer in layers] == [ids["a"], ids["b"], ids["c"]]
    assert ids.keys() == {"a", "b", "c"}
    assert run["definitionVersion"] == 1


def test_judges_are_sent_with_the_run(cupel: Cupel):
    judges = ["--judge-model", "sim/bold", "--persona-model", "sim/steady", "--embedding-model", "sim/steady"]
    config = output_of(cupel, "run", str(APPOINTMENT), "--models", "sim/steady", *judges)["run"]["config"]
    result = (config["judgeModel"], config["personaModel"], config["embeddingModel"])
    assert result == ("sim/bold", "sim/steady", "sim/steady")


def test_a_pending_run_is_a_junit_file_of_skipped_tests(cupel: Cupel, tmp_path: Path):
    run = output_of(cupel, "run", str(APPOINTMENT), "--models", "sim/steady", *JUDGED)["run"]
    assert cupel("junit", run["id"], "--output", str(tmp_path / "x.xml")).exit_code == 0
    (suite,) = JUnitXml.fromfile(str(tmp_path / "x.xml"))
    assert (suite.tests, suite.skipped) == (3, 3)
    assert [case.name for case in suite] == [
        "A haircut this week (Ada)",
        "A haircut this week (Ben)",
        "Closed on Monday (Ben)",
    ]


def test_a_pending_run_is_shown_and_listed(cupel: Cupel, client: Client):
    run = output_of(cupel, "run", str(SAMPLES[0]), "--models", "sim/steady", *JUDGED)["run"]
    assert [listed["id"] for listed in output_of(cupel, "runs", "--status", "PENDING")] == [run["id"]]
    assert output_of(cupel, "show", run["id"])["results"][0]["completed"] == 0
    assert output_of(cupel, "transcripts", run["id"]) == []
    assert {probe["status"] for probe in client.list_run_probes(run["id"])} == {"QUEUED"}
    assert [event["type"] for event in client.list_run_events(run["id"])] == ["run.created"]
    for command in ("runs", "show", "transcripts"):
        assert cupel(command, *([] if command == "runs" else [run["id"]])).exit_code == 0


def test_an_unknown_provider_is_named(cupel: Cupel):
    refused = cupel("run", str(SAMPLES[0]), "--models", "nope/x")
    assert refused.exit_code == 2
    assert "--models: " in refused.stderr


RUBRIC = "name: d\ncontent: {assertions: [{type: llm-rubric, value: kind}]}\nscenarios: [{prompt: Hello}]\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--models", "nope/x"], "--models: unknown provider"),
        (["--models", "sim/nope"], "--models: "),
        (["--models", "openai/x"], "--models: provider openai has no API key"),
        (["--models", "sim/steady"], "--judge-model: is required"),
        (["--models", "sim/steady", "--judge-model", "openai/x"], "--judge-model: provider openai has no API key"),
    ],
)
def test_a_refused_start_of_a_file_leaves_nothing(
    cupel: Cupel, client: Client, tmp_path: Path, options: list[str], message: str
):
    path = tmp_path / "judged.yaml"
    path.write_text(RUBRIC)
    refused = cupel("run", str(path), *options)
    assert (refused.exit_code, message in refused.stderr) == (2, True), refused.stderr
    assert list(client.list_definitions()) == []


@pytest.mark.parametrize(
    "options",
    [
        ["--experiment", "exp_none"],
        ["--profile", "none"],
        ["--name", "n" * 300],
        ["--budget", "0.000000001", "--judge-model", "sim/bold"],
        ["--temperature", "0.5", "--param", "temperature=0.7"],
    ],
)
@pytest.mark.parametrize("is_stored", [False, True])
def test_a_start_that_the_api_refuses_leaves_what_was_there(
    cupel: Cupel, client: Client, tmp_path: Path, options: list[str], is_stored: bool
):
    path = tmp_path / "greeting.yaml"
    path.write_text("name: greeting\nscenarios: [{prompt: Hello}]\n")
    if is_stored:
        output_of(cupel, "definitions", "create", str(path))
        path.write_text("name: greeting\nscenarios: [{prompt: Good morning}]\n")
    before = list(client.list_definitions())
    assert cupel("run", str(path), "--models", "sim/steady", *options).exit_code == 2
    assert list(client.list_definitions()) == before


def test_an_estimate_of_a_file_needs_no_key(cupel: Cupel, tmp_path: Path) -> None:
    path = tmp_path / "greeting.yaml"
    path.write_text("name: greeting\nscenarios: [{prompt: Hello}]\n")
    answer = cupel("estimate", str(path), "--models", "openai/gpt-5-mini,sim/steady")
    assert answer.exit_code == 0, answer.stderr
    message = "to start it: provider openai has no API key: cupel providers set openai sets it"
    assert answer.stdout.splitlines()[-1] == message
    assert cupel("run", str(path), "--models", "openai/gpt-5-mini").exit_code == 2


def test_a_start_that_is_refused_after_the_upload_deletes_what_it_created(
    cupel: Cupel, client: Client, tmp_path: Path
) -> None:
    path = tmp_path / "greeting.yaml"
    path.write_text("name: greeting\nscenarios: [{prompt: Hello}]\n")
    client.update_settings({"openRunsPerOwner": 1})
    output_of(cupel, "run", str(path), "--models", "sim/steady")
    before = list(client.list_definitions())
    path.write_text("name: parting\nscenarios: [{prompt: Goodbye}]\n")
    refused = cupel("run", str(path), "--models", "sim/steady")
    assert refused.exit_code != 0
    assert "was deleted, because nothing was started" in refused.stderr
    assert list(client.list_definitions()) == before


def test_a_run_and_its_rerun_write_a_report_if_told_to(cupel: Cupel) -> None:
    facts = next(path for path in SAMPLES if path.stem == "facts")
    report = ("--report", "--summarizer-model", "sim/bold")
    first = output_of(cupel, "run", str(facts), "--models", "sim/steady", *report)["run"]
    assert (first["report"], first["config"]["summarizerModel"]) == (True, "sim/bold")
    assert output_of(cupel, "rerun", first["id"])["run"]["report"]
    assert not output_of(cupel, "rerun", first["id"], "--no-report")["run"]["report"]
    graders = output_of(cupel, "estimate", str(facts), "--models", "sim/steady", *report)["graders"]
    assert ("sim/bold", "report") in {(each["model"], each["role"]) for each in graders}


def test_a_run_is_repeated_and_tells_its_definition_and_its_share_of_the_scenarios(cupel: Cupel):
    facts = next(path for path in SAMPLES if path.stem == "facts")
    options = ("--models", "sim/steady", "--sample", "50", "--seed", "7", *JUDGED)
    first = output_of(cupel, "run", str(facts), *options)["run"]
    again = output_of(cupel, "rerun", first["id"], "--models", "sim/bold")["run"]
    assert (again["rerunOf"], again["config"]["models"]) == (first["id"], ["sim/bold"])
    shown = cupel("show", again["id"]).stdout
    assert f"{first['scenarioCount']} of {first['scenarioTotal']} scenarios (50%, seed 7)" in shown
    assert f"repeats run {first['id']}" in shown
    assert "by token test" in shown
    assert first["definitionName"] in cupel("runs").stdout


def test_a_run_of_a_version_needs_the_id_of_a_definition(cupel: Cupel):
    refused = CliRunner().invoke(app, ["run", str(SAMPLES[0]), "--models", "sim/steady", "--definition-version", "1"])
    assert (refused.exit_code, "--definition-version" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    "arguments", [("runs", "--definition", "def_nope"), ("queue", "redrive", "nope"), ("show", "run_nope")]
)
def test_an_unknown_id_is_an_error(cupel: Cupel, arguments: tuple[str, ...]):
    refused = cupel(*arguments)
    assert (refused.exit_code, bool(refused.stderr)) == (2, True)


@pytest.mark.parametrize("limit", ["0", "99999999999999999999"])
def test_a_limit_outside_its_range_is_refused(cupel: Cupel, limit: str):
    refused = cupel("runs", "--limit", limit)
    assert (refused.exit_code, "--limit" in refused.stderr) == (2, True)


def test_an_unknown_scenario_of_a_run_is_an_error(cupel: Cupel):
    run = output_of(cupel, "run", str(APPOINTMENT), "--models", "sim/steady", *JUDGED)["run"]
    refused = cupel("transcripts", run["id"], "--scenario", "scn_nope")
    assert (refused.exit_code, "scn_nope" in refused.stderr) == (2, True)
