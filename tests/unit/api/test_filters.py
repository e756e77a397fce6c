"""Sorting, ranges of times, and filters of lists."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cupel_core.base.clock import to_iso
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import encode_cursor
from cupel_core.definitions import catalog
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, Usage
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.runs.transcripts import Summary, Transcript, TranscriptResult
from cupel_core.store import outcomes, runs
from tests.recorded_outcomes import store_outcomes
from tests.unit.api.client import Client

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def names(client: Client) -> list[str]:
    """Of definitions, one per day from START on."""
    assert client.token
    for day in range(4):
        catalog.create("acme", Labels(name=f"day {day}"), {"system": "x"}, START + timedelta(days=day))
    return [f"day {day}" for day in range(4)]


def list_names(client: Client, limit: int = 20, **query: Any) -> list[str]:
    """The names in all pages."""
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        answer = client.get("/v1/definitions", query={"limit": limit, **query, **cursor})
        assert answer.status == 200, answer.text
        found += [one["name"] for one in answer.json()["items"]]
        if not (after := answer.json()["nextCursor"]):
            return found
        cursor = {"cursor": after}


def day(number: int) -> str:
    return to_iso(START + timedelta(days=number))


@pytest.mark.parametrize("limit", [1, 2, 20])
@pytest.mark.parametrize(
    ("query", "days"),
    [
        ({}, [3, 2, 1, 0]),
        ({"sort": "-createdAt"}, [3, 2, 1, 0]),
        ({"sort": "createdAt"}, [0, 1, 2, 3]),
        ({"createdAfter": day(2)}, [3, 2]),
        ({"createdBefore": day(2)}, [1, 0]),
        ({"createdAfter": day(1), "createdBefore": day(3)}, [2, 1]),
        ({"createdAfter": day(1), "createdBefore": day(3), "sort": "createdAt"}, [1, 2]),
        ({"createdAfter": day(2), "sort": "createdAt"}, [2, 3]),
        ({"createdBefore": day(2), "sort": "createdAt"}, [0, 1]),
        ({"createdAfter": day(9)}, []),
        ({"createdAfter": day(1), "search": "day 3"}, [3]),
    ],
)
def test_a_list_has_the_items_of_its_times_in_its_order_whatever_the_page(
    client: Client, names: list[str], query: dict[str, str], days: list[int], limit: int
) -> None:
    assert list_names(client, limit, **query) == [names[number] for number in days]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"sort": "name"}, "sort"),
        ({"createdAfter": "yesterday"}, "createdAfter"),
        ({"createdAfter": "2026-01-01T00:00:00"}, "createdAfter"),
        ({"createdAfter": "0001-01-01T00:00:00+14:00"}, "createdAfter"),
        ({"createdBefore": "9999-12-31T23:59:59-14:00"}, "createdBefore"),
        ({"createdAfter": day(2), "createdBefore": day(2)}, "createdBefore"),
    ],
)
def test_a_sort_or_time_that_is_not_offered_is_named(client: Client, query: dict[str, str], field: str) -> None:
    answer = client.get("/v1/runs", query=query)
    assert (answer.status, answer.fields()) == (422, [field])


def test_a_cursor_of_other_times_is_no_error(client: Client, names: list[str]) -> None:
    cursor = client.get("/v1/definitions", query={"limit": 3}).json()["nextCursor"]
    answer = client.get("/v1/definitions", query={"cursor": cursor, "createdAfter": day(3)})
    assert (answer.status, answer.json()["items"], len(names)) == (200, [], 4)


@pytest.mark.parametrize("position", ["x ²", "x ٣", f"x {'9' * 200}", "x", "x -1"])
def test_a_cursor_that_no_list_of_probes_has_returned_is_named(client: Client, position: str) -> None:
    answer = client.get("/v1/probes", query={"cursor": encode_cursor(position)})
    assert (answer.status, answer.fields()) == (422, ["cursor"])


def transcript(index: int, success: bool | None, decision: str) -> Transcript:
    messages = (Message(MessageRole.USER, "Rate"), Message(MessageRole.ASSISTANT, "4"))
    state = ConversationState(messages, 1, Usage(1, 1), 1, 0.1, "v1")
    result = None if success is None else TranscriptResult(success)
    summary = Summary(decision, "", START)
    return Transcript(index, "scn", "sim/steady", START, state, summary=summary, correction=result)


@pytest.fixture
def run_id(client: Client) -> str:
    """Its transcripts: passed, failed, unscored, passed, …, with the decisions 1, 2, 1, 2, …"""
    created = client.post("/v1/definitions", {"name": "facts", "content": {"system": "Be brief."}}).json()
    client.post(f"/v1/definitions/{created['id']}/scenarios", {"items": [{"prompt": "hello"}]})
    run = {"definitionId": created["id"], "models": ["sim/steady"], "repeats": 12}
    identity = str(client.post("/v1/runs", run).json()["run"]["id"])
    stored = [transcript(index, (True, False, None)[index % 3], str(index % 2 + 1)) for index in range(12)]
    store_outcomes(runs.get(RunRef("acme", identity)), 1, stored)
    for one in stored:  # A correction is stored by a person, not with the transcript.
        outcomes.set_correction(RunRef("acme", identity), one.probe_index, one.correction)
    return identity


def transcripts(client: Client, run_id: str, **query: Any) -> list[int]:
    """The indexes in all pages."""
    found: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        answer = client.get(f"/v1/runs/{run_id}/transcripts", query={**query, **cursor})
        assert answer.status == 200, answer.text
        found += [one["probeIndex"] for one in answer.json()["items"]]
        if not (after := answer.json()["nextCursor"]):
            return found
        cursor = {"cursor": after}


@pytest.mark.parametrize("limit", [1, 3, 20])
@pytest.mark.parametrize(
    ("query", "indexes"),
    [
        ({"result": "passed"}, [0, 3, 6, 9]),
        ({"result": "failed"}, [1, 4, 7, 10]),
        ({"result": "unscored"}, [2, 5, 8, 11]),
        ({"decision": "2"}, [1, 3, 5, 7, 9, 11]),
        ({"decision": "2", "result": "passed"}, [3, 9]),
        ({"tag": "none"}, []),
        ({}, list(range(12))),
    ],
)
def test_transcripts_are_filtered_by_result_decision_and_tag(
    client: Client, run_id: str, query: dict[str, str], indexes: list[int], limit: int
) -> None:
    assert transcripts(client, run_id, limit=limit, **query) == indexes


def test_an_unknown_result_is_refused(client: Client, run_id: str) -> None:
    answer = client.get(f"/v1/runs/{run_id}/transcripts", query={"result": "bad"})
    assert (answer.status, answer.fields()) == (422, ["result"])
