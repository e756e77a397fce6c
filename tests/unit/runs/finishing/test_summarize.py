"""Decision texts that the run's judge writes when the run finishes."""

import pytest

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.definitions.definitions import Content, DecisionMethod
from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Summary
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.errors import ProviderError
from cupel_core.runs.finishing.phases import summarize_slice
from cupel_core.store import outcomes
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun, get_transcript
from tests.scripted_judge import DECISION_TEXT, ScriptedJudge
from tests.started_runs import NOW, ref_of

BY_PATTERN = Content(decision=DecisionMethod(pattern="Rating: ([1-5])"))
EXCERPT = Summary("4", "Rating: 4", NOW, is_provisional=True)


async def summarized(given: AnsweredRun, judge: ScriptedJudge) -> Run:
    run = given.summarizing()
    await summarize_slice(ref_of(run), run.fencing_token, LeafRange(0, 1), lambda: 900.0, attempt=judge)
    return run


def summary_of(run: Run, index: int = 0) -> Summary:
    summary = get_transcript(run, index).summary
    assert summary is not None
    return summary


async def test_the_judge_replaces_the_excerpt_and_the_code_of_the_pattern_stays(cloud: Settings) -> None:
    run = await summarized(AnsweredRun(content=BY_PATTERN, summary=EXCERPT), ScriptedJudge())
    assert (summary_of(run).decision_code, summary_of(run).decision_text) == ("4", DECISION_TEXT)


async def test_the_judges_call_is_recorded_as_summary_spend(cloud: Settings) -> None:
    run = await summarized(AnsweredRun(content=BY_PATTERN, summary=EXCERPT), ScriptedJudge())
    assert get_transcript(run, 0).spending.summary.calls == 1


async def test_a_transcript_is_summarized_once(cloud: Settings) -> None:
    judge = ScriptedJudge()
    run = await summarized(AnsweredRun(content=BY_PATTERN, summary=EXCERPT), judge)
    await summarize_slice(ref_of(run), run.fencing_token, LeafRange(0, 1), lambda: 900.0, attempt=judge)
    assert len(judge.called_models) == run.plan.total


async def test_a_failing_judge_leaves_code_and_excerpt(cloud: Settings) -> None:
    judge = ScriptedJudge(error=ProviderError(ProbeErrorCode.AUTH, "bad key"))
    summary = summary_of(await summarized(AnsweredRun(content=BY_PATTERN, summary=EXCERPT), judge))
    assert (summary.decision_code, summary.decision_text, summary.is_provisional) == ("4", "Rating: 4", False)
    assert summary.error is not None
    assert "bad key" in summary.error


async def test_an_erased_transcript_is_not_sent_to_the_judge(cloud: Settings) -> None:
    run, judge = AnsweredRun(content=BY_PATTERN, summary=EXCERPT).summarizing(), ScriptedJudge()
    outcomes.erase_content(ref_of(run), 0, NOW)
    await summarize_slice(ref_of(run), run.fencing_token, LeafRange(0, 1), lambda: 900.0, attempt=judge)
    assert (summary_of(run).decision_code, summary_of(run).decision_text, len(judge.called_models)) == ("4", "", 1)


@pytest.mark.parametrize(
    "given",
    [
        AnsweredRun(content=BY_PATTERN, grader_config=GraderConfig(), summary=Summary("4", "Rating: 4", NOW)),
        AnsweredRun(summary=Summary("other", "No rating.", NOW)),
    ],
    ids=["without a judge", "without a decision"],
)
async def test_other_transcripts_have_the_excerpt(cloud: Settings, given: AnsweredRun) -> None:
    judge = ScriptedJudge()
    assert summary_of(await summarized(given, judge)) == given.summary
    assert judge.called_models == []
