"""Requests that wait for an event, a job or a server of others, beside as many as a token may have."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from cupel_core.domain.access import AccessRole, Caller
from cupel_core.store.settings import Settings
from cupel_core.workspace.access.waiting import may_wait
from tests.operations import OPENAI_OPERATIONS, OPERATIONS
from tests.unit.api.client import Client
from tests.unit.api.test_chat_turns import chat_id as chat_id
from tests.unit.api.test_chat_turns import start

pytestmark = pytest.mark.usefixtures("others_wait")


@pytest.fixture
def others_wait(client: Client) -> Iterator[None]:
    """Let as many requests of the client's token wait as may."""
    session = client.get("/v1/session").json()
    caller = Caller("acme", AccessRole.ADMIN, session["tokenId"])
    with ExitStack() as stack:
        assert all(stack.enter_context(may_wait(caller, 20)) for _ in range(3))
        yield


@pytest.fixture
def events(client: Client, chat_id: str) -> str:
    turn = start(client, chat_id).json()
    return f"/v1/chats/{chat_id}/turns/{turn['id']}/events"


def test_a_further_long_poll_is_answered_at_once_and_told_when_to_ask_again(client: Client, events: str) -> None:
    seen = client.get(events).json()["items"]
    answer = client.get(events, query={"wait": 20, "after": seen[-1]["seq"] if seen else 0})
    assert (answer.status, answer.headers["Retry-After"], answer.json()["items"]) == (200, "5", [])


def test_a_further_event_stream_is_told_when_to_reconnect(client: Client, events: str) -> None:
    query = {"wait": 20, "after": 99}
    answer = client.get(events, query=query, headers={"Accept": "text/event-stream"})
    assert (answer.status, answer.headers["Retry-After"], answer.text) == (200, "5", "retry: 5000\n\n")


def test_a_read_that_does_not_wait_is_not_told_to_come_later(client: Client, events: str) -> None:
    assert "Retry-After" not in client.get(events, query={"after": 99}).headers


def test_a_poll_that_has_news_is_not_told_to_come_later(client: Client, events: str) -> None:
    assert client.post(events.replace("/events", "/abort")).status == 200
    answer = client.get(events, query={"wait": 20})
    assert (answer.json()["status"], "Retry-After" in answer.headers) == ("aborted", False)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/judge/criteria", {"model": "sim/steady", "messages": [{"role": "user", "content": "a"}]}),
        ("/v1/webhook/test", None),
        ("/v1/connectors/con_unknown/test", None),
    ],
)
def test_a_further_request_to_a_server_of_others_is_refused(
    client: Client, path: str, body: dict[str, object] | None
) -> None:
    answer = client.post(path, body)
    assert (answer.status, answer.headers["Retry-After"]) == (429, "5")
    assert answer.json()["title"] == "Too many waiting requests"


def test_requests_of_others_are_not_refused(client: Client, cloud: Settings) -> None:
    other = client.issue(role=AccessRole.MEMBER)
    assert client.post("/v1/connectors/con_unknown/test", token=other).status == 404
    del cloud


def test_operations_that_call_servers_of_others_are_declared() -> None:
    declared = {each.id for each in (*OPERATIONS.values(), *OPENAI_OPERATIONS.values()) if each.calls_others}
    assert declared == {
        "generatePersonaMessage",
        "judgeConversation",
        "listServedModels",
        "runOpenAIGrader",
        "testConnector",
        "testWebhook",
    }
