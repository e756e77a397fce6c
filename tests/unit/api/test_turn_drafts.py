"""The text of a call while it is written: read in pieces, replaced by the answer, and never a message itself."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from cupel_core.base import event_loop
from cupel_core.base.clock import utc_now
from cupel_core.chats import worker
from cupel_core.chats.worker import WorkResult
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply, Usage
from cupel_core.providers.errors import ProviderError
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.erasure import erase_due
from tests.profiles import operation, profile
from tests.stored_text import places_with
from tests.unit.api.client import Client
from tests.unit.api.test_chat_turns import chat_id as chat_id
from tests.unit.api.test_chat_turns import events, orders, start, turn_of, work
from tests.unit.api.test_chats import MARKER, branch_of, created, texts

type Step = str | BaseException | Callable[[], Awaitable[None]]


class Streaming:
    """Streams the texts of each attempt instead of the simulated models; between them it does what a test says."""

    def __init__(self) -> None:
        self.attempts: list[list[Step]] = []
        self.calls = 0

    async def stream(self, name: str, _: ModelRequest, on_text: Callable[[str], None]) -> Reply:
        self.calls += 1
        written = ""
        for step in self.attempts.pop(0):
            if isinstance(step, BaseException):
                raise step
            if isinstance(step, str):
                written += step
                on_text(step)
            else:
                await step()
        return Reply(written, name, Usage(10, 5), "stop")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Streaming:
    from cupel_core.providers import sim

    streaming = Streaming()
    monkeypatch.setattr(sim, "stream", streaming.stream)
    return streaming


class Reader:
    """Reads the events of a turn as JSON, from where it was."""

    def __init__(self, client: Client, turn: Any) -> None:
        self.client, self.path = client, f"/v1/chats/{turn['chatId']}/turns/{turn['id']}/events"
        self.seq, self.text, self.deltas = 0, "0.0", list[tuple[int, int, str]]()
        self.kinds: list[str] = []

    def read(self) -> Any:
        feed = self.client.get(self.path, query={"after": self.seq, "text": self.text}).json()
        self.kinds += [event["type"] for event in feed["items"]]
        self.seq = feed["items"][-1]["seq"] if feed["items"] else self.seq
        if delta := feed["text"]:
            self.deltas.append((delta["attempt"], delta["offset"], delta["text"]))
            self.text = f"{delta['attempt']}.{delta['offset'] + len(delta['text'])}"
        return feed

    async def until(self, text: str) -> None:
        """Until this text was written, as far as it comes."""
        while not self.deltas or not self.deltas[-1][2].endswith(text):
            await asyncio.to_thread(self.read)

    def stream(self, last_id: str) -> list[tuple[str, str, Any]]:
        """`(id, event, data)` of each frame."""
        response = self.client.get(self.path, headers={"Accept": "text/event-stream", "Last-Event-ID": last_id})
        frames = response.text.removeprefix("retry: 250\n\n").split("\n\n")[:-1]
        lines = [[line.partition(": ")[2] for line in frame.splitlines()] for frame in frames]
        return [(number, kind, json.loads(data)) for number, kind, data in lines]


def reader_of(client: Client, chat_id: str, **fields: object) -> tuple[Reader, str]:
    turn = start(client, chat_id, **fields).json()
    return Reader(client, turn), turn["id"]


def test_text_is_read_while_it_is_written(client: Client, cloud: Settings, model: Streaming, chat_id: str) -> None:
    reader, turn_id = reader_of(client, chat_id)
    model.attempts = [["Hel", lambda: reader.until("Hel"), "lo", "!", lambda: reader.until("lo!"), " Bye"]]
    work(cloud)
    assert reader.deltas == [(1, 0, "Hel"), (1, 3, "lo!")]
    assert turn_of(client, chat_id, turn_id)["status"] == "done"
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", "Hello! Bye"]]
    reader.read()
    assert reader.deltas[-1] == (1, 6, " Bye"), "who has begun to read gets the rest"
    assert reader.kinds[-1] == "turn.finished"


def test_the_answer_replaces_the_draft(client: Client, cloud: Settings, model: Streaming, chat_id: str) -> None:
    reader, _ = reader_of(client, chat_id)
    model.attempts = [["Hello"]]
    work(cloud)
    assert reader.read()["text"] is None
    assert reader.kinds[-1] == "turn.finished"


def test_a_stream_goes_on_within_the_text(client: Client, cloud: Settings, model: Streaming, chat_id: str) -> None:
    frames: list[Any] = []
    reader, _ = reader_of(client, chat_id)

    async def connect_again() -> None:
        await reader.until("lo")
        last = next((frame[0] for frame in reversed(frames)), "0")
        frames.extend(await asyncio.to_thread(reader.stream, last))

    async def connect() -> None:
        await reader.until("Hel")
        frames.extend(await asyncio.to_thread(reader.stream, "0"))

    model.attempts = [["Hel", connect, "lo", connect_again]]
    work(cloud)
    frames += reader.stream(frames[-1][0])
    deltas = [data for _, kind, data in frames if kind == "main_llm.delta"]
    assert deltas == [{"attempt": 1, "offset": 0, "text": "Hel"}, {"attempt": 1, "offset": 3, "text": "lo"}]
    kinds = [kind for _, kind, _ in frames]
    assert kinds.count("main_llm.finished") == kinds.count("turn.finished") == 1
    assert kinds.index("main_llm.finished") > kinds.index("main_llm.delta")
    assert [number.partition(".")[0] for number, kind, _ in frames if kind != "main_llm.delta"] == [
        str(data["seq"]) for _, kind, data in frames if kind != "main_llm.delta"
    ]
    last = frames[-1][0]
    stream = {"Accept": "text/event-stream", "Last-Event-ID": last}
    assert (last.partition(".")[2], client.get(reader.path, headers=stream).status) == ("1.5", 204)


@pytest.mark.parametrize("last", ["x", "1.1", "-1", "1.1.1.1", "1..1", "9" * 9])
def test_an_id_of_no_event_is_refused(client: Client, chat_id: str, last: str) -> None:
    reader, _ = reader_of(client, chat_id)
    assert client.get(reader.path, headers={"Last-Event-ID": last}).status == 422


@pytest.mark.parametrize("text", ["x", "1", "1.1.1", "-1.1", "1.", f"1.{'9' * 9}"])
def test_a_position_of_no_text_is_refused(client: Client, chat_id: str, text: str) -> None:
    reader, _ = reader_of(client, chat_id)
    assert client.get(reader.path, query={"text": text}).fields() == ["text"]


def test_a_further_attempt_begins_anew(client: Client, cloud: Settings, model: Streaming, chat_id: str) -> None:
    reader, _ = reader_of(client, chat_id)
    refusal = ProviderError(ProbeErrorCode.INVALID_REQUEST, "stream_options is not supported")
    model.attempts = [["Hel", lambda: reader.until("Hel"), refusal], ["Good", lambda: reader.until("Good"), " day"]]
    work(cloud)
    reader.read()
    assert reader.deltas == [(1, 0, "Hel"), (2, 0, "Good"), (2, 4, " day")]
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", "Good day"]]


def test_a_crash_leaves_no_draft_behind_as_a_message(
    client: Client, cloud: Settings, model: Streaming, chat_id: str
) -> None:
    reader, turn_id = reader_of(client, chat_id)
    (order,) = orders(cloud)
    model.attempts = [["Hel", lambda: reader.until("Hel"), SystemError()], ["Good day", lambda: reader.until("day")]]
    with pytest.raises(SystemError):
        event_loop.run(worker.work(order, lambda: 290.0))
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", None]]
    assert event_loop.run(worker.work(order, lambda: 290.0)) is WorkResult.ENDED
    assert reader.deltas == [(1, 0, "Hel"), (2, 0, "Good day")]
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", "Good day"]]
    assert turn_of(client, chat_id, turn_id)["main"]["attempts"] == 2


def test_a_stream_is_cancelled_by_an_abort_and_charged(
    client: Client, cloud: Settings, model: Streaming, chat_id: str
) -> None:
    prices = {"prices": [{"model": "steady", "inputUsdPerMillion": 100, "outputUsdPerMillion": 100}]}
    assert client.put("/v1/providers/sim", prices).status == 200
    assert client.put("/v1/settings", {"budgets": {"dayUsd": 10}}).status == 200
    reader, turn_id = reader_of(client, chat_id)
    is_left = []

    async def abort_and_go_on() -> None:
        await reader.until("Hel")
        try:
            await asyncio.to_thread(client.post, f"/v1/chats/{chat_id}/turns/{turn_id}/abort")
            await asyncio.sleep(60)
        finally:
            is_left.append(True)

    model.attempts = [["Hel", abort_and_go_on]]
    work(cloud)
    turn = turn_of(client, chat_id, turn_id)
    assert (turn["status"], turn["main"]["finishReason"], is_left) == ("aborted", "user_abort", [True])
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", "Hel"]]
    day = client.get("/v1/budgets").json()["day"]
    assert (turn["uncertainUsd"] > 0, day["uncertainUsd"] > 0, day["reservedUsd"]) == (True, True, 0)


def test_what_an_aborted_call_has_written_stays_and_is_part_of_later_prompts(
    client: Client, cloud: Settings, model: Streaming, chat_id: str
) -> None:
    turn, aborted = stopped_after(client, cloud, model, chat_id, "Hel")
    assert aborted["main"]["assistantVariantId"] == f"{aborted['exchangeId']}.answer.1"
    answer = answer_of(client, chat_id)
    assert (answer["content"], answer["status"], answer["kind"], answer["usage"]) == ("Hel", "aborted", "main", None)
    ends = [each["data"] for each in events(client, chat_id, turn) if each["type"] == "main_llm.finished"]
    assert [(each["status"], each["assistantVariantId"]) for each in ends] == [
        ("aborted", aborted["main"]["assistantVariantId"])
    ]
    model.attempts = [["Fine"]]
    again = start(client, chat_id, "go on").json()["id"]
    work(cloud)
    prompt = client.get(f"/v1/chats/{chat_id}/turns/{again}/prompt").json()["messages"]
    assert [each["content"] for each in prompt][-3:] == ["hello", "Hel", "go on"]


def test_an_answer_stays_selected_when_another_one_is_aborted(
    client: Client, cloud: Settings, model: Streaming, chat_id: str
) -> None:
    model.attempts = [["Hello"]]
    start(client, chat_id)
    work(cloud)
    _, aborted = stopped_after(client, cloud, model, chat_id, "Hel", content=None, trigger="regenerate")
    answer = answer_of(client, chat_id)
    assert (answer["content"], answer["status"], answer["variantCount"]) == ("Hello", "done", 2)
    path = f"/v1/chats/{chat_id}/messages/{aborted['exchangeId']}.answer/variants"
    shown = [(each["content"], each["status"]) for each in client.get(path).json()["items"]]
    assert shown == [("Hello", "done"), ("Hel", "aborted")]


def test_what_a_failed_call_has_written_is_a_variant_that_is_not_selected(
    client: Client, cloud: Settings, model: Streaming, chat_id: str
) -> None:
    model.attempts = [["Hel", ProviderError(ProbeErrorCode.CONTENT_FILTERED, "refused", final=True)]]
    turn_id = start(client, chat_id).json()["id"]
    work(cloud)
    turn = turn_of(client, chat_id, turn_id)
    assert (turn["status"], turn["main"]["assistantVariantId"]) == ("failed", f"{turn['exchangeId']}.answer.1")
    assert texts(client, chat_id, branch_of(client, chat_id)) == [["hello", None]]
    path = f"/v1/chats/{chat_id}/messages/{turn['exchangeId']}.answer/variants"
    assert [(each["content"], each["status"]) for each in client.get(path).json()["items"]] == [("Hel", "error")]


def test_what_a_dead_workers_call_has_written_stays_when_the_turn_is_aborted(
    client: Client, cloud: Settings, model: Streaming, chat_id: str
) -> None:
    reader, turn_id = reader_of(client, chat_id)
    (order,) = orders(cloud)
    model.attempts = [["Hel", lambda: reader.until("Hel"), SystemError()]]
    with pytest.raises(SystemError):
        event_loop.run(worker.work(order, lambda: 290.0))
    assert client.post(f"/v1/chats/{chat_id}/turns/{turn_id}/abort").json()["status"] == "aborted"
    answer = answer_of(client, chat_id)
    assert (answer["content"], answer["status"]) == ("Hel", "aborted")


def stopped_after(
    client: Client, cloud: Settings, model: Streaming, chat_id: str, text: str, **fields: Any
) -> tuple[str, Any]:
    """A turn that a person stops once it has written a text."""
    reader, turn_id = reader_of(client, chat_id, **fields)

    async def abort_and_hang() -> None:
        await reader.until(text)
        await asyncio.to_thread(client.post, f"/v1/chats/{chat_id}/turns/{turn_id}/abort")
        await asyncio.sleep(60)

    model.attempts = [[text, abort_and_hang]]
    work(cloud)
    turn = turn_of(client, chat_id, turn_id)
    assert (turn["status"], turn["main"]["finishReason"]) == ("aborted", "user_abort")
    return turn_id, turn


def answer_of(client: Client, chat_id: str) -> Any:
    """Of the last exchange of the active branch."""
    path = f"/v1/chats/{chat_id}/branches/{branch_of(client, chat_id)}/exchanges"
    return client.get(path).json()["items"][0]["answer"]


def test_operations_do_not_stream(client: Client, cloud: Settings, model: Streaming) -> None:
    planner = operation("plan", kind="llm", params={"target": {"model": "sim/steady"}, "prompt": "Plan."})
    profile_id = client.post("/v1/profiles", profile(planner)).json()["id"]
    model.attempts = [["Hello"]]
    chat_id = created(client, profileId=profile_id)
    turn_id = start(client, chat_id).json()["id"]
    work(cloud)
    turn = turn_of(client, chat_id, turn_id)
    assert [each["status"] for each in turn["operations"]] == ["done"]
    assert (turn["operationsSpend"]["calls"], model.calls) == (1, 1)


def test_nothing_is_left_of_the_drafts_of_a_deleted_chat(client: Client, cloud: Settings, model: Streaming) -> None:
    chat_id = created(client)
    model.attempts = [[f"{MARKER} ", MARKER * 2_000]]
    start(client, chat_id)
    work(cloud)
    assert [place for place in places_with(MARKER, cloud) if "draft#" in place]
    client.delete(f"/v1/chats/{chat_id}")
    erase_due(utc_now() + timedelta(hours=1), lambda: 900.0)
    assert places_with(MARKER, cloud) == []
