"""A run's transcripts judged anew: by what, with what cost, and what happens when it is interrupted."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from random import Random
from string import ascii_lowercase

import pytest

from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.domain.scoring.rescores import Rescored, Rescoring, RescoringConfig, RescoringStatus, Tally
from cupel_core.domain.scoring.scoring import CRITERIA, Scoring, conclude
from cupel_core.domain.turns.conversation import Criteria, Verdict
from cupel_core.domain.turns.model_request import ErrorCode, Message, Role
from cupel_core.errors import RetryableError
from cupel_core.providers.errors import PleaseWait, ProviderError
from cupel_core.rescoring import phases
from cupel_core.rescoring.slices import score_slice
from cupel_core.settings import Settings
from cupel_core.store import clients, outcomes, rescore_results, rescores, runs
from tests.answered_runs import JUDGE, Answered, transcript_of
from tests.scripted_judge import ScriptedJudge
from tests.started_runs import NOW, ref_of

OTHER = "sim/other-judge"
YES = Assertion("contains", value="yes")
NO = Assertion("contains", value="no")
POLITE = Assertion("llm-rubric", value="is polite")
BEST = Assertion("select-best", value="the shortest")


def asking(*assertions: Assertion, **fields: object) -> Scenario:
    return Scenario("", "", (Message(Role.USER, "?"),), assertions=assertions, **fields)  # type: ignore[arg-type]


def ruled(passed: bool) -> Callable[[int], Scoring]:
    """As the run has judged by criteria."""
    verdict = Verdict(passed, False, 0.8, "as the first judge has it", "{}")
    result = AssertionResult(CRITERIA, passed, float(passed), verdict.reasoning)
    return lambda _: replace(conclude(None, None, (result,)), verdict=verdict)


def rescoring_of(run: Run, scoring_id: str = "scr_1", **otherwise: object) -> Rescoring:
    config = RescoringConfig(**otherwise)  # type: ignore[arg-type]
    total = run.settled.completed if run.settled else 0
    wanted = Rescoring(run.workspace, run.id, scoring_id, config, total, run.plan.total, run.generation, NOW)
    rescores.create(wanted)
    return wanted


async def rescored_by(run: Run, judge: ScriptedJudge, **otherwise: object) -> list[Rescored]:
    """The results, after the whole way."""
    wanted = rescoring_of(run, **otherwise)
    for part in phases.begin(ref_of(run), wanted.id).slices:
        await score_slice(ref_of(run), wanted.id, part, lambda: 900.0, judge)
    assert phases.complete(ref_of(run), wanted.id, NOW) is RescoringStatus.COMPLETED
    return results_of(run, wanted.id)


def results_of(run: Run, scoring_id: str = "scr_1") -> list[Rescored]:
    return list(rescore_results.in_range(ref_of(run), scoring_id, range(run.plan.total)))


async def test_given_assertions_replace_those_of_definition_and_scenarios(cloud: Settings) -> None:
    run = Answered((asking(NO),), answer=lambda _: "yes", content=Content(assertions=(NO,))).completed()
    first, _ = await rescored_by(run, ScriptedJudge(), assertions=(YES,))
    assert first.scoring is not None
    assert [(result.type, result.passed) for result in first.scoring.results] == [("contains", True)]
    assert (first.success, first.score) == (True, 1.0)


async def test_without_assertions_those_of_definition_and_scenario_are_computed_again(cloud: Settings) -> None:
    run = Answered((asking(NO),), answer=lambda _: "yes", content=Content(assertions=(YES,))).completed()
    first, _ = await rescored_by(run, ScriptedJudge())
    assert first.scoring is not None
    assert [result.passed for result in first.scoring.results] == [True, False]


async def test_the_runs_own_scoring_stays(cloud: Settings) -> None:
    run = Answered(scoring=ruled(True)).completed()
    before = transcript_of(run, 0)
    await rescored_by(run, ScriptedJudge(), assertions=(NO,))
    assert transcript_of(run, 0) == before


async def test_another_judge_is_asked_instead(cloud: Settings) -> None:
    run, judge = Answered((asking(POLITE),), answer=lambda _: "good").completed(), ScriptedJudge()
    assert [result.success for result in await rescored_by(run, judge, judge_model=OTHER)] == [True, True]
    assert judge.asked == [OTHER, OTHER]


async def test_the_judge_that_an_assertion_names_stays(cloud: Settings) -> None:
    run, judge = Answered((asking(replace(POLITE, provider="sim/own")),)).completed(), ScriptedJudge()
    await rescored_by(run, judge, judge_model=OTHER)
    assert set(judge.asked) == {"sim/own"}


async def test_the_verdicts_of_the_run_are_kept_when_judge_and_criteria_are_the_same(cloud: Settings) -> None:
    run = Answered((asking(criteria=Criteria("booked")),), scoring=ruled(False)).completed()
    judge = ScriptedJudge(good=lambda _: True)
    first, _ = await rescored_by(run, judge, judge_model=JUDGE)
    assert judge.asked == []
    assert first.success is False
    assert first.scoring is not None
    assert first.scoring.verdict is not None
    assert first.scoring.reason == f"{CRITERIA}: as the first judge has it"


async def test_another_judge_takes_the_verdicts_again(cloud: Settings) -> None:
    run = Answered((asking(criteria=Criteria("booked")),), scoring=ruled(False)).completed()
    first, _ = await rescored_by(run, ScriptedJudge(good=lambda _: True), judge_model=OTHER)
    assert first.scoring is not None
    assert first.scoring.verdict is not None
    assert (first.success, first.scoring.verdict.reasoning) == (True, "as it was said")


async def test_other_criteria_are_judged_of_every_scenario(cloud: Settings) -> None:
    run = Answered((asking(criteria=Criteria("booked")), asking()), ("sim/steady",), scoring=ruled(False)).completed()
    judge = ScriptedJudge(good=lambda _: True)
    found = await rescored_by(run, judge, criteria=Criteria("was polite"))
    assert [result.success for result in found] == [True, True]
    assert judge.asked == [JUDGE, JUDGE]


async def test_the_end_of_a_conversation_decides_also_where_it_could_have_gone_on(cloud: Settings) -> None:
    scenario = asking(criteria=Criteria("booked"), max_messages=10)
    first, _ = await rescored_by(Answered((scenario,)).completed(), ScriptedJudge(), judge_model=OTHER)
    assert first.success is False


async def test_contests_are_held_anew_with_the_other_judge(cloud: Settings) -> None:
    run, judge = Answered((asking(BEST),)).completed(), ScriptedJudge(best=1)
    assert [result.success for result in await rescored_by(run, judge, judge_model=OTHER)] == [False, True]
    assert judge.asked == [OTHER]


async def test_what_a_judge_has_used_is_told(cloud: Settings) -> None:
    run = Answered((asking(POLITE, criteria=Criteria("booked")),)).completed()
    first, _ = await rescored_by(run, ScriptedJudge(), judge_model=OTHER)
    assert (first.judge.calls, first.judge.usage.input_tokens) == (2, 20)


@pytest.mark.parametrize(
    "failure", [ProviderError(ErrorCode.AUTH, "bad key"), PleaseWait(90, ErrorCode.RATE_LIMITED)], ids=["error", "wait"]
)
async def test_a_judge_that_fails_leaves_a_transcript_unscored(cloud: Settings, failure: Exception) -> None:
    run = Answered((asking(YES, POLITE, BEST, criteria=Criteria("booked")),)).completed()
    first, _ = await rescored_by(run, ScriptedJudge(failure=failure), judge_model=OTHER)
    assert (first.success, first.unscored) == (None, True)
    assert rescores.get(ref_of(run), "scr_1").tally == Tally(scored=0, errors=2)


async def test_errored_probes_are_no_part_of_it(cloud: Settings) -> None:
    run = Answered((asking(YES),), answer=lambda index: "yes" if index else None).completed()
    assert [result.index for result in await rescored_by(run, ScriptedJudge())] == [1]
    assert rescores.get(ref_of(run), "scr_1").tally == Tally(scored=1)


async def test_what_was_said_and_deleted_cannot_be_scored(cloud: Settings) -> None:
    run = Answered((asking(YES),)).completed()
    outcomes.forget_content(ref_of(run), 0, None)
    first, _ = await rescored_by(run, ScriptedJudge())
    assert first.unscored
    assert first.scoring is not None
    assert first.scoring.reason == "could not be computed: transcript: what was said was deleted, or its time is over"


async def test_what_a_retry_brings_later_is_no_part_of_it(cloud: Settings) -> None:
    given = Answered((asking(YES),), answer=lambda index: "yes" if index else None)
    run = given.completed()
    rescoring_of(run)
    again = runs.move(ref_of(run), Action.REOPEN, NOW)
    late = replace(Answered(given.scenarios).outcome(again, 0), generation=again.generation)
    outcomes.record(again, again.epoch, [late])
    phases.begin(ref_of(run), "scr_1")
    await score_slice(ref_of(run), "scr_1", LeafRange(0, 1), lambda: 900.0, ScriptedJudge())
    assert [result.index for result in results_of(run)] == [1]


async def test_a_slice_that_comes_again_pays_for_nothing_twice(cloud: Settings) -> None:
    run, judge = Answered((asking(POLITE),)).completed(), ScriptedJudge()
    rescoring_of(run)
    phases.begin(ref_of(run), "scr_1")
    for _ in range(2):
        await score_slice(ref_of(run), "scr_1", LeafRange(0, 1), lambda: 900.0, judge)
    assert len(judge.asked) == 2
    assert rescores.tally(rescores.get(ref_of(run), "scr_1")) == Tally(scored=2)


async def test_a_slice_without_time_goes_on_where_it_stopped(cloud: Settings) -> None:
    run, judge = Answered((asking(POLITE),), ("sim/steady",), repeats=5).completed(), ScriptedJudge()
    rescoring_of(run)
    phases.begin(ref_of(run), "scr_1")
    with pytest.raises(RetryableError, match="2 transcripts are still to be scored"):
        await score_slice(ref_of(run), "scr_1", LeafRange(0, 1), lambda: 900.0 if len(judge.asked) < 3 else 1.0, judge)
    assert rescores.tally(rescores.get(ref_of(run), "scr_1")) == Tally(scored=3)
    await score_slice(ref_of(run), "scr_1", LeafRange(0, 1), lambda: 900.0, judge)
    assert len(judge.asked) == 5
    assert len(results_of(run)) == 5


async def test_a_scoring_that_is_over_is_left(cloud: Settings) -> None:
    run, judge = Answered((asking(POLITE),)).completed(), ScriptedJudge()
    await rescored_by(run, judge)
    await score_slice(ref_of(run), "scr_1", LeafRange(0, 1), lambda: 900.0, judge)
    assert phases.fail(ref_of(run), "scr_1", "score", "late", NOW) is RescoringStatus.COMPLETED
    assert phases.begin(ref_of(run), "scr_1").slices == ()
    assert len(judge.asked) == 2


async def test_long_results_are_kept_whole_in_the_bucket(cloud: Settings) -> None:
    words = "".join(Random(1).choices(ascii_lowercase, k=20_000))
    run = Answered((asking(),), ("sim/steady",), answer=lambda _: words).completed()
    each = tuple(replace(YES, value=words[n * 190 : n * 190 + 190]) for n in range(100))
    (found,) = await rescored_by(run, ScriptedJudge(), assertions=each)
    assert found.scoring is not None
    assert [result.passed for result in found.scoring.results] == [True] * 100
    names = [each["Key"] for each in clients.s3().list_objects_v2(Bucket=cloud.bucket_name)["Contents"]]
    assert [name for name in names if name.endswith(".score.json.gz")]


async def test_results_expire_with_what_was_said(cloud: Settings) -> None:
    expires = NOW + timedelta(days=7)
    run = Answered((asking(YES),), expires_at=expires).completed()
    assert {result.expires_at for result in await rescored_by(run, ScriptedJudge())} == {expires}


async def test_what_judges_said_can_be_deleted(cloud: Settings) -> None:
    run = Answered((asking(NO),)).completed()
    await rescored_by(run, ScriptedJudge())
    rescore_results.forget_content(ref_of(run), "scr_1", 0)
    first, second = results_of(run)
    assert (first.success, first.scoring) == (False, None)
    assert second.scoring is not None


async def test_a_workflow_that_gives_up_says_where_and_why(cloud: Settings) -> None:
    run = Answered().completed()
    rescoring_of(run)
    phases.begin(ref_of(run), "scr_1")
    assert phases.fail(ref_of(run), "scr_1", "score", "States.Timeout", NOW) is RescoringStatus.FAILED
    ended = rescores.get(ref_of(run), "scr_1")
    assert ended.failure is not None
    assert (ended.failure.where, ended.completed_at) == ("score", NOW)


@pytest.mark.parametrize(
    "config", [RescoringConfig(), RescoringConfig((YES,), JUDGE, JUDGE, "http://a", Criteria("b"))]
)
def test_a_configuration_is_kept_as_it_is(config: RescoringConfig) -> None:
    assert RescoringConfig.from_json(config.to_json()) == config


def test_what_is_not_said_is_as_in_the_run() -> None:
    of_run = Evaluation(JUDGE, "sim/user", "sim/embedder", "http://evaluator", "v1")
    assert RescoringConfig().evaluation(of_run) == of_run
    other = RescoringConfig(judge_model=OTHER, evaluator_url="http://another").evaluation(of_run)
    assert (other.judge_model, other.embedding_model) == (OTHER, "sim/embedder")
    assert (other.evaluator_url, other.evaluator_headers_version) == ("http://another", None)
