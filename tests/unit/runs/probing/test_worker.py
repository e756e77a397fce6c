"""A worker on moto's queues and table, with simulated models."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from cupel_core.base.messages import ProbeSlice
from cupel_core.conversations.runner import CheckpointStore
from cupel_core.conversations.specs import ConversationSpec
from cupel_core.conversations.turn import Halted
from cupel_core.domain.conversations import simulation
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode, Usage
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.limits.worker_capacity import WorkerCapacity
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.pace import Pace
from cupel_core.domain.runs.run import Action, Progress, Run, RunStatus
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Transcript
from cupel_core.runs.probing import claims, committer, probe_runner
from cupel_core.runs.probing import worker as probing_worker
from cupel_core.runs.probing.caches import RunCache
from cupel_core.runs.probing.claimed_slice import ClaimedSlice
from cupel_core.runs.probing.claims import SliceClaimer
from cupel_core.runs.probing.heartbeat import HIDDEN_SECONDS
from cupel_core.runs.probing.probe_runner import MAX_FAILURES
from cupel_core.runs.probing.worker import Worker
from cupel_core.runs.record_outcomes import record
from cupel_core.store import barrier, checkpoints, clients, keys, outcomes, queues, runs, snapshots
from cupel_core.store.barrier import Tree
from cupel_core.store.queues import Delivery
from cupel_core.store.settings import Settings, settings
from tests.recorded_outcomes import count_outcomes, store_outcomes
from tests.started_runs import NOW, RATING, RunSetup, receive_bodies, ref_of, send_and_receive, slice_message

PLENTY = 600.0


def worker(seconds: float = PLENTY, memory_mb: int | None = None) -> Worker:
    """Return a worker for which no time passes, however slow the machine is."""
    now = time.time()
    return Worker("sim", now + seconds, clock=lambda: now, receive_wait_seconds=0, memory_mb=memory_mb)


def claim_by_another(run: Run, offsets: set[int], until: float) -> None:
    claim = Claim(frozenset(offsets), until, 0.0)
    barrier.acquire(ref_of(run), Node(0, 0), "other:0", claim, sorted(offsets), now=until - 30)


def count_delayed(cloud: Settings) -> int:
    """The number of messages that a worker has requeued with a delay."""
    delayed = clients.sqs().get_queue_attributes(
        QueueUrl=cloud.probe_queue_url("sim"), AttributeNames=["ApproximateNumberOfMessagesDelayed"]
    )
    return int(delayed["Attributes"]["ApproximateNumberOfMessagesDelayed"])


async def test_a_slice_becomes_transcripts_and_progress(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup(scenario_count=6).start()
    assert await worker().run(send_and_receive(slice_message(run, [0, 1, 2, 3]))) == []
    assert barrier.get_progress(Tree.for_run(run)) == Progress(6, completed=4)
    transcript = outcomes.get(ref_of(run), 2)
    assert isinstance(transcript, Transcript)
    assert transcript.conversation.turns == 1
    assert transcript.summary is not None
    assert transcript.summary.decision_code in "12345"
    assert finish_starts == []


async def test_the_first_probe_starts_the_run(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup().start()
    await worker().run(send_and_receive(slice_message(run, [0])))
    assert runs.get(ref_of(run)).status is RunStatus.RUNNING


async def test_the_last_probe_starts_the_finish(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup(scenario_count=120).start()
    slices = [slice_message(run, list(range(100))), slice_message(run, list(range(100, 120)), leaf=1)]
    await worker().run(send_and_receive(*slices))
    assert finish_starts == [(run.id, 1)]
    assert barrier.get_progress(Tree.for_run(run)) == Progress(120, completed=120)


async def test_no_outcome_is_lost_when_recording_it_fails_in_an_unforeseen_way(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunSetup(scenario_count=60).start()
    failures = [RuntimeError("dictionary changed size during iteration")]

    def record_after_a_failure(*recorded: Any) -> None:
        if failures:
            raise failures.pop()
        record(*recorded)

    monkeypatch.setattr(committer, "record", record_after_a_failure)
    recording = worker()
    await recording.run(send_and_receive(slice_message(run, list(range(60)))))
    assert failures == []
    assert barrier.get_progress(Tree.for_run(run)) == Progress(60, completed=60)
    assert recording.totals.probes == 60


async def test_an_outcome_that_always_fails_in_an_unforeseen_way_becomes_an_error_of_its_probe_alone(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunSetup(scenario_count=20).start()

    def fail_for_one(run: Run, token: int, new_outcomes: Sequence[Outcome], *rest: Any) -> None:
        if any(isinstance(each, Transcript) and each.probe_index == 7 for each in new_outcomes):
            raise RuntimeError("no such attribute")
        record(run, token, new_outcomes, *rest)

    monkeypatch.setattr(committer, "record", fail_for_one)
    assert await worker().run(send_and_receive(slice_message(run, list(range(20))))) == []
    assert barrier.get_progress(Tree.for_run(run)) == Progress(20, completed=19, failed=1)
    error = outcomes.get(ref_of(run), 7)
    assert isinstance(error, ProbeError)
    assert (error.code, error.message) == (
        ProbeErrorCode.INTERNAL,
        "the outcome could not be stored: RuntimeError: no such attribute",
    )


async def test_a_slice_that_cannot_be_claimed_in_an_unforeseen_way_is_redelivered(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunSetup(scenario_count=40).start()
    deliveries = send_and_receive(*(slice_message(run, list(range(first, first + 20))) for first in (0, 20)))
    claim = SliceClaimer.claim

    async def claim_except_the_first(self: SliceClaimer, delivery: Delivery) -> ClaimedSlice | None:
        if delivery is deliveries[0]:
            raise RuntimeError("dictionary changed size during iteration")
        return await claim(self, delivery)

    monkeypatch.setattr(SliceClaimer, "claim", claim_except_the_first)
    assert await worker().run(deliveries) == deliveries[:1]
    assert barrier.get_progress(Tree.for_run(run)) == Progress(40, completed=20)


async def test_slices_are_claimed_side_by_side(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunSetup(scenario_count=40).start()
    deliveries = send_and_receive(*(slice_message(run, list(range(first, first + 20))) for first in (0, 20)))
    claim, has_claimed_second = SliceClaimer.claim, asyncio.Event()

    async def claim_after_the_second(self: SliceClaimer, delivery: Delivery) -> ClaimedSlice | None:
        if delivery is deliveries[0]:
            await has_claimed_second.wait()
        claimed = await claim(self, delivery)
        has_claimed_second.set()
        return claimed

    monkeypatch.setattr(SliceClaimer, "claim", claim_after_the_second)
    assert await worker().run(deliveries) == []
    assert barrier.get_progress(Tree.for_run(run)) == Progress(40, completed=40)


async def test_a_message_is_deleted_after_its_commit(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup().start()
    deliveries = send_and_receive(slice_message(run, [0]))
    await worker().run(deliveries)
    assert receive_bodies(cloud.probe_queue_url("sim")) == []


async def test_a_worker_receives_further_slices_itself(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup(scenario_count=60).start()
    deliveries = send_and_receive(slice_message(run, list(range(20))))
    queues.send(
        cloud.probe_queue_url("sim"), [slice_message(run, list(range(first, first + 20))) for first in (20, 40)]
    )
    await worker().run(deliveries)
    assert barrier.get_progress(Tree.for_run(run)) == Progress(60, completed=60)


async def test_every_message_is_hidden_only_until_a_few_heartbeats_are_missed(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    requests: list[dict[str, Any]] = []
    events = clients.sqs().meta.events
    operations = ("ReceiveMessage", "ChangeMessageVisibilityBatch")
    run = RunSetup(scenario_count=40).start()
    deliveries = send_and_receive(slice_message(run, list(range(20))))
    queues.send(cloud.probe_queue_url("sim"), [slice_message(run, list(range(20, 40)))])
    for operation in operations:
        events.register(
            f"provide-client-params.sqs.{operation}", lambda params, **_: requests.append(params), operation
        )
    await worker().run(deliveries)
    for operation in operations:
        events.unregister(f"provide-client-params.sqs.{operation}", unique_id=operation)
    shortened = requests[0]["Entries"][0]
    assert (shortened["ReceiptHandle"], shortened["VisibilityTimeout"]) == (deliveries[0].receipt, HIDDEN_SECONDS)
    assert {request["VisibilityTimeout"] for request in requests[1:]} == {HIDDEN_SECONDS}


async def test_a_provider_error_is_an_errored_probe(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        simulation, "should_fail", lambda _, request: request.messages[-1].content.startswith("Question 7")
    )
    run = RunSetup(scenario_count=100, models=("sim/flaky",)).start()
    await worker().run(send_and_receive(slice_message(run, list(range(100)))))
    counts = barrier.get_progress(Tree.for_run(run))
    assert counts.finished
    assert counts.failed == 11
    errors = [each for each in outcomes.list_outcomes(ref_of(run), range(100)) if isinstance(each, ProbeError)]
    assert {error.probe_index for error in errors} == {7, *range(70, 80)}
    assert {error.code for error in errors} == {ProbeErrorCode.PROVIDER_ERROR}
    assert len(errors) == counts.failed
    assert all(error.started_at and error.started_at <= error.created_at for error in errors)


async def test_follow_ups_are_sent_up_to_the_maximum_number_of_turns(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    content = {**RATING, "followUps": ["And if it were your child? End with `Rating: N`.", "Sure?"], "maxTurns": 2}
    run = RunSetup(scenario_count=1, content=content).start()
    await worker().run(send_and_receive(slice_message(run, [0])))
    transcript = outcomes.get(ref_of(run), 0)
    assert isinstance(transcript, Transcript)
    assert [message.role for message in transcript.messages] == ["user", "assistant"] * 2
    assert transcript.conversation.turns == 2


async def test_messages_with_an_old_fencing_token_are_dropped(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup().start()
    probe_slice = slice_message(run, [0, 1])
    runs.transition(ref_of(run), Action.PAUSE, NOW)
    assert await worker().run(send_and_receive(probe_slice)) == []
    assert barrier.get_progress(Tree.for_run(run)) == Progress(6)
    assert receive_bodies(cloud.probe_queue_url("sim")) == []


async def test_a_worker_without_time_hands_its_slice_on(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = RunSetup().start()
    assert await worker(seconds=5).run(send_and_receive(slice_message(run, [0, 1, 2]))) == []
    assert barrier.get_leaf(ref_of(run), Node(0, 0)).claims == {}
    assert receive_bodies(cloud.probe_queue_url("sim")) == [slice_message(run, [0, 1, 2]).to_body()]


async def test_an_invocation_as_short_as_a_call_may_be_runs_its_probes_with_shorter_calls(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup().start()
    await worker(seconds=cloud.call_timeout_seconds).run(send_and_receive(slice_message(run, [0, 1, 2])))
    assert barrier.get_progress(Tree.for_run(run)) == Progress(6, completed=3)


def break_checkpoint(run: Run, index: int) -> None:
    """A checkpoint that cannot be read is an internal error of its probe."""
    key = {"pk": keys.checkpoints(ref_of(run), index), "sk": keys.numbered_probe(index, run.retry_round)}
    item = {name: {"S": value} for name, value in key.items()} | {"content": {"B": b"damaged"}}
    clients.dynamodb().put_item(TableName=settings().table_name, Item=item)


def last_attempt(run: Run, index: int) -> ProbeSlice:
    """The message of a probe that one more internal error ends."""
    return slice_message(run, [index]).model_copy(update={"failures": MAX_FAILURES - 1})


async def fail_unforeseen(*_: Any) -> Any:
    raise RuntimeError("dictionary changed size during iteration")


TWO_TURNS = {**RATING, "followUps": ["Sure? End with `Rating: N`."]}


async def test_a_probe_with_an_internal_error_is_requeued_alone(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=3, content=TWO_TURNS).start()
    break_checkpoint(run, 1)
    assert await worker().run(send_and_receive(slice_message(run, [0, 1, 2]))) == []
    assert barrier.get_leaf(ref_of(run), Node(0, 0)).leaf.completed == {0, 2}
    assert count_delayed(cloud) == 1


async def test_a_probe_with_too_many_internal_errors_is_recorded_as_errored(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=3, content=TWO_TURNS).start()
    break_checkpoint(run, 1)
    await worker().run(send_and_receive(last_attempt(run, 1)))
    error = outcomes.get(ref_of(run), 1)
    assert isinstance(error, ProbeError)
    assert (error.code, error.attempts) == (ProbeErrorCode.INTERNAL, MAX_FAILURES)


async def test_an_internal_error_has_cost_what_was_answered_before_it(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunSetup(scenario_count=1, content=TWO_TURNS).start()
    before = ConversationState((), turns=1, usage=Usage(5, 7), cost_usd=0.25, started_at=NOW)
    checkpoints.save(ref_of(run), 0, run.retry_round, before, NOW)
    monkeypatch.setattr(probe_runner, "run_conversation", fail_unforeseen)
    await worker().run(send_and_receive(last_attempt(run, 0)))
    error = outcomes.get(ref_of(run), 0)
    assert isinstance(error, ProbeError)
    assert (error.spending.total.cost_usd, error.started_at) == (0.25, NOW)


async def test_an_internal_error_without_a_checkpoint_started_when_its_worker_did(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunSetup(scenario_count=1).start()
    monkeypatch.setattr(probe_runner, "run_conversation", fail_unforeseen)
    await worker().run(send_and_receive(last_attempt(run, 0)))
    error = outcomes.get(ref_of(run), 0)
    assert isinstance(error, ProbeError)
    assert error.started_at is not None
    assert NOW < error.started_at <= error.created_at


async def test_the_cost_of_a_damaged_checkpoint_is_unknown(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=3, content=TWO_TURNS).start()
    break_checkpoint(run, 1)
    await worker().run(send_and_receive(last_attempt(run, 1)))
    error = outcomes.get(ref_of(run), 1)
    assert isinstance(error, ProbeError)
    assert error.spending.total.cost_usd is None


async def test_a_worker_that_ends_in_the_middle_of_a_conversation_reports_no_failure(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event loop cancels all tasks when the process ends."""
    begun, reported = asyncio.Event(), list[dict[str, Any]]()

    async def never_ends(*_: Any, **__: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(probe_runner, "run_conversation", never_ends)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: reported.append(context))
    running = set(asyncio.all_tasks())
    working = loop.create_task(worker().run(send_and_receive(slice_message(RunSetup().start(), [0]))))
    await begun.wait()
    tasks = asyncio.all_tasks() - running
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    await asyncio.sleep(0)
    assert working.cancelled()
    assert reported == []


async def test_a_worker_counts_what_a_conversation_has_cost_that_a_cancellation_ends(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunSetup(scenario_count=2, content=TWO_TURNS).start()

    async def halt_after_a_turn(spec: ConversationSpec, _: Any, checkpoints: CheckpointStore, *__: Any) -> Any:
        await checkpoints.save(ConversationState((), turns=1, cost_usd=0.25))
        if spec.index == 1:
            runs.transition(ref_of(run), Action.CANCEL, NOW)
        raise Halted

    monkeypatch.setattr(probe_runner, "run_conversation", halt_after_a_turn)
    await worker().run(send_and_receive(slice_message(run, [0, 1])))
    assert barrier.get_state(Tree.for_run(run)).spend.recorded.priced_usd == 0.5


async def test_probes_claimed_by_another_worker_are_checked_again_later(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup().start()
    claim_by_another(run, {0, 1}, until=time.time() + 100)
    assert await worker().run(send_and_receive(slice_message(run, [0, 1, 2]))) == []
    assert barrier.get_progress(Tree.for_run(run)) == Progress(6, completed=1)
    assert count_delayed(cloud) == 1


async def test_a_conversation_resumes_after_its_last_complete_turn(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    content = {**RATING, "followUps": ["Sure? End with `Rating: N`."]}
    run = RunSetup(scenario_count=1, content=content).start()
    said = (Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, "Said before the crash. Rating: 2"))
    before = ConversationState(said, turns=1, usage=Usage(5, 7), duration_ms=9, cost_usd=0.0, model_version="m")
    checkpoints.save(ref_of(run), 0, run.retry_round, before, NOW)
    await worker().run(send_and_receive(slice_message(run, [0])))
    transcript = outcomes.get(ref_of(run), 0)
    assert isinstance(transcript, Transcript)
    assert transcript.messages[:2] == said
    assert transcript.conversation.turns == 2
    assert transcript.conversation.usage.input_tokens > 5


async def test_an_outcome_stored_by_a_dead_worker_is_not_paid_for_again(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=2).start()
    claim_by_another(run, {0, 1}, until=time.time() - 1)
    error = ProbeError(0, "scn", "sim/steady", ProbeErrorCode.AUTH, "by the dead worker", 1, NOW)
    store_outcomes(run, 1, [error])
    busy = worker()
    await busy.run(send_and_receive(slice_message(run, [0, 1])))
    assert busy.totals.probes == 1
    assert barrier.get_progress(Tree.for_run(run)) == Progress(2, completed=1, failed=1)
    assert finish_starts == [(run.id, 1)]


async def test_a_slice_that_is_already_done_still_updates_the_barrier(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup(scenario_count=1).start()
    count_outcomes(Tree.for_run(run), Node(0, 0), {0: True})
    await worker().run(send_and_receive(slice_message(run, [0])))
    assert finish_starts == [(run.id, 1)]


@pytest.mark.parametrize("body", ["no json", '{"workspace": "ws_a"}'])
async def test_a_malformed_message_is_redelivered(
    cloud: Settings, finish_starts: list[tuple[str, int]], body: str
) -> None:
    url = cloud.probe_queue_url("sim")
    queues.sqs().send_message(QueueUrl=url, MessageBody=body)
    deliveries = queues.receive(url, 1)
    assert await worker().run(deliveries) == deliveries


async def test_a_run_whose_snapshot_is_missing_keeps_its_message_and_records_the_error(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    run = RunSetup().start()
    deliveries = send_and_receive(slice_message(run, [0]))
    clients.s3().delete_object(Bucket=cloud.bucket_name, Key=run.snapshot_key)
    assert await worker().run(deliveries) == deliveries
    assert "no object" in (barrier.get_leaf(ref_of(run), Node(0, 0)).last_error or "")


async def test_probes_with_long_scenarios_are_claimed_in_parts(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunSetup(scenario_count=8).start()
    size = snapshots.get(run.snapshot_key).manifest.size_at(0)
    monkeypatch.setattr(claims, "MAX_CLAIMED_BYTES", 2.5 * size)
    claim_by_another(run, {4}, time.time() + PLENTY)
    claimer = SliceClaimer("worker", time.time() + PLENTY, RunCache())
    (delivery,) = send_and_receive(slice_message(run, [0, 1, 2, 3, 4, 5]))
    claimed = await claimer.claim(delivery)
    assert claimed is not None
    assert (list(claimed.pending), claimed.claim.offsets) == ([0, 1], {0, 1})
    assert (claimed.remainders, claimed.scenario_mb) == ({}, pytest.approx(2 * size / 1_000_000))
    claims.send_rest(claimed)
    (rest,) = receive_bodies(delivery.queue_url)
    assert ProbeSlice.model_validate_json(rest) == slice_message(run, [2, 3, 4, 5])


async def test_only_probes_without_an_outcome_are_sent_back(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunSetup(scenario_count=8).start()
    await worker().run(send_and_receive(slice_message(run, [0, 1, 2, 4])))
    monkeypatch.setattr(claims, "MAX_CLAIMED_BYTES", 1)
    for indexes, left in (([0, 1, 2, 3], [3]), ([0, 1, 2], [])):
        (delivery,) = send_and_receive(slice_message(run, indexes))
        claimed = await SliceClaimer("worker", time.time() + PLENTY, RunCache()).claim(delivery)
        assert claimed is not None
        assert claimed.rest == left


async def test_a_worker_completes_probes_that_it_claims_in_parts(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunSetup(scenario_count=8).start()
    monkeypatch.setattr(claims, "MAX_CLAIMED_BYTES", 1)
    assert await worker().run(send_and_receive(slice_message(run, list(range(8))))) == []
    assert barrier.get_progress(Tree.for_run(run)) == Progress(8, completed=8)


@dataclass
class LongScenarios(RunSetup):
    def _scenario(self, number: int) -> Scenario:
        return replace(super()._scenario(number), messages=(Message(MessageRole.USER, "x" * 400_000),))


def capacity_of(least_mb: float) -> WorkerCapacity:
    """Of the smallest function that has so much memory for conversations."""
    return next(each for each in map(WorkerCapacity, range(1_000)) if each.conversations_mb > least_mb)


async def test_long_scenarios_take_no_more_memory_than_a_worker_has(
    cloud: Settings, finish_starts: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    run, capacity, queue_url = LongScenarios(scenario_count=20).start(), capacity_of(8), cloud.probe_queue_url("sim")
    idle, used = list[float](), list[float]()

    def small_worker() -> Worker:
        small = worker(memory_mb=capacity.memory_mb)
        receive, start = small._receiver.start_receiving, small._start_probe

        def start_and_measure(*args: Any) -> bool:
            has_started = start(*args)
            if small._open_conversations > 1:
                used.append(small._open.total.mb + small._heartbeat.idle_mb())
            return has_started

        def measure_and_receive(*args: Any) -> None:
            if small._open_conversations:
                idle.append(small._heartbeat.idle_mb())
            receive(*args)

        monkeypatch.setattr(small._receiver, "start_receiving", measure_and_receive)
        monkeypatch.setattr(small, "_start_probe", start_and_measure)
        return small

    queues.send(queue_url, [slice_message(run, list(range(10))), slice_message(run, list(range(10, 20)))])
    while deliveries := queues.receive(queue_url, 1, 0, HIDDEN_SECONDS):
        assert await small_worker().run(deliveries) == []
    assert barrier.get_progress(Tree.for_run(run)) == Progress(20, completed=20)
    assert max(idle, default=0.0) < capacity.idle_mb
    assert used
    assert max(used) <= capacity.conversations_mb


async def test_a_worker_without_work_receives_once_however_long_its_last_commit_takes(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle, receives = worker(), list[tuple[Any, ...]]()
    receive, commit = queues.receive, idle._committer.commit

    def count_and_receive(*args: Any) -> list[Delivery]:
        receives.append(args)
        return receive(*args)

    async def commit_after_the_receive() -> None:
        if idle._receiver._task is not None:
            await idle._receiver._task
        for _ in range(5):  # A timer without delay has elapsed by then.
            await asyncio.sleep(0)
        assert len(receives) == 1
        await commit()

    monkeypatch.setattr(probing_worker, "_RECEIVE_AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(queues, "receive", count_and_receive)
    monkeypatch.setattr(idle._committer, "commit", commit_after_the_receive)
    assert await idle.run([]) == []
    assert len(receives) == 1


async def test_long_scenarios_of_a_paced_run_do_not_keep_a_worker_from_other_runs(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    paced = LongScenarios(scenario_count=20, pace=Pace(max_concurrency=1)).start()
    short = RunSetup(scenario_count=3).start()
    small = worker(memory_mb=capacity_of(18).memory_mb)
    first, second = list(range(10)), list(range(10, 20))
    deliveries = send_and_receive(slice_message(paced, first), slice_message(paced, second))
    queues.send(cloud.probe_queue_url("sim"), [slice_message(short, [0, 1, 2])])
    await small.run(deliveries)
    assert barrier.get_progress(Tree.for_run(short)) == Progress(3, completed=3)
    assert barrier.get_progress(Tree.for_run(paced)) == Progress(20, completed=10)
    assert count_delayed(cloud) == 1
