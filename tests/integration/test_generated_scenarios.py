"""Scenarios that a model writes, as queued work."""

import pytest

from cupel.client import Client
from tests.eval_api import Json, until
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
    begun = api.generate_scenarios(definition_id, {"mode": "llm", "model": "custom/writer"})

    def ended() -> Json | None:
        generation = api.generation(definition_id, begun["id"])
        return generation if generation["status"] in ("COMPLETED", "ERROR") else None

    return until(ended) or {}


def test_a_generation_is_queued_and_not_awaited(api: Client, models: ModelServer, definition_id: str) -> None:
    models.behave(latencySeconds=0.5)
    begun = api.generate_scenarios(definition_id, {"mode": "llm", "model": "custom/writer"})
    assert (begun["status"], begun["progress"]) == ("QUEUED", {"total": SIZE, "completed": 0})
    until(lambda: api.generation(definition_id, begun["id"])["status"] == "COMPLETED")


def test_every_combination_is_written_once(api: Client, models: ModelServer, definition_id: str) -> None:
    ended = generate(api, definition_id)
    scores = [tuple(each["dimensions"].values()) for each in api.scenarios(definition_id)]
    assert (ended["status"], ended["progress"]) == ("COMPLETED", {"total": SIZE, "completed": SIZE})
    assert sorted(scores) == [(stakes, subject) for stakes in range(1, 6) for subject in range(1, 25)]


def test_a_scenario_has_the_text_of_its_own_combination(api: Client, models: ModelServer, definition_id: str) -> None:
    models.behave(script=[{"contains": "stakes 4 question about subject 17.", "reply": "  Would you do it?  "}])
    generate(api, definition_id)
    texts = {
        tuple(each["dimensions"].values()): each["messages"][0]["content"] for each in api.scenarios(definition_id)
    }
    assert texts[4, 17] == "Would you do it?"
    assert list(texts.values()).count("Would you do it?") == 1


def test_progress_is_told_while_texts_are_written(api: Client, models: ModelServer, definition_id: str) -> None:
    models.behave(latencySeconds=1)
    begun = api.generate_scenarios(definition_id, {"mode": "llm", "model": "custom/writer"})
    seen = until(lambda: 0 < api.generation(definition_id, begun["id"])["progress"]["completed"] < SIZE, every=0.05)
    assert seen
    until(lambda: api.generation(definition_id, begun["id"])["status"] == "COMPLETED")


def test_a_refused_key_ends_a_generation_with_its_cause(api: Client, models: ModelServer, definition_id: str) -> None:
    models.behave(script=[{"contains": "", "status": 401, "reply": "the key is not known"}])
    ended = generate(api, definition_id)
    assert ended["status"] == "ERROR"
    assert "the key is not known" in ended["error"]


def test_what_could_not_be_written_leaves_no_scenarios(api: Client, models: ModelServer, definition_id: str) -> None:
    models.behave(script=[{"contains": "stakes 4 question about subject 17.", "status": 401, "reply": "no"}])
    generate(api, definition_id)
    assert list(api.scenarios(definition_id)) == []
