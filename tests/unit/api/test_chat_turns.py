"""Turns of chats, from the request over HTTP to the end by a worker."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cupel_core.base import event_loop
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import ChatRef, TurnOrder
from cupel_core.chats import branches, endings, exchanges, progress, worker
from cupel_core.chats import turns as chat_turn_rules
from cupel_core.chats.drafts import DraftWriter
from cupel_core.chats.journal import TurnJournal
from cupel_core.chats.worker import WorkResult
from cupel_core.domain.chats.branches import PointerPage, Pointers
from cupel_core.domain.chats.turns import CLAIM, TurnPhase
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.interfaces.http import idempotency as api_idempotency
from cupel_core.interfaces.http import operations as http_operations
from cupel_core.providers.connectors import dispatch
from cupel_core.providers.errors import ProviderError
from cupel_core.store import blobs, chat_branches, chat_turns, chats, clients, idempotency_keys, queues
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.erasure import erase_due
from cupel_core.workspace.sweeping.turn_recovery import recover_turns
from tests.profiles import operation, profile
from tests.stored_text import places_with
from tests.unit.api.client import Answer, Client
from tests.unit.api.test_chats import MARKER, branch_of, change, created, said, texts

CONFLICT = ClientError(
    {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": [{"Code": "TransactionConflict"}]},
    "TransactWriteItems",
)


class Model:
    """Answers instead of the simulated models, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[tuple[str, str]]] = []
        self.parameters: list[ModelParameters] = []
        self.answers: list[str | BaseException] = []
        self.during: Any = None

    async def complete(self, name: str, request: ModelRequest) -> Reply:
        self.asked.append([(str(each.role), each.content) for each in request.messages])
        self.parameters.append(request.parameters)
        if self.during is not None:
            await self.during()
        answer = self.answers.pop(0) if self.answers else f"answer {len(self.asked)}"
        if isinstance(answer, BaseException):
            raise answer
        return Reply(answer, name, Usage(10, 5), "stop")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    from cupel_core.providers import sim

    answering = Model()
    monkeypatch.setattr(sim, "complete", answering.complete)
    return answering


@pytest.fixture
def chat_id(client: Client) -> str:
    return created(client, system="Be brief.")


def start(client: Client, chat_id: str, content: str | None = "hello", **fields: object) -> Answer:
    body = {**fields, **({"content": content} if content is not None else {})}
    return client.post(f"/v1/chats/{chat_id}/turns", body)


def orders(cloud: Settings) -> list[TurnOrder]:
    url = cloud.turn_queue_url
    received = clients.sqs().receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
    for message in received:
        clients.sqs().delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return [TurnOrder.model_validate_json(message["Body"]) for message in received]


def work(cloud: Settings) -> list[WorkResult]:
    return [event_loop.run(worker.work(order, lambda: 290.0)) for order in orders(cloud)]


def finished_turn(
    client: Client, cloud: Settings, chat_id: str, content: str | None = "hello", **fields: object
) -> Any:
    answer = start(client, chat_id, content, **fields)
    assert answer.status == 201, answer.text
    work(cloud)
    return turn_of(client, chat_id, answer.json()["id"])


def turn_of(client: Client, chat_id: str, turn_id: str) -> Any:
    return client.get(f"/v1/chats/{chat_id}/turns/{turn_id}").json()


def events(client: Client, chat_id: str, turn_id: str, after: int = 0) -> list[Any]:
    path = f"/v1/chats/{chat_id}/turns/{turn_id}/events"
    return list(client.get(path, query={"after": after}).json()["items"])


def test_a_message_is_answered(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    accepted = start(client, chat_id)
    assert client.get(accepted.headers["Location"]).json() == accepted.json()
    assert (accepted.json()["status"], accepted.json()["phase"]) == ("queued", "planning")
    assert work(cloud) == [WorkResult.ENDED]
    turn = turn_of(client, chat_id, accepted.json()["id"])
    assert (turn["status"], turn["phase"], turn["failedType"]) == ("done", "finished", None)
    assert (turn["main"]["finishReason"], turn["main"]["usage"]["inputTokens"]) == ("completed", 10)
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", "answer 1"]]
    assert model.asked == [[("system", "Be brief."), ("user", "hello")]]


def test_the_prompt_has_what_the_branch_shows(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    branch_id = branch_of(client, chat_id)
    finished_turn(client, cloud, chat_id, "one")
    second = finished_turn(client, cloud, chat_id, "two")
    change(client, chat_id, branch_id, f"{second['exchangeId']}.answer", {"content": "edited"})
    first = client.get(f"/v1/chats/{chat_id}/branches/{branch_id}/exchanges").json()["items"][-1]["id"]
    change(client, chat_id, branch_id, f"{first}.user", {"hidden": True})
    third = finished_turn(client, cloud, chat_id, "three")
    said = [("assistant", "answer 1"), ("user", "two"), ("assistant", "edited"), ("user", "three")]
    assert model.asked[-1] == [("system", "Be brief."), *said]
    prompt = client.get(f"/v1/chats/{chat_id}/turns/{third['id']}/prompt").json()["messages"]
    assert [(each["role"], each["content"]) for each in prompt] == model.asked[-1]


def test_the_history_limit_leaves_out_the_oldest(client: Client, cloud: Settings, model: Model) -> None:
    chat_id = created(client, historyLimit=1)
    for text in ("one", "two", "three"):
        finished_turn(client, cloud, chat_id, text)
    assert model.asked[-1] == [("user", "two"), ("assistant", "answer 2"), ("user", "three")]


def test_the_last_message_is_answered_again(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    first = finished_turn(client, cloud, chat_id)
    again = finished_turn(client, cloud, chat_id, None, trigger="regenerate")
    assert again["exchangeId"] == first["exchangeId"]
    assert model.asked[1] == model.asked[0]
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", "answer 2"]]
    path = f"/v1/chats/{chat_id}/messages/{first['exchangeId']}.answer/variants"
    assert [each["content"] for each in client.get(path).json()["items"]] == ["answer 1", "answer 2"]


def test_a_prompt_has_a_limit_and_whole_exchanges(client: Client, cloud: Settings, model: Model) -> None:
    chat_id = created(client)
    for number in range(11):
        finished_turn(client, cloud, chat_id, f"{number}{'x' * 99_990}")
    assert [content[:2] for _, content in model.asked[-1]][:2] == ["1x", "an"]


def test_exchanges_for_which_a_prompt_has_no_room_are_not_all_read(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat_id = created(client, historyLimit=200)
    said(chat_id, branch_of(client, chat_id), *(f"{number} " * 4_000 for number in range(1_000, 1_060)))
    read: list[str] = []
    get_json = blobs.get_json

    def noted(key: str) -> Any:
        read.append(key)
        return get_json(key)

    monkeypatch.setattr(blobs, "get_json", noted)
    finished_turn(client, cloud, chat_id)
    assert (len(model.asked[0]), len(read)) == (2 * 24 + 1, 2 * 50)


def test_long_settings_and_annotations_are_stored(client: Client, cloud: Settings, model: Model) -> None:
    """An item has at most 400 KB: these take more in UTF-8."""
    system, note = "\U0001f600" * 87_000, {"type": "turn.assistant.annotate"}
    template = f"{{% for _ in range(9) %}}{'\U0001f600' * 10_000}{{% endfor %}}"
    long = operation("long", hooks=["after_main_llm"], params={"template": template}, effects=[note] * 2)
    profile_id = client.post("/v1/profiles", profile(long)).json()["id"]
    chat_id = created(client, system=system, profileId=profile_id)
    turn = finished_turn(client, cloud, chat_id)
    assert turn["status"] == "done"
    assert client.get(f"/v1/chats/{chat_id}").json()["system"] == system
    assert client.request("PATCH", f"/v1/chats/{chat_id}", json={"title": "x"}).json()["system"] == system
    answer = client.get(f"/v1/chats/{chat_id}/branches/{turn['branchId']}/exchanges").json()["items"][0]["answer"]
    assert [len(each) for each in answer["annotations"]] == [90_000] * 2


def test_a_turn_ends_whose_report_is_longer_than_an_item(client: Client, cloud: Settings, model: Model) -> None:
    """Each row has an error that names what cannot be called: the user's message, in six bytes a character."""
    failing = {"type": "turn.assistant.annotate", "template": "{{ user[user.text]() }}"}
    operations = [operation(f"o{number}", hooks=["after_main_llm"], effects=[failing] * 10) for number in range(18)]
    profile_id = client.post("/v1/profiles", profile(*operations)).json()["id"]
    chat_id = created(client, profileId=profile_id)
    turn = finished_turn(client, cloud, chat_id, "\u6f22" * 430)
    assert [len(each["error"]) > 430 for each in turn["commits"]] == [True] * 180
    told = [each["data"] for each in events(client, chat_id, turn["id"]) if each["type"] == "commit.finished"]
    assert told == [{"report": turn["commits"]}]


def test_a_turn_that_was_to_be_aborted_makes_no_call(
    client: Client, cloud: Settings, model: Model, chat_id: str
) -> None:
    turn_id = start(client, chat_id).json()["id"]
    chat_turns.request_abort(ChatRef("acme", chat_id), turn_id, utc_now())
    assert work(cloud) == [WorkResult.ENDED]
    assert (turn_of(client, chat_id, turn_id)["abortReason"], model.asked) == ("user", [])


def test_an_empty_branch_has_nothing_to_answer_again(client: Client, chat_id: str) -> None:
    assert start(client, chat_id, None, trigger="regenerate").status == 409


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"content": " "},
        {"trigger": "regenerate", "content": "x"},
        {"content": "x", "deadlineMs": 999},
        {"content": "x" * 100_001},
        {"content": "x", "profileId": "prof_none"},
        {"content": "x", "clientRequestId": "ü"},
    ],
)
def test_a_request_that_cannot_be_answered_is_refused(client: Client, chat_id: str, body: dict[str, object]) -> None:
    assert client.post(f"/v1/chats/{chat_id}/turns", body).status == 422


def test_a_branch_holds_one_turn_at_a_time(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    turn = start(client, chat_id).json()
    branch_id = branch_of(client, chat_id)
    assert client.get(f"/v1/chats/{chat_id}/branches/{branch_id}").json()["openTurnId"] == turn["id"]
    refused = start(client, chat_id)
    assert (refused.status, turn["id"] in refused.json()["detail"]) == (409, True)
    assert change(client, chat_id, branch_id, f"{turn['exchangeId']}.user", {"hidden": True}).status == 409
    fork = client.post(f"/v1/chats/{chat_id}/branches", {}).json()["id"]
    assert start(client, chat_id, "beside", branchId=fork).status == 201
    assert work(cloud) == [WorkResult.ENDED] * 2
    assert texts(client, chat_id, branch_id) == [["hello", "answer 1"]]
    assert start(client, chat_id).status == 201


def test_the_same_request_starts_one_turn(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    first = start(client, chat_id, clientRequestId="one").json()
    assert start(client, chat_id, clientRequestId="one").json()["id"] == first["id"]
    assert len(orders(cloud)) == 2, "the order may have been lost"
    assert start(client, chat_id, "other", clientRequestId="one").fields() == ["clientRequestId"]
    event_loop.run(worker.work(TurnOrder(workspace="acme", chat_id=chat_id, turn_id=first["id"]), lambda: 290.0))
    assert start(client, chat_id, clientRequestId="one").json()["status"] == "done"
    assert len(texts(client, chat_id, branch_of(client, chat_id))) == 1


def take_slots(workspace: str, number: int) -> list[str]:
    now, workers = utc_now(), [f"{workspace}-{each}" for each in range(number)]
    assert all(worker.take_slot(workspace, worker_id, now) for worker_id in workers)
    return workers


def test_a_turn_waits_while_its_workspace_has_enough_in_progress(
    client: Client, cloud: Settings, model: Model, chat_id: str
) -> None:
    busy = take_slots("acme", 16)
    turn = start(client, chat_id).json()
    assert work(cloud) == [WorkResult.WAITING]
    assert turn_of(client, chat_id, turn["id"])["status"] == "queued"
    assert queues.get_depth(cloud.turn_queue_url).total == 1, "its order is sent again, with a delay"
    worker.release_slot(busy[0])
    order = TurnOrder(workspace="acme", chat_id=chat_id, turn_id=turn["id"], waits=1)
    assert event_loop.run(worker.work(order, lambda: 290.0)) is WorkResult.ENDED


def test_a_turn_does_not_wait_for_those_of_another_workspace(
    client: Client, cloud: Settings, model: Model, chat_id: str
) -> None:
    take_slots("greedy", 16)
    start(client, chat_id)
    assert work(cloud) == [WorkResult.ENDED]


def test_a_turn_gives_its_slot_back(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    finished_turn(client, cloud, chat_id)
    assert take_slots("acme", 16)


@pytest.mark.parametrize("made", ["turns", "branches"])
def test_what_an_idempotency_key_has_made_is_not_made_again(
    client: Client, cloud: Settings, model: Model, chat_id: str, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    """The first request ends after its transaction, and is repeated once the turn is over."""
    body = {"content": "hello"} if made == "turns" else {}
    path, key = f"/v1/chats/{chat_id}/{made}", {"Idempotency-Key": "one"}
    before = len(client.get(path).json()["items"])
    with monkeypatch.context() as patched:
        patched.setattr(idempotency_keys, "answer", _die)
        with suppress(SystemError):
            client.post(path, body, headers=key)
    work(cloud)
    monkeypatch.setattr(api_idempotency, "utc_now", lambda: utc_now() + timedelta(minutes=1))
    assert client.post(path, body, headers=key).status == 409
    assert len(client.get(path).json()["items"]) == before + 1


def test_a_repeated_order_asks_the_model_once(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    start(client, chat_id)
    (order,) = orders(cloud)
    results = [event_loop.run(worker.work(order, lambda: 290.0)) for _ in range(2)]
    assert results == [WorkResult.ENDED, WorkResult.NOTHING]
    assert len(model.asked) == 1


def test_events_are_numbered_and_stream_to_the_end(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    turn = finished_turn(client, cloud, chat_id)
    told = events(client, chat_id, turn["id"])
    assert [each["seq"] for each in told] == list(range(1, len(told) + 1))
    phases = [each["data"]["phase"] for each in told if each["type"] == "turn.phase_changed"]
    in_order = ["planning", "before_main_llm", "barrier", "main_llm", "after_main_llm", "commit", "finished"]
    assert phases == in_order
    assert (told[0]["type"], told[-1]["type"], told[-1]["data"]["status"]) == ("turn.started", "turn.finished", "done")
    path, accept = f"/v1/chats/{chat_id}/turns/{turn['id']}/events", {"Accept": "text/event-stream"}
    stream = client.get(path, headers={**accept, "Last-Event-ID": str(told[-2]["seq"])})
    assert stream.text.startswith("retry: 250\n\nid: ")
    assert stream.text.count("event: ") == 1
    assert client.get(path, headers={**accept, "Last-Event-ID": str(told[-1]["seq"])}).status == 204


def test_a_call_that_fails_leaves_the_message_without_an_answer(
    client: Client, cloud: Settings, model: Model, chat_id: str
) -> None:
    model.answers = [ProviderError(ProbeErrorCode.CONTENT_FILTERED, "refused", final=True)]
    turn = finished_turn(client, cloud, chat_id)
    assert (turn["status"], turn["failedType"]) == ("failed", "main_llm")
    details = {"operationId": None, "errorCode": "content_filtered", "errorMessage": "refused"}
    assert (turn["failedDetails"], turn["main"]["finishReason"]) == (details, "policy_error")
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", None]]
    assert finished_turn(client, cloud, chat_id, None, trigger="regenerate")["status"] == "done"
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", "answer 2"]]


def test_a_queued_turn_is_aborted_at_once(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    turn_id = start(client, chat_id).json()["id"]
    path = f"/v1/chats/{chat_id}/turns/{turn_id}/abort"
    aborted = client.post(path).json()
    assert (aborted["status"], aborted["abortReason"]) == ("aborted", "user")
    assert client.post(path).json() == aborted
    assert work(cloud) == [WorkResult.NOTHING]
    assert model.asked == []
    assert start(client, chat_id).status == 201


def test_a_running_call_is_cancelled_by_an_abort(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    turn_id = start(client, chat_id).json()["id"]

    async def abort_and_hang() -> None:
        await asyncio.to_thread(client.post, f"/v1/chats/{chat_id}/turns/{turn_id}/abort")
        await asyncio.sleep(60)

    model.during = abort_and_hang
    assert work(cloud) == [WorkResult.ENDED]
    turn = turn_of(client, chat_id, turn_id)
    assert (turn["status"], turn["abortReason"], turn["main"]["finishReason"]) == ("aborted", "user", "user_abort")
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", None]]
    assert events(client, chat_id, turn_id)[-1]["data"]["abortReason"] == "user"


def test_a_turn_ends_at_its_deadline(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    async def hang() -> None:
        await asyncio.sleep(60)

    model.during = hang
    turn = finished_turn(client, cloud, chat_id, deadlineMs=1_000)
    assert (turn["status"], turn["abortReason"], turn["main"]["finishReason"]) == ("aborted", "deadline", "deadline")


def test_a_turn_goes_on_after_the_answer_that_was_stored(
    client: Client, cloud: Settings, model: Model, chat_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first worker dies when it is about to end the turn."""
    turn_id = start(client, chat_id).json()["id"]
    (order,) = orders(cloud)
    with monkeypatch.context() as patched:
        patched.setattr(chat_turns, "end", _die)
        with pytest.raises(SystemError):
            event_loop.run(worker.work(order, lambda: 290.0))
    assert turn_of(client, chat_id, turn_id)["status"] == "running"
    assert event_loop.run(worker.work(order, lambda: 290.0)) is WorkResult.ENDED
    assert len(model.asked) == 1
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", "answer 1"]]
    told = events(client, chat_id, turn_id)
    assert [each["seq"] for each in told] == list(range(1, len(told) + 1))


def _die(*_: object) -> bool:
    raise SystemError


@pytest.mark.parametrize("ends", ["abort", "sweeper"])
def test_an_answer_that_was_stored_outlasts_its_worker(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    """The worker dies when it is about to end the turn, and no other comes."""
    chat_id = counting_chat(client)
    turn_id = start(client, chat_id).json()["id"]
    (order,) = orders(cloud)
    with monkeypatch.context() as patched:
        patched.setattr(chat_turns, "end", _die)
        with pytest.raises(SystemError):
            event_loop.run(worker.work(order, lambda: 290.0))
    if ends == "abort":
        client.post(f"/v1/chats/{chat_id}/turns/{turn_id}/abort")
    else:
        recover_turns(utc_now() + timedelta(minutes=4), lambda: 60.0)
    turn, branch_id = turn_of(client, chat_id, turn_id), branch_of(client, chat_id)
    assert (turn["status"], turn["main"]["usage"]["inputTokens"]) == ("aborted", 10)
    assert texts(client, chat_id, branch_id) == [["hello", "answer 1"]]
    assert log_of(client, chat_id, branch_id) == "hello"
    told = events(client, chat_id, turn_id)
    assert [each["seq"] for each in told] == list(range(1, len(told) + 1))
    assert [each["type"] for each in told].count("main_llm.finished") == 1


def test_every_operation_and_the_call_have_an_end_in_the_events(client: Client, cloud: Settings, model: Model) -> None:
    llm = {"target": {"model": "sim/steady"}, "prompt": "Plan: {{ user.text }}"}
    planner = operation("plan", kind="llm", params=llm)
    noting = operation("note", hooks=["after_main_llm"], params={"template": "x"}, effects=[])
    chat_id = created(client, profileId=client.post("/v1/profiles", profile(planner, noting)).json()["id"])

    async def abort(call: int) -> None:
        if len(model.asked) == call:
            await asyncio.to_thread(client.post, f"/v1/chats/{chat_id}/turns/{turn_id}/abort")
            await asyncio.sleep(60)

    turn_id = start(client, chat_id).json()["id"]
    model.during = partial(abort, 1)
    work(cloud)
    assert _ends(client, chat_id, turn_id) == [("plan", "aborted"), ("note", "skipped")]
    turn_id = start(client, chat_id).json()["id"]
    model.during = partial(abort, 3)
    work(cloud)
    assert _ends(client, chat_id, turn_id) == [("plan", "done"), ("main_llm", "aborted"), ("note", "skipped")]


def _ends(client: Client, chat_id: str, turn_id: str) -> list[tuple[str, str]]:
    ended = ("operation.finished", "main_llm.finished")
    told = [each["data"] for each in events(client, chat_id, turn_id) if each["type"] in ended]
    return [(each.get("operationId", "main_llm"), each["status"]) for each in told]


@pytest.mark.parametrize("write", ["record", "end"])
def test_a_write_that_others_have_cancelled_is_repeated(
    client: Client, cloud: Settings, model: Model, chat_id: str, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    """Turns on two branches of a chat both write the chat's item."""
    written, failures = getattr(chat_turns, write), [CONFLICT]

    def cancelled_once(*args: Any) -> bool:
        if failures:
            raise failures.pop()
        return bool(written(*args))

    monkeypatch.setattr(chat_turns, write, cancelled_once)
    turn = finished_turn(client, cloud, chat_id)
    assert (turn["status"], turn["main"]["attempts"], len(model.asked)) == ("done", 1, 1)
    told = events(client, chat_id, turn["id"])
    assert [each["seq"] for each in told] == list(range(1, len(told) + 1))


def test_events_that_could_not_be_stored_are_stored_later(
    client: Client, cloud: Settings, chat_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_id, ref = start(client, chat_id).json()["id"], ChatRef("acme", chat_id)
    now = utc_now()
    assert chat_turns.claim(ref, turn_id, "worker", now, now + timedelta(minutes=1)) is not None
    journal = TurnJournal(ref, turn_id, "worker", chat_turns.list_events(ref, turn_id), last_seq=1)
    journal.enter(TurnPhase.BEFORE_MAIN_LLM)
    with monkeypatch.context() as patched:
        patched.setattr(chat_turns, "record", _refuse)
        with pytest.raises(ClientError):
            event_loop.run(journal.flush())
    journal.enter(TurnPhase.BARRIER)
    event_loop.run(journal.flush())
    told = [(each["seq"], each["data"].get("phase")) for each in events(client, chat_id, turn_id)]
    assert told == [(1, None), (2, "before_main_llm"), (3, "barrier")]


def _refuse(*_: object) -> bool:
    raise ClientError({"Error": {"Code": "AccessDeniedException"}}, "TransactWriteItems")


def test_a_worker_that_has_lost_its_claim_writes_nothing(
    client: Client, cloud: Settings, model: Model, chat_id: str
) -> None:
    turn_id = start(client, chat_id).json()["id"]
    ref = ChatRef("acme", chat_id)

    async def lose_claim() -> None:
        later = utc_now() + timedelta(minutes=1)
        assert chat_turns.claim(ref, turn_id, "other", later, later + timedelta(minutes=1)) is not None

    model.during = lose_claim
    assert work(cloud) == [WorkResult.NOTHING]
    assert turn_of(client, chat_id, turn_id)["status"] == "running"
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", None]]


def test_the_sweeper_sends_lost_orders_again(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    start(client, chat_id)
    assert len(orders(cloud)) == 1
    assert recover_turns(utc_now(), lambda: 60.0) == 0
    assert recover_turns(utc_now() + timedelta(seconds=30), lambda: 60.0) == 1
    assert work(cloud) == [WorkResult.ENDED]
    assert recover_turns(utc_now() + timedelta(hours=1), lambda: 60.0) == 0


def test_an_order_is_sent_again_at_once_if_its_worker_is_known_to_be_dead(
    client: Client, cloud: Settings, model: Model, chat_id: str
) -> None:
    turn_id = start(client, chat_id).json()["id"]
    orders(cloud)
    chat_turns.claim(ChatRef("acme", chat_id), turn_id, "dead", utc_now(), utc_now() + CLAIM)
    lost_before = utc_now() + timedelta(seconds=1)
    assert recover_turns(utc_now(), lambda: 60.0, lost_before) == 1
    assert work(cloud) == [WorkResult.ENDED]


def test_a_turn_stays_with_a_worker_that_has_renewed_its_claim_since_then(
    client: Client, cloud: Settings, model: Model, chat_id: str
) -> None:
    turn_id = start(client, chat_id).json()["id"]
    orders(cloud)
    lost_before = utc_now() + timedelta(seconds=1)
    chat_turns.claim(ChatRef("acme", chat_id), turn_id, "alive", utc_now(), lost_before + CLAIM)
    recover_turns(utc_now(), lambda: 60.0, lost_before)
    assert work(cloud) == [WorkResult.NOTHING]


def test_the_sweeper_ends_a_turn_that_nobody_works_on(
    client: Client, cloud: Settings, model: Model, chat_id: str
) -> None:
    turn_id = start(client, chat_id).json()["id"]
    recover_turns(utc_now() + timedelta(minutes=4), lambda: 60.0)
    turn = turn_of(client, chat_id, turn_id)
    assert (turn["status"], turn["abortReason"]) == ("aborted", "deadline")
    assert start(client, chat_id).status == 201


def test_a_paused_provider_refuses_turns(client: Client, chat_id: str) -> None:
    assert client.post("/v1/queue/pause", {"provider": "sim"}).status == 200
    assert start(client, chat_id).status == 409


def test_a_turn_beyond_the_workspaces_budget_fails(client: Client, cloud: Settings, model: Model, chat_id: str) -> None:
    prices = {"prices": [{"model": "steady", "inputUsdPerMillion": 1e6, "outputUsdPerMillion": 1e6}]}
    assert client.put("/v1/providers/sim", prices).status == 200
    assert client.put("/v1/settings", {"budgets": {"dayUsd": 0.01}}).status == 200
    turn = finished_turn(client, cloud, chat_id)
    assert (turn["status"], turn["failedDetails"]["errorCode"]) == ("failed", "budget_exceeded")
    assert model.asked == []


def test_a_profile_changes_prompt_and_answer(client: Client, cloud: Settings, model: Model) -> None:
    operations = [
        operation(
            "tone",
            params={"template": "Be polite to: {{ user.text }} ({{ trigger }})"},
            effects=[{"type": "prompt.system_update", "mode": "append"}],
        ),
        operation(
            "sign",
            hooks=["after_main_llm"],
            params={"template": "{{ answer.text }} -- yours"},
            effects=[{"type": "turn.assistant.rewrite"}, {"type": "turn.assistant.annotate", "template": "signed"}],
        ),
    ]
    profile_id = client.post("/v1/profiles", profile(*operations)).json()["id"]
    chat_id = created(client, profileId=profile_id)
    turn = finished_turn(client, cloud, chat_id)
    assert turn["status"] == "done"
    assert model.asked == [[("system", "Be polite to: hello (generate)"), ("user", "hello")]]
    assert [(each["operationId"], each["status"]) for each in turn["operations"]] == [
        ("tone", "done"),
        ("sign", "done"),
    ]
    assert [each["status"] for each in turn["commits"]] == ["applied"] * 3
    answer = client.get(f"/v1/chats/{chat_id}/branches/{turn['branchId']}/exchanges").json()["items"][0]["answer"]
    shown = [answer[name] for name in ("content", "kind", "basedOn", "annotations")]
    assert shown == ["answer 1 -- yours", "rewrite", 1, ["signed"]]
    told = [each["type"] for each in events(client, chat_id, turn["id"])]
    assert (told.count("operation.started"), told.count("operation.finished")) == (2, 2)
    finished_turn(client, cloud, chat_id, None, trigger="regenerate")
    assert model.asked[-1][0] == ("system", "Be polite to: hello (regenerate)")
    assert finished_turn(client, cloud, chat_id, "plain", profileId=None)["operations"] == []


def test_a_required_operation_that_fails_prevents_the_call(client: Client, cloud: Settings, model: Model) -> None:
    blocked = operation("check", required=True, params={"template": "{{ missing }}", "strictVariables": True})
    profile_id = client.post("/v1/profiles", profile(blocked)).json()["id"]
    turn = finished_turn(client, cloud, created(client, profileId=profile_id))
    assert (turn["status"], turn["failedType"], turn["main"]["performed"]) == ("failed", "before_barrier", False)
    assert turn["failedDetails"]["operationId"] == "check"
    assert turn["failedDetails"]["errorCode"] == "template_render_error"
    assert model.asked == []


def test_a_required_operation_after_the_call_leaves_the_answer(client: Client, cloud: Settings, model: Model) -> None:
    params = {"template": "{{ missing }}", "strictVariables": True}
    failing = operation("check", required=True, hooks=["after_main_llm"], params=params, effects=[])
    profile_id = client.post("/v1/profiles", profile(failing)).json()["id"]
    chat_id = created(client, profileId=profile_id)
    turn = finished_turn(client, cloud, chat_id)
    assert (turn["status"], turn["failedType"]) == ("failed", "after_main_llm")
    assert texts(client, chat_id, turn["branchId"]) == [["hello", "answer 1"]]


def test_an_agent_is_sent_the_whole_prompt_in_a_new_conversation_each_turn(
    client: Client, cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int, list[str]]] = []

    async def answer(_: object, request: ModelRequest, __: object) -> Reply:
        assert request.thread is not None
        asked.append((request.thread.id, request.thread.turn, [each.content for each in request.messages]))
        return Reply(f"answer {len(asked)}")

    monkeypatch.setitem(dispatch._PROTOCOLS, ConnectorType.LANGGRAPH, answer)
    agent = {"name": "agent", "type": "langgraph", "baseUrl": "https://agent.test"}
    connector_id = client.post("/v1/connectors", agent).json()["id"]
    chat_id = created(client, target={"connectorId": connector_id})
    target = client.get(f"/v1/chats/{chat_id}").json()["target"]
    assert (target["connectorId"], target["model"]) == (connector_id, f"connector/{connector_id}")
    first, second = (finished_turn(client, cloud, chat_id, text) for text in ("one", "two"))
    assert (first["status"], second["model"]) == ("done", f"connector/{connector_id}")
    assert [each[1:] for each in asked] == [(0, ["one"]), (0, ["one", "answer 1", "two"])]
    assert asked[0][0] != asked[1][0]
    kept = client.patch(f"/v1/chats/{chat_id}", {"target": {"model": "sim/steady"}}).json()["target"]
    assert (kept["model"], kept["connectorId"]) == ("sim/steady", None)


@pytest.mark.parametrize(
    ("target", "fields"),
    [
        ({}, ["target.model", "target.connectorId"]),
        ({"model": "sim/steady", "connectorId": "conn_1"}, ["target.model", "target.connectorId"]),
        ({"connectorId": "conn_none"}, ["target.connectorId"]),
    ],
)
def test_a_chat_has_one_target_that_exists(client: Client, target: dict[str, str], fields: list[str]) -> None:
    assert client.post("/v1/chats", {"target": target}).fields() == fields


@pytest.mark.parametrize("kind", ["tools", "langgraph"])
def test_a_connector_that_cannot_answer_as_it_is_asked_is_refused(client: Client, kind: str) -> None:
    config = {"config": {"path": "/tools"}} if kind == "tools" else {}
    agent = {"name": "agent", "type": kind, "baseUrl": "https://agent.test", **config}
    connector_id = client.post("/v1/connectors", agent).json()["id"]
    target = {"connectorId": connector_id, "params": {"temperature": 0.5}}
    assert client.post("/v1/chats", {"target": target}).fields() == ["target.connectorId"]


def counting_chat(client: Client) -> str:
    """Each turn appends the user's message to a persisted artifact."""
    artifact = {"tag": "log", "persistence": "persisted", "writeMode": "append"}
    log = operation("log", params={"template": "{{ user.text }}"}, artifact=artifact)
    return created(client, profileId=client.post("/v1/profiles", profile(log)).json()["id"])


def log_of(client: Client, chat_id: str, branch_id: str) -> str | None:
    path = f"/v1/chats/{chat_id}/branches/{branch_id}/artifacts"
    items = client.get(path, query={"include": "internal"}).json()["items"]
    return str(items[0]["value"]) if items else None


def test_artifacts_last_between_turns_and_regenerating_counts_nothing_twice(
    client: Client, cloud: Settings, model: Model
) -> None:
    chat_id = counting_chat(client)
    main = branch_of(client, chat_id)
    first = finished_turn(client, cloud, chat_id, "one")
    finished_turn(client, cloud, chat_id, "two")
    finished_turn(client, cloud, chat_id, None, trigger="regenerate")
    assert log_of(client, chat_id, main) == "one\ntwo"
    body = {"afterExchangeId": first["exchangeId"]}
    carried = client.post(f"/v1/chats/{chat_id}/branches", body).json()["id"]
    fresh = client.post(f"/v1/chats/{chat_id}/branches", {**body, "artifacts": "fresh"}).json()["id"]
    assert (log_of(client, chat_id, carried), log_of(client, chat_id, fresh)) == ("one", None)
    finished_turn(client, cloud, chat_id, "three", branchId=carried)
    assert log_of(client, chat_id, carried) == "one\nthree"
    assert log_of(client, chat_id, main) == "one\ntwo"
    assert client.post(f"/v1/chats/{chat_id}/branches/{main}/session/reset").status == 200
    assert log_of(client, chat_id, main) is None


def session_of(client: Client, chat_id: str, branch_id: str, **query: str) -> Answer:
    return client.get(f"/v1/chats/{chat_id}/branches/{branch_id}/session", query=query)


def test_the_session_of_a_branch_begins_with_its_first_artifact_and_ends_with_a_reset(
    client: Client, cloud: Settings, model: Model
) -> None:
    chat_id = counting_chat(client)
    main = branch_of(client, chat_id)
    profile_id = client.get(f"/v1/chats/{chat_id}").json()["profileId"]
    own = client.get(f"/v1/profiles/{profile_id}").json()["sessionId"]
    empty = session_of(client, chat_id, main).json()
    assert (empty["tags"], empty["createdAt"]) == ([], None)
    first = finished_turn(client, cloud, chat_id, "one")
    finished_turn(client, cloud, chat_id, "two")
    begun = {"id": empty["id"], "profileId": profile_id, "sessionId": own}
    expected = {**begun, "createdAt": first["createdAt"], "tags": ["log"]}
    assert session_of(client, chat_id, main).json() == expected
    assert session_of(client, chat_id, main, profileId=profile_id).json() == expected
    client.post(f"/v1/chats/{chat_id}/branches/{main}/session/reset")
    after = session_of(client, chat_id, main).json()
    assert (after["tags"], after["createdAt"], after["id"] == empty["id"]) == ([], None, False)


def test_the_session_of_no_known_profile_is_refused(client: Client, chat_id: str) -> None:
    main = branch_of(client, chat_id)
    assert session_of(client, chat_id, main).fields() == ["profileId"]
    assert session_of(client, chat_id, main, profileId="prof_none").fields() == ["profileId"]
    assert session_of(client, "chat_none", main, profileId="prof_none").status == 404
    assert session_of(client, counting_chat(client), main).status == 404


def test_earlier_values_are_listed_until_they_are_too_old(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = {"tag": "log", "persistence": "persisted", "usage": "ui_only", "retention": {"maxAgeDays": 30}}
    log = operation("log", params={"template": "{{ user.text }}"}, artifact=artifact)
    chat_id = created(client, profileId=client.post("/v1/profiles", profile(log)).json()["id"])
    path = f"/v1/chats/{chat_id}/branches/{branch_of(client, chat_id)}/artifacts"
    turns = [finished_turn(client, cloud, chat_id, text) for text in ("one", "two")]
    (listed,) = client.get(path).json()["items"]
    assert (listed["value"], listed["history"], listed["updatedAt"]) == ("two", ["one"], turns[1]["createdAt"])
    monkeypatch.setattr(http_operations, "utc_now", lambda: utc_now() + timedelta(days=31))
    assert client.get(path).json()["items"] == [{**listed, "history": []}]


def test_another_session_of_a_profile_begins_afresh_in_every_chat(
    client: Client, cloud: Settings, model: Model
) -> None:
    chat_id = counting_chat(client)
    branch_id = branch_of(client, chat_id)
    turn = finished_turn(client, cloud, chat_id, "one")
    path = f"/v1/profiles/{turn['profile']['id']}"
    before = client.get(path)
    assert turn["profile"]["sessionId"] == before.json()["sessionId"]
    assert client.post(f"{path}/reset-session", headers={"If-Match": '"0"'}).status == 412
    reset = client.post(f"{path}/reset-session", headers={"If-Match": before.headers["ETag"]}).json()
    assert (reset["version"], reset["sessionId"] == before.json()["sessionId"]) == (1, False)
    assert log_of(client, chat_id, branch_id) is None
    finished_turn(client, cloud, chat_id, "two")
    assert log_of(client, chat_id, branch_id) == "two"


def test_artifacts_are_found_by_one_page_however_long_ago_they_were_stored(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat_id = counting_chat(client)
    branch_id = branch_of(client, chat_id)
    finished_turn(client, cloud, chat_id, "one")
    monkeypatch.setattr("cupel_core.domain.chats.branches.POINTERS_PER_PAGE", 2)
    for each in (exchanges, branches, endings, chat_turn_rules):
        monkeypatch.setattr(each, "POINTERS_PER_PAGE", 2)
    for number in range(4):
        finished_turn(client, cloud, chat_id, f"plain {number}", profileId=None)
    get_pages, read = chat_branches.get_pages, list[int]()

    def counted(ref: ChatRef, pages: Sequence[PointerPage]) -> list[Pointers]:
        read.append(len(pages))
        return get_pages(ref, pages)

    with monkeypatch.context() as patched:
        patched.setattr(chat_branches, "get_pages", counted)
        assert (log_of(client, chat_id, branch_id), read) == ("one", [1])
    last = client.get(f"/v1/chats/{chat_id}/branches/{branch_id}/exchanges").json()["items"][0]["id"]
    fork = {"afterExchangeId": last, "includeAnswer": False}
    forked = client.post(f"/v1/chats/{chat_id}/branches", fork).json()["id"]
    assert log_of(client, chat_id, forked) == "one"


def test_polls_read_long_settings_once(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat_id = created(client, system="x" * 9_000)
    turn_id = start(client, chat_id).json()["id"]
    get_json, read = blobs.get_json, list[str]()

    def counted(key: str) -> Any:
        read.append(key)
        return get_json(key)

    monkeypatch.setattr(blobs, "get_json", counted)
    for _ in range(3):
        assert len(events(client, chat_id, turn_id)) == 1
    assert len(read) <= 2, "those of the chat and of the turn"
    client.delete(f"/v1/chats/{chat_id}")
    assert client.get(f"/v1/chats/{chat_id}/turns/{turn_id}/events").status == 404


def test_artifacts_of_a_deleted_chat_cannot_be_read(client: Client, cloud: Settings, model: Model) -> None:
    chat_id = counting_chat(client)
    turn = finished_turn(client, cloud, chat_id)
    path, query = f"/v1/chats/{chat_id}/branches/{turn['branchId']}/artifacts", {"profileId": turn["profile"]["id"]}
    assert client.get(path, query=query).status == 200
    client.delete(f"/v1/chats/{chat_id}")
    assert client.get(path, query=query).status == 404


def test_a_turn_without_an_answer_leaves_the_artifacts(client: Client, cloud: Settings, model: Model) -> None:
    chat_id = counting_chat(client)
    finished_turn(client, cloud, chat_id, "one")
    model.answers = [ProviderError(ProbeErrorCode.AUTH, "no", final=True)]
    assert finished_turn(client, cloud, chat_id, "two")["status"] == "failed"
    assert log_of(client, chat_id, branch_of(client, chat_id)) == "one"


def test_a_paid_operation_is_not_paid_again(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = {"target": {"model": "sim/steady"}, "prompt": "Plan: {{ user.text }}"}
    planner = operation("plan", kind="llm", params=params)
    chat_id = created(client, profileId=client.post("/v1/profiles", profile(planner)).json()["id"])
    turn_id = start(client, chat_id).json()["id"]
    (order,) = orders(cloud)
    model.answers = ["the plan", SystemError("the worker dies")]
    with pytest.raises(SystemError):
        event_loop.run(worker.work(order, lambda: 290.0))
    assert event_loop.run(worker.work(order, lambda: 290.0)) is WorkResult.ENDED
    assert [asked[-1][1] for asked in model.asked] == ["Plan: hello", "hello", "hello"]
    turn = turn_of(client, chat_id, turn_id)
    assert (turn["status"], turn["main"]["attempts"], turn["operationsSpend"]["calls"]) == ("done", 2, 1)
    told = events(client, chat_id, turn_id)
    assert [each["seq"] for each in told] == list(range(1, len(told) + 1))
    assert sum(each["type"] == "operation.finished" for each in told) == 1


def test_turns_are_listed_newest_first_by_branch_and_status(
    client: Client, cloud: Settings, model: Model, chat_id: str
) -> None:
    first, second = (finished_turn(client, cloud, chat_id, text)["id"] for text in ("one", "two"))
    path = f"/v1/chats/{chat_id}/turns"
    assert [each["id"] for each in client.get(path).json()["items"]] == [second, first]
    assert client.get(path, query={"status": "failed"}).json()["items"] == []
    assert len(client.get(path, query={"branchId": branch_of(client, chat_id)}).json()["items"]) == 2


def test_another_workspace_finds_no_turn(
    client: Client, cloud: Settings, model: Model, chat_id: str, stranger: str
) -> None:
    turn = finished_turn(client, cloud, chat_id)
    for path in ("", "/prompt", "/events"):
        full = f"/v1/chats/{chat_id}/turns/{turn['id']}{path}"
        assert (client.get(full).status, client.get(full, token=stranger).status) == (200, 404)
    assert client.post(f"/v1/chats/{chat_id}/turns", {"content": "x"}, token=stranger).status == 404


def test_nothing_is_left_of_the_turns_of_a_deleted_chat(client: Client, cloud: Settings, model: Model) -> None:
    artifact = {"tag": "log", "persistence": "persisted"}
    log = operation("log", params={"template": f"{{{{ user.text }}}} {MARKER * 2_000}"}, artifact=artifact)
    profile_id = client.post("/v1/profiles", profile(log, name="log")).json()["id"]
    chat_id = created(client, profileId=profile_id)
    model.answers = [MARKER * 2_000]
    finished_turn(client, cloud, chat_id, MARKER)
    start(client, chat_id, MARKER)
    (open_order,) = orders(cloud)
    client.delete(f"/v1/chats/{chat_id}")
    assert event_loop.run(worker.work(open_order, lambda: 290.0)) is WorkResult.NOTHING
    client.delete(f"/v1/profiles/{profile_id}")
    erase_due(utc_now() + timedelta(hours=1), lambda: 900.0)
    recover_turns(utc_now() + timedelta(hours=1), lambda: 60.0)
    assert [place for place in places_with(MARKER, cloud) if "#profile#" not in place] == []
    assert list(chat_turns.list_open()) == []
    assert chats.find(ChatRef("acme", chat_id)) is None


def test_a_turn_that_began_just_before_its_chat_was_deleted_is_aborted(
    client: Client, cloud: Settings, model: Model, chat_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete, begun = chats.delete, []

    def start_and_delete(ref: ChatRef, now: datetime) -> bool:
        begun.append(start(client, chat_id).json()["id"])
        return delete(ref, now)

    monkeypatch.setattr(chats, "delete", start_and_delete)
    assert client.delete(f"/v1/chats/{chat_id}").status == 204
    assert chat_turns.get(ChatRef("acme", chat_id), begun[0]).abort_requested_at is not None


def test_an_answer_counts_that_is_complete_when_the_deadline_passes(
    client: Client, cloud: Settings, model: Model, chat_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deadline passes while the last of its draft is written."""

    later = [timedelta()]

    class SlowDraft(DraftWriter):
        @asynccontextmanager
        async def writing(self) -> AsyncIterator[None]:
            yield
            later[:] = [timedelta(minutes=5)]
            await asyncio.sleep(60)

    monkeypatch.setattr(progress, "DraftWriter", SlowDraft)
    late_worker = partial(worker.TurnWorker, now=lambda: utc_now() + later[0])
    monkeypatch.setattr(worker, "TurnWorker", late_worker)
    turn = finished_turn(client, cloud, chat_id)
    assert (turn["status"], turn["abortReason"], turn["main"]["finishReason"]) == ("aborted", "deadline", "completed")
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", "answer 1"]]
    assert [each["type"] for each in events(client, chat_id, turn["id"])].count("main_llm.finished") == 1


def test_a_call_is_interactive_and_of_high_priority(
    client: Client, cloud: Settings, model: Model, chat_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cupel_core.chats import calls

    priorities = []

    class Pool(calls.LeasePool):
        def __init__(self, **options: Any) -> None:
            priorities.append((options["priority"], options["is_interactive"]))
            super().__init__(**options)

    monkeypatch.setattr(calls, "LeasePool", Pool)
    finished_turn(client, cloud, chat_id)
    assert priorities == [("HIGH", True)]
