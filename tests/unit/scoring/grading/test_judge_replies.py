"""Every reply of the table is read as it says, through the grader that a run uses."""

import json
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.conversation import ConversationState, Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, Reply
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.assertion_rules import assertion_issues
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers import PROVIDERS
from cupel_core.providers.account import Account
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.grading.concurrency import ConcurrencyLimiter
from cupel_core.scoring.grading.criteria import evaluate_criteria
from cupel_core.scoring.grading.decisions import DecisionJudge, judge_summary
from cupel_core.scoring.grading.grader import MAX_STORED_LENGTH, Grader, GraderError
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.grading.replies import UnusableReply, read_reply
from cupel_core.scoring.grading.simulated_user import generate_persona_message, simulated_user_prompt
from cupel_core.scoring.model_graded import _Grade, select_best
from cupel_core.scoring.score import score
from tests.in_one_test import in_one_test
from tests.unit.scoring.grading.judge_replies import RUBRIC, TABLES, UNUSABLE, Case

NOW = datetime(2026, 11, 28, tzinfo=UTC)
SAID = (Message(MessageRole.USER, "?"), Message(MessageRole.ASSISTANT, "An answer."))
OWN_PROMPT = "Grade {{output}}. Answer with JSON: reason in 1-2 sentences, and a score from 0 to 10."
MESSAGES = [{"role": "user", "content": "Grade it."}]
ASSERTIONS: dict[str, dict[str, Any]] = {
    "rubric": {"type": "llm-rubric", "value": "is good"},
    "threshold": {"type": "llm-rubric", "value": "is good", "threshold": 0.5},
    "own scale": {"type": "llm-rubric", "config": {"rubricPrompt": OWN_PROMPT}},
    "own threshold": {"type": "llm-rubric", "threshold": 7, "config": {"rubricPrompt": OWN_PROMPT}},
    "own unknown": {"type": "llm-rubric", "config": {"rubricPrompt": "Grade {{output}} with a score."}},
    "factuality": {"type": "factuality", "value": "It is so."},
    "label": {
        "type": "label-model",
        "value": {
            "messages": MESSAGES,
            "labels": ["relevant", "irrelevant", "Partly relevant"],
            "passingLabels": ["relevant"],
        },
    },
    "score": {"type": "score-model", "value": {"messages": MESSAGES, "range": [0, 10]}},
    "rating": {"type": "g-eval", "value": "is good"},
    "steps": {"type": "g-eval", "value": "is good"},
}


class Judge:
    """Gives these replies, and repeats the last one."""

    def __init__(self, *replies: str) -> None:
        self.replies, self.requests = list(replies), list[ModelRequest]()

    async def __call__(self, _: Account, model: str, request: ModelRequest, __: float) -> Reply:
        self.requests.append(request)
        return Reply(self.replies.pop(0) if len(self.replies) > 1 else self.replies[0], model)

    @property
    def grader(self) -> Grader:
        return Grader(Account("sim", ""), "sim/steady", 5.0, 0.0, Random(1), self)

    @property
    def graders(self) -> GraderFactory:
        return GraderFactory(
            workspace="ws_a",
            config=GraderConfig(judge_model="sim/steady"),
            accounts={provider: Account(provider, "") for provider in PROVIDERS},
            limiter=ConcurrencyLimiter(),
            call_timeout_seconds=5.0,
            max_wait_seconds=0.0,
            attempt=self,
            rng=Random(1),
        )


async def asserted(judge: Judge, table: str) -> tuple[bool, float, str]:
    """Whether the assertion passed, its score and its reason. Raises ValueError with its error."""
    assert assertion_issues([ASSERTIONS[table]]) == ()
    context = AssertionContext("An answer.", SAID)
    [result] = (await score([Assertion.from_json(ASSERTIONS[table])], context, judge.graders)).results
    if result.passed is None or result.score is None:
        assert result.unusable_reply is not None
        raise ValueError(result.error)
    return result.passed, round(result.score, 9), result.reason


async def read_verdict(judge: Judge, table: str) -> Any:
    return (await asserted(judge, table))[:2]


async def read_category(judge: Judge, table: str) -> Any:
    return (await asserted(judge, table))[2][1]


async def read_label(judge: Judge, table: str) -> Any:
    return (await asserted(judge, table))[2].partition(":")[0]


async def read_score(judge: Judge, table: str) -> Any:
    return round((await asserted(judge, table))[1] * 10, 6)


async def read_rating(judge: Judge, table: str) -> Any:
    judge.replies.insert(0, '{"steps": ["a"]}')
    return await read_score(judge, table)


async def read_steps(judge: Judge, table: str) -> Any:
    if judge.replies != ['{"steps": []}']:
        judge.replies.append('{"reason": "r", "score": 5}')
    await asserted(judge, table)
    return json.loads(judge.requests[-1].messages[1].content)["steps"]


async def read_criteria(judge: Judge, _: str) -> Any:
    verdict = (await evaluate_criteria(judge.grader, SAID, Criteria("it books", "it insults"))).value
    return verdict.success_met, verdict.failure_met


async def read_choice(judge: Judge, _: str) -> Any:
    return (await select_best(Assertion("select-best", value="short"), ["a", "b"], judge.graders)).index


async def read_decision(judge: Judge, _: str) -> Any:
    transcript = Transcript(0, "scn_1", "sim/steady", NOW, ConversationState(SAID, turns=1))
    summary = await judge_summary(DecisionJudge(judge.grader, "1 to 5"), transcript, lambda: NOW)
    if summary.error:
        raise ValueError(summary.error)
    return summary.decision_code


async def read_message(judge: Judge, _: str) -> Any:
    prompt = simulated_user_prompt(None, None)
    return (await generate_persona_message(judge.grader, prompt, SAID)).value


READERS: dict[str, Callable[[Judge, str], Awaitable[Any]]] = {
    "factuality": read_category,
    "label": read_label,
    "score": read_score,
    "rating": read_rating,
    "steps": read_steps,
    "criteria": read_criteria,
    "choice": read_choice,
    "decision": read_decision,
    "user": read_message,
}


CASES = [pytest.param(table, case, id=f"{table}: {case.name}") for table, rows in TABLES.items() for case in rows]


@in_one_test(("table", "case"), CASES)
async def test_a_reply_is_read_as_the_table_says(table: str, case: Case) -> None:
    judge = Judge(case.reply)
    read = READERS.get(table, read_verdict)
    if case.reading is not UNUSABLE:
        assert await read(judge, table) == case.reading, case.why
        return
    with pytest.raises((GraderError, ValueError), match=r"gave no usable reply, even after a repair request: .+; it"):
        await read(judge, table)


async def test_a_usable_reply_needs_no_repair() -> None:
    for case in RUBRIC:
        judge = Judge(case.reply)
        if case.reading is not UNUSABLE:
            await asserted(judge, "rubric")
            assert len(judge.requests) == 1, case.name


async def test_the_error_quotes_the_reply_and_says_what_is_wrong() -> None:
    reply = '{"pass": true,\n "score": "high",\x1b[31m ' + " " * 3_000 + "}"
    with pytest.raises(ValueError, match="no usable reply") as failed:
        await asserted(Judge(reply), "rubric")
    problem = "its JSON is broken or was cut"
    said = f'the judge sim/steady gave no usable reply, even after a repair request: {problem}; it said "'
    assert str(failed.value).startswith(f'{said}{{"pass": true, "score": "high"')
    assert len(str(failed.value)) < len(said) + 210


async def test_an_unusable_reply_is_stored_cut() -> None:
    judge = Judge("\ud83d" + "x" * 5_000)
    [result] = (
        await score([Assertion.from_json(ASSERTIONS["rubric"])], AssertionContext("a", SAID), judge.graders)
    ).results
    assert result.unusable_reply is not None
    assert (result.unusable_reply.problem, len(result.unusable_reply.reply)) == (
        "it has no JSON object",
        MAX_STORED_LENGTH,
    )
    assert decode(type(result), json.loads(json.dumps(encode(result)))) == result


async def test_an_object_of_another_shape_is_named() -> None:
    with pytest.raises(ValueError, match=r"request: it has no object with pass, score; it said"):
        await asserted(Judge('{"verdict": "correct"}'), "rubric")


async def test_a_missing_field_is_named() -> None:
    with pytest.raises(ValueError, match=r"request: pass: Field required; it said"):
        await asserted(Judge('{"score": 0.9}'), "rubric")


@pytest.mark.parametrize("reply", ["I cannot help with that request.", "As an AI, I cannot grade people."])
async def test_a_refusal_is_recognized(reply: str) -> None:
    with pytest.raises(ValueError, match=r"request: it refuses; it said"):
        await asserted(Judge(reply), "rubric")


async def test_the_repair_request_says_what_is_wrong() -> None:
    judge = Judge(f"{TABLES['rubric'][0].reply} {TABLES['rubric'][1].reply}", TABLES["rubric"][1].reply)
    assert (await asserted(judge, "rubric"))[:2] == (False, 0.1)
    assert "it has different verdicts" in judge.requests[1].messages[-1].content


HOSTILE = (
    "<think>" * 140_000,
    "x <think>" * 110_000,
    "x </think>" * 100_000,
    "`<think>" * 120_000,
    "<think></think>" * 66_000,
    "{" * 3_000_000,
    "{" * 190_000,
    '{"pass":' * 24_000,
    '{"reason": "' * 16_000,
    '"pass": ' * 24_000,
    "can't " * 31_000,
)


@pytest.mark.parametrize("reply", HOSTILE, ids=lambda reply: reply[:20])
def test_a_hostile_reply_is_read_in_bounded_time(reply: str) -> None:
    started = time.process_time()
    with pytest.raises(UnusableReply):
        read_reply(_Grade, reply)
    assert time.process_time() - started < 3
