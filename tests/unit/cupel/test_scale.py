"""`cupel scale`, against the real API function."""

import json
from pathlib import Path
from typing import Any

import pytest

from cupel.client import Client
from cupel.json_types import Json
from cupel_core.store.settings import Settings
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel

GOAL = ("--goal", "The agent explains the limit.")


@pytest.fixture
def client(cloud: Settings) -> Client:
    return connect_to_api_function()


@pytest.fixture
def cupel(client: Client) -> Cupel:
    return command_of(client)


@pytest.fixture
def system_file(tmp_path: Path) -> str:
    path = tmp_path / "prompt.md"
    path.write_text("Refunds are possible within 30 days.")
    return str(path)


def started(cupel: Cupel, *arguments: str) -> dict[str, Any]:
    answer = cupel("scale", "--model", "sim/steady", *arguments, "--json")
    assert answer.exit_code == 0, answer.stderr
    run: dict[str, Any] = json.loads(answer.stdout)["run"]
    return run


def test_a_scale_run_is_started_from_options(cupel: Cupel, client: Client, system_file: str) -> None:
    judged = ("--judge-model", "sim/bold", "--without", "toxicity", "--format", '{"maxWords": 80}')
    run = started(cupel, "--system-file", system_file, *GOAL, "--message", "Hello", "-n", "20", *judged)
    snapshot = client.get_run(run["id"])["config"]["definitionSnapshot"]
    assert run["progress"]["total"] == 20
    assert snapshot["system"] == "Refunds are possible within 30 days."
    assert [each["type"] for each in snapshot["assertions"]] == ["not-is-refusal", "word-count"]


def test_the_pace_of_a_scale_run_is_chosen_by_options(cupel: Cupel, client: Client) -> None:
    run = started(cupel, "--message", "Hello", "--concurrency", "5", "--stagger", "0", "100")
    config = client.get_run(run["id"])["config"]
    assert (config["maxConcurrency"], config["staggerMs"]) == (5, [0, 100])


def test_the_attempts_of_a_scale_run_are_chosen_by_options(cupel: Cupel, client: Client) -> None:
    run = started(cupel, "--message", "Hello", "--max-attempts", "2", "--retry-delay-seconds", "30")
    config = client.get_run(run["id"])["config"]
    assert (config["maxAttempts"], config["retryDelaySeconds"]) == (2, 30)


def test_a_scale_run_asks_for_the_trial_by_an_option(cupel: Cupel, client: Client, system_file: str) -> None:
    options = ("--system-file", system_file, "--message", "Hello", "--judge-model", "sim/bold")
    assert client.get_run(started(cupel, *options, "--trial")["id"])["trial"] is True
    assert client.get_run(started(cupel, *options)["id"])["trial"] is False


def test_a_scale_run_names_the_model_of_its_report(cupel: Cupel, client: Client) -> None:
    run = started(cupel, "--message", "Hello", "--summarizer-model", "sim/bold")
    assert client.get_run(run["id"])["config"]["summarizerModel"] == "sim/bold"


def test_an_estimate_starts_nothing(cupel: Cupel, client: Client) -> None:
    answer = cupel("scale", "--model", "sim/steady", "--message", "Hello", "-n", "3", "--estimate")
    assert "3 conversations: $0" in answer.stdout, answer.stderr
    assert list(client.list_runs()) == []


PRICED: Json = {"prices": [{"model": None, "inputUsdPerMillion": 1, "outputUsdPerMillion": 10}]}


def test_an_estimate_says_what_the_trial_may_cost(cupel: Cupel, client: Client, system_file: str) -> None:
    client.update_provider("sim", PRICED)
    options = ("--system-file", system_file, "--message", "Hello", "--judge-model", "sim/bold", "--trial")
    answer = cupel("scale", "--model", "sim/steady", *options, "-n", "20", "--estimate")
    assert "trial of the revised prompt: 14 conversations more, $" in answer.stdout, answer.stderr
    assert "besides the budget of the run\n" in answer.stdout
    few = cupel("scale", "--model", "sim/steady", *options, "-n", "5", "--estimate")
    assert "10 conversations more" in few.stdout
    assert "it is not expected to start" in few.stdout


def test_whoever_agrees_to_a_scale_run_agrees_to_its_trial(cupel: Cupel, client: Client, system_file: str) -> None:
    client.update_provider("sim", PRICED)
    options = ("--system-file", system_file, "--message", "Hello", "--judge-model", "sim/bold", "--trial", "-n", "20")
    refused = cupel("scale", "--model", "sim/steady", *options, "--budget", "0.3")
    assert refused.exit_code == 2
    assert "with the trial of its revised prompt" in refused.stderr
    assert started(cupel, *options, "--budget", "0.3", "--yes")["id"]


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ((), "--goal"),
        ((*GOAL, "--system-file", "missing.md"), "--system-file"),
        ((*GOAL, "--format", "{"), "--format"),
    ],
)
def test_an_unusable_option_is_named(cupel: Cupel, arguments: tuple[str, ...], option: str) -> None:
    answer = cupel("scale", "--model", "sim/steady", *arguments)
    assert (answer.exit_code, option in answer.stderr) == (2, True)


def test_what_the_api_refuses_is_shown(cupel: Cupel) -> None:
    answer = cupel("scale", "--model", "sim/steady", *GOAL)
    assert answer.exit_code != 0
    assert "--message: is required without a judgeModel" in answer.stderr


@pytest.mark.parametrize(("option", "writes"), [((), True), (("--no-report",), False)])
def test_a_report_is_made_unless_it_is_switched_off(
    cupel: Cupel, client: Client, option: tuple[str, ...], writes: bool
) -> None:
    run = started(cupel, "--message", "Hello", "-n", "2", *option)
    assert client.get_run(run["id"])["report"] is writes
