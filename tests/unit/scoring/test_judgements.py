"""Assertions that a model grades or embeds: what it is asked, and what becomes of its answer."""

from collections.abc import Callable
from typing import Any

import pytest

from cupel_core.domain.scoring.assertion_rules import complaints
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.domain.turns.conversation import Spend
from cupel_core.domain.turns.model_request import ErrorCode, Message, Role
from cupel_core.errors import Invalid
from cupel_core.grading.grader import JudgeError
from cupel_core.providers.errors import PleaseWait, ProviderError
from cupel_core.scoring.assertion_context import Evidence
from cupel_core.scoring.check_result import Uncomputable
from cupel_core.scoring.model_graded import select_best
from cupel_core.scoring.score import Scored, asks_a_model, score
from cupel_core.scoring.similarity import cosine

type Judges = Callable[..., Any]

KIND = {"type": "llm-rubric", "value": "is kind"}
GOOD = {"reason": "it greets", "pass": True, "score": 0.8}
BAD = {"reason": "it insults", "pass": False, "score": 0.1}
STEPS = {"steps": ["Look for facts.", "Compare."]}


def asked(output: str = "Hello, dear.", question: str = "Say hello.", **more: Any) -> Evidence:
    return Evidence(output, (Message(Role.USER, question), Message(Role.ASSISTANT, output)), **more)


async def grade(judge: Any, written: dict[str, Any], evidence: Evidence | None = None) -> AssertionResult:
    return (await scored(judge, written, evidence)).results[0]


async def scored(judge: Any, written: dict[str, Any], evidence: Evidence | None = None) -> Scored:
    assert complaints([written]) == ()
    return await score([Assertion.from_json(written)], evidence or asked(), judge.panel())


@pytest.mark.parametrize(
    ("answer", "written", "passed", "points"),
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
async def test_a_rubric_is_the_judge_s_word_and_its_score(
    judge_of: Judges, answer: Any, written: dict[str, Any], passed: bool, points: float
) -> None:
    result = await grade(judge_of(answer), {**KIND, **written})
    assert (result.passed, result.score, result.reason) == (passed, pytest.approx(points), answer["reason"])


async def test_a_rubric_is_given_with_the_output(judge_of: Judges) -> None:
    judge = judge_of(GOOD)
    await grade(judge, KIND)
    assert judge.material == ["<rubric>\nis kind\n</rubric>\n\n<output>\nHello, dear.\n</output>"]


async def test_a_rubric_for_a_conversation_is_given_with_all_of_it(judge_of: Judges) -> None:
    judge = judge_of(GOOD)
    said = (
        Message(Role.USER, "Hi"),
        Message(Role.ASSISTANT, "Ho"),
        Message(Role.USER, "?"),
        Message(Role.ASSISTANT, "!"),
    )
    await grade(judge, KIND, Evidence("!", said))
    assert "<user>\nHi\n</user>\n\n<assistant>\nHo" in judge.material[0]


async def test_the_assertion_s_own_judge_is_asked(judge_of: Judges) -> None:
    judge = judge_of(GOOD)
    await grade(judge, {**KIND, "provider": "sim/bold"})
    assert judge.models == ["sim/bold"]


async def test_a_judge_that_keeps_talking_nonsense_is_an_error(judge_of: Judges) -> None:
    done = await scored(judge_of("yes"), KIND)
    assert done.results[0].passed is None
    assert done.results[0].error == "sim/steady gave no valid answer, also when asked again"
    assert done.spend.calls == 2


async def test_a_judge_is_asked_again_about_a_score_out_of_range(judge_of: Judges) -> None:
    done = await scored(judge_of({**GOOD, "score": 8}, GOOD), KIND)
    assert (done.results[0].score, done.spend.calls, done.spend.usage.total) == (0.8, 2, 30)


async def test_a_judge_that_fails_is_an_error(judge_of: Judges) -> None:
    result = await grade(judge_of(ProviderError(ErrorCode.AUTH, "bad key")), KIND)
    assert result.error == "sim/steady: auth: bad key"


async def test_without_a_judge_a_rubric_is_an_error(judge_of: Judges) -> None:
    panel = judge_of(GOOD).panel(Evaluation())
    done = await score([Assertion.from_json(KIND)], asked(), panel)
    assert done.results[0].error is not None
    assert "judgeModel" in done.results[0].error


async def test_a_judge_s_wait_passes_through(judge_of: Judges) -> None:
    busy = ProviderError(ErrorCode.RATE_LIMITED, "later", retry_after=60)
    assertions = [Assertion.from_json(KIND), Assertion.from_json({"type": "equals", "value": "a"})]
    with pytest.raises(PleaseWait):
        await score(assertions, asked(), judge_of(busy).panel())


async def test_one_error_leaves_the_others(judge_of: Judges) -> None:
    assertions = [Assertion.from_json(each) for each in (KIND, {"type": "icontains", "value": "DEAR"}, KIND)]
    done = await score(assertions, asked(), judge_of("?", "?", "?", "?", GOOD).panel())
    assert [result.passed for result in done.results] == [None, True, None]


async def test_g_eval_rates_by_steps_of_the_judge_s_own(judge_of: Judges) -> None:
    judge = judge_of(STEPS, {"reason": "all there", "score": 8})
    result = await grade(judge, {"type": "g-eval", "value": "is correct"})
    assert (result.passed, result.score) == (True, 0.8)
    assert result.reason == "G-Eval 0.8 is at least 0.7: all there"
    assert "Look for facts.\nCompare." in judge.material[1]
    assert "<prompt>\nSay hello.\n</prompt>" in judge.material[1]


async def test_g_eval_takes_the_mean_over_its_criteria(judge_of: Judges) -> None:
    judge = judge_of(STEPS, {"reason": "a", "score": 10}, STEPS, {"reason": "b", "score": 2})
    done = await scored(judge, {"type": "g-eval", "value": ["one", "two"], "threshold": 0.6})
    assert (done.results[0].passed, done.results[0].score, done.spend.calls) == (True, 0.6, 4)


@pytest.mark.parametrize(
    ("category", "config", "passed", "points"),
    [("A", None, True, 1), ("B", None, True, 1), ("D", None, False, 0), ("E", None, True, 1),
     ("A", {"subset": 0.5}, True, 0.5), ("B", {"superset": 0}, False, 0)],
)  # fmt: skip
async def test_factuality_scores_by_its_category(
    judge_of: Judges, category: str, config: Any, passed: bool, points: float
) -> None:
    judge = judge_of({"reason": "compared", "category": category})
    result = await grade(judge, {"type": "factuality", "value": "the sky is blue", "config": config})
    assert (result.passed, result.score, result.reason) == (passed, points, f"({category}) compared")


async def test_similar_is_the_cosine_to_the_nearest_text(judge_of: Judges) -> None:
    result = await grade(judge_of(), {"type": "similar", "value": ["no", "hello dear"]})
    assert (result.passed, result.score) == (True, pytest.approx(1))


async def test_what_is_not_similar_enough_fails(judge_of: Judges) -> None:
    done = await scored(judge_of(), {"type": "similar", "value": "hello you there"})
    assert (done.results[0].passed, done.results[0].score) == (False, pytest.approx(1 / 6**0.5))
    assert done.spend == Spend(1, done.spend.usage, 0.0)
    assert (await grade(judge_of(), {"type": "not-similar", "value": "hello you there"})).passed is True


async def test_an_empty_output_is_like_nothing(judge_of: Judges) -> None:
    assert (await grade(judge_of(), {"type": "similar", "value": "a"}, asked(" "))).passed is False


async def test_without_a_model_that_embeds_similar_is_an_error(judge_of: Judges) -> None:
    panel = judge_of().panel(Evaluation(judge_model="sim/steady"))
    done = await score([Assertion.from_json({"type": "similar", "value": "a"})], asked(), panel)
    assert "embeddingModel" in (done.results[0].error or "")


async def test_an_answer_is_relevant_to_the_question_it_answers(judge_of: Judges) -> None:
    guesses = {"questions": ["say hello", "hello say", "what then"]}
    written = {"type": "answer-relevance", "threshold": 0.6}
    result = await grade(judge_of(guesses), written)
    assert (result.passed, result.score) == (True, pytest.approx(2 / 3))
    other = asked(variables={"query": "what then"})
    assert (await grade(judge_of(guesses), written, other)).score == pytest.approx(1 / 3)


async def test_the_best_of_several_outputs_is_chosen(judge_of: Judges) -> None:
    judge = judge_of({"reason": "shorter", "index": 1})
    best = await select_best(Assertion("select-best", value="the shortest"), ["long", "no"], judge.panel())
    assert (best.index, best.reason, best.spend.calls) == (1, "shorter", 1)
    assert '<text index="1">\nno\n</text>' in judge.material[0]


async def test_a_choice_of_what_is_not_there_is_an_error(judge_of: Judges) -> None:
    with pytest.raises(JudgeError):
        await select_best(
            Assertion("select-best", value="a"), ["a", "b"], judge_of({"reason": "?", "index": 2}).panel()
        )


async def test_a_choice_needs_two(judge_of: Judges) -> None:
    with pytest.raises(Uncomputable):
        await select_best(Assertion("select-best", value="a"), ["a"], judge_of().panel())
    with pytest.raises(Invalid):
        await select_best(Assertion("select-best", value="a"), ["a", "b"], judge_of().panel(Evaluation()))


async def test_a_choice_is_no_result_of_one_conversation(judge_of: Judges) -> None:
    assert (await scored(judge_of(), {"type": "select-best", "value": "a"})).results == ()


def test_the_cosine_of_nothing_is_nothing() -> None:
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
def test_who_asks_a_model_says_so(written: dict[str, Any], asks: bool) -> None:
    assert asks_a_model(Assertion.from_json(written)) is asks
