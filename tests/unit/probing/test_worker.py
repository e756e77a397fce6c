"""A worker on moto's queues and table, with simulated models."""

import time

import pytest

from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.run import Action, Progress, RunStatus
from cupel_core.domain.runs.transcripts import ProbeError, Transcript
from cupel_core.domain.turns.conversation import Dialogue
from cupel_core.domain.turns.model_request import ErrorCode, Message, Role, Usage
from cupel_core.probing.worker import Worker
from cupel_core.settings import Settings
from cupel_core.store import barrier, checkpoints, clients, outcomes, queues, runs
from cupel_core.store.barrier import Tree
from tests.started_runs import NOW, RATING, Given, delivered, ref_of, slice_of, waiting

PLENTY = 600.0


def worker(seconds: float = PLENTY) -> Worker:
    return Worker("sim", time.time() + seconds, linger_seconds=0)


async def test_a_slice_becomes_transcripts_and_progress(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given(scenario_count=6).start()
    assert await worker().run(delivered(slice_of(run, [0, 1, 2, 3]))) == []
    assert barrier.progress(Tree.of(run)) == Progress(6, completed=4)
    transcript = outcomes.get(ref_of(run), 2)
    assert isinstance(transcript, Transcript)
    assert transcript.dialogue.turns == 1
    assert transcript.summary is not None
    assert transcript.summary.decision_code in "12345"
    assert finishing == []


async def test_the_first_probe_moves_the_run_to_running(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given().start()
    await worker().run(delivered(slice_of(run, [0])))
    assert runs.get(ref_of(run)).status is RunStatus.RUNNING


async def test_the_last_probe_begins_the_finish(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given(scenario_count=120).start()
    pieces = [slice_of(run, list(range(100))), slice_of(run, list(range(100, 120)), leaf=1)]
    await worker().run(delivered(*pieces))
    assert finishing == [(run.id, 1)]
    assert barrier.progress(Tree.of(run)) == Progress(120, completed=120)


async def test_a_message_is_gone_after_its_commit(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given().start()
    deliveries = delivered(slice_of(run, [0]))
    await worker().run(deliveries)
    assert waiting(cloud.probe_queue_url("sim")) == []


async def test_a_worker_receives_further_slices_itself(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given(scenario_count=60).start()
    handed = delivered(slice_of(run, list(range(20))))
    queues.send(cloud.probe_queue_url("sim"), [slice_of(run, list(range(first, first + 20))) for first in (20, 40)])
    await worker().run(handed)
    assert barrier.progress(Tree.of(run)) == Progress(60, completed=60)


async def test_a_provider_error_is_an_errored_probe(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given(scenario_count=100, models=("sim/flaky",)).start()
    await worker().run(delivered(slice_of(run, list(range(100)))))
    counts = barrier.progress(Tree.of(run))
    assert counts.finished
    assert 3 <= counts.failed <= 20
    errors = [each for each in outcomes.in_range(ref_of(run), range(100)) if isinstance(each, ProbeError)]
    assert {error.code for error in errors} == {ErrorCode.PROVIDER_ERROR}
    assert len(errors) == counts.failed


async def test_follow_ups_are_said_up_to_the_runs_turns(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    content = {**RATING, "followUps": ["And if it were your child? End with `Rating: N`.", "Sure?"], "maxTurns": 2}
    run = Given(scenario_count=1, content=content).start()
    await worker().run(delivered(slice_of(run, [0])))
    transcript = outcomes.get(ref_of(run), 0)
    assert isinstance(transcript, Transcript)
    assert [message.role for message in transcript.messages] == ["user", "assistant"] * 2
    assert transcript.dialogue.turns == 2


async def test_messages_of_an_old_epoch_are_dropped(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given().start()
    piece = slice_of(run, [0, 1])
    runs.move(ref_of(run), Action.PAUSE, NOW)
    assert await worker().run(delivered(piece)) == []
    assert barrier.progress(Tree.of(run)) == Progress(6)
    assert waiting(cloud.probe_queue_url("sim")) == []


async def test_a_worker_without_time_hands_its_slice_on(cloud: Settings, finishing: list[tuple[str, int]]) -> None:
    run = Given().start()
    assert await worker(seconds=10).run(delivered(slice_of(run, [0, 1, 2]))) == []
    assert barrier.leaf(ref_of(run), Node(0, 0)).claims == {}
    assert waiting(cloud.probe_queue_url("sim")) == [slice_of(run, [0, 1, 2]).to_body()]


async def test_probes_somebody_works_on_are_looked_at_again_later(
    cloud: Settings, finishing: list[tuple[str, int]]
) -> None:
    run = Given().start()
    barrier.claim(ref_of(run), Node(0, 0), "other:0", Claim(frozenset({0, 1}), time.time() + 100))
    assert await worker().run(delivered(slice_of(run, [0, 1, 2]))) == []
    assert barrier.progress(Tree.of(run)) == Progress(6, completed=1)
    delayed = clients.sqs().get_queue_attributes(
        QueueUrl=cloud.probe_queue_url("sim"), AttributeNames=["ApproximateNumberOfMessagesDelayed"]
    )
    assert delayed["Attributes"]["ApproximateNumberOfMessagesDelayed"] == "1"


async def test_a_conversation_goes_on_after_its_last_complete_turn(
    cloud: Settings, finishing: list[tuple[str, int]]
) -> None:
    content = {**RATING, "followUps": ["Sure? End with `Rating: N`."]}
    run = Given(scenario_count=1, content=content).start()
    said = (Message(Role.USER, "?"), Message(Role.ASSISTANT, "Said before the crash. Rating: 2"))
    before = Dialogue(said, turns=1, usage=Usage(5, 7), duration_ms=9, cost_usd=0.0, model_version="m")
    checkpoints.put(ref_of(run), 0, run.generation, before, NOW)
    await worker().run(delivered(slice_of(run, [0])))
    transcript = outcomes.get(ref_of(run), 0)
    assert isinstance(transcript, Transcript)
    assert transcript.messages[:2] == said
    assert transcript.dialogue.turns == 2
    assert transcript.dialogue.usage.input_tokens > 5


async def test_an_outcome_whose_writer_died_before_the_barrier_is_not_paid_again(
    cloud: Settings, finishing: list[tuple[str, int]]
) -> None:
    run = Given(scenario_count=2).start()
    barrier.claim(ref_of(run), Node(0, 0), "dead:0", Claim(frozenset({0, 1}), time.time() - 1))
    error = ProbeError(0, "scn", "sim/steady", ErrorCode.AUTH, "by the dead worker", 1, NOW)
    outcomes.record(run, 1, [error])
    busy = worker()
    await busy.run(delivered(slice_of(run, [0, 1])))
    assert busy.tally.probes == 1
    assert barrier.progress(Tree.of(run)) == Progress(2, completed=1, failed=1)
    assert finishing == [(run.id, 1)]


async def test_a_slice_that_is_already_done_still_tells_upwards(
    cloud: Settings, finishing: list[tuple[str, int]]
) -> None:
    run = Given(scenario_count=1).start()
    barrier.record(Tree.of(run), Node(0, 0), {0: True})
    await worker().run(delivered(slice_of(run, [0])))
    assert finishing == [(run.id, 1)]


@pytest.mark.parametrize("body", ["no json", '{"workspace": "ws_a"}'])
async def test_a_message_that_makes_no_sense_comes_again(
    cloud: Settings, finishing: list[tuple[str, int]], body: str
) -> None:
    url = cloud.probe_queue_url("sim")
    queues.sqs().send_message(QueueUrl=url, MessageBody=body)
    deliveries = queues.receive(url, 1)
    assert await worker().run(deliveries) == deliveries


async def test_a_run_whose_snapshot_is_gone_keeps_its_message_and_says_why(
    cloud: Settings, finishing: list[tuple[str, int]]
) -> None:
    run = Given().start()
    deliveries = delivered(slice_of(run, [0]))
    clients.s3().delete_object(Bucket=cloud.bucket_name, Key=run.snapshot_key)
    assert await worker().run(deliveries) == deliveries
    assert "no object" in (barrier.leaf(ref_of(run), Node(0, 0)).last_error or "")
