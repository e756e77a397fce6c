"""Deleted runs and expired content are erased everywhere, over as many sweeps as it takes."""

from dataclasses import replace
from datetime import timedelta

import pytest

from cupel_core.base.errors import RetryableError
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.runs.transcripts import Summary
from cupel_core.runs import erasure as deletion
from cupel_core.store import barrier, blobs, checkpoints, erasures, rescore_results, runs
from cupel_core.store.erasures import Erasure, ErasureKind
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.erasure import ErasureResult, erase_due
from tests.answered_runs import AnsweredRun, get_transcript
from tests.quoted_runs import ASKED, ERROR, LONG, MARKER, SHORT, quoted_run
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW, RunSetup, ref_of
from tests.stored_text import places_with

SOON = NOW + timedelta(minutes=10)
LATER = NOW + timedelta(minutes=30)
EXPIRY = timedelta(days=365)


def sweep_at(now: object, seconds: float = 900.0) -> dict[ErasureResult, int]:
    return {
        result: count
        for result, count in erase_due(now, lambda: seconds).items()  # type: ignore[arg-type]
        if count
    }


def items_of(run: Run, cloud: Settings) -> list[str]:
    """The run's items; without inner nodes of its barrier, which have only numbers."""
    items = (place for place in places_with(run.id, cloud) if place.startswith(f"ws_a#run#{run.id}"))
    return [item for item in items if "#nodes#" not in item]


def delete_run(run: Run) -> None:
    deletion.delete_run(run.workspace, run.id, NOW)


async def test_a_deleted_run_is_found_nowhere(cloud: Settings) -> None:
    run = await quoted_run()
    delete_run(run)
    assert sweep_at(LATER) == {ErasureResult.ERASED: 1}
    assert places_with(MARKER, cloud) == []
    assert [place.partition("/")[0] for place in places_with(ASKED, cloud)] == ["scenarios"]


async def test_of_a_deleted_run_only_the_record_of_its_deletion_is_left(cloud: Settings) -> None:
    run = await quoted_run()
    delete_run(run)
    sweep_at(LATER)
    assert items_of(run, cloud) == []
    assert list(blobs.list_keys("")) == [
        f"deletions/ws_a/{run.id}/run.json.gz",
        *blobs.list_keys("scenarios/"),
    ]


async def test_a_deleted_run_is_erased_when_no_earlier_reader_is_left(cloud: Settings) -> None:
    run = await quoted_run()
    delete_run(run)
    assert sweep_at(SOON) == {}
    assert places_with(MARKER, cloud) != []


def test_a_run_of_many_probes_is_erased_over_several_sweeps(cloud: Settings) -> None:
    run = AnsweredRun(repeats=510, answer=lambda index: MARKER if index in (0, 1_000, 1_019) else "no").completed()
    delete_run(run)
    seconds = iter([60.0, 60.0, 1.0])
    assert erase_due(LATER, lambda: next(seconds))[ErasureResult.CONTINUED] == 1
    assert len(places_with(MARKER, cloud)) == 1, "the page with the last twenty probes"
    assert [each.next_block for each in erasures.list_due(LATER)] == [1]
    assert sweep_at(LATER) == {ErasureResult.ERASED: 1}
    assert items_of(run, cloud) == []


async def test_an_erasure_that_aws_refuses_does_not_keep_others_waiting(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await quoted_run(), AnsweredRun().completed()
    deletion.delete_run(first.workspace, first.id, NOW - timedelta(seconds=1))
    delete_run(second)
    delete_prefix = blobs.delete_prefix

    def refuse_first(prefix: str) -> bool:
        if first.id in prefix:
            raise RetryableError("slow down")
        return delete_prefix(prefix)

    monkeypatch.setattr(blobs, "delete_prefix", refuse_first)
    assert sweep_at(LATER) == {ErasureResult.ERASED: 1, ErasureResult.FAILED: 1}
    monkeypatch.undo()
    assert sweep_at(LATER) == {ErasureResult.ERASED: 1}


async def test_what_was_written_after_a_deletion_by_an_earlier_reader_is_erased(cloud: Settings) -> None:
    run = await quoted_run()
    deletion.delete_probe_content(run.workspace, f"{run.id}-{SHORT}", NOW)
    late = next(iter(rescore_results.list_range(ref_of(run), "rsc_1", range(LONG, LONG + 1))))
    rescore_results.record(ref_of(run), "rsc_1", [replace(late, index=SHORT)])
    assert [place for place in places_with(MARKER, cloud) if f"{SHORT:07d}" in place]
    assert sweep_at(LATER) == {ErasureResult.ERASED: 1}
    assert not [place for place in places_with(MARKER, cloud) if f"{SHORT:07d}" in place]


async def test_the_conversation_of_a_later_retry_is_not_erased(cloud: Settings) -> None:
    run = await quoted_run()
    deletion.delete_probe_content(run.workspace, f"{run.id}-{ERROR}", NOW)
    run = runs.transition(ref_of(run), Action.REOPEN, NOW)
    assert sweep_at(LATER) == {ErasureResult.ERASED: 1}, "it is asked for again"
    answered = replace(AnsweredRun(answer=lambda _: "again").outcome(run, 0), probe_index=ERROR)
    barrier.reopen(barrier.Tree.for_run(run), barrier.Node(0, 0), [ERROR])
    store_outcomes(run, run.fencing_token, [replace(answered, retry_round=run.retry_round)])
    runs.transition(ref_of(run), Action.CANCEL, NOW)
    assert sweep_at(LATER + timedelta(hours=1)) == {ErasureResult.ERASED: 1}
    assert get_transcript(run, ERROR).messages[-1].content == "again"


async def test_expired_content_is_found_nowhere(cloud: Settings) -> None:
    await quoted_run(expires_at=NOW + EXPIRY)
    sweep_at(NOW + EXPIRY + timedelta(hours=1))
    assert places_with(MARKER, cloud) == []


async def test_decision_usage_cost_and_result_stay_after_expiry(cloud: Settings) -> None:
    run = await quoted_run(expires_at=NOW + EXPIRY)
    before = get_transcript(run, SHORT)
    sweep_at(NOW + EXPIRY + timedelta(hours=1))
    after = get_transcript(run, SHORT)
    assert after.summary == Summary("4", "", NOW)
    assert after.conversation.usage == before.conversation.usage
    assert after.result is not None
    assert before.result is not None
    assert (after.result.success, after.result.score) == (before.result.success, before.result.score)
    rescored = next(iter(rescore_results.list_range(ref_of(run), "rsc_1", range(SHORT, SHORT + 1))))
    assert (rescored.success, rescored.score, rescored.scoring) == (False, 0.0, None)


async def test_content_that_has_not_expired_stays_and_is_looked_at_again(cloud: Settings) -> None:
    expiry = NOW + EXPIRY + timedelta(days=2)
    run = await quoted_run(expires_at=expiry)
    sweep_at(NOW + EXPIRY + timedelta(hours=1))
    assert MARKER in get_transcript(run, SHORT).messages[-1].content
    sweep_at(expiry + timedelta(hours=1))
    assert places_with(MARKER, cloud) == []


def test_the_partial_conversation_of_a_paused_run_expires(cloud: Settings) -> None:
    run = RunSetup().start()
    state = AnsweredRun(answer=lambda _: MARKER).outcome(run, 0)
    checkpoints.save(ref_of(run), 0, 1, state.conversation, NOW)  # type: ignore[union-attr]
    runs.transition(ref_of(run), Action.PAUSE, NOW)
    sweep_at(NOW + EXPIRY + timedelta(hours=1))
    assert places_with(MARKER, cloud) == []
    due = list(erasures.list_due(NOW + EXPIRY + timedelta(days=1)))
    assert [each.kind for each in due] == [ErasureKind.EXPIRED], "the run may go on"


def test_a_run_whose_content_has_expired_is_not_looked_at_again(cloud: Settings) -> None:
    AnsweredRun(expires_at=NOW + EXPIRY).completed()
    sweep_at(NOW + EXPIRY + timedelta(hours=1))
    assert list(erasures.list_due(NOW + 2 * EXPIRY)) == []


def test_a_retry_has_its_content_looked_at_later(cloud: Settings) -> None:
    run = AnsweredRun().completed()
    sweep_at(NOW + EXPIRY + timedelta(hours=1))
    runs.transition(ref_of(run), Action.REOPEN, NOW + 2 * EXPIRY)
    assert [each.kind for each in erasures.list_due(NOW + 4 * EXPIRY)] == [ErasureKind.EXPIRED]


def test_progress_is_not_stored_for_an_erasure_that_has_ended(cloud: Settings) -> None:
    ended = Erasure(ref_of(RunSetup().start()), ErasureKind.RUN, NOW)
    erasures.set_progress(ended, 1, None)
    assert list(erasures.list_due(LATER)) == []
