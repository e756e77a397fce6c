"""Lists that have more items than the response say so in `extensions.truncated`."""

from typing import Any

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Content, DecisionMethod
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from tests.answered_runs import AnsweredRun
from tests.unit.graphqlapi.conftest import GraphqlClient

TRANSCRIPTS = "query ($id: ID!, $limit: Int) { run(id: $id) { transcripts(limit: $limit) { modelId } } }"
MODELS = ("sim/steady", "sim/bold")


def run_of(scenarios: int, definition_id: str | None = None) -> Run:
    asked = (Message(MessageRole.USER, "?"),)
    return AnsweredRun(
        tuple(Scenario("", f"case {number}", asked) for number in range(scenarios)),
        MODELS,
        answer=lambda index: f"Rating: {index % 5 + 1}",
        content=Content(decision=DecisionMethod(pattern="Rating: ([1-5])")),
        workspace="acme",
        definition_id=definition_id,
    ).completed()


def read(client: GraphqlClient, query: str, variables: dict[str, Any]) -> tuple[Any, list[str]]:
    """Return the data, and the lists that were cut."""
    answer = client.execute(query, variables)
    assert "errors" not in answer
    return answer["data"], answer.get("extensions", {}).get("truncated", [])


def test_all_transcripts_of_a_small_run_are_answered_without_a_limit(client: GraphqlClient) -> None:
    run = run_of(24)
    data, cut = read(client, TRANSCRIPTS, {"id": run.id})
    assert (len(data["run"]["transcripts"]), cut) == (48, [])


def test_a_larger_list_of_transcripts_is_cut_with_a_sign(client: GraphqlClient) -> None:
    run = run_of(51)
    data, cut = read(client, TRANSCRIPTS, {"id": run.id})
    assert (len(data["run"]["transcripts"]), cut) == (100, ["run.transcripts"])


def test_a_limit_that_leaves_items_out_is_named_and_one_that_does_not_is_not(client: GraphqlClient) -> None:
    run = run_of(2)
    assert read(client, TRANSCRIPTS, {"id": run.id, "limit": 3})[1] == ["run.transcripts"]
    assert read(client, TRANSCRIPTS, {"id": run.id, "limit": 4})[1] == []


def test_lists_within_lists_are_named_once(client: GraphqlClient) -> None:
    body = {"name": "rating", "content": {"template": "Rate it"}}
    definition_id = client.post("/v1/definitions", body).json()["id"]
    for _ in range(3):
        run_of(11, definition_id)
    query = "query ($id: ID!, $limit: Int!) { definition(id: $id) { runs(limit: $limit) { transcripts { id } } } }"
    data, cut = read(client, query, {"id": definition_id, "limit": 2})
    assert [len(run["transcripts"]) for run in data["definition"]["runs"]] == [20, 20]
    assert set(cut) == {"definition.runs", "definition.runs.transcripts"}
    assert read(client, query, {"id": definition_id, "limit": 3})[1] == ["definition.runs.transcripts"]


def test_offsets_continue_a_list_to_its_end(client: GraphqlClient) -> None:
    for name in "abc":
        client.post("/v1/personas", {"name": name, "description": "d", "systemPrompt": "p"})
    query = "query ($offset: Int!, $limit: Int!) { personas(offset: $offset, limit: $limit) { name } }"
    first, cut = read(client, query, {"offset": 0, "limit": 2})
    last, rest = read(client, query, {"offset": 2, "limit": 2})
    assert (len(first["personas"]), cut, len(last["personas"]), rest) == (2, ["personas"], 1, [])
