from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from cupel_core.analysis.reports.targets import column_names
from cupel_core.base.messages import RunRef
from cupel_core.contract.report_content import FailureModeResponse
from cupel_core.contract.reports import (
    ExcerptMessageResponse,
    ExcerptResponse,
    FailedReplyResponse,
    ReportTextsResponse,
)
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.reports.records import earliest
from cupel_core.domain.runs.identifiers import transcript_id
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Outcome, Transcript, readable_at
from cupel_core.domain.scoring.assertion_values import expected_answer
from cupel_core.domain.scoring.decisions import last_answer
from cupel_core.domain.text.counts import count_of
from cupel_core.store import outcomes, snapshots
from cupel_core.store.snapshots import Snapshot

MAX_MODES = 10
SAMPLES_PER_MODE = 2
MAX_MESSAGE_LENGTH = 1_500
MAX_REASON_LENGTH = 500
_LAST_MESSAGES = 4
MAX_FAILED_ANSWERS = 50


class ReadExcerpts(NamedTuple):
    texts: ReportTextsResponse
    expires_at: datetime | None


def read_excerpts(run: Run, modes: Sequence[FailureModeResponse], failed: Sequence[str], now: datetime) -> ReadExcerpts:
    """Read samples of the most frequent failure modes, and the answers of `failed` conversations.

    Conversations that were deleted or have expired are left out.
    """
    chosen = [
        (mode.tag, int(conversation_id.rpartition("-")[2]))
        for mode in modes[:MAX_MODES]
        for conversation_id in mode.sample_conversation_ids[:SAMPLES_PER_MODE]
    ]
    answered = [int(conversation_id.rpartition("-")[2]) for conversation_id in failed[:MAX_FAILED_ANSWERS]]
    found = outcomes.get_many(RunRef(run.workspace, run.id), {*(index for _, index in chosen), *answered})
    snapshot, names = snapshots.get(run.snapshot_key), column_names(run)
    read = [(tag, each) for tag, index in chosen if (each := _readable(found.get(index), now))]
    answers = [each for index in answered if (each := _readable(found.get(index), now))]
    texts = ReportTextsResponse(
        summary=None,
        excerpts=[_excerpt(run, snapshot, names, tag, transcript) for tag, transcript in read],
        failed_answers=[_failed_answer(run, snapshot, names, transcript) for transcript in answers],
    )
    quoted = [*(transcript for _, transcript in read), *answers]
    return ReadExcerpts(texts, earliest(transcript.content_expires_at for transcript in quoted))


def quoted_indexes(texts: ReportTextsResponse) -> frozenset[int]:
    shown = texts.summary.shown_conversation_ids if texts.summary else []
    excerpts = (each.conversation_id for each in texts.excerpts)
    failed = (each.conversation_id for each in texts.failed_answers)
    ids = (*excerpts, *failed, *shown)
    return frozenset(int(each.rpartition("-")[2]) for each in ids)


def readable_indexes(ref: RunRef, indexes: frozenset[int], now: datetime) -> frozenset[int]:
    found = outcomes.get_many(ref, indexes)
    return frozenset(index for index in indexes if _readable(found.get(index), now))


def _readable(outcome: Outcome | None, now: datetime) -> Transcript | None:
    if not isinstance(outcome, Transcript):
        return None
    transcript = readable_at(outcome, now)
    return transcript if transcript.messages else None


def _failed_answer(run: Run, snapshot: Snapshot, names: Sequence[str], transcript: Transcript) -> FailedReplyResponse:
    probe = run.plan.probe(transcript.probe_index)
    scenario, persona = snapshot.scenario(probe.case), snapshot.persona(probe.case)
    own = Content.from_json(snapshot.definition).assertions
    questions = [each.text for each in transcript.messages if each.role is MessageRole.USER]
    return FailedReplyResponse(
        conversation_id=transcript_id(run.id, transcript.probe_index),
        scenario_name=scenario.name,
        persona_name=persona.name if persona else None,
        column=names[probe.column],
        question=shortened(questions[-1] if questions else "", MAX_REASON_LENGTH),
        expected=expected_answer((*scenario.assertions, *own), scenario.variables),
        answer=shortened(last_answer(transcript.messages), MAX_REASON_LENGTH),
        reason=shortened((transcript.result and transcript.result.reason) or "", MAX_REASON_LENGTH),
    )


def _excerpt(run: Run, snapshot: Snapshot, names: Sequence[str], tag: str, transcript: Transcript) -> ExcerptResponse:
    index = transcript.probe_index
    result = transcript.result
    return ExcerptResponse(
        conversation_id=f"{run.id}-{index}",
        tag=tag,
        column=names[run.plan.probe(index).column],
        scenario_id=transcript.scenario_id,
        scenario_name=snapshot.scenario(run.plan.probe(index).case).name,
        reason=shortened((result.reason if result else None) or "", MAX_REASON_LENGTH),
        messages=[
            ExcerptMessageResponse(role=role, content=text)
            for role, text in shown_messages(transcript.messages, MAX_MESSAGE_LENGTH)
        ],
    )


def shown_messages(messages: Sequence[Message], max_length: int) -> Iterator[tuple[str, str]]:
    """Yield the opening and the last two exchanges, without the system prompt.

    A line says how many messages are left out. Calls of functions are apart from texts, so that no text can pretend to
    be one.
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
    if len(text) <= max_length:
        return text
    half = max_length // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters are left out …]\n{text[-half:]}"
