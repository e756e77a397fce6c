"""Runs that are expected to cost more than their budget, against the real API function."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun
from tests.run_budgets import run_budget
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.client import api_transport

DEFINITION = """
name: hello
content:
  system: Be brief.
scenarios:
  - name: one
    prompt: Hi there
"""
OPTIONS = ("--models", "sim/steady", "--repeats", "1000", "--budget", "0.2")
type Invoke = Callable[..., Any]


@pytest.fixture
def definition(tmp_path: Path) -> str:
    path = tmp_path / "hello.yaml"
    path.write_text(DEFINITION)
    return str(path)


@pytest.fixture
def api(cloud: Settings) -> ApiClient:
    client = ApiClient(None)
    client.token = client.issue()
    prices = [{"model": None, "inputUsdPerMillion": 10, "outputUsdPerMillion": 10}]
    assert client.put("/v1/providers/sim", {"prices": prices}).status == 200
    return client


@pytest.fixture
def cupel(api: ApiClient) -> Invoke:
    def connect() -> Client:
        return Client("http://api.test", api.token or "", transport=api_transport(api))

    def invoke(*arguments: str, answer: str | None = None) -> Any:
        session = Session(connect=connect, can_ask=lambda: answer is not None)
        return CliRunner().invoke(app, list(arguments), obj=session, input=answer)

    return invoke


def started(api: ApiClient) -> int:
    return len(api.get("/v1/runs").json()["items"])


def test_a_yes_starts_the_run(cupel: Invoke, api: ApiClient, definition: str) -> None:
    result = cupel("run", definition, *OPTIONS, answer="y\n")
    assert (result.exit_code, started(api)) == (0, 1)
    assert "more than its budget of $0.2, so it would be paused before its end. Start it?" in result.stderr


def test_a_no_starts_nothing(cupel: Invoke, api: ApiClient, definition: str) -> None:
    assert (cupel("run", definition, *OPTIONS, answer="n\n").exit_code, started(api)) == (1, 0)


def test_without_a_terminal_the_amount_is_named(cupel: Invoke, api: ApiClient, definition: str) -> None:
    result = cupel("run", definition, *OPTIONS)
    assert (result.exit_code, started(api)) == (2, 0)
    assert "the run is expected to cost $" in result.stderr
    assert "more than its budget of $0.2, so it would be paused before its end; --yes starts it" in result.stderr
    assert "confirmedUsd" not in result.stderr


def test_yes_starts_it_without_a_question(cupel: Invoke, api: ApiClient, definition: str) -> None:
    result = cupel("run", definition, *OPTIONS, "--yes")
    assert (result.exit_code, started(api)) == (0, 1)
    assert "started because of --yes" in result.stderr


def test_a_run_within_its_budget_asks_nothing(cupel: Invoke, api: ApiClient, definition: str) -> None:
    result = cupel("run", definition, "--models", "sim/steady", "--budget", "100")
    assert (result.exit_code, started(api), "more than" in result.stderr) == (0, 1, False)


def test_the_budget_of_the_workspace_is_named(cupel: Invoke, api: ApiClient, definition: str) -> None:
    assert api.put("/v1/settings", {"budgets": {"dayUsd": 0.01}}).status == 200
    result = cupel("run", definition, "--models", "sim/steady", "--repeats", "1000")
    assert (result.exit_code, started(api)) == (2, 0)
    assert "left of the workspace's budget for the day" in result.stderr
    assert "--budget" not in result.stderr


def test_a_scale_run_asks_too(cupel: Invoke, api: ApiClient) -> None:
    scale_run = ("scale", "--model", "sim/steady", "--message", "Hi", "-n", "1000", "--budget", "0.2")
    assert (cupel(*scale_run).exit_code, started(api)) == (2, 0)
    assert (cupel(*scale_run, "--yes").exit_code, started(api)) == (0, 1)


def test_a_schedule_asks_too(cupel: Invoke, api: ApiClient, definition: str) -> None:
    schedule = ("schedules", "create", definition, "--name", "nightly", *OPTIONS, "--rate", "1 day")
    assert cupel(*schedule).exit_code == 2
    result = cupel(*schedule, "--yes")
    assert result.exit_code == 0, result.output
    [created] = api.get("/v1/schedules").json()["items"]
    assert created["run"]["confirmedUsd"] > 0.01


def test_an_evaluation_in_this_process_asks_too(
    cupel: Invoke, definition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    result = cupel(
        "run", definition, "--in-process", "--models", "openai/gpt-5-mini", "--repeats", "100", "--budget", "0.005"
    )
    assert result.exit_code == 2
    assert "more than its budget of $0.005, so its last conversations would end with the error budget" in result.stderr


def test_a_start_prints_what_it_is_expected_to_cost(cupel: Invoke, definition: str) -> None:
    answer = cupel("run", definition, "--models", "sim/steady", "--repeats", "1000")
    assert answer.exit_code == 0, answer.stderr
    [line] = [line for line in answer.stderr.splitlines() if line.startswith("run run_")]
    assert re.search(r": 1,000 conversations, \$\d+\.\d\d \(\$\d+\.\d\d to \$\d+\.\d\d\)$", line), line


@pytest.mark.parametrize("command", [("retry",), ("expand", "--sample", "100")])
def test_what_adds_probes_to_a_run_asks_too(cupel: Invoke, api: ApiClient, command: tuple[str, ...]) -> None:
    scenarios = tuple(Scenario("", f"{each}", (Message(MessageRole.USER, "Hi"),)) for each in range(4))
    setup = AnsweredRun(
        scenarios=scenarios,
        answer=lambda index: None if index == 0 else "Hello.",
        workspace="acme",
        sample_percentage=50,
        budget=run_budget(0.000001),
    )
    name, *options = command
    words = (name, setup.completed().id, *options)
    refused = cupel(*words)
    assert refused.exit_code == 2
    assert "is expected to cost $" in refused.stderr
    assert "--budget" not in refused.stderr
    assert cupel(*words, answer="n\n").exit_code == 1
    estimated = cupel(*words, "--estimate")
    assert (estimated.exit_code, "the expected cost exceeds the run's budget" in estimated.stdout) == (0, True)
    started = cupel(*words, "--yes")
    assert (started.exit_code, "RUNNING" in started.stdout) == (0, True), started.output
