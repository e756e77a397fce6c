"""Turns of chats on a complete stack: through the gateway, the queue and the turn function."""

import httpx
import pytest

from cupel.client import Client
from cupel.errors import ApiProblem
from cupel.stack.address import LocalStack
from tests.eval_api import Json, wait_until
from tests.profiles import operation, profile
from tests.stacks import ModelServer


def ended(api: Client, turn: Json) -> Json:
    def over() -> Json | None:
        found = api.get_turn(turn["chatId"], turn["id"])
        return found if found["status"] in ("done", "failed", "aborted") else None

    return wait_until(over, 30) or {}


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
    (found,) = api.list_branch_artifacts(chat["id"], chat["activeBranchId"])
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
    own = {"Authorization": f"Bearer {stack.token}", "Accept": "text/event-stream"}
    url = f"{stack.api_url}/v1/chats/{chat['id']}/turns/{turn['id']}/events?wait=5"
    last, kinds = "0", []
    while True:
        response = httpx.get(url, headers={**own, "Last-Event-ID": last}, timeout=30, trust_env=False)
        if response.status_code == httpx.codes.NO_CONTENT:
            break
        ids = [line.removeprefix("id: ") for line in response.text.splitlines() if line.startswith("id: ")]
        kinds += [line.removeprefix("event: ") for line in response.text.splitlines() if line.startswith("event: ")]
        last = ids[-1] if ids else last
    assert (kinds[0], kinds[-1], len(kinds)) == ("turn.started", "turn.finished", int(last))


def test_a_deleted_chat_is_gone(api: Client, chat: Json) -> None:
    api.start_turn(chat["id"], {"content": "hello"})
    api.delete_chat(chat["id"])
    with pytest.raises(ApiProblem, match="no chat"):
        api.get_chat(chat["id"])
