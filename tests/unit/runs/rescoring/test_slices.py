"""Rescores: what they grade by, what they cost, and what happens when they are interrupted."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from string import ascii_lowercase

import pytest

from cupel_core.accounts import keys as accounts
from cupel_core.base.errors import Conflict, Invalid
from cupel_core.budgets import charged_calls
from cupel_core.budgets.patient_calls import PatientCalls
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.conversation import Criteria, Verdict
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.domain.runs.leaf_ranges import LeafRange, SliceProgress, leaf_ranges
from cupel_core.domain.runs.run import Action, Run, RunFailure
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult, UnusableJudgement
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.scoring.rescores import Rescore, RescoreConfig, RescoreCounts, RescoreResult, RescoreStatus
from cupel_core.domain.scoring.scoring import CRITERIA, Scoring, build_scoring
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.providers.account import Account
from cupel_core.providers.errors import ProviderError, RetryLater
from cupel_core.runs.rescoring import comparisons, phases
from cupel_core.runs.rescoring.comparisons import compare_range
from cupel_core.runs.rescoring.slices import rescore_slice
from cupel_core.runs.rescoring.start import raise_budget
from cupel_core.store import budgets, clients, executions, governor, outcomes, rescore_results, rescores, runs
from cupel_core.store.budgets import RescoreRef
from cupel_core.store.settings import Settings
from tests.answered_runs import JUDGE, AnsweredRun, get_transcript
from tests.recorded_outcomes import store_outcomes
from tests.run_budgets import run_budget
from tests.scripted_judge import ScriptedJudge
from tests.started_runs import NOW, ref_of

OTHER = "sim/other-judge"
YES = Assertion("contains", value="yes")
NO = Assertion("contains", value="no")
POLITE = Assertion("llm-rubric", value="is polite")
BEST = Assertion("select-best", value="the shortest")


def asking(*assertions: Assertion, **fields: object) -> Scenario:
    return Scenario("", "", (Message(MessageRole.USER, "?"),), assertions=assertions, **fields)  # type: ignore[arg-type]


def ruled(passed: bool) -> Callable[[int], Scoring]:
    """The run's own scoring by criteria."""
    verdict = Verdict(passed, False, 0.8, "as the first judge has it", "{}")
    result = AssertionResult(CRITERIA, passed, float(passed), verdict.reasoning)
    return lambda _: replace(build_scoring(None, None, (result,)), verdict=verdict)


def create_rescore(run: Run, scoring_id: str = "rsc_1", **overrides: object) -> Rescore:
    config = RescoreConfig(**overrides)  # type: ignore[arg-type]
    total = run.settled.completed if run.settled else 0
    wanted = Rescore(run.workspace, run.id, scoring_id, config, total, run.plan.total, run.retry_round, NOW)
    rescores.create(wanted)
    return wanted


@pytest.fixture
def started_executions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of executions that are started, and not carried out."""
    names: list[str] = []
    monkeypatch.setattr(executions, "_start", lambda request: names.append(request.name))
    return names


async def rescore_with(
    run: Run, judge: ScriptedJudge, ends: RescoreStatus = RescoreStatus.COMPLETED, **overrides: object
) -> list[RescoreResult]:
    """The results, after all phases."""
    wanted = create_rescore(run, **overrides)
    begun = phases.begin(ref_of(run), wanted.id)
    for part in begun.slices:
        await rescore_slice(ref_of(run), wanted.id, part, lambda: 900.0, judge)
    for part in begun.comparisons:
        await compare_range(ref_of(run), wanted.id, part)
    assert phases.complete(ref_of(run), wanted.id, NOW) is ends
    return results_of(run, wanted.id)


def results_of(run: Run, scoring_id: str = "rsc_1") -> list[RescoreResult]:
    return list(rescore_results.list_range(ref_of(run), scoring_id, range(run.plan.total)))


async def test_requested_assertions_replace_those_of_definition_and_scenarios(cloud: Settings) -> None:
    run = AnsweredRun((asking(NO),), answer=lambda _: "yes", content=Content(assertions=(NO,))).completed()
    first, _ = await rescore_with(run, ScriptedJudge(), assertions=(YES,))
    assert first.scoring is not None
    assert [(result.type, result.passed) for result in first.scoring.results] == [("contains", True)]
    assert (first.success, first.score) == (True, 1.0)


async def test_without_assertions_those_of_definition_and_scenario_are_checked_again(cloud: Settings) -> None:
    run = AnsweredRun((asking(NO),), answer=lambda _: "yes", content=Content(assertions=(YES,))).completed()
    first, _ = await rescore_with(run, ScriptedJudge())
    assert first.scoring is not None
    assert [result.passed for result in first.scoring.results] == [True, False]


async def test_calls_are_checked_again_with_the_tools_of_the_target(cloud: Settings) -> None:
    content = Content(params={"tools": [{"name": "find"}]})
    run = AnsweredRun(answer=lambda _: '{"name": "find", "arguments": "{}"}', content=content).completed()
    first, _ = await rescore_with(run, ScriptedJudge(), assertions=(Assertion("is-valid-function-call"),))
    assert first.success is True


async def test_the_runs_own_scoring_stays(cloud: Settings) -> None:
    run = AnsweredRun(scoring=ruled(True)).completed()
    before = get_transcript(run, 0)
    await rescore_with(run, ScriptedJudge(), assertions=(NO,))
    assert get_transcript(run, 0) == before


async def test_another_judge_is_called_instead(cloud: Settings) -> None:
    run, judge = AnsweredRun((asking(POLITE),), answer=lambda _: "good").completed(), ScriptedJudge()
    assert [result.success for result in await rescore_with(run, judge, judge_model=OTHER)] == [True, True]
    assert judge.called_models == [OTHER, OTHER]


async def test_the_judge_that_an_assertion_names_stays(cloud: Settings) -> None:
    run, judge = AnsweredRun((asking(replace(POLITE, provider="sim/own")),)).completed(), ScriptedJudge()
    await rescore_with(run, judge, judge_model=OTHER)
    assert set(judge.called_models) == {"sim/own"}


async def test_the_verdicts_of_the_run_are_kept_when_judge_and_criteria_are_the_same(cloud: Settings) -> None:
    run = AnsweredRun((asking(criteria=Criteria("booked")),), scoring=ruled(False)).completed()
    judge = ScriptedJudge(passes=lambda _: True)
    first, _ = await rescore_with(run, judge, judge_model=JUDGE)
    assert judge.called_models == []
    assert first.success is False
    assert first.scoring is not None
    assert first.scoring.verdict is not None
    assert first.scoring.reason == f"{CRITERIA}: as the first judge has it"


async def test_criteria_without_a_verdict_are_judged_again(cloud: Settings) -> None:
    unusable = UnusableJudgement("it has no JSON object", "I think so!")
    no_verdict = AssertionResult.uncomputed(CRITERIA, "no verdict", UnscoredCause(UnscoredCode.JUDGE_REPLY))
    failed = replace(no_verdict, unusable_reply=unusable)
    scoring = build_scoring(None, None, (failed,))
    run = AnsweredRun((asking(criteria=Criteria("booked")),), scoring=lambda _: scoring).completed()
    first, _ = await rescore_with(run, ScriptedJudge(passes=lambda _: True))
    assert (first.success, first.scoring and first.scoring.reason) == (True, "everything passed")


async def test_another_judge_gives_new_verdicts(cloud: Settings) -> None:
    run = AnsweredRun((asking(criteria=Criteria("booked")),), scoring=ruled(False)).completed()
    first, _ = await rescore_with(run, ScriptedJudge(passes=lambda _: True), judge_model=OTHER)
    assert first.scoring is not None
    assert first.scoring.verdict is not None
    assert (first.success, first.scoring.verdict.reasoning) == (True, "by the conversation")


async def test_other_criteria_apply_to_every_scenario(cloud: Settings) -> None:
    run = AnsweredRun(
        (asking(criteria=Criteria("booked")), asking()), ("sim/steady",), scoring=ruled(False)
    ).completed()
    judge = ScriptedJudge(passes=lambda _: True)
    found = await rescore_with(run, judge, criteria=Criteria("was polite"))
    assert [result.success for result in found] == [True, True]
    assert judge.called_models == [JUDGE, JUDGE]


async def test_the_end_of_a_conversation_is_final_even_if_it_could_have_continued(cloud: Settings) -> None:
    scenario = asking(criteria=Criteria("booked"), max_messages=10)
    first, _ = await rescore_with(AnsweredRun((scenario,)).completed(), ScriptedJudge(), judge_model=OTHER)
    assert first.success is False


async def test_selections_are_made_again_by_the_other_judge(cloud: Settings) -> None:
    run, judge = AnsweredRun((asking(BEST),)).completed(), ScriptedJudge(best_index=1)
    assert [result.success for result in await rescore_with(run, judge, judge_model=OTHER)] == [False, True]
    assert judge.called_models == [OTHER]


HIGHEST = Assertion("max-score")
LONG = Assertion("word-count", value={"min": 2})


async def test_scores_are_compared_when_all_transcripts_are_graded(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two answers to the last case are in slices of their own."""
    for module in (phases, comparisons):  # Slices of a hundred transcripts instead of a thousand.
        monkeypatch.setattr(module, "leaf_ranges", lambda total, leaves=1: leaf_ranges(total, leaves))
    scenarios = tuple(asking(YES) for _ in range(101))
    answered = AnsweredRun(scenarios, answer=lambda index: "yes" if index % 2 else "yes, yes")
    found = await rescore_with(answered.completed(), ScriptedJudge(), assertions=(LONG, HIGHEST))
    pairs = list(zip(found[:101], found[101:], strict=True))
    assert {(first.index % 2, first.success, first.score, second.success) for first, second in pairs} == {
        (0, True, 1.0, False),
        (1, False, 0.0, True),
    }
    scorings = [each.scoring for each in found if each.scoring]
    assert {tuple(result.type for result in each.results) for each in scorings} == {("word-count", "max-score")}


async def test_scores_are_compared_beside_the_answers(cloud: Settings) -> None:
    run = AnsweredRun((asking(YES, HIGHEST, BEST),), answer=lambda index: "yes" if index else "no").completed()
    first, second = await rescore_with(run, ScriptedJudge(best_index=0), judge_model=OTHER)
    assert first.scoring is not None
    assert second.scoring is not None
    types = [result.type for result in second.scoring.results]
    assert types == ["contains", "select-best", "max-score"]
    assert [result.passed for result in second.scoring.results] == [True, False, True]
    assert [result.passed for result in first.scoring.results] == [False, True, False]


async def test_comparing_scores_again_changes_nothing(cloud: Settings) -> None:
    run = AnsweredRun((asking(YES, HIGHEST),), answer=lambda index: "yes" if index else "no").completed()
    wanted = create_rescore(run)
    begun = phases.begin(ref_of(run), wanted.id)
    await rescore_slice(ref_of(run), wanted.id, begun.slices[0], lambda: 900.0, ScriptedJudge())
    assert await compare_range(ref_of(run), wanted.id, begun.comparisons[0]) == 2
    assert await compare_range(ref_of(run), wanted.id, begun.comparisons[0]) == 0


async def test_scores_that_cannot_be_compared_are_counted_as_errors(cloud: Settings) -> None:
    run = AnsweredRun((asking(),)).completed()
    await rescore_with(run, ScriptedJudge(), RescoreStatus.FAILED, assertions=(HIGHEST,))
    assert rescores.get(ref_of(run), "rsc_1").counts == RescoreCounts(errors=2)


async def test_nothing_is_compared_without_a_comparison(cloud: Settings) -> None:
    run = AnsweredRun((asking(YES, HIGHEST),)).completed()
    create_rescore(run, assertions=(YES,))
    assert phases.begin(ref_of(run), "rsc_1").comparisons == ()


async def test_the_judges_spend_is_reported(cloud: Settings) -> None:
    run = AnsweredRun((asking(POLITE, criteria=Criteria("booked")),)).completed()
    first, _ = await rescore_with(run, ScriptedJudge(), judge_model=OTHER)
    assert (first.judge.calls, first.judge.usage.input_tokens) == (2, 20)


async def test_a_judge_that_fails_leaves_a_transcript_unscored(cloud: Settings) -> None:
    run = AnsweredRun((asking(YES, POLITE, BEST, criteria=Criteria("booked")),)).completed()
    failure = ProviderError(ProbeErrorCode.AUTH, "bad key")
    first, _ = await rescore_with(run, ScriptedJudge(error=failure), RescoreStatus.FAILED, judge_model=OTHER)
    assert (first.success, first.unscored) == (None, True)
    ended = rescores.get(ref_of(run), "rsc_1")
    assert ended.counts == RescoreCounts(scored=0, errors=2)
    assert ended.failure == RunFailure(
        "score", f"none of 2 transcripts could be scored: the call of the judge failed (auth); judge_failed of {OTHER}"
    )


class MuteJudge(ScriptedJudge):
    """Its replies are no JSON, up to the call with this number."""

    speaks_from: int = 10**6

    async def __call__(self, account: Account, model: str, request: ModelRequest, seconds: float) -> Reply:
        reply = await super().__call__(account, model, request, seconds)
        return reply if len(self.called_models) >= self.speaks_from else replace(reply, text="I cannot say.")


async def test_a_judge_that_gives_nothing_usable_is_not_asked_for_every_transcript(cloud: Settings) -> None:
    run = AnsweredRun((asking(POLITE),), ("sim/steady",), repeats=100).completed()
    found = await rescore_with(run, judge := MuteJudge(), RescoreStatus.FAILED, judge_model=OTHER)
    assert 20 <= len(found) < 100
    assert len(judge.called_models) == 2 * len(found)  # Each reply is repaired once.
    failure = rescores.get(ref_of(run), "rsc_1").failure
    assert failure is not None
    assert failure.where == "judge"
    assert failure.why.startswith(f"the judge {OTHER} gave no usable verdict on the first 20 answers (judge_reply)")
    assert failure.why.endswith(f"; {100 - len(found)} of 100 transcripts were not graded")


async def test_a_judge_with_one_usable_reply_is_asked_for_every_transcript(cloud: Settings) -> None:
    run = AnsweredRun((asking(POLITE),), ("sim/steady",), repeats=60, answer=lambda _: "good").completed()
    judge = MuteJudge()
    judge.speaks_from = 12  # Within the first 12 of 60 transcripts.
    assert len(await rescore_with(run, judge, judge_model=OTHER)) == 60


async def test_a_judge_whose_provider_asks_to_wait_leaves_transcripts_to_the_next_task(cloud: Settings) -> None:
    run = AnsweredRun((asking(YES, POLITE, BEST, criteria=Criteria("booked")),)).completed()
    judge = ScriptedJudge(error=RetryLater(90, ProbeErrorCode.RATE_LIMITED))
    assert await rescore_with(run, judge, judge_model=OTHER) == []
    assert rescores.get(ref_of(run), "rsc_1").counts == RescoreCounts()


async def test_errored_probes_are_not_rescored(cloud: Settings) -> None:
    run = AnsweredRun((asking(YES),), answer=lambda index: "yes" if index else None).completed()
    assert [result.index for result in await rescore_with(run, ScriptedJudge())] == [1]
    assert rescores.get(ref_of(run), "rsc_1").counts == RescoreCounts(scored=1)


async def test_deleted_content_cannot_be_scored(cloud: Settings) -> None:
    run = AnsweredRun((asking(YES),)).completed()
    outcomes.erase_content(ref_of(run), 0, NOW)
    first, _ = await rescore_with(run, ScriptedJudge())
    assert first.unscored
    assert first.scoring is not None
    assert (
        first.scoring.reason
        == "could not be computed: transcript: the conversation was deleted, or its retention period has ended"
    )


async def test_transcripts_of_a_later_retry_are_not_rescored(cloud: Settings) -> None:
    given = AnsweredRun((asking(YES),), answer=lambda index: "yes" if index else None)
    run = given.completed()
    create_rescore(run)
    again = runs.transition(ref_of(run), Action.REOPEN, NOW)
    late = replace(AnsweredRun(given.scenarios).outcome(again, 0), retry_round=again.retry_round)
    store_outcomes(again, again.fencing_token, [late])
    phases.begin(ref_of(run), "rsc_1")
    await rescore_slice(ref_of(run), "rsc_1", LeafRange(0, 1), lambda: 900.0, ScriptedJudge())
    assert [result.index for result in results_of(run)] == [1]


async def test_a_repeated_slice_pays_for_nothing_twice(cloud: Settings) -> None:
    run, judge = AnsweredRun((asking(POLITE),)).completed(), ScriptedJudge()
    create_rescore(run)
    phases.begin(ref_of(run), "rsc_1")
    for _ in range(2):
        await rescore_slice(ref_of(run), "rsc_1", LeafRange(0, 1), lambda: 900.0, judge)
    assert len(judge.called_models) == 2
    assert rescores.get_counts(rescores.get(ref_of(run), "rsc_1")) == RescoreCounts(scored=2)


async def test_a_slice_that_ran_out_of_time_continues_where_it_stopped(cloud: Settings) -> None:
    run, judge = AnsweredRun((asking(POLITE),), ("sim/steady",), repeats=5).completed(), ScriptedJudge()
    create_rescore(run)
    phases.begin(ref_of(run), "rsc_1")
    progress = await rescore_slice(
        ref_of(run), "rsc_1", LeafRange(0, 1), lambda: 900.0 if len(judge.called_models) < 3 else 1.0, judge
    )
    assert progress == SliceProgress(done=3, left=2)
    assert rescores.get_counts(rescores.get(ref_of(run), "rsc_1")) == RescoreCounts(scored=3)
    await rescore_slice(ref_of(run), "rsc_1", LeafRange(0, 1), lambda: 900.0, judge)
    assert len(judge.called_models) == 5
    assert len(results_of(run)) == 5


async def test_a_completed_rescore_is_left_unchanged(cloud: Settings) -> None:
    run, judge = AnsweredRun((asking(POLITE),)).completed(), ScriptedJudge()
    await rescore_with(run, judge)
    await rescore_slice(ref_of(run), "rsc_1", LeafRange(0, 1), lambda: 900.0, judge)
    assert phases.fail(ref_of(run), "rsc_1", "score", "late", NOW) is RescoreStatus.COMPLETED
    assert phases.begin(ref_of(run), "rsc_1").slices == ()
    assert len(judge.called_models) == 2


async def test_long_results_are_stored_in_the_bucket(cloud: Settings) -> None:
    words = "".join(Random(1).choices(ascii_lowercase, k=20_000))
    run = AnsweredRun((asking(),), ("sim/steady",), answer=lambda _: words).completed()
    each = tuple(replace(YES, value=words[n * 190 : n * 190 + 190]) for n in range(100))
    (found,) = await rescore_with(run, ScriptedJudge(), assertions=each)
    assert found.scoring is not None
    assert [result.passed for result in found.scoring.results] == [True] * 100
    names = [each["Key"] for each in clients.s3().list_objects_v2(Bucket=cloud.bucket_name)["Contents"]]
    assert [name for name in names if name.endswith(".score.json.gz")]


async def test_results_expire_with_the_conversation(cloud: Settings) -> None:
    expires = NOW + timedelta(days=7)
    run = AnsweredRun((asking(YES),), expires_at=expires).completed()
    found = await rescore_with(run, ScriptedJudge(), _end_of_expiring(expires))
    assert {result.expires_at for result in found} == {expires}


def _end_of_expiring(expires: datetime) -> RescoreStatus:
    """Once the conversations have expired, none can be scored."""
    return RescoreStatus.COMPLETED if expires > datetime.now(UTC) else RescoreStatus.FAILED


async def test_the_judges_texts_can_be_deleted(cloud: Settings) -> None:
    run = AnsweredRun((asking(NO),)).completed()
    await rescore_with(run, ScriptedJudge())
    rescore_results.erase_content(ref_of(run), "rsc_1", 0)
    first, second = results_of(run)
    assert (first.success, first.scoring) == (False, None)
    assert second.scoring is not None


async def test_a_workflow_that_gives_up_says_where_and_why(cloud: Settings) -> None:
    run = AnsweredRun().completed()
    create_rescore(run)
    phases.begin(ref_of(run), "rsc_1")
    assert phases.fail(ref_of(run), "rsc_1", "score", "States.Timeout", NOW) is RescoreStatus.FAILED
    ended = rescores.get(ref_of(run), "rsc_1")
    assert ended.failure is not None
    assert (ended.failure.where, ended.completed_at) == ("score", NOW)


@pytest.mark.parametrize("config", [RescoreConfig(), RescoreConfig((YES,), JUDGE, JUDGE, "http://a", Criteria("b"))])
def test_a_configuration_is_stored_unchanged(config: RescoreConfig) -> None:
    assert decode(RescoreConfig, encode(config)) == config


def test_omitted_fields_are_those_of_the_run() -> None:
    of_run = GraderConfig(JUDGE, "sim/user", "sim/embedder", "http://evaluator", "v1")
    assert RescoreConfig().grader_config(of_run) == of_run
    other = RescoreConfig(judge_model=OTHER, evaluator_url="http://another").grader_config(of_run)
    assert (other.judge_model, other.embedding_model) == (OTHER, "sim/embedder")
    assert (other.evaluator_url, other.evaluator_headers_version) == ("http://another", None)


async def test_a_paused_judge_is_not_called_and_its_transcripts_are_left(cloud: Settings) -> None:
    run, judge = AnsweredRun((asking(POLITE),), answer=lambda _: "good").completed(), ScriptedJudge()
    wanted = create_rescore(run)
    part = phases.begin(ref_of(run), wanted.id).slices[0]
    governor.set_paused(run.workspace, "sim", True)
    progress = await rescore_slice(ref_of(run), wanted.id, part, lambda: 65.2, judge)
    assert (progress.done, progress.left, judge.called_models) == (0, run.plan.total, [])
    assert progress.wait_seconds > 0


async def test_the_workflow_of_a_deleted_run_ends_without_a_failure(cloud: Settings) -> None:
    run = AnsweredRun().completed()
    rescore = create_rescore(run)
    runs.delete(ref_of(run), NOW, erase_from=NOW)
    assert phases.begin(ref_of(run), rescore.id) == phases.BeginResult(phases.DELETED)
    await rescore_slice(ref_of(run), rescore.id, LeafRange(0, 1), lambda: 900.0, ScriptedJudge())
    assert phases.complete(ref_of(run), rescore.id, NOW) == phases.DELETED
    assert phases.fail(ref_of(run), rescore.id, "score", "why", NOW) == phases.DELETED


async def test_the_reported_spend_is_that_of_the_results(cloud: Settings) -> None:
    run, reported = AnsweredRun((asking(POLITE),), grader_config=GraderConfig(JUDGE)).completed(), list[Spend]()
    rescore, task = create_rescore(run), (ref_of(run), "rsc_1", LeafRange(0, 1), lambda: 900.0)
    phases.begin(ref_of(run), rescore.id)
    for _ in range(2):  # A repeated task reports nothing again.
        await rescore_slice(*task, ScriptedJudge(), lambda _, spend: reported.append(spend))
    assert sum(reported, Spend()) == sum((result.judge for result in results_of(run)), Spend())
    assert sum(reported, Spend()).calls > 0


PRICE = ModelPrice(None, 1_000.0, 1_000.0)
CALL = 15_000_000
"""10 and 5 tokens of a scripted judge, in billionths of a USD."""


async def test_rescores_are_charged_to_the_budget_of_the_run(cloud: Settings) -> None:
    accounts.update_provider("ws_a", "sim", {"prices": (PRICE,)})
    run = AnsweredRun((asking(POLITE),), budget=run_budget(100.0)).completed()
    await rescore_with(run, ScriptedJudge())
    account = budgets.get(ref_of(run))
    assert (account.spent_by_role, account.reserved) == ({ModelRole.JUDGE: 2 * CALL}, 0)


async def test_a_rescore_that_the_budget_does_not_allow_has_results_with_that_error(cloud: Settings) -> None:
    accounts.update_provider("ws_a", "sim", {"prices": (PRICE,)})
    run, judge = AnsweredRun((asking(POLITE),), budget=run_budget(0.01)).completed(), ScriptedJudge()
    first, _ = await rescore_with(run, judge, RescoreStatus.FAILED)
    assert first.scoring is not None
    assert "the budget of $0.01 is used up" in (first.scoring.results[0].error or "")
    assert judge.called_models == []


def create_budgeted(run: Run, max_usd: float) -> Rescore:
    wanted = Rescore(run.workspace, run.id, "rsc_1", RescoreConfig(), 2, run.plan.total, run.retry_round, NOW)
    wanted = replace(wanted, max_budget_usd=max_usd)
    rescores.create(wanted)
    return wanted


async def carry_out(run: Run, rescore: Rescore, judge: ScriptedJudge) -> Rescore:
    for part in phases.begin(ref_of(run), rescore.id).slices:
        progress = await rescore_slice(ref_of(run), rescore.id, part, lambda: 900.0, judge)
        assert progress.left == 0
    phases.complete(ref_of(run), rescore.id, NOW)
    return rescores.get(ref_of(run), rescore.id)


async def test_a_rescore_with_a_budget_of_its_own_leaves_that_of_the_run_alone(cloud: Settings) -> None:
    accounts.update_provider("ws_a", "sim", {"prices": (PRICE,)})
    run = AnsweredRun((asking(POLITE),), budget=run_budget(0.01)).completed()
    ended = await carry_out(run, create_budgeted(run, 100.0), ScriptedJudge())
    assert ended.status is RescoreStatus.COMPLETED
    assert budgets.get(ref_of(run)).used == 0
    own = budgets.get(RescoreRef(ref_of(run), "rsc_1"))
    assert (own.spent_by_role, own.reserved) == ({ModelRole.JUDGE: 2 * CALL}, 0)


async def test_a_rescore_stops_when_its_own_budget_is_used_up(cloud: Settings) -> None:
    accounts.update_provider("ws_a", "sim", {"prices": (PRICE,)})
    run, judge = AnsweredRun((asking(POLITE),)).completed(), ScriptedJudge()
    ended = await carry_out(run, create_budgeted(run, 0.01), judge)
    assert (ended.status, judge.called_models, results_of(run)) == (RescoreStatus.FAILED, [], [])
    assert ended.failure is not None
    assert ended.failure.where == "budget"
    assert ended.failure.why.startswith("its budget of $0.01 was used up after 0 of 2 transcripts")


async def test_results_before_the_end_of_the_budget_are_stored_and_it_is_never_exceeded(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4,096 tokens of output, which are set aside for each call, cost $4.096, and the 5 of a reply $0.005."""
    accounts.update_provider("ws_a", "sim", {"prices": (ModelPrice(None, 0.0, 1_000.0),)})
    monkeypatch.setattr(charged_calls, "PatientCalls", partial(PatientCalls, wait_seconds=0.01))
    run, judge = AnsweredRun((asking(POLITE),)).completed(), ScriptedJudge()
    ended = await carry_out(run, create_budgeted(run, 4.1), judge)
    account = budgets.get(RescoreRef(ref_of(run), "rsc_1"))
    assert ended.status is RescoreStatus.FAILED
    assert len(results_of(run)) == len(judge.called_models) == 1
    assert (account.used, account.reserved) == (5_000_000, 0)


async def test_a_stopped_rescore_does_not_continue(cloud: Settings) -> None:
    """A task that is repeated, or one of another slice, makes no further call."""
    run, judge = AnsweredRun((asking(POLITE),)).completed(), ScriptedJudge()
    wanted = create_budgeted(run, 1.0)
    part = phases.begin(ref_of(run), wanted.id).slices[0]
    assert rescores.mark_exhausted(wanted)
    assert await rescore_slice(ref_of(run), wanted.id, part, lambda: 900.0, judge) == SliceProgress()
    assert judge.called_models == []


async def test_a_raised_budget_lets_a_rescore_grade_what_is_left(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch, started_executions: list[str]
) -> None:
    """As above, $4.096 are set aside for each call, which then costs $0.005."""
    accounts.update_provider("ws_a", "sim", {"prices": (ModelPrice(None, 0.0, 1_000.0),)})
    monkeypatch.setattr(charged_calls, "PatientCalls", partial(PatientCalls, wait_seconds=0.01))
    run, judge = AnsweredRun((asking(POLITE),)).completed(), ScriptedJudge()
    stopped = await carry_out(run, create_budgeted(run, 4.1), judge)
    first = results_of(run)
    raised = raise_budget("ws_a", run.id, stopped.id, 8.0, NOW)
    assert (raised.status, raised.failure, raised.max_budget_usd) == (RescoreStatus.PENDING, None, 8.0)
    assert started_executions == ["rsc_1-2"]
    assert [each.rescore_id for each in rescores.list_open_rescores()] == ["rsc_1"]
    ended = await carry_out(run, raised, judge)
    assert (ended.status, ended.counts) == (RescoreStatus.COMPLETED, RescoreCounts(scored=2))
    assert [each for each in results_of(run) if each in first] == first
    assert len(judge.called_models) == 2
    assert budgets.get(RescoreRef(ref_of(run), "rsc_1")).used == 2 * 5_000_000
    assert list(rescores.list_open_rescores()) == []


async def test_a_raise_that_is_repeated_or_too_late_changes_nothing(
    cloud: Settings, started_executions: list[str]
) -> None:
    accounts.update_provider("ws_a", "sim", {"prices": (PRICE,)})
    run, judge = AnsweredRun((asking(POLITE),)).completed(), ScriptedJudge()
    running = create_budgeted(run, 0.01)
    await carry_out(run, running, judge)
    with pytest.raises(Invalid, match=r"must be greater than \$0\.01"):
        raise_budget("ws_a", run.id, running.id, 0.01, NOW)
    raised = raise_budget("ws_a", run.id, running.id, 100.0, NOW)
    assert raise_budget("ws_a", run.id, running.id, 100.0, NOW) == raised
    ended = await carry_out(run, raised, judge)
    assert raise_budget("ws_a", run.id, running.id, 100.0, NOW) == ended
    with pytest.raises(Conflict, match="the rescore is COMPLETED"):
        raise_budget("ws_a", run.id, running.id, 200.0, NOW)
    assert started_executions == ["rsc_1-2"]


async def test_a_budget_that_is_raised_while_a_task_grades_lets_that_task_grade_the_rest(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch, started_executions: list[str]
) -> None:
    """As above; the budget is raised during the only call that the first limit allows."""
    accounts.update_provider("ws_a", "sim", {"prices": (ModelPrice(None, 0.0, 1_000.0),)})
    monkeypatch.setattr(charged_calls, "PatientCalls", partial(PatientCalls, wait_seconds=0.01))
    run = AnsweredRun((asking(POLITE),)).completed()
    create_budgeted(run, 4.1)

    class RaisingJudge(ScriptedJudge):
        async def __call__(self, account: Account, model: str, request: ModelRequest, timeout_seconds: float) -> Reply:
            if not self.called_models:
                await asyncio.to_thread(raise_budget, "ws_a", run.id, "rsc_1", 8.0, NOW)
            return await super().__call__(account, model, request, timeout_seconds)

    judge = RaisingJudge()
    [part] = phases.begin(ref_of(run), "rsc_1").slices
    progress = await rescore_slice(ref_of(run), "rsc_1", part, lambda: 900.0, judge)
    assert (progress.done, progress.left, len(judge.called_models)) == (2, 0, 2)
    account = budgets.get(RescoreRef(ref_of(run), "rsc_1"))
    assert (account.used, account.reserved) == (2 * 5_000_000, 0)
    assert phases.complete(ref_of(run), "rsc_1", NOW) == RescoreStatus.COMPLETED
    assert started_executions == []


async def test_a_budget_that_is_raised_once_a_task_has_given_up_lets_its_repetition_grade_the_rest(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch, started_executions: list[str]
) -> None:
    """As above; the task has stored its results, and says next that the budget is used up."""
    accounts.update_provider("ws_a", "sim", {"prices": (ModelPrice(None, 0.0, 1_000.0),)})
    monkeypatch.setattr(charged_calls, "PatientCalls", partial(PatientCalls, wait_seconds=0.01))
    run, judge = AnsweredRun((asking(POLITE),)).completed(), ScriptedJudge()
    create_budgeted(run, 4.1)

    def raise_it(*_: object) -> None:
        raise_budget("ws_a", run.id, "rsc_1", 8.0, NOW)

    [part] = phases.begin(ref_of(run), "rsc_1").slices
    first = await rescore_slice(ref_of(run), "rsc_1", part, lambda: 900.0, judge, raise_it)
    assert (first.done, first.left) == (1, 1)
    repeated = await rescore_slice(ref_of(run), "rsc_1", part, lambda: 900.0, judge)
    assert (repeated.done, repeated.left) == (1, 0)
    assert phases.complete(ref_of(run), "rsc_1", NOW) == RescoreStatus.COMPLETED
    ended = rescores.get(ref_of(run), "rsc_1")
    assert (ended.max_budget_usd, ended.counts) == (8.0, RescoreCounts(scored=2))
    assert started_executions == []


async def test_while_it_goes_on_a_budget_is_raised_and_not_lowered(
    cloud: Settings, started_executions: list[str]
) -> None:
    run = AnsweredRun((asking(POLITE),)).completed()
    pending = create_budgeted(run, 2.0)
    assert raise_budget("ws_a", run.id, pending.id, 3.0, NOW).max_budget_usd == 3.0
    assert raise_budget("ws_a", run.id, pending.id, 3.0, NOW).max_budget_usd == 3.0
    phases.begin(ref_of(run), pending.id)
    assert raise_budget("ws_a", run.id, pending.id, 4.0, NOW).max_budget_usd == 4.0
    with pytest.raises(Invalid, match=r"must be greater than \$4"):
        raise_budget("ws_a", run.id, pending.id, 3.0, NOW)
    assert not rescores.mark_exhausted(pending)
    assert rescores.mark_exhausted(rescores.get(ref_of(run), pending.id))
    with pytest.raises(Conflict, match="is being stopped"):
        raise_budget("ws_a", run.id, pending.id, 5.0, NOW)
    assert started_executions == []


def test_a_raise_after_a_greater_one_is_refused_as_if_it_had_come_later(
    cloud: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = AnsweredRun((asking(POLITE),)).completed()
    create_budgeted(run, 2.0)
    store = rescores.raise_limit
    first = rescores.get(ref_of(run), "rsc_1")
    monkeypatch.setattr(rescores, "raise_limit", lambda rescore, usd: store(first, 5.0) and store(rescore, usd))
    with pytest.raises(Invalid, match=r"must be greater than \$5"):
        raise_budget("ws_a", run.id, "rsc_1", 3.0, NOW)
    assert rescores.get(ref_of(run), "rsc_1").max_budget_usd == 5.0


def test_a_raise_while_a_rescore_ends_is_kept(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    run = AnsweredRun((asking(POLITE),)).completed()
    create_budgeted(run, 2.0)
    phases.begin(ref_of(run), "rsc_1")
    end = rescores.end

    def interleaved(rescore: Rescore) -> Rescore:
        raise_budget("ws_a", run.id, "rsc_1", 3.0, NOW)
        return end(rescore)

    monkeypatch.setattr(rescores, "end", interleaved)
    assert phases.complete(ref_of(run), "rsc_1", NOW) == RescoreStatus.COMPLETED
    stored = rescores.get(ref_of(run), "rsc_1")
    assert (stored.status, stored.max_budget_usd, stored.completed_at) == (RescoreStatus.COMPLETED, 3.0, NOW)
    assert list(rescores.list_open_rescores()) == []


async def test_a_worker_from_before_a_raise_does_not_stop_the_rescore_again(
    cloud: Settings, started_executions: list[str]
) -> None:
    accounts.update_provider("ws_a", "sim", {"prices": (PRICE,)})
    run, judge = AnsweredRun((asking(POLITE),)).completed(), ScriptedJudge()
    stopped = await carry_out(run, create_budgeted(run, 0.01), judge)
    raised = raise_budget("ws_a", run.id, stopped.id, 100.0, NOW)
    assert not rescores.mark_exhausted(stopped)
    assert (await carry_out(run, raised, judge)).status is RescoreStatus.COMPLETED


async def test_embeddings_of_rescores_are_charged_to_the_budget_of_the_run(cloud: Settings) -> None:
    accounts.update_provider("ws_a", "sim", {"prices": (PRICE,)})
    similar = Assertion("similar", value="answer 0", provider="sim/embedding")
    run = AnsweredRun((asking(similar),), budget=run_budget(100.0)).completed()
    await rescore_with(run, ScriptedJudge())
    assert budgets.get(ref_of(run)).used > 0


async def test_a_rescore_says_why_it_failed_although_its_content_was_erased(cloud: Settings) -> None:
    run = AnsweredRun((asking(NO),), answer=lambda _: "yes", content=Content(assertions=(NO,))).completed()
    rescore = create_rescore(run, assertions=(Assertion("json-match", value="{not json"),))
    for part in phases.begin(ref_of(run), rescore.id).slices:
        await rescore_slice(ref_of(run), rescore.id, part, lambda: 900.0, ScriptedJudge())
    before = [result.scoring.cause for result in results_of(run) if result.scoring]
    for index in range(run.plan.total):
        rescore_results.erase_content(ref_of(run), rescore.id, index)
    assert phases.complete(ref_of(run), rescore.id, NOW) is RescoreStatus.FAILED
    failure = rescores.get(ref_of(run), rescore.id).failure
    assert failure is not None
    assert before[0] is not None
    assert failure.why.endswith(f"; {before[0].code}")
