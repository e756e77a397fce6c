from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.runs.transcripts import Outcome, ProbeError
from cupel_core.domain.text.beginnings import beginning

DEFAULT_CHARACTERS = 280
"""Each text has at most this many characters, to fit into a cell of a table, unless a request asks for more."""
MAX_CHARACTERS = 8_000


@dataclass(frozen=True)
class Excerpt:
    probe_index: int
    answer: str | None
    """The beginning of the last answer; None for an errored probe, and after the content was deleted or
    expired."""
    reason: str | None
    """Says why the probe passed or failed, or is the message of its error."""
    is_content_available: bool


def excerpt_of(outcome: Outcome, characters: int = DEFAULT_CHARACTERS) -> Excerpt:
    if isinstance(outcome, ProbeError):
        return Excerpt(outcome.probe_index, None, _beginning(outcome.message, characters), is_content_available=False)
    reason = outcome.result.reason if outcome.result else None
    if reason is None and outcome.summary:
        reason = outcome.summary.decision_text or None
    return Excerpt(
        outcome.probe_index,
        _beginning(_last_answer(outcome.messages), characters),
        _beginning(reason, characters),
        is_content_available=bool(outcome.messages),
    )


def contains_words(messages: tuple[Message, ...], words: tuple[str, ...]) -> bool:
    """Return whether each word, case-folded, occurs in what the user, the target or its tools said. The system prompt
    is not searched, because all conversations share it."""
    texts = [message.text.casefold() for message in messages if message.role is not MessageRole.SYSTEM]
    return all(any(word in text for text in texts) for word in words)


def _last_answer(messages: tuple[Message, ...]) -> str | None:
    answers = (message.text for message in reversed(messages) if message.role is MessageRole.ASSISTANT)
    return next(answers, None)


def _beginning(text: str | None, characters: int) -> str | None:
    return None if text is None else beginning(text, characters)
