"""The answers of a run's targets are compared once, when all have answered (select-best, max-score)."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.leaf_ranges import LeafRange, SliceProgress
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.scoring.scoring import CRITERIA, Scoring, build_scoring
from cupel_core.providers.errors import ProviderError
from cupel_core.runs.finishing import phases
from cupel_core.runs.finishing.compare import compare_slice
from cupel_core.store import amendments, barrier, outcomes, runs
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun, get_transcript
from tests.recorded_outcomes import store_outcomes
from tests.scripted_judge import ScriptedJudge
from tests.started_runs import NOW, ref_of

SHORTEST = Assertion("select-best", value="the shortest", metric="brevity")
THREE = ("sim/steady", "sim/bold", "sim/contrarian")


def asking(*assertions: Assertion) -> Scenario:
    return Scenario("", "", (Message(MessageRole.USER, "?"),), assertions=assertions)


async def compared(run: Run, judge: ScriptedJudge) -> list[bool | None]:
    """Whether each probe was selected, by index, after all slices (one leaf each)."""
    for part in (LeafRange(leaf, 1) for leaf in range(-(-run.plan.total // FANOUT))):
        await compare_slice(ref_of(run), run.fencing_token, part, lambda: 900.0, judge)
    found = outcomes.list_outcomes(ref_of(run), range(run.plan.total))
    return [each.result.success if isinstance(each, Transcript) and each.result else None for each in found]


async def test_the_answer_that_the_judge_chooses_passes_and_the_others_fail(cloud: Settings) -> None:
    run = AnsweredRun((asking(SHORTEST),), THREE).summarizing()
    assert await compared(run, ScriptedJudge(best_index=1)) == [False, True, False]
    winner, loser = (get_transcript(run, index).scoring for index in (1, 0))
    assert winner is not None
    assert loser is not None
    assert (winner.score, winner.metrics) == (1.0, {"brevity": 1.0})
    assert (loser.score, loser.tags, loser.reason) == (
        0.0,
        ("GOAL_MISS",),
        "select-best: another of 3 answers is better: it is the shortest",
    )


async def test_each_case_and_repeat_has_its_own_selection(cloud: Settings) -> None:
    run = AnsweredRun((asking(SHORTEST), asking()), THREE[:2], repeats=2).summarizing()
    judge = ScriptedJudge()
    assert await compared(run, judge) == [True, True, None, None, False, False, None, None]
    assert len(judge.called_models) == 2


async def test_an_assertion_of_the_definition_compares_every_scenario(cloud: Settings) -> None:
    run = AnsweredRun((asking(), asking()), THREE[:2], content=Content(assertions=(SHORTEST,))).summarizing()
    assert await compared(run, ScriptedJudge()) == [True, True, False, False]


async def test_siblings_may_be_in_another_slice(cloud: Settings) -> None:
    run = AnsweredRun((*(asking() for _ in range(60)), asking(SHORTEST)), THREE[:2]).summarizing()
    judge = ScriptedJudge()
    found = await compared(run, judge)
    assert (found[60], found[121]) == (True, False)
    assert len(judge.called_models) == 1


async def test_comparing_again_calls_no_judge_and_changes_nothing(cloud: Settings) -> None:
    run = AnsweredRun((asking(SHORTEST),), THREE).summarizing()
    await compared(run, ScriptedJudge(best_index=2))
    before, again = get_transcript(run, 0), ScriptedJudge(best_index=0)
    assert await compared(run, again) == [False, False, True]
    assert again.called_models == []
    assert get_transcript(run, 0) == before


async def test_a_crash_after_the_selection_and_before_the_transcripts_leaves_one_winner(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = AnsweredRun((asking(SHORTEST),), THREE).summarizing()

    class Crash(Exception):
        pass

    def crash(*_: object) -> None:
        raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(amendments, "amend", crash)
        with pytest.raises(Crash):
            await compared(run, ScriptedJudge(best_index=2))
    assert await compared(run, ScriptedJudge(best_index=0)) == [False, False, True]


async def test_the_judges_spend_is_counted_for_one_transcript(cloud: Settings) -> None:
    run = AnsweredRun((asking(SHORTEST),), THREE).summarizing()
    await compared(run, ScriptedJudge())
    assert [get_transcript(run, index).conversation.judge_spend.calls for index in range(3)] == [1, 0, 0]


async def test_other_results_of_a_scoring_stay(cloud: Settings) -> None:
    ruled = AssertionResult(CRITERIA, True, 1.0, "met")
    short = AssertionResult("word-count", False, 0.0, "too long", tag="FORMAT_ERROR")
    run = AnsweredRun((asking(SHORTEST),), scoring=lambda _: build_scoring(None, None, (ruled, short))).summarizing()
    assert await compared(run, ScriptedJudge()) == [False, False]
    scoring = get_transcript(run, 0).scoring
    assert scoring is not None
    assert [result.type for result in scoring.results] == [CRITERIA, "word-count", "select-best"]
    assert (scoring.score, scoring.tags) == (0.5, ("FORMAT_ERROR",))


async def test_a_judge_that_fails_leaves_the_answers_unscored(cloud: Settings) -> None:
    run = AnsweredRun((asking(SHORTEST),)).summarizing()
    assert await compared(run, ScriptedJudge(error=ProviderError(ProbeErrorCode.AUTH, "bad key"))) == [None, None]
    scoring = get_transcript(run, 0).scoring
    assert scoring is not None
    assert scoring.success is None
    assert "bad key" in str(scoring.results[0].error)


async def test_without_a_judge_the_answers_are_unscored(cloud: Settings) -> None:
    run = AnsweredRun(
        (asking(SHORTEST),), grader_config=replace(AnsweredRun().grader_config, judge_model=None)
    ).summarizing()
    assert await compared(run, ScriptedJudge()) == [None, None]


async def test_an_answer_without_another_to_compare_with_is_an_error(cloud: Settings) -> None:
    run = AnsweredRun((asking(SHORTEST),), ("sim/steady",)).summarizing()
    judge = ScriptedJudge()
    assert await compared(run, judge) == [None]
    assert judge.called_models == []


async def test_without_a_judge_no_answer_is_the_best(cloud: Settings) -> None:
    run = AnsweredRun((asking(SHORTEST),), grader_config=GraderConfig()).summarizing()
    assert await compared(run, ScriptedJudge()) == [None, None]


async def test_an_errored_target_is_no_candidate(cloud: Settings) -> None:
    run = AnsweredRun((asking(SHORTEST),), THREE, answer=lambda index: None if index == 1 else "yes").summarizing()
    assert await compared(run, ScriptedJudge(best_index=1)) == [False, None, True]


async def test_a_retry_that_adds_an_answer_compares_again(cloud: Settings) -> None:
    given = AnsweredRun((asking(SHORTEST), asking(SHORTEST)), answer=lambda index: None if index == 3 else "yes")
    run = given.summarizing()
    await compared(run, ScriptedJudge())
    runs.transition(ref_of(run), Action.COMPLETE, NOW)
    again = runs.transition(ref_of(run), Action.REOPEN, NOW)
    late = replace(AnsweredRun(given.scenarios).outcome(again, 3), retry_round=again.retry_round)
    barrier.reopen(barrier.Tree.for_run(again), Node(0, 0), [3])
    store_outcomes(again, again.fencing_token, [late])
    again = runs.transition(ref_of(run), Action.SUMMARIZE, NOW)
    judge = ScriptedJudge(best_index=1)
    assert await compared(again, judge) == [True, False, False, True]
    assert len(judge.called_models) == 1


async def test_deleted_content_is_not_compared(cloud: Settings) -> None:
    run = AnsweredRun((asking(SHORTEST),), THREE).summarizing()
    outcomes.erase_content(ref_of(run), 0, NOW)
    assert await compared(run, ScriptedJudge(best_index=1)) == [None, False, True]


async def test_a_value_may_have_variables(cloud: Settings) -> None:
    named = replace(SHORTEST, value="the most {{how}}")
    scenario = replace(asking(named), metadata={"vars": {"how": "polite"}})
    run = AnsweredRun((scenario, asking(named))).summarizing()
    assert await compared(run, ScriptedJudge()) == [True, None, False, None]


async def test_long_conversations_are_amended_in_the_bucket(cloud: Settings) -> None:
    run = AnsweredRun((asking(SHORTEST),), answer=lambda index: f"{index} " + "x" * 10_000).summarizing()
    assert await compared(run, ScriptedJudge(best_index=1)) == [False, True]
    assert len(get_transcript(run, 0).messages[-1].content) == 10_002


async def test_without_time_no_judge_is_called_and_the_transcripts_are_left(cloud: Settings) -> None:
    run, judge = AnsweredRun((asking(SHORTEST),)).summarizing(), ScriptedJudge()
    progress = await compare_slice(ref_of(run), run.fencing_token, LeafRange(0, 1), lambda: 1.0, judge)
    assert (progress.done, progress.left, judge.called_models) == (0, 2, [])


async def test_what_was_compared_before_is_no_progress(cloud: Settings) -> None:
    run, judge = AnsweredRun((asking(SHORTEST),)).summarizing(), ScriptedJudge()
    compare = partial(compare_slice, ref_of(run), run.fencing_token, LeafRange(0, 1), lambda: 900.0, judge)
    assert [await compare(), await compare()] == [SliceProgress(done=2), SliceProgress()]


async def test_a_run_with_another_fencing_token_is_left_unchanged(cloud: Settings) -> None:
    run, judge = AnsweredRun((asking(SHORTEST),)).summarizing(), ScriptedJudge()
    await compare_slice(ref_of(run), run.fencing_token + 1, LeafRange(0, 1), lambda: 900.0, judge)
    assert judge.called_models == []


@pytest.mark.parametrize(
    "given",
    [AnsweredRun((asking(SHORTEST),)), AnsweredRun(content=Content(assertions=(SHORTEST,)))],
    ids=["in a scenario", "in the definition"],
)
def test_settling_returns_slices_when_answers_must_be_compared(cloud: Settings, given: AnsweredRun) -> None:
    run = given.start()
    assert phases.settle(ref_of(run), run.fencing_token, NOW).slices == (LeafRange(0, 1),)


def test_settling_returns_no_slices_without_select_best(cloud: Settings) -> None:
    run = AnsweredRun((asking(Assertion("contains", value="yes")),)).start()
    assert phases.settle(ref_of(run), run.fencing_token, NOW).slices == ()


async def test_the_reported_spend_is_that_of_the_transcripts(cloud: Settings) -> None:
    run, reported = AnsweredRun((asking(SHORTEST),), THREE).summarizing(), list[Spend]()
    for _ in range(2):  # A repeated task reports nothing again.
        await compare_slice(
            ref_of(run),
            run.fencing_token,
            LeafRange(0, 1),
            lambda: 900.0,
            ScriptedJudge(),
            lambda _, spend: reported.append(spend),
        )
    stored = [get_transcript(run, index).conversation.judge_spend for index in range(3)]
    assert sum(reported, Spend()) == sum(stored, Spend())
    assert sum(reported, Spend()).calls == 1


def scored(*scores: float) -> Callable[[int], Scoring]:
    """The scoring of each probe by its index."""
    return lambda index: build_scoring(None, None, (AssertionResult("bleu", True, scores[index], "similar"),))


async def test_the_answer_with_the_highest_score_passes_without_a_judge(cloud: Settings) -> None:
    highest = Assertion("max-score", value={"threshold": 0.5})
    run = AnsweredRun((asking(highest),), THREE, scoring=scored(0.2, 0.9, 0.9), grader_config=GraderConfig())
    answered, judge = run.summarizing(), ScriptedJudge()
    assert await compared(answered, judge) == [False, True, False]
    assert judge.called_models == []
    scorings = [get_transcript(answered, index).scoring for index in range(3)]
    assert [scoring and scoring.score for scoring in scorings] == [0, 0.9, 0]
    before = get_transcript(answered, 1)
    assert await compared(answered, judge) == [False, True, False]
    assert get_transcript(answered, 1) == before


async def test_no_answer_below_the_threshold_passes(cloud: Settings) -> None:
    run = AnsweredRun(
        (asking(Assertion("max-score", value={"threshold": 0.95})),), THREE, scoring=scored(0.2, 0.9, 0.9)
    )
    assert await compared(run.summarizing(), ScriptedJudge()) == [False, False, False]


async def test_scores_are_compared_beside_the_answers(cloud: Settings) -> None:
    run = AnsweredRun((asking(SHORTEST, Assertion("max-score")),), THREE[:2], scoring=scored(0.2, 0.9)).summarizing()
    assert await compared(run, ScriptedJudge(best_index=0)) == [False, False]
    assert await compared(run, ScriptedJudge(best_index=0)) == [False, False]
    scoring = get_transcript(run, 1).scoring
    assert scoring is not None
    assert [(result.type, result.passed) for result in scoring.results] == [
        ("bleu", True),
        ("select-best", False),
        ("max-score", True),
    ]
