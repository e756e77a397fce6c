from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cupel_core import sandbox
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.scoring.decisions import answers_newest_first, decision_code, excerpt, searched_part
from cupel_core.domain.text.patterns import QUICK_SECONDS, is_quick_pattern
from cupel_core.sandbox.pool import budget

_TASK = "cupel_core.scoring.pattern_search:last_group"


async def read_decision(pattern: str, messages: Iterable[Message]) -> tuple[str, str] | None:
    """Return code and text from the newest answer that matches the pattern; None if there is none. Raises ValueError if
    the pattern cannot be applied within the limits."""
    answers = answers_newest_first(messages)
    found = await _last_group(pattern, [searched_part(answer) for answer in answers])
    if found is None:
        return None
    number, group = found
    return decision_code(group), excerpt(answers[number])


class AnswerDecision(NamedTuple):
    code: str | None
    """None if the pattern does not match, or could not be applied."""
    error: str | None = None


async def read_each(workspace: str, pattern: str, answers: Sequence[str]) -> list[AnswerDecision]:
    """Return the decision of each answer by itself. After the first that exceeds a limit, none is read, so that the
    limits apply to all together."""
    sandbox.use_workspace(workspace)
    decisions: list[AnswerDecision] = []
    for answer in answers:
        try:
            found = await read_decision(pattern, [Message(MessageRole.ASSISTANT, answer)])
        except ValueError as error:
            return [*decisions, *[AnswerDecision(None, str(error))] * (len(answers) - len(decisions))]
        decisions.append(AnswerDecision(found[0] if found else None))
    return decisions


async def _last_group(pattern: str, texts: Sequence[str]) -> tuple[int, str | None] | None:
    from cupel_core.scoring.pattern_search import last_group  # imports regex, which most definitions do not need

    if budget().may_try_here and is_quick_pattern(pattern, max(map(len, texts), default=0)):
        try:
            return last_group(pattern, texts, QUICK_SECONDS)
        except TimeoutError:
            budget().quick_timeouts += 1
    found = await sandbox.run(_TASK, pattern, texts)
    return None if found is None else (found[0], found[1])
