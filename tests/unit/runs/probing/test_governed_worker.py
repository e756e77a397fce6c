"""How a worker uses the lease that the governor grants."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from cupel_core.accounts import keys as accounts
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Conflict
from cupel_core.base.messages import ProbeSlice
from cupel_core.conversations.runner import run_conversation
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.limits.governor import Limits, WorkerReport
from cupel_core.domain.runs.run import PauseReason, Priority, Progress, Run, RunEventType, RunStatus
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.providers import completion
from cupel_core.providers.errors import ProviderError
from cupel_core.runs import control, erasure
from cupel_core.runs.probing import probe_runner
from cupel_core.runs.probing.worker import Worker
from cupel_core.store import barrier, checkpoints, clients, events, governor, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.queues import Delivery
from cupel_core.store.settings import Settings
from tests.started_runs import NOW, RATING, RunSetup, ref_of, send_and_receive, slice_message
from tests.stored_text import places_with

LEAF = list(range(20))
RUBRIC = {**RATING, "assertions": [{"type": "llm-rubric", "value": "is kind"}]}


class Sent(NamedTuple):
    """A message that the worker handed on."""

    probe_slice: ProbeSlice
    delay_seconds: int


@pytest.fixture
def sent(cloud: Settings) -> Iterator[list[Sent]]:
    """The messages handed on. A test that does not wait cannot receive delayed messages."""
    events, seen = clients.sqs().meta.events, list[Sent]()

    def note(params: dict[str, Any], **_: object) -> None:
        for entry in params["Entries"]:
            seen.append(Sent(ProbeSlice.model_validate_json(entry["MessageBody"]), entry["DelaySeconds"]))

    events.register("provide-client-params.sqs.SendMessageBatch", note)
    yield seen
    events.unregister("provide-client-params.sqs.SendMessageBatch", note)


def worker(priority: Priority = Priority.NORMAL) -> Worker:
    return Worker("sim", time.time() + 600, receive_wait_seconds=0, priority=priority)


def deliver(run: Run, indexes: list[int], sent: list[Sent]) -> list[Delivery]:
    deliveries = send_and_receive(slice_message(run, indexes))
    sent.clear()
    return deliveries


async def test_a_single_worker_gets_the_whole_limit(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    accounts.update_provider("ws_a", "sim", {"max_parallel_requests": 3})
    run = RunSetup(scenario_count=20).start()
    await worker().run(send_and_receive(slice_message(run, LEAF)))
    assert barrier.get_progress(Tree.for_run(run)) == Progress(20, completed=20)
    assert governor.get_status("ws_a", "sim").limit == 3


@pytest.fixture
def rendezvous(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], list[int]]:
    """Let no conversation end before so many are open, or after a second; gives the numbers of open ones."""

    def install(expected: int) -> list[int]:
        open_conversations, numbers, are_open = 0, list[int](), asyncio.Event()

        async def run_with_others(*arguments: Any) -> Outcome:
            nonlocal open_conversations
            open_conversations += 1
            numbers.append(open_conversations)
            if open_conversations >= expected:
                are_open.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await are_open.wait()
            open_conversations -= 1
            return await run_conversation(*arguments)

        monkeypatch.setattr(probe_runner, "run_conversation", run_with_others)
        return numbers

    return install


async def test_a_worker_has_as_many_calls_in_flight_as_its_account_allows(
    cloud: Settings, finish_starts: list[tuple[str, int]], rendezvous: Callable[[int], list[int]]
) -> None:
    accounts.update_provider("ws_a", "sim", {"max_parallel_requests": 130})
    run = RunSetup(scenario_count=130).start()
    slices = [slice_message(run, list(range(100))), slice_message(run, list(range(100, 130)), leaf=1)]
    in_flight = rendezvous(130)
    await worker().run(send_and_receive(*slices))
    assert max(in_flight) == 130


async def test_a_worker_opens_no_more_conversations_than_fit_its_memory(
    cloud: Settings, finish_starts: list[tuple[str, int]], rendezvous: Callable[[int], list[int]]
) -> None:
    run = RunSetup(scenario_count=6, content={**RATING, "system": "x" * 2_000_000}).start()
    in_flight = rendezvous(3)
    small = Worker("sim", time.time() + 600, receive_wait_seconds=0, memory_mb=245)
    await small.run(send_and_receive(slice_message(run, list(range(6)))))
    assert max(in_flight) == 3
    assert barrier.get_progress(Tree.for_run(run)) == Progress(6, completed=6)


async def test_a_worker_that_ends_gives_its_lease_back(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup(scenario_count=20).start()
    await worker().run(send_and_receive(slice_message(run, LEAF)))
    assert governor.get_status("ws_a", "sim").workers == 0


async def test_a_paused_account_hands_its_slices_on_and_calls_no_model(
    sent: list[Sent], finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=20).start()
    governor.set_paused("ws_a", "sim", True)
    assert await worker().run(deliver(run, LEAF, sent)) == []
    assert barrier.get_progress(Tree.for_run(run)) == Progress(20)
    assert [message.probe_slice.indexes for message in sent] == [LEAF]
    assert 5 <= sent[0].delay_seconds <= 7


async def test_probes_that_the_governor_postpones_are_not_counted_as_handoffs(
    sent: list[Sent], finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=20).start()
    governor.set_paused("ws_a", "sim", True)
    await worker().run(deliver(run, LEAF, sent))
    assert sent[0].probe_slice.handoffs == 0


def typo_run() -> Run:
    """20 probes of a model that does not exist, and 20 of one that does."""
    accounts.update_provider("ws_a", "sim", {"max_parallel_requests": 5})
    return RunSetup(scenario_count=20, models=("sim/typo", "sim/steady")).start()


async def test_a_run_whose_model_refuses_every_call_is_paused(
    sent: list[Sent], finish_starts: list[tuple[str, int]]
) -> None:
    run = typo_run()
    assert await worker().run(deliver(run, list(range(40)), sent)) == []
    paused = runs.get(ref_of(run))
    assert (paused.status, paused.pause_reason) == (RunStatus.PAUSED, PauseReason.PROVIDER)
    assert paused.pause_cause is not None
    assert paused.pause_cause.model == "sim/typo"
    assert "typo" in paused.pause_cause.message
    assert 5 <= barrier.get_progress(Tree.for_run(run)).failed < 10


async def test_the_pause_of_a_refused_run_is_an_event_with_its_cause(
    sent: list[Sent], finish_starts: list[tuple[str, int]]
) -> None:
    run = typo_run()
    await worker().run(deliver(run, list(range(40)), sent))
    event = events.list_after(ref_of(run), 0)[-1]
    assert (event.type, event.data["pauseReason"], event.data["model"]) == (RunEventType.PAUSED, "provider", "sim/typo")


async def test_a_refusal_that_repeats_what_was_said_is_quoted_by_the_errors_of_its_probes_only(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def repeat(_: object, __: object, request: ModelRequest, *___: object) -> Reply:
        raise ProviderError(ProbeErrorCode.INVALID_REQUEST, f"HTTP 422: input: {request.messages[0].content}")

    monkeypatch.setattr(completion, "_call_provider", repeat)
    said = "My sister has hidden a broken valve."
    accounts.update_provider("ws_a", "sim", {"max_parallel_requests": 5})
    run = RunSetup(scenario_count=20, content={**RATING, "system": said}).start()
    await worker().run(send_and_receive(slice_message(run, LEAF)))
    paused = runs.get(ref_of(run))
    assert paused.pause_cause is not None
    assert "errors of the probes" in paused.pause_cause.message
    assert any("#pages#" in place for place in places_with(said, cloud))
    for index in range(20):
        with suppress(Conflict):  # It has not been run.
            erasure.delete_probe_content("ws_a", f"{run.id}-{index}", utc_now())
    left = places_with(said, cloud)
    assert {place.partition("/")[0] for place in left} == {"runs"}, "the definition, in the snapshot of the run"


async def test_the_remaining_probes_of_a_refused_run_are_dropped_with_their_messages(
    sent: list[Sent], finish_starts: list[tuple[str, int]]
) -> None:
    run = typo_run()
    await worker().run(deliver(run, list(range(40)), sent))
    assert sent == []


async def test_a_resumed_run_tries_its_refused_model_and_is_paused_again(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = typo_run()
    await worker().run(send_and_receive(slice_message(run, list(range(40)))))
    before = barrier.get_progress(Tree.for_run(run)).failed
    resumed = control.resume("ws_a", run.id, utc_now())
    await worker().run(send_and_receive(slice_message(resumed, list(range(20)))))
    assert runs.get(ref_of(run)).status is RunStatus.PAUSED
    assert before + 5 <= barrier.get_progress(Tree.for_run(run)).failed < before + 10


async def test_a_run_whose_judge_refuses_every_call_is_paused_and_keeps_its_answers(
    sent: list[Sent], finish_starts: list[tuple[str, int]]
) -> None:
    accounts.update_provider("ws_a", "sim", {"max_parallel_requests": 5})
    run = RunSetup(scenario_count=20, content=RUBRIC, judge_model="sim/typo").start()
    assert await worker().run(deliver(run, LEAF, sent)) == []
    paused, completed = runs.get(ref_of(run)), barrier.get_progress(Tree.for_run(run)).completed
    assert paused.pause_cause is not None
    assert (paused.status, paused.pause_cause.model) == (RunStatus.PAUSED, "sim/typo")
    assert completed < 10, "only the calls by which the judge's breaker opened have recorded an error"
    assert any(checkpoints.load(ref_of(run), index, run.retry_round, NOW) for index in LEAF)


async def test_a_worker_of_low_priority_yields_to_one_of_high_priority(
    sent: list[Sent], finish_starts: list[tuple[str, int]]
) -> None:
    high = WorkerReport("high", Priority.HIGH, demand=60, in_flight=50)
    governor.renew("ws_a", "sim", Limits(50), high, time.time())
    run = RunSetup(scenario_count=20).start()
    await worker(Priority.LOW).run(deliver(run, LEAF, sent))
    assert barrier.get_progress(Tree.for_run(run)) == Progress(20)
    assert sent[0].delay_seconds >= 10


async def test_a_judge_of_a_paused_provider_is_not_called_and_its_conversations_return_with_their_answers(
    sent: list[Sent], finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=20, content=RUBRIC, judge_model="custom/judge").start()
    governor.set_paused("ws_a", "custom", True)
    assert await worker().run(deliver(run, LEAF, sent)) == []
    assert barrier.get_progress(Tree.for_run(run)) == Progress(20)
    handed_on = [message for message in sent if message.probe_slice.handoffs == 0]
    assert sorted(index for message in handed_on for index in message.probe_slice.indexes) == LEAF
    assert all(5 <= message.delay_seconds <= 7 for message in sent)
    assert all(checkpoints.load(ref_of(run), index, run.retry_round, NOW) for index in LEAF)
    status = governor.get_status("ws_a", "custom")
    assert (status.limit, status.workers) == (50, 0)
