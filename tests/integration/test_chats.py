"""Turns of chats on a complete stack: through the gateway, the queue and the turn function."""

import json

import httpx
import pytest

from cupel.client import Client
from cupel.errors import ApiProblem
from cupel.stack.address import LocalStack
from tests.eval_api import Json, wait_until
from tests.profiles import operation, profile
from tests.stacks import ModelServer

COUNTED = "one two three four five six seven eight"


def ended(api: Client, turn: Json) -> Json:
    def over() -> Json | None:
        found = api.get_turn(turn["chatId"], turn["id"])
        return found if found["status"] in ("done", "failed", "aborted") else None

    return wait_until(over, 30) or {}


def stream_of(stack: LocalStack, turn: Json) -> list[list[str]]:
    """`[id, event, data]` of each frame, as EventSource gets them."""
    own = {"Authorization": f"Bearer {stack.token}", "Accept": "text/event-stream"}
    url = f"{stack.api_url}/v1/chats/{turn['chatId']}/turns/{turn['id']}/events?wait=5"
    last, frames = "0", list[list[str]]()
    while True:
        response = httpx.get(url, headers={**own, "Last-Event-ID": last}, timeout=30, trust_env=False)
        if response.status_code == httpx.codes.NO_CONTENT:
            return frames
        received = response.text.removeprefix("retry: 250\n\n").split("\n\n")[:-1]
        frames += [[line.partition(": ")[2] for line in frame.splitlines()] for frame in received]
        last = frames[-1][0] if frames else last


@pytest.fixture
def chat(api: Client) -> Json:
    return api.create_chat({"target": {"model": "sim/steady"}})


def test_a_message_is_answered_and_answered_again(api: Client, chat: Json) -> None:
    for body in ({"content": "hello"}, {"trigger": "regenerate"}):
        assert ended(api, api.start_turn(chat["id"], body))["status"] == "done"
    (exchange,) = api.list_exchanges(chat["id"], chat["activeBranchId"])
    assert (exchange["user"]["content"], exchange["answer"]["variantCount"]) == ("hello", 2)


def test_a_profile_runs_around_the_call(api: Client) -> None:
    artifact = {"persistence": "persisted", "writeMode": "append"}
    log = operation("log", params={"template": "{{ user.text }}"}, artifact=artifact)
    created = api.create_profile(profile(log, name="logged"))
    chat = api.create_chat({"target": {"model": "sim/steady"}, "profileId": created["id"]})
    for text in ("one", "two"):
        assert ended(api, api.start_turn(chat["id"], {"content": text}))["status"] == "done"
    (found,) = api.list_branch_artifacts(chat["id"], chat["activeBranchId"], include=["internal"])
    assert (found["value"], found["history"]) == ("one\ntwo", ["one"])


def test_a_call_in_progress_is_aborted(api: Client, models: ModelServer) -> None:
    models.configure(latencySeconds=20)
    chat = api.create_chat({"target": {"model": "custom/bench"}})
    turn = api.start_turn(chat["id"], {"content": "hello"})
    wait_until(lambda: models.counts()["inFlight"])
    with pytest.raises(ApiProblem, match="in progress"):
        api.start_turn(chat["id"], {"content": "again"})
    api.abort_turn(chat["id"], turn["id"])
    assert (ended(api, turn)["status"], ended(api, turn)["abortReason"]) == ("aborted", "user")


def test_events_are_a_stream_that_ends(api: Client, stack: LocalStack, chat: Json) -> None:
    turn = api.start_turn(chat["id"], {"content": "hello"})
    frames = stream_of(stack, turn)
    kinds, last = [kind for _, kind, _ in frames if kind != "main_llm.delta"], frames[-1][0].partition(".")[0]
    assert (kinds[0], kinds[-1], len(kinds)) == ("turn.started", "turn.finished", int(last))


def test_a_deleted_chat_is_gone(api: Client, chat: Json) -> None:
    api.start_turn(chat["id"], {"content": "hello"})
    api.delete_chat(chat["id"])
    with pytest.raises(ApiProblem, match="no chat"):
        api.get_chat(chat["id"])


def test_text_is_read_while_the_model_writes(api: Client, models: ModelServer) -> None:
    """Of a model that breaks off once, and needs two seconds for its answer."""
    models.configure(answer=COUNTED, wordSeconds=0.25, brokenStreams=1)
    chat = api.create_chat({"target": {"model": "custom/bench"}})
    turn = api.start_turn(chat["id"], {"content": "count"})
    deltas = [event for event in api.follow_turn(chat["id"], turn["id"]) if event["type"] == "main_llm.delta"]
    attempts = {attempt: [each for each in deltas if each["attempt"] == attempt] for attempt in (1, 2)}
    assert len(attempts[2]) > 1
    assert "".join(each["text"] for each in attempts[2]) == COUNTED
    void = "".join(each["text"] for each in attempts[1])
    assert void
    assert COUNTED.startswith(void)
    (exchange,) = api.list_exchanges(chat["id"], chat["activeBranchId"])
    assert exchange["answer"]["content"] == COUNTED


def test_a_reader_that_comes_again_goes_on_within_the_text(api: Client, stack: LocalStack, models: ModelServer) -> None:
    models.configure(answer=COUNTED, wordSeconds=0.25)
    chat = api.create_chat({"target": {"model": "custom/bench"}})
    turn = api.start_turn(chat["id"], {"content": "count"})
    frames = stream_of(stack, turn)
    deltas = [json.loads(data) for _, kind, data in frames if kind == "main_llm.delta"]
    assert len(deltas) > 1
    assert [each["offset"] for each in deltas] == [
        sum(len(each["text"]) for each in deltas[:number]) for number in range(len(deltas))
    ]
    assert "".join(each["text"] for each in deltas) == COUNTED
    kinds = [kind for _, kind, _ in frames]
    assert kinds.index("main_llm.finished") == len(kinds) - kinds[::-1].index("main_llm.delta")


def test_an_abort_closes_the_stream(api: Client, models: ModelServer) -> None:
    models.configure(answer="word " * 200, wordSeconds=0.25)
    chat = api.create_chat({"target": {"model": "custom/bench"}})
    turn = api.start_turn(chat["id"], {"content": "count"})
    wait_until(lambda: api.list_turn_events(chat["id"], turn["id"])["text"])
    api.abort_turn(chat["id"], turn["id"])
    assert ended(api, turn)["abortReason"] == "user"
    wait_until(lambda: not models.counts()["inFlight"], 5)
    (exchange,) = api.list_exchanges(chat["id"], chat["activeBranchId"])
    answer = exchange["answer"]
    assert (answer["status"], answer["content"].split()[0]) == ("aborted", "word")
