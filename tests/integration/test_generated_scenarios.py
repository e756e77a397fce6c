"""Generation of scenarios by a model, through the queue."""

import pytest

from cupel.client import Client
from tests.eval_api import Json, wait_until
from tests.stacks import ModelServer

CONTENT = {
    "template": "A [stakes] question about [subject].",
    "dimensions": [
        {"name": "stakes", "levels": [{"score": n, "label": f"stakes {n}"} for n in range(1, 6)]},
        {"name": "subject", "levels": [{"score": n, "label": f"subject {n}"} for n in range(1, 25)]},
    ],
}
SIZE = 5 * 24


@pytest.fixture
def definition_id(api: Client) -> str:
    return str(api.create_definition({"name": "written", "content": CONTENT})["id"])


def generate(api: Client, definition_id: str) -> Json:
    started = api.generate_scenarios(definition_id, {"mode": "llm", "model": "custom/writer"})

    def ended() -> Json | None:
        generation = api.get_scenario_generation(definition_id, started["id"])
        return generation if generation["status"] in ("COMPLETED", "ERROR") else None

    return wait_until(ended) or {}


def test_starting_a_generation_returns_at_once(api: Client, models: ModelServer, definition_id: str) -> None:
    models.configure(latencySeconds=0.5)
    started = api.generate_scenarios(definition_id, {"mode": "llm", "model": "custom/writer"})
    assert (started["status"], started["progress"]) == ("QUEUED", {"total": SIZE, "completed": 0})
    wait_until(lambda: api.get_scenario_generation(definition_id, started["id"])["status"] == "COMPLETED")


def test_every_combination_has_one_scenario(api: Client, models: ModelServer, definition_id: str) -> None:
    ended = generate(api, definition_id)
    scores = [tuple(each["dimensions"].values()) for each in api.list_scenarios(definition_id)]
    assert (ended["status"], ended["progress"]) == ("COMPLETED", {"total": SIZE, "completed": SIZE})
    assert sorted(scores) == [(stakes, subject) for stakes in range(1, 6) for subject in range(1, 25)]


def test_a_scenario_has_the_text_of_its_combination(api: Client, models: ModelServer, definition_id: str) -> None:
    models.configure(script=[{"contains": "stakes 4 question about subject 17.", "reply": "  Would you do it?  "}])
    generate(api, definition_id)
    texts = {
        tuple(each["dimensions"].values()): each["messages"][0]["content"] for each in api.list_scenarios(definition_id)
    }
    assert texts[4, 17] == "Would you do it?"
    assert list(texts.values()).count("Would you do it?") == 1


def test_progress_is_visible_during_generation(api: Client, models: ModelServer, definition_id: str) -> None:
    models.configure(latencySeconds=1)
    started = api.generate_scenarios(definition_id, {"mode": "llm", "model": "custom/writer"})
    is_partial = wait_until(
        lambda: 0 < api.get_scenario_generation(definition_id, started["id"])["progress"]["completed"] < SIZE,
        every=0.05,
    )
    assert is_partial
    wait_until(lambda: api.get_scenario_generation(definition_id, started["id"])["status"] == "COMPLETED")


def test_a_rejected_api_key_fails_the_generation_with_its_cause(
    api: Client, models: ModelServer, definition_id: str
) -> None:
    models.configure(script=[{"contains": "", "status": 401, "reply": "the key is not known"}])
    ended = generate(api, definition_id)
    assert ended["status"] == "ERROR"
    assert "the key is not known" in ended["error"]


def test_a_failed_generation_adds_no_scenarios(api: Client, models: ModelServer, definition_id: str) -> None:
    models.configure(script=[{"contains": "stakes 4 question about subject 17.", "status": 401, "reply": "no"}])
    generate(api, definition_id)
    assert list(api.list_scenarios(definition_id)) == []
