"""An outcome counts the same in memory and as it is stored."""

from dataclasses import replace

import pytest

from cupel_core.domain.analysis.counted_outcomes import counted_outcome
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode, RequestParameter, Usage
from cupel_core.domain.conversations.replies import ReplyRecord
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.spending import Spending
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Summary, Transcript
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import build_scoring
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.store import counted_outcomes
from cupel_core.store.settings import Settings
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW, RunSetup, ref_of

SPEND = Spend(2, Usage(10, 5), 0.25)
SAID = (Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, "4"))
STATE = ConversationState(SAID, 1, Usage(3, 4), 12, 0.5, "v1", judge_spend=SPEND, persona_spend=SPEND)
TRANSCRIPT = Transcript(0, "scn", "sim/steady", NOW, STATE, summary=Summary("4", "", NOW, None, SPEND))
OMITTED = (RequestParameter.JSON_SCHEMA, RequestParameter.SEED)
REPLIES = (ReplyRecord(Usage(1, 1), 5, 0.2), ReplyRecord(Usage(2, 3), 7, 0.3))
LONG = replace(STATE, messages=SAID * 2, turns=2, replies=REPLIES)
PASSED = build_scoring(None, None, (AssertionResult("contains", True, 1.0, "", metric="f1"),))
UNSCORED = build_scoring(
    None, None, (AssertionResult.uncomputed("contains", "no model", UnscoredCause(UnscoredCode.NO_JUDGE)),)
)
UNJUDGED = build_scoring(
    None, None, (AssertionResult.uncomputed("g-eval", "no", UnscoredCause(UnscoredCode.JUDGE_REPLY, "sim/judge")),)
)


@pytest.mark.parametrize(
    "outcome",
    [
        TRANSCRIPT,
        replace(TRANSCRIPT, conversation=LONG),
        replace(TRANSCRIPT, conversation=replace(STATE, omitted_parameters=OMITTED)),
        replace(TRANSCRIPT, scoring=PASSED, summary=None),
        replace(TRANSCRIPT, scoring=UNSCORED),
        replace(TRANSCRIPT, scoring=UNJUDGED),
        ProbeError(0, "scn", "sim/steady", ProbeErrorCode.AUTH, "no", 1, NOW, spending=Spending(judge=SPEND)),
    ],
)
def test_an_outcome_counts_the_same_once_it_is_stored(cloud: Settings, outcome: Outcome) -> None:
    run = RunSetup(scenario_count=1).start()
    store_outcomes(run, 1, [outcome])
    (stored,) = counted_outcomes.list_run(ref_of(run), range(1))
    before = counted_outcome(outcome)
    lists = {
        "costs": list(stored.costs),
        "tags": tuple(stored.tags),
        "turn_durations_ms": tuple(stored.turn_durations_ms),
    }
    assert stored._replace(**lists) == before._replace(tags=tuple(before.tags))


def test_the_times_of_answers_are_counted() -> None:
    assert counted_outcome(replace(TRANSCRIPT, conversation=LONG)).turn_durations_ms == (5, 7)
