"""Assertions that a model grades or embeds: what the model receives, and how its reply is used."""

from collections.abc import Callable
from typing import Any

import pytest

from cupel_core.base.errors import Invalid
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.scoring.assertion_rules import assertion_issues
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.errors import ProviderError, RetryLater
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import NotComputable
from cupel_core.scoring.grade_log import GradeLog
from cupel_core.scoring.grading.grader import GraderError
from cupel_core.scoring.model_graded import select_best
from cupel_core.scoring.registry import cosine
from cupel_core.scoring.score import AssertionScores, needs_model, score

type ScriptedGraders = Callable[..., Any]

KIND = {"type": "llm-rubric", "value": "is kind"}
GOOD = {"reason": "it greets", "pass": True, "score": 0.8}
BAD = {"reason": "it insults", "pass": False, "score": 0.1}
STEPS = {"steps": ["Look for facts.", "Compare."]}


def context_of(output: str = "Hello, dear.", question: str = "Say hello.", **more: Any) -> AssertionContext:
    return AssertionContext(
        output, (Message(MessageRole.USER, question), Message(MessageRole.ASSISTANT, output)), **more
    )


async def grade(judge: Any, written: dict[str, Any], context: AssertionContext | None = None) -> AssertionResult:
    return (await scored(judge, written, context)).results[0]


async def scored(judge: Any, written: dict[str, Any], context: AssertionContext | None = None) -> AssertionScores:
    assert assertion_issues([written]) == ()
    return await score([Assertion.from_json(written)], context or context_of(), judge.graders())


@pytest.mark.parametrize(
    ("answer", "written", "passed", "expected_score"),
    [
        (GOOD, {}, True, 0.8),
        (BAD, {}, False, 0.1),
        (GOOD, {"threshold": 0.8}, True, 0.8),
        (GOOD, {"threshold": 0.9}, False, 0.8),
        (BAD, {"threshold": 0.1}, False, 0.1),
        (GOOD, {"type": "not-llm-rubric"}, False, 0.2),
        (BAD, {"type": "not-llm-rubric"}, True, 0.9),
    ],
)
async def test_a_rubric_passes_by_the_judge_and_the_threshold(
    grader_of: ScriptedGraders, answer: Any, written: dict[str, Any], passed: bool, expected_score: float
) -> None:
    result = await grade(grader_of(answer), {**KIND, **written})
    assert (result.passed, result.score, result.reason) == (passed, pytest.approx(expected_score), answer["reason"])


async def test_the_judge_receives_rubric_and_output(grader_of: ScriptedGraders) -> None:
    judge = grader_of(GOOD)
    await grade(judge, KIND)
    assert judge.material == [{"rubric": "is kind", "output": "Hello, dear."}]


async def test_the_judge_of_a_longer_conversation_receives_all_of_it(grader_of: ScriptedGraders) -> None:
    judge = grader_of(GOOD)
    said = (
        Message(MessageRole.USER, "Hi"),
        Message(MessageRole.ASSISTANT, "Ho"),
        Message(MessageRole.USER, "?"),
        Message(MessageRole.ASSISTANT, "!"),
    )
    await grade(judge, KIND, AssertionContext("!", said))
    assert judge.material[0]["conversation"][:2] == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Ho"},
    ]


async def test_the_assertion_s_own_judge_is_called(grader_of: ScriptedGraders) -> None:
    judge = grader_of(GOOD)
    await grade(judge, {**KIND, "provider": "sim/bold"})
    assert judge.models == ["sim/bold"]


async def test_a_judge_whose_replies_stay_unusable_is_an_error(grader_of: ScriptedGraders) -> None:
    done = await scored(grader_of("yes"), KIND)
    assert done.results[0].passed is None
    problem = "it has no JSON object"
    said = f'the judge sim/steady gave no usable reply, even after a repair request: {problem}; it said "yes"'
    assert (done.results[0].error, done.results[0].unusable_reply) == (said, (problem, "yes"))
    assert done.spend.calls == 2


async def test_a_score_out_of_range_is_repaired(grader_of: ScriptedGraders) -> None:
    done = await scored(grader_of({**GOOD, "score": 8}, GOOD), KIND)
    assert (done.results[0].score, done.spend.calls, done.spend.usage.total) == (0.8, 2, 30)


async def test_a_judge_that_fails_is_an_error(grader_of: ScriptedGraders) -> None:
    result = await grade(grader_of(ProviderError(ProbeErrorCode.AUTH, "bad key")), KIND)
    assert result.error == "the judge sim/steady: auth: bad key"


async def test_without_a_judge_a_rubric_is_an_error(grader_of: ScriptedGraders) -> None:
    graders = grader_of(GOOD).graders(GraderConfig())
    done = await score([Assertion.from_json(KIND)], context_of(), graders)
    assert done.results[0].error is not None
    assert "judgeModel" in done.results[0].error


async def test_a_long_wait_of_the_judge_passes_through(grader_of: ScriptedGraders) -> None:
    busy = ProviderError(ProbeErrorCode.RATE_LIMITED, "later", retry_after_seconds=60)
    assertions = [Assertion.from_json(KIND), Assertion.from_json({"type": "equals", "value": "a"})]
    with pytest.raises(RetryLater) as wait:
        await score(assertions, context_of(), grader_of(busy).graders())
    assert wait.value.model == "sim/steady", "the judge's provider is throttled, not the target's"


async def test_an_unusable_reply_before_a_long_wait_is_counted(grader_of: ScriptedGraders) -> None:
    busy, log = ProviderError(ProbeErrorCode.RATE_LIMITED, "later", retry_after_seconds=60), GradeLog()
    with pytest.raises(RetryLater):
        await score([Assertion.from_json(KIND)], context_of(), grader_of("?", busy).graders(), log)
    assert log.interrupted.calls == 1


async def test_one_error_leaves_the_others(grader_of: ScriptedGraders) -> None:
    assertions = [Assertion.from_json(each) for each in (KIND, {"type": "icontains", "value": "DEAR"}, KIND)]
    done = await score(assertions, context_of(), grader_of("?", "?", "?", "?", GOOD).graders())
    assert [result.passed for result in done.results] == [None, True, None]


async def test_g_eval_rates_by_steps_that_the_judge_writes(grader_of: ScriptedGraders) -> None:
    judge = grader_of(STEPS, {"reason": "all there", "score": 8})
    result = await grade(judge, {"type": "g-eval", "value": "is correct"})
    assert (result.passed, result.score) == (True, 0.8)
    assert result.reason == "G-Eval 0.8 is at least 0.7: all there"
    assert judge.material[1]["steps"] == ["Look for facts.", "Compare."]
    assert judge.material[1]["prompt"] == "Say hello."


async def test_g_eval_takes_the_mean_over_its_criteria(grader_of: ScriptedGraders) -> None:
    judge = grader_of(STEPS, {"reason": "a", "score": 10}, STEPS, {"reason": "b", "score": 2})
    done = await scored(judge, {"type": "g-eval", "value": ["one", "two"], "threshold": 0.6})
    assert (done.results[0].passed, done.results[0].score, done.spend.calls) == (True, 0.6, 4)


@pytest.mark.parametrize(
    ("category", "config", "passed", "expected_score"),
    [("A", None, True, 1), ("B", None, True, 1), ("D", None, False, 0), ("E", None, True, 1),
     ("A", {"subset": 0.5}, True, 0.5), ("B", {"superset": 0}, False, 0)],
)  # fmt: skip
async def test_factuality_scores_by_its_category(
    grader_of: ScriptedGraders, category: str, config: Any, passed: bool, expected_score: float
) -> None:
    judge = grader_of({"reason": "compared", "category": category})
    result = await grade(judge, {"type": "factuality", "value": "the sky is blue", "config": config})
    assert (result.passed, result.score, result.reason) == (passed, expected_score, f"({category}) compared")


async def test_similar_is_the_cosine_to_the_nearest_text(grader_of: ScriptedGraders) -> None:
    result = await grade(grader_of(), {"type": "similar", "value": ["no", "hello dear"]})
    assert (result.passed, result.score) == (True, pytest.approx(1))


async def test_what_is_not_similar_enough_fails(grader_of: ScriptedGraders) -> None:
    done = await scored(grader_of(), {"type": "similar", "value": "hello you there"})
    assert (done.results[0].passed, done.results[0].score) == (False, pytest.approx(1 / 6**0.5))
    assert done.spend == Spend(1, done.spend.usage, 0.0)
    assert (await grade(grader_of(), {"type": "not-similar", "value": "hello you there"})).passed is True


async def test_an_empty_output_is_not_similar_to_anything(grader_of: ScriptedGraders) -> None:
    assert (await grade(grader_of(), {"type": "similar", "value": "a"}, context_of(" "))).passed is False


async def test_without_an_embedding_model_similar_is_an_error(grader_of: ScriptedGraders) -> None:
    graders = grader_of().graders(GraderConfig(judge_model="sim/steady"))
    done = await score([Assertion.from_json({"type": "similar", "value": "a"})], context_of(), graders)
    assert "embeddingModel" in (done.results[0].error or "")


async def test_an_answer_is_relevant_to_the_question_it_answers(grader_of: ScriptedGraders) -> None:
    guesses = {"questions": ["say hello", "hello say", "what then"]}
    written = {"type": "answer-relevance", "threshold": 0.6}
    result = await grade(grader_of(guesses), written)
    assert (result.passed, result.score) == (True, pytest.approx(2 / 3))
    other = context_of(variables={"query": "what then"})
    assert (await grade(grader_of(guesses), written, other)).score == pytest.approx(1 / 3)


async def test_the_best_of_several_outputs_is_chosen(grader_of: ScriptedGraders) -> None:
    judge = grader_of({"reason": "shorter", "index": 1})
    best = await select_best(Assertion("select-best", value="the shortest"), ["long", "no"], judge.graders())
    assert (best.index, best.reason, best.spend.calls) == (1, "shorter", 1)
    assert judge.material[0]["texts"] == [{"index": 0, "text": "long"}, {"index": 1, "text": "no"}]


async def test_choosing_a_missing_output_is_an_error(grader_of: ScriptedGraders) -> None:
    with pytest.raises(GraderError):
        await select_best(
            Assertion("select-best", value="a"), ["a", "b"], grader_of({"reason": "?", "index": 2}).graders()
        )


async def test_a_choice_needs_two_outputs(grader_of: ScriptedGraders) -> None:
    with pytest.raises(NotComputable):
        await select_best(Assertion("select-best", value="a"), ["a"], grader_of().graders())
    with pytest.raises(Invalid):
        await select_best(Assertion("select-best", value="a"), ["a", "b"], grader_of().graders(GraderConfig()))


async def test_select_best_has_no_result_for_a_single_conversation(grader_of: ScriptedGraders) -> None:
    assert (await scored(grader_of(), {"type": "select-best", "value": "a"})).results == ()


def test_the_cosine_of_a_zero_vector_is_zero() -> None:
    assert cosine((0.0, 0.0), (1.0, 0.0)) == 0
    assert cosine((1.0, 2.0), (2.0, 4.0)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("written", "asks"),
    [
        (KIND, True),
        ({"type": "not-similar", "value": "a"}, True),
        ({"type": "webhook", "value": "https://a"}, False),
        ({"type": "equals", "value": "a"}, False),
        ({"type": "assert-set", "assert": [{"type": "assert-set", "assert": [KIND]}]}, True),
    ],
)
def test_assertions_that_need_a_model_are_recognized(written: dict[str, Any], asks: bool) -> None:
    assert needs_model(Assertion.from_json(written)) is asks


async def test_a_rubric_may_have_a_prompt_of_its_own(grader_of: ScriptedGraders) -> None:
    judge = grader_of(GOOD)
    prompt = [{"role": "system", "content": "By {{rubric}}"}, {"role": "user", "content": "{{x}}: {{output}}"}]
    written = {**KIND, "config": {"rubricPrompt": prompt}}
    result = await grade(judge, written, context_of(variables={"x": "Reply"}))
    assert result.passed
    assert [message.content for message in judge.requests[0].messages[:2]] == ["By is kind", "Reply: Hello, dear."]


async def test_a_prompt_of_its_own_may_be_the_rubric(grader_of: ScriptedGraders) -> None:
    judge = grader_of(GOOD)
    result = await grade(judge, {"type": KIND["type"], "config": {"rubricPrompt": "Is it kind? {{output}}{{rubric}}"}})
    assert result.passed
    assert [message.content for message in judge.requests[0].messages[:1]] == ["Is it kind? Hello, dear."]


async def test_an_unknown_variable_of_a_prompt_is_an_error(grader_of: ScriptedGraders) -> None:
    result = await grade(grader_of(GOOD), {**KIND, "config": {"rubricPrompt": "{{y}} {{output}}"}})
    assert (result.passed, result.error) == (None, "its rubricPrompt has an unknown variable y")
