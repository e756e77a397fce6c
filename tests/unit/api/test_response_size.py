"""Every response fits into Lambda's 6 MB, whatever its records contain."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.base.paging import MAX_LIMIT
from cupel_core.contract.query import MAX_TRANSCRIPTS
from cupel_core.definitions import catalog
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, Usage
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.interfaces.http import operations as http_operations
from cupel_core.store import runs
from tests.added_scenarios import add_scenarios
from tests.recorded_outcomes import store_outcomes
from tests.unit.api.client import Answer, Client

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LAMBDA_LIMIT = 6_291_556


def payload_bytes(answer: Answer) -> int:
    """The size of the function's response, in which the body is a JSON string."""
    body = {"statusCode": answer.status, "headers": answer.headers, "body": answer.text}
    return len(json.dumps(body, ensure_ascii=False).encode())


def all_pages(client: Client, path: str) -> list[Answer]:
    """The pages of a list, in the largest size that a client may request."""
    limit = MAX_TRANSCRIPTS if path.endswith("/transcripts") else MAX_LIMIT
    answers = [client.get(path, query={"limit": limit})]
    while cursor := answers[-1].json()["nextCursor"]:
        answers.append(client.get(path, query={"limit": limit, "cursor": cursor}))
    return answers


def completed_run(client: Client, count: int, answer: str, system: str = "Be brief.") -> str:
    """A run of as many probes, each of which got this answer."""
    definition = catalog.create("acme", Labels(name="dilemma"), {"system": system}, NOW)
    add_scenarios("acme", definition.head.id, [Scenario("", "case", (Message(MessageRole.USER, "Rate"),))])
    body = {"definitionId": definition.head.id, "models": ["sim/steady"], "repeats": count}
    run_id: str = client.post("/v1/runs", body).json()["run"]["id"]
    messages = (Message(MessageRole.USER, "Rate"), Message(MessageRole.ASSISTANT, answer))
    state = ConversationState(messages, 1, Usage(1, 1), 1, 0.1, "v1")
    run = runs.get(RunRef("acme", run_id))
    store_outcomes(run, 1, [Transcript(index, "scn", "sim/steady", NOW, state) for index in range(count)])
    return run_id


def texts(answer: Answer) -> list[str]:
    return [item["content"]["messages"][-1]["content"] for item in answer.json()["items"]]


@pytest.mark.parametrize(
    ("system", "answer"),
    [("x" * 200_000, "4"), ("Be brief.", "\u7684" * 100_000), ("Be brief.", '"\\\n' * 50_000)],
    ids=["long definition", "three bytes per character", "escaped characters"],
)
def test_pages_of_transcripts_fit_into_a_response(client: Client, system: str, answer: str) -> None:
    answers = all_pages(client, f"/v1/runs/{completed_run(client, 40, answer, system)}/transcripts")
    assert [text for page in answers for text in texts(page)] == [answer] * 40
    assert max(map(payload_bytes, answers)) < LAMBDA_LIMIT


@pytest.mark.parametrize(("limit", "lengths"), [(100, [100, 100, 50]), (240, [240, 10]), (MAX_TRANSCRIPTS, [250])])
def test_a_page_of_short_transcripts_has_as_many_as_were_asked_for(
    client: Client, limit: int, lengths: list[int]
) -> None:
    path = f"/v1/runs/{completed_run(client, 250, '4')}/transcripts"
    found, query = list[list[int]](), dict[str, Any](limit=limit)
    while len(found) < len(lengths):
        page = client.get(path, query=query).json()
        found.append([item["probeIndex"] for item in page["items"]])
        query["cursor"] = page["nextCursor"]
    assert query["cursor"] is None
    assert list(map(len, found)) == lengths
    assert [index for page in found for index in page] == list(range(250))


def test_the_longest_texts_of_a_transcript_that_exceeds_a_response_are_cut(client: Client) -> None:
    run_id = completed_run(client, 2, "\u7684" * 3_000_000)
    answers = all_pages(client, f"/v1/runs/{run_id}/transcripts")
    single = client.get(f"/v1/transcripts/{run_id}-0")
    assert max(map(payload_bytes, [*answers, single])) < LAMBDA_LIMIT
    (text,), (_,) = map(texts, answers)
    assert text.endswith("… [cut: 3,000,000 characters]")
    assert single.json()["content"]["messages"][-1]["content"] == text
    assert single.json()["definitionSnapshot"]["system"] == "Be brief."


def persona(number: int) -> dict[str, Any]:
    return {"name": f"persona {number}", "systemPrompt": "p" * 1_000}


def test_a_page_of_stored_resources_ends_before_its_limit_of_bytes(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        assert client.post("/v1/personas", persona(number)).status == 201
    monkeypatch.setattr(http_operations, "MAX_PAGE_BYTES", 3_000)
    answers = all_pages(client, "/v1/personas")
    assert [len(answer.json()["items"]) for answer in answers] == [2, 2, 1]
    names = [item["name"] for answer in answers for item in answer.json()["items"]]
    assert names == [f"persona {number}" for number in (4, 3, 2, 1, 0)]
