"""Figures by group of cases, over HTTP, by the command and in process."""

from typing import Any

import pytest

import cupel
from cupel.errors import UsageError
from cupel_core.analysis import breakdowns
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Content, DecisionMethod
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.store.settings import Settings
from tests.answered_runs import RatedRun
from tests.unit.api.client import Client
from tests.unit.cupel.api_function import command_of, connect_to_api_function

MODELS = ("sim/steady", "sim/bold")


def asked_in(language: str | None, number: int) -> Scenario:
    metadata = {"vars": {"question": f"What is {number}?"}} | ({"language": language} if language else {})
    return Scenario("", f"question {number}", (Message(MessageRole.USER, "?"),), metadata=metadata)


CASES = tuple(asked_in("de" if number < 8 else "fr" if number < 14 else None, number) for number in range(15))


@pytest.fixture
def run(cloud: Settings) -> Run:
    """The first target passes in German only, the second always; both answer 1 to 5 in turn."""
    return RatedRun(
        CASES,
        MODELS,
        answer=lambda index: None if index == 29 else f"Rating: {index % 5 + 1}",
        scoring=lambda index: Scoring(index < 8 or index >= len(CASES), 0.5, "why"),
        content=Content(decision=DecisionMethod(pattern="Rating: ([1-5])")),
        workspace="acme",
        persona=Persona("per_1", "Ada"),
    ).completed()


def test_every_group_has_the_figures_of_every_target(client: Client, run: Run) -> None:
    found = client.get(f"/v1/runs/{run.id}/analysis/breakdown", query={"by": "language"}).json()
    assert (found["by"], found["runId"], found["rescoreId"]) == ("language", run.id, None)
    assert found["fields"] == [{"name": "language", "values": 2}]
    rows = [
        (group["value"], group["scenarios"], column["targetId"], column["estimate"]["passRate"]["share"])
        for group in found["groups"]
        for column in group["columns"]
    ]
    assert rows == [
        ("de", 8, "sim/steady", 1.0),
        ("de", 8, "sim/bold", 1.0),
        ("fr", 6, "sim/steady", 0.0),
        ("fr", 6, "sim/bold", 1.0),
        (None, 1, "sim/steady", 0.0),
        (None, 1, "sim/bold", None),
    ]
    of_german = found["groups"][0]["columns"][0]["estimate"]
    assert of_german["decision"]["mean"] == pytest.approx(sum([1, 2, 3, 4, 5, 1, 2, 3]) / 8)
    assert found["groups"][-1]["columns"][1]["estimate"]["errored"] == 1


def test_the_groups_of_the_persona_are_called_by_its_name(client: Client, run: Run) -> None:
    [group] = client.get(f"/v1/runs/{run.id}/analysis/breakdown", query={"by": "persona"}).json()["groups"]
    assert (group["value"], group["scenarios"]) == ("Ada", 15)


def test_a_run_that_goes_on_has_the_figures_of_its_outcomes(client: Client) -> None:
    run = RatedRun(CASES, MODELS, answer=lambda index: f"Rating: {index % 5 + 1}", workspace="acme").start()
    found = client.get(f"/v1/runs/{run.id}/analysis/breakdown", query={"by": "language"}).json()
    assert [(group["value"], group["columns"][0]["estimate"]["completed"]) for group in found["groups"]] == [
        ("de", 8),
        ("fr", 6),
        (None, 1),
    ]


def test_without_a_name_there_are_only_the_fields(client: Client, run: Run) -> None:
    found = client.get(f"/v1/runs/{run.id}/analysis/breakdown").json()
    assert (found["by"], found["groups"], [each["name"] for each in found["fields"]]) == (None, [], ["language"])


@pytest.mark.parametrize("by", ["langauge", "vars", ""])
def test_a_name_that_groups_nothing_is_refused(client: Client, run: Run, by: str) -> None:
    refused = client.get(f"/v1/runs/{run.id}/analysis/breakdown", query={"by": by})
    assert (refused.status, refused.fields()) == (422, ["by"])


def test_a_run_that_is_too_large_is_refused(client: Client, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breakdowns, "MAX_CELLS", 29)
    refused = client.get(f"/v1/runs/{run.id}/analysis/breakdown", query={"by": "language"})
    assert (refused.status, "30 combinations" in refused.json()["detail"]) == (422, True)


@pytest.mark.parametrize("name", ["analyze", "scores"])
def test_a_command_shows_a_row_per_group_and_target(run: Run, name: str) -> None:
    shown = command_of(connect_to_api_function())(name, run.id, "--by", "language").stdout
    lines = [line.split() for line in shown.splitlines()]
    assert lines[0][:3] == ["language", "target", "scenarios"]
    assert lines[3][:7] == ["fr", "sim/steady", "6", "6", "0", "6", "0.0%"]
    assert lines[5][:2] == ["–", "sim/steady"]
    assert "–: conversations without a value of language" in shown


def test_a_command_names_what_can_be_grouped_by(run: Run) -> None:
    refused = command_of(connect_to_api_function())("analyze", run.id, "--by", "topic")
    assert refused.exit_code != 0
    assert "by: no scenario has a value named topic to group by; the run can be grouped by language" in refused.stderr


def definition() -> dict[str, Any]:
    scenarios = [
        {"name": f"{number}", "prompt": "Rate it", "metadata": {"topic": "odd" if number % 2 else "even"}}
        for number in range(6)
    ]
    return {
        "name": "topics",
        "content": {"assertions": [{"type": "contains", "value": "Rate"}]},
        "personas": [{"name": "Ada"}, {"name": "Ben"}],
        "scenarios": scenarios,
    }


def test_an_evaluation_in_process_has_them_by_the_same_names() -> None:
    evaluation = cupel.evaluate(definition(), ["sim/echo"], personas=["Ada", "Ben"])
    assert [group["value"] for group in evaluation.breakdown("persona")["groups"]] == ["Ada", "Ben"]
    found = evaluation.breakdown("topic")
    assert [(group["value"], group["scenarios"]) for group in found["groups"]] == [("even", 3), ("odd", 3)]
    assert [each["name"] for each in found["fields"]] == ["persona", "topic"]
    passes = found["groups"][0]["columns"][0]["estimate"]["passRate"]
    assert (passes["successes"], passes["trials"], passes["scenarios"]) == (6, 6, 3)
    with pytest.raises(UsageError, match="by: no scenario has a value named category"):
        evaluation.breakdown("category")
