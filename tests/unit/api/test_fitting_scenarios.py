"""Starts are refused if scenarios cannot be told apart, asked or scored, by whatever way the definition was stored."""

from typing import Any

import pytest

from cupel_core.runs import validation
from tests.unit.api.client import Answer, Client


def definition(client: Client, content: dict[str, Any], *items: dict[str, Any]) -> str:
    body = {"name": "x", "content": {"system": "Be brief.", **content}, "scenarios": list(items)}
    created = client.post("/v1/definitions", body)
    assert created.status == 201, created.text
    return str(created.json()["id"])


def question(name: str, **variables: Any) -> dict[str, Any]:
    return {"name": name, "prompt": "Hi", "metadata": {"vars": variables}}


def start(client: Client, definition_id: str, **changes: Any) -> Answer:
    return client.post("/v1/runs", {"definitionId": definition_id, "models": ["sim/steady"], **changes})


def messages(answer: Answer) -> list[str]:
    assert (answer.status, set(answer.fields())) == (422, {"definitionId"}), answer.text
    return [error["message"] for error in answer.json()["errors"]]


def check(value: Any) -> dict[str, Any]:
    return {"assertions": [{"type": "contains", "value": value}]}


@pytest.mark.parametrize(
    ("content", "item", "message"),
    [
        (
            check("{{capital}}"),
            question("France", city="Paris"),
            "content.assertions.0.value: scenario 1 (France) has no variable {{capital}};"
            " add capital to its metadata.vars",
        ),
        (
            {},
            {**question("France", city="Paris"), **check("{{land}}")},
            "scenarios.0.assertions.0.value: scenario 1 (France) has no variable {{land}};"
            " add land to its metadata.vars",
        ),
        (
            {"assertions": [{"type": "assert-set", "assert": [{"type": "equals", "value": "{{city.name}}"}]}]},
            question("France", city="Paris"),
            "content.assertions.0.assert.0.value: scenario 1 (France) has no variable {{city.name}};"
            " add city.name to its metadata.vars",
        ),
        (
            {"prompts": [{"id": "asked", "template": "What about [capital]?"}]},
            question("France", city="Paris"),
            "scenario 1 (France): the prompt asked needs a value for [capital], which the scenario does not have",
        ),
    ],
)
def test_what_a_scenario_lacks_is_named_before_the_run(
    client: Client, content: dict[str, Any], item: dict[str, Any], message: str
) -> None:
    definition_id = definition(client, content, item)
    assert messages(start(client, definition_id)) == [message]
    estimated = client.post("/v1/runs/estimate", {"definitionId": definition_id, "models": ["sim/steady"]})
    assert messages(estimated) == [message]
    assert client.get("/v1/runs").json()["items"] == []


def test_variables_that_are_there_or_escaped_are_no_hindrance(client: Client) -> None:
    content = check([r"\{{capital}}", "{{city}}", "{{at.once}}"])
    definition_id = definition(client, content, question("France", city="Paris", at={"once": 1}))
    assert start(client, definition_id).status == 201


def test_scenarios_may_have_one_name(client: Client) -> None:
    """Suites of other tools have tests with one description; results name a scenario by its id."""
    definition_id = definition(client, {}, question("France"), question("Spain"), question("France"))
    assert start(client, definition_id).status == 201


def test_only_the_scenarios_of_the_run_are_checked(client: Client) -> None:
    content = check("{{city}}")
    definition_id = definition(client, content, question("France", city="Paris"), question("Spain"))
    listed = client.get(f"/v1/definitions/{definition_id}/scenarios").json()["items"]
    by_name = {each["name"]: each["id"] for each in listed}
    trial = {"model": "sim/steady", "definitionId": definition_id}
    assert client.post("/v1/playground/runs", {**trial, "scenarioId": by_name["France"]}).status == 201
    assert client.post("/v1/playground/runs", {**trial, "scenarioId": by_name["Spain"]}).status == 422


def test_a_run_that_was_started_once_can_be_repeated(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    definition_id = definition(client, check("{{city}}"), question("Spain"))
    with monkeypatch.context() as before_the_check:
        before_the_check.setattr(validation, "misfits", lambda *_: ())
        run_id = start(client, definition_id).json()["run"]["id"]
    assert client.post(f"/v1/runs/{run_id}/rerun", {}).status == 201


def test_few_pages_of_a_large_definition_are_read(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cupel_core.store.scenarios.PAGE_SIZE", 2)
    monkeypatch.setattr(validation, "MAX_CHECKED_BYTES", 1)
    items = [*(question(f"{number}", city="Paris") for number in range(2)), question("Spain")]
    assert start(client, definition(client, check("{{city}}"), *items)).status == 201
    assert start(client, definition(client, check("{{city}}"), *reversed(items))).status == 422
