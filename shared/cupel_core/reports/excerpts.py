"""Parts of sample transcripts, bounded in number and length."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from cupel_core.contract.reports import (
    ExcerptMessageResponse,
    ExcerptResponse,
    FailureModeResponse,
    ReportTextsResponse,
)
from cupel_core.domain.reports.records import earliest
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Outcome, Transcript, readable_at
from cupel_core.domain.text.counts import count_of
from cupel_core.domain.turns.model_request import Message, MessageRole
from cupel_core.messages import RunRef
from cupel_core.store import outcomes

MAX_MODES = 10
SAMPLES_PER_MODE = 2
MAX_MESSAGE_LENGTH = 1_500
MAX_REASON_LENGTH = 500
_LAST_MESSAGES = 4


class ReadExcerpts(NamedTuple):
    texts: ReportTextsResponse
    expires_at: datetime | None
    """When the first of the quoted conversations expires."""


def read_excerpts(run: Run, modes: Sequence[FailureModeResponse], now: datetime) -> ReadExcerpts:
    """Of the most frequent failure modes. Conversations that were deleted or have expired are left out."""
    chosen = [
        (mode.tag, int(conversation_id.rpartition("-")[2]))
        for mode in modes[:MAX_MODES]
        for conversation_id in mode.sample_conversation_ids[:SAMPLES_PER_MODE]
    ]
    found = outcomes.get_many(RunRef(run.workspace, run.id), {index for _, index in chosen})
    read = [(tag, each) for tag, index in chosen if (each := _readable(found.get(index), now))]
    texts = ReportTextsResponse(summary=None, excerpts=[_excerpt(run, tag, transcript) for tag, transcript in read])
    return ReadExcerpts(texts, earliest(transcript.content_expires_at for _, transcript in read))


def quoted_indexes(texts: ReportTextsResponse) -> frozenset[int]:
    """The probes whose conversations are quoted, or were read by the summarizer."""
    shown = texts.summary.shown_conversation_ids if texts.summary else []
    ids = (*(excerpt.conversation_id for excerpt in texts.excerpts), *shown)
    return frozenset(int(each.rpartition("-")[2]) for each in ids)


def readable_indexes(ref: RunRef, indexes: frozenset[int], now: datetime) -> frozenset[int]:
    """Those whose conversations have neither been deleted nor have expired."""
    found = outcomes.get_many(ref, indexes)
    return frozenset(index for index in indexes if _readable(found.get(index), now))


def _readable(outcome: Outcome | None, now: datetime) -> Transcript | None:
    if not isinstance(outcome, Transcript):
        return None
    transcript = readable_at(outcome, now)
    return transcript if transcript.messages else None


def _excerpt(run: Run, tag: str, transcript: Transcript) -> ExcerptResponse:
    index = transcript.probe_index
    result = transcript.result
    return ExcerptResponse(
        conversation_id=f"{run.id}-{index}",
        tag=tag,
        column=run.plan.columns[run.plan.probe(index).column].name,
        scenario_id=transcript.scenario_id,
        reason=shortened((result.reason if result else None) or "", MAX_REASON_LENGTH),
        messages=[
            ExcerptMessageResponse(role=role, content=text)
            for role, text in shown_messages(transcript.messages, MAX_MESSAGE_LENGTH)
        ],
    )


def shown_messages(messages: Sequence[Message], max_length: int) -> Iterator[tuple[str, str]]:
    """The opening and the last two exchanges, without the system prompt; a line says how many messages are left out.

    Calls of functions are apart from texts, so that no text can pretend to be one.
    """
    spoken = [message for message in messages if message.role is not MessageRole.SYSTEM]
    omitted = len(spoken) - 1 - _LAST_MESSAGES
    shown = spoken if omitted <= 0 else [spoken[0], *spoken[-_LAST_MESSAGES:]]
    for position, message in enumerate(shown):
        if position == 1 and omitted > 0:
            yield "note", f"{count_of(omitted, 'message')} left out"
        if message.content or not message.tool_calls:
            yield str(message.role), shortened(message.content, max_length)
        if message.tool_calls:
            yield "toolCall", shortened(message.calls_text, max_length)


def shortened(text: str, max_length: int) -> str:
    """The beginning and the end of a long text; the cut is marked."""
    if len(text) <= max_length:
        return text
    half = max_length // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters are left out …]\n{text[-half:]}"
