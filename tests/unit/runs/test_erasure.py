"""Deleted content is found nowhere: neither in the table nor in any version of an object, nor by readers."""

import re
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest

from cupel_core.base.errors import Conflict
from cupel_core.base.paging import fill_page
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.runs.transcripts import CONTENT_DELETED, ProbeError, Summary, Transcript
from cupel_core.runs import erasure, probes, queries, workspace_erasure
from cupel_core.runs.probe_search import ProbeFilter, search_probes
from cupel_core.runs.rescoring.queries import list_results
from cupel_core.store import (
    amendments,
    barrier,
    checkpoints,
    deletion_log,
    erasures,
    outcomes,
    rescore_results,
    runs,
    selections,
)
from cupel_core.store.erasures import ErasureKind
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun, get_transcript
from tests.quoted_runs import ASKED, ERROR, LONG, MARKER, SHORT, quoted_run
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW, RunSetup, ref_of
from tests.stored_text import places_with

LATER = NOW + timedelta(hours=1)
PAGE_ID = re.compile(r"(?<=#000000)#\w{12}$")


def items_with(text: str, cloud: Settings) -> list[str]:
    return [place for place in places_with(text, cloud) if not place.startswith("transcripts/")]


def delete(run: Run, *indexes: int) -> None:
    for index in indexes:
        erasure.delete_probe_content(run.workspace, f"{run.id}-{index}", NOW)


async def test_a_marker_is_stored_by_every_feature_that_stores_text(cloud: Settings) -> None:
    run = await quoted_run()
    key = f"ws_a#run#{run.id}"
    places = [place.replace(key, "") for place in places_with(MARKER, cloud)]
    items = sorted({PAGE_ID.sub("", place) for place in places if not place.startswith("transcripts/")})
    assert items == [
        "#attempts#0 0000002#000001",
        "#checkpoints#0 0000000#000001",
        "#checkpoints#0 0000000#000002",
        "#checkpoints#0 0000002#000001",
        "#checkpoints#0 0000002#000002",
        "#leaves#0 000000",
        "#pages#0 digest#000000",
        "#pages#0 text#000000",
        "#probes#0 0000000",
        "#probes#0 0000001",
        "#rescores#rsc_1#0 0000000",
        "#rescores#rsc_1#0 0000001",
        "#selections#rsc_1#0 0000000#000000",
        "#selections#run#0 0000000#000000",
    ]
    objects = [place for place in places if place.startswith("transcripts/")]
    assert len(objects) == 3, "the long messages, and their checkpoint in two rounds"


async def test_only_these_items_have_text_of_conversations(cloud: Settings) -> None:
    run = await quoted_run()
    stored = {place.removeprefix(f"ws_a#run#{run.id}").split("#")[1] for place in items_with(MARKER, cloud)}
    assert stored == {"attempts", "checkpoints", "leaves", "pages", "probes", "rescores", "selections"}


async def test_the_content_of_deleted_probes_is_found_nowhere(cloud: Settings) -> None:
    run = await quoted_run()
    delete(run, SHORT, LONG, ERROR)
    assert places_with(MARKER, cloud) == []


async def test_no_answer_to_a_reader_contains_deleted_text(cloud: Settings) -> None:
    run = await quoted_run()
    before = answers_to_readers(run)
    assert all(MARKER in answer for answer in before)
    delete(run, SHORT, LONG, ERROR)
    assert not [answer for answer in answers_to_readers(run) if MARKER in answer]


def answers_to_readers(run: Run) -> list[str]:
    workspace, probe_filter = run.workspace, ProbeFilter()
    return [
        repr(list(queries.list_transcripts(workspace, run.id, now=NOW))),
        repr(queries.get_transcript(workspace, f"{run.id}-{SHORT}", NOW)),
        repr(list(probes.list_probes(workspace, run.id, now=NOW))),
        repr(probes.get_probe(workspace, f"{run.id}-{ERROR}", NOW)),
        repr(list(search_probes(workspace, probe_filter, NOW))),
        repr(
            list(list_results(workspace, run.id, "rsc_1", model=None, prompt_id=None, limit=10, cursor=None, now=NOW))
        ),
    ]


async def test_what_the_scenario_asked_stays_only_in_the_definition(cloud: Settings) -> None:
    run = await quoted_run()
    delete(run, SHORT, LONG, ERROR)
    assert [place.partition("/")[0] for place in places_with(ASKED, cloud)] == ["scenarios"]


@pytest.mark.parametrize("versioning", ["Enabled", "Suspended"])
async def test_no_version_of_an_object_is_left(cloud: Settings, versioning: str) -> None:
    client = boto3.client("s3")
    client.put_bucket_versioning(Bucket=cloud.bucket_name, VersioningConfiguration={"Status": versioning})  # type: ignore[typeddict-item]
    run = await quoted_run()
    delete(run, SHORT, LONG, ERROR)
    assert places_with(MARKER, cloud) == []
    assert "DeleteMarkers" not in client.list_object_versions(Bucket=cloud.bucket_name)


async def test_the_content_of_other_probes_stays(cloud: Settings) -> None:
    run = await quoted_run()
    delete(run, SHORT)
    assert get_transcript(run, LONG).messages[-1].content.startswith(f"The {MARKER}.")
    assert not any(f"#{SHORT:07d}" in place for place in places_with(MARKER, cloud))


async def test_comparisons_with_a_deleted_answer_are_not_quoted(cloud: Settings) -> None:
    run = await quoted_run()
    delete(run, SHORT)
    scoring = get_transcript(run, LONG).scoring
    assert scoring is not None
    best = next(result for result in scoring.results if result.type == "select-best")
    assert (best.passed, MARKER in best.reason, MARKER in scoring.reason) == (False, False, False)
    rescored = next(iter(rescore_results.list_range(ref_of(run), "rsc_1", range(LONG, LONG + 1))))
    assert rescored.scoring is not None
    assert "select-best" in {result.type for result in rescored.scoring.results}
    assert not [place for place in places_with(MARKER, cloud) if "#selections#" in place]


async def test_decision_usage_and_result_stay(cloud: Settings) -> None:
    run = await quoted_run()
    before = get_transcript(run, SHORT)
    delete(run, SHORT, LONG)
    after = get_transcript(run, SHORT)
    assert after.summary == Summary("4", "", NOW)
    assert after.conversation.usage == before.conversation.usage
    assert after.result is not None
    assert before.result is not None
    assert (after.result.success, after.result.score, after.result.reason) == (True, before.result.score, None)
    assert after.scoring is not None
    assert after.scoring.metrics == {"tone": 1.0}
    corrected = get_transcript(run, LONG).result
    assert corrected is not None
    assert (corrected.success, corrected.score, corrected.reason) == (False, 0.25, None)
    assert get_transcript(run, LONG).summary == Summary("other", "", NOW, CONTENT_DELETED)


async def test_an_errored_probe_keeps_its_code(cloud: Settings) -> None:
    run = await quoted_run()
    delete(run, ERROR)
    view = probes.get_probe(run.workspace, f"{run.id}-{ERROR}", NOW)
    assert view.error is not None
    assert (view.error.code, view.error.message) == ("timeout", CONTENT_DELETED)
    assert [attempt.message for attempt in view.attempts] == [CONTENT_DELETED]
    assert view.partial_conversation is None


async def test_deleting_twice_changes_nothing(cloud: Settings) -> None:
    run = await quoted_run()
    delete(run, SHORT)
    once = outcomes.get(ref_of(run), SHORT)
    delete(run, SHORT)
    assert outcomes.get(ref_of(run), SHORT) == once


async def test_a_checkpoint_is_not_written_back_by_a_worker_that_still_has_it(cloud: Settings) -> None:
    run = await quoted_run()
    delete(run, LONG)
    state = ConversationState((Message(MessageRole.ASSISTANT, MARKER * 200_000),))
    checkpoints.save(ref_of(run), LONG, run.retry_round, state, NOW)
    assert checkpoints.load(ref_of(run), LONG, run.retry_round, NOW) is None
    assert not [place for place in places_with(MARKER, cloud) if f"{LONG:07d}" in place and "#checkpoints" in place]


async def test_a_summary_that_was_being_written_has_no_text(cloud: Settings) -> None:
    run = RunSetup(scenario_count=1).start()
    transcript = Transcript(0, "scn", "sim/steady", NOW, ConversationState((Message(MessageRole.USER, MARKER),)))
    store_outcomes(run, 1, [transcript])
    outcomes.erase_content(ref_of(run), 0, NOW)
    outcomes.set_summary(ref_of(run), 0, Summary("5", f"because of {MARKER}", NOW))
    assert get_transcript(run, 0).summary == Summary("5", "", NOW)


async def test_a_scoring_that_was_being_amended_is_not_written(cloud: Settings) -> None:
    run = await quoted_run()

    def delete_meanwhile(transcript: Transcript) -> Transcript:
        delete(run, SHORT)
        return Transcript(**{**vars(transcript), "retry_round": 9})

    amendments.amend(ref_of(run), SHORT, delete_meanwhile)
    assert get_transcript(run, SHORT).messages == ()
    assert not [place for place in places_with(MARKER, cloud) if f"{SHORT:07d}" in place]


async def test_a_comparison_that_was_being_made_is_stored_without_its_reason(cloud: Settings) -> None:
    run = await quoted_run()
    selection = selections.get(ref_of(run), "run", 0, 0)
    assert selection is not None
    assert MARKER in selection.reason
    delete(run, SHORT)
    erased = selections.get(ref_of(run), "run", 0, 0)
    assert erased is not None
    assert (erased.winner, MARKER in erased.reason) == (selection.winner, False)


async def test_a_deletion_is_repeated_when_no_earlier_reader_is_left(cloud: Settings) -> None:
    run = await quoted_run()
    delete(run, SHORT)
    assert list(erasures.list_due(NOW + timedelta(minutes=15))) == []
    due = [(each.kind, each.ref, each.probe_index) for each in erasures.list_due(LATER)]
    assert due == [(ErasureKind.PROBE, ref_of(run), SHORT)]


async def test_a_deletion_is_recorded_without_any_text(cloud: Settings) -> None:
    run = await quoted_run()
    delete(run, SHORT)
    assert list(deletion_log.list_deletions()) == [(ref_of(run), SHORT)]


async def test_a_probe_that_may_still_be_run_is_not_deleted(cloud: Settings) -> None:
    run = RunSetup(scenario_count=1).start()
    with pytest.raises(Conflict, match="QUEUED"):
        delete(run, 0)


async def test_a_cancelled_probe_with_a_partial_conversation_is_deleted(cloud: Settings) -> None:
    run = RunSetup(scenario_count=1).start()
    state = ConversationState((Message(MessageRole.ASSISTANT, MARKER),))
    checkpoints.save(ref_of(run), 0, run.retry_round, state, NOW)
    runs.transition(ref_of(run), Action.CANCEL, NOW)
    delete(run, 0)
    assert places_with(MARKER, cloud) == []


async def test_expired_content_is_not_read_even_while_it_is_stored(cloud: Settings) -> None:
    run = await quoted_run(expires_at=NOW + timedelta(minutes=30))
    for index in (SHORT, LONG):
        view = queries.get_transcript(run.workspace, f"{run.id}-{index}", LATER)
        assert (view.content_available, MARKER in repr(view)) == (False, False)
        assert view.transcript.result is not None
    listed = fill_page(probes.list_probes(run.workspace, run.id, now=LATER), 10).items
    assert MARKER not in repr(listed)
    assert isinstance(listed[ERROR].outcome, ProbeError)


def test_reapplied_deletions_spare_the_transcript_of_a_later_retry(cloud: Settings) -> None:
    run = AnsweredRun(answer=lambda _: None).completed()
    delete(run, 0)
    reopened = runs.transition(ref_of(run), Action.REOPEN, LATER, settled=None, completed_at=None)
    answered = replace(AnsweredRun().outcome(reopened, 0), created_at=LATER, retry_round=reopened.retry_round)
    barrier.reopen(barrier.Tree.for_run(reopened), barrier.Node(0, 0), [0])
    store_outcomes(reopened, reopened.fencing_token, [answered])
    assert workspace_erasure.reapply_deletions(LATER) == 1
    assert get_transcript(run, 0).messages
