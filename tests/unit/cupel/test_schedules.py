"""`cupel schedules`, against the real API function."""

import json
from datetime import UTC, datetime
from functools import partial

import pytest

from cupel.client import Client
from cupel_core.base.messages import DueSchedule
from cupel_core.runs.schedules.schedules import fire
from cupel_core.store.settings import Settings
from tests.eval_api import create_definition
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel

NOW = datetime(2026, 11, 20, tzinfo=UTC)
CRON = ("--cron", "0 9 ? * MON-FRI *", "--timezone", "Europe/Berlin", "--name", "weekdays")


@pytest.fixture
def client(cloud: Settings) -> Client:
    return connect_to_api_function()


@pytest.fixture
def cupel(client: Client) -> Cupel:
    return partial(command_of(client), "schedules")


@pytest.fixture
def definition_id(client: Client) -> str:
    return create_definition(client, 3)


def test_a_schedule_is_created_for_a_definition(client: Client, cupel: Cupel, definition_id: str) -> None:
    result = cupel("create", definition_id, "--models", "sim/steady,sim/bold", "--sample", "50", *CRON)
    assert result.exit_code == 0, result.output
    (schedule,) = client.list_schedules()
    assert (schedule["expression"], schedule["timezone"]) == ("cron(0 9 ? * MON-FRI *)", "Europe/Berlin")
    assert (schedule["run"]["models"], schedule["run"]["samplePercentage"]) == (["sim/steady", "sim/bold"], 50)
    assert schedule["id"] in result.stdout


@pytest.mark.parametrize(
    ("option", "expression"),
    [(("--rate", "6 hours"), "rate(6 hours)"), (("--at", "2127-01-31T09:30:00"), "at(2127-01-31T09:30:00)")],
)
def test_a_schedule_may_be_a_rate_or_a_single_time(
    client: Client, cupel: Cupel, definition_id: str, option: tuple[str, str], expression: str
) -> None:
    result = cupel("create", definition_id, "--models", "sim/steady", "--name", "x", "--json", *option)
    assert json.loads(result.stdout)["expression"] == expression


def test_a_schedule_sets_the_pace_of_its_runs(client: Client, cupel: Cupel, definition_id: str) -> None:
    result = cupel(
        "create", definition_id, "--models", "sim/steady", "--concurrency", "5", "--stagger", "0", "100", *CRON
    )
    assert result.exit_code == 0, result.output
    (schedule,) = client.list_schedules()
    config = schedule["run"]["config"]
    assert (config["maxConcurrency"], config["staggerMs"]) == (5, [0, 100])


def test_a_schedule_may_write_a_report_of_each_run(client: Client, cupel: Cupel, definition_id: str) -> None:
    options = ("--report", "--summarizer-model", "sim/bold")
    result = cupel("create", definition_id, "--models", "sim/steady", *options, *CRON)
    assert result.exit_code == 0, result.output
    (schedule,) = client.list_schedules()
    assert (schedule["run"]["report"], schedule["run"]["config"]["summarizerModel"]) == (True, "sim/bold")


@pytest.mark.parametrize("options", [(), ("--rate", "1 hour", "--at", "2127-01-31T09:30:00")])
def test_a_schedule_needs_exactly_one_time(
    client: Client, cupel: Cupel, definition_id: str, options: tuple[str, ...]
) -> None:
    result = cupel("create", definition_id, "--models", "sim/steady", "--name", "x", *options)
    assert result.exit_code == 2
    assert "exactly one of --cron, --rate and --at" in result.stderr


def test_models_outside_the_price_list_are_a_warning(client: Client, cupel: Cupel) -> None:
    run = ("--models", "openai/gpt5-mini", "--judge-model", "mistral/zzz")
    result = cupel("create", "def_none", *run, "--name", "x", "--rate", "1 hour")
    assert "did you mean openai/gpt-5-mini?" in result.stderr
    assert "mistral/zzz is not in the price list" in result.stderr


def test_models_of_a_scheduled_eval_outside_the_price_list_are_a_warning(
    client: Client, cupel: Cupel, definition_id: str
) -> None:
    client.update_provider("openai", {"apiKey": "sk-x"})
    scenario_ids = [each["id"] for each in client.list_scenarios(definition_id)][:1]
    models = {"model": "openai/gpt5-mini", "judgeModel": "openai/gtp-5", "personaModel": "openai/gpt-5-nanoo"}
    saved = client.create_eval({"name": "typo", "scenarioIds": scenario_ids, **models})
    schedule = ("--name", "x", "--rate", "1 hour", "--persona-model", "sim/steady")
    warned = cupel("create", "--eval", saved["id"], *schedule).stderr
    assert "did you mean openai/gpt-5-mini?" in warned
    assert ("openai/gtp-5 is not" in warned, "nanoo" in warned) == (True, False)


def test_an_invalid_time_is_named(client: Client, cupel: Cupel, definition_id: str) -> None:
    result = cupel("create", definition_id, "--models", "sim/steady", "--name", "x", "--rate", "often")
    assert result.exit_code == 2
    assert "--cron or --rate or --at: a rate is" in result.stderr


def test_the_table_shows_what_the_last_firing_started(client: Client, cupel: Cupel, definition_id: str) -> None:
    cupel("create", definition_id, "--models", "sim/steady", *CRON)
    (schedule,) = client.list_schedules()
    due = "2026-11-20T08:00:00Z"
    fire(DueSchedule(workspace="acme", schedule_id=schedule["id"], scheduled_time=due), NOW)
    (run,) = client.list_runs(schedule_id=schedule["id"])
    shown = " ".join(cupel().stdout.split())
    assert datetime.fromisoformat(next(word for word in shown.split() if word.startswith("2026-11-20T"))) == datetime(
        2026, 11, 20, 8, tzinfo=UTC
    )
    assert json.loads(cupel("--json").stdout)[0]["firings"][0]["runId"] == run["id"]


def test_a_schedule_is_disabled_and_enabled(client: Client, cupel: Cupel, definition_id: str) -> None:
    cupel("create", definition_id, "--models", "sim/steady", *CRON)
    (schedule,) = client.list_schedules()
    assert "DISABLED" in cupel("disable", schedule["id"]).stdout
    assert "ENABLED" in cupel("enable", schedule["id"]).stdout


def test_a_schedule_is_deleted(client: Client, cupel: Cupel, definition_id: str) -> None:
    cupel("create", definition_id, "--models", "sim/steady", *CRON)
    (schedule,) = client.list_schedules()
    assert cupel("delete", schedule["id"]).exit_code == 0
    assert list(client.list_schedules()) == []


def test_a_schedule_is_shown_and_changed(client: Client, cupel: Cupel, definition_id: str) -> None:
    cupel("create", definition_id, "--models", "sim/steady", "--judge-model", "sim/bold", *CRON)
    (schedule,) = client.list_schedules()
    assert "judgeModel: sim/bold" in cupel("show", schedule["id"]).stdout
    changed = cupel("update", schedule["id"], "--rate", "6 hours", "--name", "often")
    assert (changed.exit_code, "rate(6 hours)" in changed.stdout) == (0, True)
    assert client.get_schedule(schedule["id"])["name"] == "often"


def test_an_eval_is_scheduled(client: Client, cupel: Cupel, definition_id: str) -> None:
    (scenario, *_) = client.list_scenarios(definition_id)
    made = client.create_eval({"name": "smoke", "scenarioIds": [scenario["id"]], "model": "sim/steady"})
    created = cupel("create", "--eval", made["id"], *CRON)
    assert created.exit_code == 0, created.output
    (schedule,) = client.list_schedules()
    assert (schedule["run"], schedule["evalRun"]["evalId"]) == (None, made["id"])
    assert f"eval: smoke ({made['id']})" in cupel("show", schedule["id"]).stdout


def test_a_schedule_names_what_it_starts(client: Client, cupel: Cupel, definition_id: str) -> None:
    definition = client.update_definition(definition_id, {"name": "Refunds"})
    experiment = client.create_experiment({"name": "Tone", "hypothesis": "It helps."})
    agent = {"name": "Desk", "type": "openai", "baseUrl": "https://desk.example/v1", "config": {"model": "m"}}
    bot = client.create_connector(agent)
    run = {"definitionId": definition["id"], "models": [f"connector/{bot['id']}"], "experimentId": experiment["id"]}
    schedule = client.create_schedule({"name": "often", "expression": "rate(6 hours)", "run": run})
    shown = cupel("show", schedule["id"]).stdout
    assert f"definition: Refunds ({definition_id})\n" in shown
    assert f"experiment: Tone ({experiment['id']})\n" in shown
    assert "models: connector/Desk\n" in shown
    assert "targets: connector/Desk\n" in shown
    client.delete_experiment(experiment["id"])
    assert f"experiment: {experiment['id']}\n" in cupel("show", schedule["id"]).stdout
