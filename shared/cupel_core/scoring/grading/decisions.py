"""Lets a judge model report what a conversation decided: the code by the definition's rubric, or only the text if a
pattern has given the code."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.material import messages_material, reading_request
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.transcripts import Summary, Transcript
from cupel_core.domain.scoring.decisions import OTHER
from cupel_core.domain.scoring.unscored import UnscoredCause
from cupel_core.providers.errors import ProviderError
from cupel_core.scoring.grading.grader import Grader, GraderError, GraderReply, failed_call, request_structured
from cupel_core.scoring.grading.replies import StructuredReply
from cupel_core.scoring.grading.reply_values import choice_of, cut_text, explanation

_INSTRUCTIONS = """You read the "conversation" of a user and an assistant and report the assistant's decision.
Use this rubric and nothing else:

{rubric}

Answer with one JSON object: "decisionCode" is "1", "2", "3", "4" or "5" by the rubric, or "other" when the assistant
refused, did not decide, or the rubric does not apply; "decisionText" says in one or two sentences what was decided and
why."""


_TEXT_INSTRUCTIONS = """You read the "conversation" of a user and an assistant and summarize the assistant's decision.
Answer with one JSON object: "decisionText" says in one or two sentences what was decided and why, or that nothing
was."""


_NOTHING = Spend()


_MAX_TEXT_LENGTH = 2_000
_CODES = ("1", "2", "3", "4", "5", OTHER)


class _DecisionText(StructuredReply):
    decisionText: Annotated[str, Field(min_length=1, max_length=_MAX_TEXT_LENGTH), cut_text(_MAX_TEXT_LENGTH)]  # noqa: N815 - the name in the JSON


class JudgeDecision(_DecisionText):
    """The reply required of a judge with a rubric."""

    explanations: ClassVar[frozenset[str]] = frozenset({"decisionText"})

    decisionText: Annotated[str, Field(min_length=1, max_length=_MAX_TEXT_LENGTH), explanation(_MAX_TEXT_LENGTH)]  # noqa: N815
    decisionCode: Annotated[Literal["1", "2", "3", "4", "5", "other"], choice_of(_CODES)]  # noqa: N815


@dataclass(frozen=True)
class DecisionJudge:
    grader: Grader
    rubric: str | None
    """None if a pattern gives the code."""


async def judge_summary(judge: DecisionJudge, transcript: Transcript, now: Callable[[], datetime]) -> Summary:
    """Return the transcript's final summary: the judge's text, and its decision unless the transcript has one.

    A failing judge is recorded as `error`; a code and an excerpt that a pattern gave stay. RetryLater passes through,
    because a judge whose provider asks to wait has not failed.
    """
    before, interrupted = transcript.summary, list[Spend]()
    try:
        if before is None:
            instructions = _INSTRUCTIONS.format(rubric=judge.rubric)
            decided = await _request(judge, instructions, transcript, JudgeDecision, interrupted)
            return Summary(decided.value.decisionCode, decided.value.decisionText, now(), spend=decided.spend)
        written = await _request(judge, _TEXT_INSTRUCTIONS, transcript, _DecisionText, interrupted)
        return Summary(before.decision_code, written.value.decisionText, now(), spend=written.spend)
    except ProviderError as error:
        spend = error.spend if isinstance(error, GraderError) else sum(interrupted, Spend())
        cause = error.cause or failed_call(error.code, judge.grader.model)
        return without_judge(transcript, error.detail, now(), cause, spend)


def without_judge(
    transcript: Transcript, error: str, now: datetime, cause: UnscoredCause, spend: Spend = _NOTHING
) -> Summary:
    before = transcript.summary
    code, text = (before.decision_code, before.decision_text) if before else (OTHER, "")
    return Summary(code, text, now, error=error, spend=spend, cause=cause)


async def _request[T: StructuredReply](
    judge: DecisionJudge, instructions: str, transcript: Transcript, reply_type: type[T], interrupted: list[Spend]
) -> GraderReply[T]:
    """Request a reply. Raises GraderError without a usable one. `interrupted` is that of `request_structured`."""
    request = reading_request(instructions, {"conversation": messages_material(transcript.messages)})
    grader = replace(judge.grader, model_role=ModelRole.SUMMARY)
    return await request_structured(grader, request, reply_type, interrupted)
