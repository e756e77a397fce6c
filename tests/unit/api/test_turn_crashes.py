"""Workers of turns that die at any write: what was recorded is not made again, and the next worker ends the turn."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from cupel_core.accounts.leases.holder import LeaseHolder
from cupel_core.base import event_loop
from cupel_core.base.clock import utc_now
from cupel_core.base.messages import ChatRef, TurnOrder
from cupel_core.budgets.allowance import LEASE_SECONDS
from cupel_core.chats import calls, turns, worker
from cupel_core.chats.calls import UnansweredCalls
from cupel_core.chats.drafts import DraftWriter
from cupel_core.chats.journal import MAX_EVENTS, TurnJournal
from cupel_core.chats.worker import TurnWorker, WorkResult
from cupel_core.conversations.pipeline.kinds import llm
from cupel_core.domain.budgets.money import usd
from cupel_core.domain.budgets.month_account import after_expiry
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.chats.turns import CLAIM, TurnEventType, TurnPhase
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.model_request import ProbeErrorCode, Reply
from cupel_core.domain.pipeline.turns import OpenTurn
from cupel_core.providers.errors import CallPostponed, ProviderError
from cupel_core.store import budgets, chat_turns
from cupel_core.store.settings import Settings
from tests.profiles import operation, profile
from tests.unit.api.client import Client
from tests.unit.api.test_chat_turns import Model, events, finished_turn, orders, start, turn_of
from tests.unit.api.test_chat_turns import chat_id as chat_id
from tests.unit.api.test_chat_turns import model as model
from tests.unit.api.test_chats import branch_of, created, texts


class Died(BaseException):
    """The process is killed."""


class Writes:
    """Counts the records of a turn, and dies at one of them. A process that is dead records nothing more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, dies_at: int, *, before: bool) -> None:
        self.count, self.dies_at, self.before = 0, dies_at, before
        self._lock = threading.Lock()
        for name in ("record", "end"):
            monkeypatch.setattr(chat_turns, name, self._dying(getattr(chat_turns, name)))

    def _dying(self, write: Callable[..., bool]) -> Callable[..., bool]:
        def dying(*args: Any) -> bool:
            with self._lock:
                if self.count == self.dies_at:
                    raise Died
                self.count += 1
                dies = self.count == self.dies_at
            if dies and self.before:
                raise Died
            written = write(*args)
            if dies:
                raise Died
            return written

        return dying


def called(name: str, hook: str, **fields: Any) -> dict[str, Any]:
    params = {"target": {"model": "sim/steady"}, "prompt": f"{name}: {{{{ user.text }}}}"}
    return operation(name, kind="llm", hooks=[hook], params=params, **fields)


def piped_chat(client: Client) -> str:
    operations = [
        called("plan", "before_main_llm", effects=[]),
        called("style", "before_main_llm", effects=[], dependsOn=["plan"]),
        called("review", "after_main_llm", effects=[{"type": "turn.assistant.annotate"}]),
    ]
    return created(client, profileId=client.post("/v1/profiles", profile(*operations)).json()["id"])


def recorded(client: Client, chat_id: str, turn_id: str) -> set[str]:
    """The calls whose end was told."""
    told = [(each["type"], each["data"]) for each in events(client, chat_id, turn_id)]
    ends = {data["operationId"] for kind, data in told if kind == "operation.finished"}
    return ends | {"main" for kind, _ in told if kind == "main_llm.finished"}


def asked(model: Model) -> Counter[str]:
    return Counter("main" if call[-1][1] == "hello" else call[-1][1].partition(":")[0] for call in model.asked)


def carry_out(order: TurnOrder) -> WorkResult:
    return event_loop.run(worker.work(order, lambda: 290.0))


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("dies_at", range(1, 8))
def test_what_was_recorded_is_not_paid_again_whichever_write_a_worker_dies_at(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch, dies_at: int, before: bool
) -> None:
    chat_id = piped_chat(client)
    turn_id = start(client, chat_id).json()["id"]
    (order,) = orders(cloud)
    with monkeypatch.context() as patched:
        writes = Writes(patched, dies_at, before=before)
        with suppress(Died):
            carry_out(order)
    done, calls = recorded(client, chat_id, turn_id), asked(model)
    is_over = turn_of(client, chat_id, turn_id)["status"] == "done"
    assert writes.count == dies_at or (is_over and writes.count > 3), "writes that follow each other soon become one"
    assert carry_out(order) is (WorkResult.NOTHING if is_over else WorkResult.ENDED)
    turn, again = turn_of(client, chat_id, turn_id), asked(model)
    assert {name: again[name] for name in done} == {name: calls[name] for name in done}
    assert (turn["status"], set(again)) == ("done", {"plan", "style", "main", "review"})
    assert max(again.values()) <= 2
    assert turn["operationsSpend"]["calls"] == 3
    assert texts(client, chat_id, branch_of(client, chat_id))[0][0] == "hello"
    told = events(client, chat_id, turn_id)
    assert [each["seq"] for each in told] == list(range(1, len(told) + 1))
    ends = Counter(each["data"].get("operationId") for each in told if each["type"] == "operation.finished")
    assert ends == {"plan": 1, "style": 1, "review": 1}


def test_an_end_is_stored_together_with_what_it_tells_of(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker stores events each second, perhaps before the operation that has ended is recorded otherwise."""

    async def flush_and_die(self: TurnWorker, _: object) -> None:
        await self.journal.flush()
        raise Died

    chat_id = piped_chat(client)
    turn_id = start(client, chat_id).json()["id"]
    (order,) = orders(cloud)
    with monkeypatch.context() as patched:
        patched.setattr(TurnWorker, "_save", flush_and_die)
        with pytest.raises(Died):
            carry_out(order)
    assert recorded(client, chat_id, turn_id) == {"plan"}
    assert carry_out(order) is WorkResult.ENDED
    assert asked(model)["plan"] == 1


def test_a_renewal_under_way_when_a_worker_stops_does_not_take_the_turn_again(client: Client, chat_id: str) -> None:
    turn_id, ref, now = start(client, chat_id).json()["id"], ChatRef("acme", chat_id), utc_now()
    until = now + timedelta(minutes=1)
    assert chat_turns.claim(ref, turn_id, "first", now, until) is not None
    assert chat_turns.renew(ref, turn_id, "first", until) is not None
    chat_turns.release(ref, turn_id, "first")
    assert chat_turns.renew(ref, turn_id, "first", until) is None
    assert chat_turns.claim(ref, turn_id, "second", now, until) is not None


def test_of_many_events_the_first_are_stored_with_the_checkpoint(
    client: Client, cloud: Settings, chat_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_id, ref, now = start(client, chat_id).json()["id"], ChatRef("acme", chat_id), utc_now()
    assert chat_turns.claim(ref, turn_id, "worker", now, now + timedelta(minutes=1)) is not None
    journal = TurnJournal(ref, turn_id, "worker", chat_turns.list_events(ref, turn_id), last_seq=1)
    for number in range(MAX_EVENTS + 1):
        journal.add(TurnEventType.OPERATION_FINISHED, {"hook": "before_main_llm", "operationId": f"o{number}"})
    journal.note_change(lambda: {"main": {"text": "stored"}})
    record, failures = chat_turns.record, [False, True]

    def die_at_the_second(*args: Any) -> bool:
        if failures.pop(0):
            raise Died
        return record(*args)

    monkeypatch.setattr(chat_turns, "record", die_at_the_second)
    with pytest.raises(Died):
        event_loop.run(journal.flush())
    assert len(chat_turns.list_events(ref, turn_id)) == 1 + MAX_EVENTS
    assert chat_turns.get_stored(ref, turn_id).checkpoint == {"main": {"text": "stored"}}


def test_a_call_that_has_failed_is_not_made_again(
    client: Client, cloud: Settings, model: Model, chat_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_id = start(client, chat_id).json()["id"]
    (order,) = orders(cloud)
    model.answers = [ProviderError(ProbeErrorCode.CONTENT_FILTERED, "refused", final=True)]
    with monkeypatch.context() as patched:
        patched.setattr(chat_turns, "end", die)
        with pytest.raises(Died):
            carry_out(order)
    assert carry_out(order) is WorkResult.ENDED
    turn = turn_of(client, chat_id, turn_id)
    assert (turn["status"], turn["failedDetails"]["errorMessage"], len(model.asked)) == ("failed", "refused", 1)


def die(*_: object) -> bool:
    raise Died


def test_an_operation_that_is_aborted_once_its_model_has_answered_is_part_of_the_figures(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat_id = created(
        client, profileId=client.post("/v1/profiles", profile(called("plan", "before_main_llm"))).json()["id"]
    )
    turn_id = start(client, chat_id).json()["id"]

    async def abort_and_hang(*_: object) -> object:
        await asyncio.to_thread(client.post, f"/v1/chats/{chat_id}/turns/{turn_id}/abort")
        return await asyncio.sleep(60)

    monkeypatch.setattr(llm, "read_output", abort_and_hang)
    (order,) = orders(cloud)
    assert carry_out(order) is WorkResult.ENDED
    turn = turn_of(client, chat_id, turn_id)
    assert (turn["status"], turn["operations"][0]["status"]) == ("aborted", "aborted")
    assert turn["operationsSpend"]["calls"] == turn["operations"][0]["spend"]["calls"] == 1
    assert (turn["operationsSpend"]["usage"]["inputTokens"], turn["uncertainUsd"]) == (10, 0)


def test_a_call_of_an_operation_that_is_cut_off_is_part_of_what_is_uncertain(
    client: Client, cloud: Settings, model: Model
) -> None:
    assert client.put("/v1/providers/sim", PRICES).status == 200
    chat_id = piped_chat(client)
    turn_id = start(client, chat_id).json()["id"]

    async def abort_and_hang() -> None:
        await asyncio.to_thread(client.post, f"/v1/chats/{chat_id}/turns/{turn_id}/abort")
        await asyncio.sleep(60)

    model.during = abort_and_hang
    (order,) = orders(cloud)
    assert carry_out(order) is WorkResult.ENDED
    turn = turn_of(client, chat_id, turn_id)
    assert (turn["operationsSpend"]["calls"], turn["uncertainUsd"] > 0) == (0, True)


PRICES = {"prices": [{"model": "steady", "inputUsdPerMillion": 100, "outputUsdPerMillion": 100}]}
OPERATION_BOUND, MAIN_BOUND = 0.41, 0.2
"""About: 4,096 tokens of output, to which calls of operations are limited, and 2,000, with a short prompt."""


class Killed:
    """A worker that is killed during a call, and writes nothing more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, model: Model, call: str) -> None:
        self.model, self.call, self.is_dead = model, call, False
        model.during = self.during
        writes = [(chat_turns, name) for name in ("record", "end", "renew", "release")]
        for module, name in (*writes, (budgets, "report_to_month"), (budgets, "leave_month")):
            monkeypatch.setattr(module, name, self._while_alive(getattr(module, name)))

    async def during(self) -> None:
        if not self.is_dead and asked(self.model)[self.call]:
            self.is_dead = True
            raise Died

    def _while_alive(self, write: Callable[..., Any]) -> Callable[..., Any]:
        def written(*args: Any) -> Any:
            if self.is_dead:
                raise Died
            return write(*args)

        return written


def killed_turn(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch, call: str
) -> tuple[str, str, TurnOrder]:
    """A turn of a chat with a budget, whose worker was killed during one of the calls."""
    assert client.put("/v1/providers/sim", PRICES).status == 200
    assert client.put("/v1/settings", {"budgets": {"dayUsd": 100}}).status == 200
    chat_id = piped_chat(client)
    turn_id = start(client, chat_id).json()["id"]
    (order,) = orders(cloud)
    with monkeypatch.context() as patched:
        Killed(patched, model, call)
        with pytest.raises(Died):
            carry_out(order)
    model.during = None
    return chat_id, turn_id, order


def after_claim() -> datetime:
    """When the claim of a worker that began now has ended."""
    return utc_now() + CLAIM + timedelta(seconds=1)


@pytest.mark.parametrize(
    ("call", "bound"),
    [("plan", OPERATION_BOUND), ("style", OPERATION_BOUND), ("main", MAIN_BOUND), ("review", OPERATION_BOUND)],
)
def test_what_a_call_may_have_cost_whose_worker_was_killed_is_uncertain(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch, call: str, bound: float
) -> None:
    chat_id, turn_id, order = killed_turn(client, cloud, model, monkeypatch, call)
    monkeypatch.setattr(worker, "utc_now", after_claim)
    assert carry_out(order) is WorkResult.ENDED
    turn = turn_of(client, chat_id, turn_id)
    expected = {name: 2 if name == call else 1 for name in ("plan", "style", "main", "review")}
    assert (turn["status"], asked(model), turn["operationsSpend"]["calls"]) == ("done", expected, 3)
    assert turn["uncertainUsd"] == pytest.approx(bound, rel=0.1)
    today = utc_now().date()
    account = after_expiry(budgets.get_month("acme", today), time.time() + LEASE_SECONDS + 1)
    assert usd(account.uncertain(BudgetScope.DAY, today)) >= turn["uncertainUsd"]


def test_a_turn_that_nobody_goes_on_with_has_what_its_worker_may_have_spent(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat_id, turn_id, _ = killed_turn(client, cloud, model, monkeypatch, "style")
    turns.abort("acme", chat_id, turn_id, after_claim())
    turn = turn_of(client, chat_id, turn_id)
    assert (turn["status"], turn["operationsSpend"]["calls"]) == ("aborted", 1)
    assert turn["uncertainUsd"] == pytest.approx(OPERATION_BOUND, rel=0.1)


def test_what_is_stored_has_each_call_with_its_answer_or_as_uncertain(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.put("/v1/providers/sim", PRICES).status == 200
    chat_id, stored = piped_chat(client), list[tuple[int, int, bool]]()
    attempt, record = calls._attempt, chat_turns.record

    async def attempt_and_store(draft: DraftWriter, unanswered: UnansweredCalls, *args: Any) -> Reply:
        """A worker stores what has changed each second, perhaps between an answer and the operation that gets it."""
        reply = await attempt(draft, unanswered, *args)
        await unanswered.store()
        return reply

    def noting(*args: Any) -> bool:
        checkpoint = args[5]
        if checkpoint is not None:
            spend = decode(OpenTurn, checkpoint["turn"]).spend.calls + ("text" in checkpoint["main"])
            stored.append((len(model.asked), spend, checkpoint["uncertainNanoUsd"] > 0))
        return record(*args)

    monkeypatch.setattr(calls, "_attempt", attempt_and_store)
    monkeypatch.setattr(chat_turns, "record", noting)
    turn = finished_turn(client, cloud, chat_id)
    assert all(made == answered or is_uncertain for made, answered, is_uncertain in stored)
    assert {made for made, _, is_uncertain in stored if is_uncertain} == {0, 1, 2, 3, 4}
    assert (turn["status"], turn["uncertainUsd"]) == ("done", 0)


@pytest.mark.parametrize("is_of_operation", [False, True])
def test_a_call_is_not_made_whose_account_was_paused_while_the_worker_stored_it(
    client: Client, cloud: Settings, model: Model, monkeypatch: pytest.MonkeyPatch, is_of_operation: bool
) -> None:
    assert client.put("/v1/providers/sim", PRICES).status == 200
    assert client.put("/v1/settings", {"budgets": {"dayUsd": 100}}).status == 200
    chat_id, is_paused, begin = piped_chat(client), list[bool](), UnansweredCalls.begin

    async def begin_and_pause(unanswered: UnansweredCalls, nano_usd: int, *, is_main: bool) -> None:
        await begin(unanswered, nano_usd, is_main=is_main)
        if is_main is not is_of_operation:
            is_paused.append(True)

    def postpone(_: LeaseHolder) -> None:
        if is_paused:
            raise CallPostponed("sim", 5.0)

    monkeypatch.setattr(UnansweredCalls, "begin", begin_and_pause)
    monkeypatch.setattr(LeaseHolder, "postpone_if_closed", postpone)
    turn = finished_turn(client, cloud, chat_id)
    day = client.get("/v1/budgets").json()["day"]
    assert asked(model) == ({} if is_of_operation else {"plan": 1, "style": 1})
    assert (turn["status"], turn["uncertainUsd"]) == ("failed", 0)
    assert (day["uncertainUsd"], day["reservedUsd"]) == (0, 0)


def test_a_worker_ends_quietly_whose_turn_another_has_taken_at_its_end(
    client: Client, cloud: Settings, chat_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(client, chat_id)
    record = chat_turns.record
    monkeypatch.setattr(chat_turns, "record", lambda *args: args[4] is not TurnPhase.COMMIT and record(*args))
    (order,) = orders(cloud)
    assert carry_out(order) is WorkResult.NOTHING


def test_events_are_stored_once_although_the_answer_to_their_write_is_lost(
    client: Client, cloud: Settings, model: Model, chat_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_id = start(client, chat_id).json()["id"]
    record, lost = chat_turns.record, list[bool]()

    def losing(*args: Any) -> bool:
        is_written = record(*args)
        if is_written and len(lost) < 2:
            lost.append(True)
            raise ReadTimeoutError(endpoint_url="DynamoDB")
        return is_written

    monkeypatch.setattr(chat_turns, "record", losing)
    (order,) = orders(cloud)
    assert carry_out(order) is WorkResult.ENDED
    told = events(client, chat_id, turn_id)
    assert ([each["seq"] for each in told], len(model.asked)) == (list(range(1, len(told) + 1)), 1)
