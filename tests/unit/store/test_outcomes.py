from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.conversations.conversation import AssertionGrade, ConversationState, StopReason, Verdict
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode, RequestParameter, Usage
from cupel_core.domain.conversations.replies import ReplyRecord
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.barrier import FANOUT, Node, leaf_of
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Summary, Transcript
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.store import barrier, checkpoints, outcomes
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW

REF = RunRef("ws_a", "run_a")


def run(retry_round: int = 1) -> Run:
    return Run(
        workspace="ws_a",
        id="run_a",
        definition_id="def_a",
        definition_version=1,
        plan=Plan(plain_targets("sim/steady"), (2_001,)),
        sample_percentage=100,
        sample_seed=1,
        snapshot_key="",
        created_at=NOW,
        updated_at=NOW,
        definition_name="rating",
        scenario_count=1,
        scenario_total=1,
        retry_round=retry_round,
    )


def record(run: Run, fencing_token: int, written: Sequence[Outcome]) -> dict[int, bool]:
    """Which of the probes have a completed outcome afterwards."""
    leaves = store_outcomes(run, fencing_token, written)
    return {
        outcome.probe_index: outcome.probe_index % FANOUT in leaves[leaf_of(outcome.probe_index).number].leaf.completed
        for outcome in written
    }


def transcript(index: int, answer: str = "Rating: 3") -> Transcript:
    """As it is read: the number of words is counted when it is written."""
    state = ConversationState(
        messages=(Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, answer)),
        turns=1,
        usage=Usage(3, 4),
        duration_ms=12,
        cost_usd=0.0,
        model_version="simulated-1",
    )
    return Transcript(
        probe_index=index,
        scenario_id=f"scn_{index}",
        model_id="sim/steady",
        created_at=NOW,
        conversation=state,
        stored_word_count=state.answer_word_count,
        summary=Summary("3", "three", NOW),
        scoring=Scoring(True, 1.0, "right"),
        content_expires_at=NOW + timedelta(days=1),
    )


def error(index: int, message: str = "no") -> ProbeError:
    return ProbeError(index, f"scn_{index}", "sim/steady", ProbeErrorCode.AUTH, message, 1, NOW)


def test_an_outcome_is_read_as_it_was_recorded(cloud: Settings) -> None:
    store_outcomes(run(), 1, [transcript(0), error(1)])
    assert outcomes.get_many(REF, [0, 1, 2]) == {0: transcript(0), 1: error(1)}


def test_what_requests_left_out_is_read_as_it_was_recorded(cloud: Settings) -> None:
    recorded = transcript(0)
    state = replace(recorded.conversation, omitted_parameters=(RequestParameter.TEMPERATURE,))
    recorded = replace(recorded, conversation=state)
    store_outcomes(run(), 1, [recorded])
    checkpoints.save(REF, 0, 1, state, NOW)
    assert outcomes.get(REF, 0) == recorded
    assert checkpoints.load(REF, 0, 1, NOW) == state


def test_the_prompt_of_a_simulated_user_is_read_as_it_was_recorded_and_is_content(cloud: Settings) -> None:
    state = replace(transcript(0).conversation, simulated_user_prompt="You are Ada.")
    recorded = replace(transcript(0), conversation=state)
    store_outcomes(run(), 1, [recorded])
    checkpoints.save(REF, 0, 1, state, NOW)
    assert outcomes.get(REF, 0) == recorded
    assert checkpoints.load(REF, 0, 1, NOW) == state
    assert recorded.without_content().conversation.simulated_user_prompt is None


def test_cached_tokens_are_read_as_they_were_recorded(cloud: Settings) -> None:
    state = replace(transcript(0).conversation, usage=Usage(100, 5, 60, 20), judge_spend=Spend(1, Usage(9, 1, 8), 0.1))
    recorded = replace(transcript(0), conversation=state)
    store_outcomes(run(), 1, [recorded])
    checkpoints.save(REF, 0, 1, state, NOW)
    assert outcomes.get(REF, 0) == recorded
    assert checkpoints.load(REF, 0, 1, NOW) == state


def test_records_of_replies_are_read_as_they_were_recorded_and_are_content(cloud: Settings) -> None:
    said = Verdict(success_met=False, failure_met=True, confidence=0.7, reasoning="It refused.", raw_response="{}")
    replies = (ReplyRecord(Usage(10, 5, 4), 120, 0.01, said.of_reply), ReplyRecord(Usage(30, 7), 90, None))
    state = replace(transcript(0).conversation, turns=2, replies=replies)
    recorded = replace(transcript(0), conversation=state)
    store_outcomes(run(), 1, [recorded])
    checkpoints.save(REF, 0, 1, state, NOW)
    read, checkpoint = outcomes.get(REF, 0), checkpoints.load(REF, 0, 1, NOW)
    assert isinstance(read, Transcript)
    assert checkpoint
    assert read.conversation.replies == checkpoint.replies == replies
    assert not recorded.without_content().conversation.replies


def test_a_checkpoint_has_the_rounds_of_tools(cloud: Settings) -> None:
    state = ConversationState((), turns=1, tool_rounds=3, open_rounds=2, stop_reason=StopReason.MAX_TOOL_ROUNDS)
    checkpoints.save(REF, 0, 1, state, NOW)
    assert checkpoints.load(REF, 0, 1, NOW) == state


def test_a_checkpoint_has_the_grades_given_so_far(cloud: Settings) -> None:
    grade = AssertionGrade(AssertionResult("llm-rubric", True, 1.0, "is polite"), Spend(1, Usage(10, 5), 0.01))
    state = ConversationState((), grades={"2.0": grade})
    checkpoints.save(REF, 0, 1, state, NOW)
    assert checkpoints.load(REF, 0, 1, NOW) == state


def test_the_first_writer_wins(cloud: Settings) -> None:
    store_outcomes(run(), 1, [transcript(0, "first"), error(1)])
    assert record(run(), 1, [error(0), transcript(1), transcript(2)]) == {0: True, 1: False, 2: True}
    assert outcomes.get(REF, 0) == transcript(0, "first")
    assert outcomes.get(REF, 1) == error(1)


def test_a_later_retry_round_replaces_an_error_and_nothing_else(cloud: Settings) -> None:
    store_outcomes(run(), 1, [transcript(0), error(1)])
    barrier.reopen(Tree.for_run(run(retry_round=2)), Node(0, 0), [1])
    assert record(run(retry_round=2), 2, [error(0), transcript(1)]) == {0: True, 1: True}
    assert outcomes.get(REF, 1) == transcript(1)


def test_a_long_content_is_stored_in_the_bucket(cloud: Settings) -> None:
    long = transcript(0, "word " * 5_000)
    store_outcomes(run(), 1, [long])
    objects = boto3.client("s3").list_objects_v2(Bucket=cloud.bucket_name, Prefix="transcripts/ws_a/run_a/")
    assert objects["KeyCount"] == 1
    assert outcomes.get(REF, 0) == long


def test_the_losing_writer_does_not_replace_the_content_of_the_first(cloud: Settings) -> None:
    store_outcomes(run(), 1, [transcript(0, "first " * 5_000)])
    store_outcomes(run(), 1, [transcript(0, "second " * 5_000)])
    assert outcomes.get(REF, 0) == transcript(0, "first " * 5_000)


def test_more_outcomes_than_a_transaction_allows_are_recorded(cloud: Settings) -> None:
    recorded = record(run(), 1, [transcript(index) for index in range(130)])
    assert recorded == dict.fromkeys(range(130), True)


def test_an_outcome_too_large_for_an_item_becomes_an_error_and_the_others_are_recorded(cloud: Settings) -> None:
    huge = replace(transcript(1).conversation, model_version="m" * 500_000)
    written = [transcript(0), replace(transcript(1), conversation=huge), transcript(2)]
    assert record(run(), 1, written) == {0: True, 1: False, 2: True}
    recorded = outcomes.get(REF, 1)
    assert isinstance(recorded, ProbeError)
    assert (recorded.code, recorded.scenario_id) == (ProbeErrorCode.INTERNAL, "scn_1")
    assert "could not be stored" in recorded.message


def test_an_outcome_that_cannot_be_encoded_becomes_an_error_and_the_others_are_recorded(cloud: Settings) -> None:
    written = [transcript(0), transcript(1, "half a pair: \ud800"), transcript(2)]
    assert record(run(), 1, written) == {0: True, 1: False, 2: True}


def test_a_range_is_read_in_order_across_blocks(cloud: Settings) -> None:
    store_outcomes(run(), 1, [transcript(index) for index in (2_000, 999, 1_000, 5)])
    assert [outcome.probe_index for outcome in outcomes.list_outcomes(REF, range(6, 2_001))] == [999, 1_000, 2_000]


def test_a_summary_is_set_once(cloud: Settings) -> None:
    bare = replace(transcript(0), summary=None)
    store_outcomes(run(), 1, [bare])
    for code in ("2", "5"):
        outcomes.set_summary(REF, 0, Summary(code, "by the judge", NOW))
    assert outcomes.get(REF, 0) == replace(bare, summary=Summary("2", "by the judge", NOW))


def test_a_provisional_summary_is_replaced_once(cloud: Settings) -> None:
    before = replace(transcript(0), summary=Summary("2", "an excerpt", NOW, is_provisional=True))
    store_outcomes(run(), 1, [before])
    for text in ("first", "second"):
        outcomes.set_summary(REF, 0, Summary("2", text, NOW))
    after = outcomes.get(REF, 0)
    assert isinstance(after, Transcript)
    assert after.summary == Summary("2", "first", NOW)


def test_the_cause_of_a_missing_decision_is_stored(cloud: Settings) -> None:
    cause = UnscoredCause(UnscoredCode.JUDGE_FAILED, "sim/judge", "timeout")
    missing = Summary("other", "", NOW, "no answer", cause=cause)
    store_outcomes(run(), 1, [replace(transcript(0), summary=None)])
    outcomes.set_summary(REF, 0, missing)
    stored = outcomes.get(REF, 0)
    assert isinstance(stored, Transcript)
    assert stored.summary == missing


PROSE = " ".join(f"Sentence {number} weighs what was said against what may follow from it." for number in range(20))


@pytest.mark.parametrize("answer", ["Rating: 3", PROSE, "".join(map(chr, range(1_000, 2_500)))])
def test_messages_of_any_length_are_read_as_they_were_recorded(cloud: Settings, answer: str) -> None:
    store_outcomes(run(), 1, [transcript(0, answer)])
    recorded = outcomes.get(REF, 0)
    assert isinstance(recorded, Transcript)
    assert recorded.messages[-1].content == answer


def test_the_first_writer_wins_with_large_transcripts_too(cloud: Settings) -> None:
    large = "".join(map(chr, range(1_000, 2_500)))
    assert record(run(), 1, [transcript(0, large), transcript(1)]) == {0: True, 1: True}
    assert record(run(), 1, [transcript(0, large + "!"), error(1)]) == {0: True, 1: True}
    recorded = outcomes.get(REF, 0)
    assert isinstance(recorded, Transcript)
    assert recorded.messages[-1].content == large


def test_an_error_of_an_earlier_retry_round_is_replaced_by_a_large_transcript(cloud: Settings) -> None:
    large = transcript(0, "".join(map(chr, range(1_000, 2_500))))
    assert record(run(), 1, [error(0)]) == {0: False}
    assert record(run(), 1, [large]) == {0: False}
    barrier.reopen(Tree.for_run(run(retry_round=2)), Node(0, 0), [0])
    assert record(run(retry_round=2), 2, [large]) == {0: True}
