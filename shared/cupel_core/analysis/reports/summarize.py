"""Summarizes a report by a model: chooses what the model reads within a budget of tokens, and checks its reply."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from cupel_core.analysis.reports.excerpts import shortened, shown_messages
from cupel_core.analysis.reports.scan import Scan
from cupel_core.base import event_loop
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Invalid
from cupel_core.base.messages import RunRef
from cupel_core.budgets.charged_calls import charged_calls
from cupel_core.budgets.slice_graders import slice_graders, slice_leases
from cupel_core.contract.report_content import ReportContentResponse
from cupel_core.contract.reports import EvidenceResponse, FindingResponse, ReportSummaryResponse
from cupel_core.domain.conversations.material import as_json
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.reports.records import earliest
from cupel_core.domain.reports.samples import summary_order
from cupel_core.domain.reports.summaries import (
    MAX_SHOWN_TOKENS,
    UNAVAILABLE,
    check_findings,
    prompt_diff,
    revised_prompt_issue,
)
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Transcript, readable_at
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.text.counts import count_of
from cupel_core.domain.text.token_counts import estimated_tokens
from cupel_core.providers.completion import Attempt, complete
from cupel_core.providers.errors import NO_REPLY
from cupel_core.scoring.grading.grader import GraderError
from cupel_core.scoring.grading.report_summary import ShownTranscript, SummaryMaterial, SummaryReply, summarize
from cupel_core.store import outcomes, snapshots

MAX_TRANSCRIPTS = 24
_TRANSCRIPT_TOKENS = (1_200, 600)
"""Each transcript has at most so many tokens; the second limit applies if too few transcripts fit otherwise."""
_FEW = 4
_MAX_SHOWN_MESSAGES = 5
"""The opening and the last two exchanges."""
_MAX_TAG_LENGTH = 100
_CHARACTERS_PER_TOKEN = 4
_KINDS = ("failure_modes", "hallucinations", "goal_failures", "inconsistencies")
TOO_LONG, NOTHING_TO_READ = "over the token budget", "there is no conversation to read"
"""The reasons for a missing summary that another request would repeat."""


class WrittenSummary(NamedTuple):
    summary: ReportSummaryResponse
    expires_at: datetime | None = None


class _Shown(NamedTuple):
    material: SummaryMaterial
    expires_at: datetime | None


def write_summary(
    model: str,
    content: ReportContentResponse,
    scan: Scan,
    seconds_left: Callable[[], float],
    attempt: Attempt = complete,
) -> WrittenSummary:
    shown = _choose(content, scan, utc_now())
    if shown is None:
        return WrittenSummary(_without(model, TOO_LONG))
    if not shown.material.transcripts:
        return WrittenSummary(_without(model, NOTHING_TO_READ))
    interrupted: list[Spend] = []
    try:
        return event_loop.run(_summarize(model, scan.run, shown, seconds_left, attempt, interrupted))
    except (*NO_REPLY, Invalid) as error:
        spend = error.spend if isinstance(error, GraderError) else sum(interrupted, Spend())
        why = getattr(error, "detail", "") or "there was not enough time for the call"
        return WrittenSummary(_without(model, why, spend))


def summary_expires_at(scan: Scan, summary: ReportSummaryResponse) -> datetime | None:
    indexes = [int(each.rpartition("-")[2]) for each in summary.shown_conversation_ids]
    found = outcomes.get_many(RunRef(scan.run.workspace, scan.run.id), indexes)
    return earliest(outcome.content_expires_at for outcome in found.values())


async def _summarize(
    model: str,
    run: Run,
    shown: _Shown,
    seconds_left: Callable[[], float],
    attempt: Attempt,
    interrupted: list[Spend],
) -> WrittenSummary:
    async with (
        slice_leases(seconds_left, run.priority) as leases,
        charged_calls(run, attempt, seconds_left, leases) as charged,
    ):
        graders = await asyncio.to_thread(
            slice_graders, run.workspace, GraderConfig(), (model,), seconds_left, leases, charged
        )
        reply = await summarize(graders.grader(model), shown.material, interrupted)
    return WrittenSummary(_checked(model, reply.value, shown.material, reply.spend), shown.expires_at)


def _choose(content: ReportContentResponse, scan: Scan, now: datetime) -> _Shown | None:
    system = Content.from_json(snapshots.get(scan.run.snapshot_key).definition).system
    figures = _figures(content)
    left = MAX_SHOWN_TOKENS - estimated_tokens(system or "") - estimated_tokens(as_json(figures))
    chosen = _transcripts(content, scan, now)
    if not chosen:
        return _Shown(SummaryMaterial(system, figures, {}), None)
    for limit in _TRANSCRIPT_TOKENS:
        fitting = _fitting(scan.run, chosen, limit, left)
        if len(fitting) >= min(_FEW, len(chosen)):
            expires = earliest(each.content_expires_at for each in chosen[: len(fitting)])
            return _Shown(SummaryMaterial(system, figures, fitting), expires)
    return None


def _transcripts(content: ReportContentResponse, scan: Scan, now: datetime) -> list[Transcript]:
    tags = [mode.tag for mode in content.top_failure_modes]
    pools = {tag: pool.candidates for tag, pool in scan.candidates.items()}
    order = summary_order(tags, pools, scan.passed.candidates, MAX_TRANSCRIPTS)
    ref = RunRef(scan.run.workspace, scan.run.id)
    found = outcomes.get_many(ref, [each.probe_index for each in order])
    read = (found.get(each.probe_index) for each in order)
    readable = (readable_at(each, now) for each in read if isinstance(each, Transcript))
    return [each for each in readable if each.messages]


def _fitting(run: Run, chosen: Sequence[Transcript], limit: int, left: float) -> dict[str, ShownTranscript]:
    fitting: dict[str, ShownTranscript] = {}
    for transcript in chosen:
        shown = _shown_transcript(transcript, limit)
        left -= estimated_tokens(as_json(shown.material))
        if left < 0:
            break
        fitting[f"{run.id}-{transcript.probe_index}"] = shown
    return fitting


def _shown_transcript(transcript: Transcript, limit: int) -> ShownTranscript:
    result, length = transcript.result, limit * _CHARACTERS_PER_TOKEN // _MAX_SHOWN_MESSAGES
    return ShownTranscript(
        "not judged" if result is None else "passed" if result.success else "failed",
        tuple(tag[:_MAX_TAG_LENGTH] for tag in transcript.scoring.tags[:10]) if transcript.scoring else (),
        shortened((result.reason if result else None) or "", 500),
        tuple(shown_messages(transcript.messages, length)),
    )


def _figures(content: ReportContentResponse) -> tuple[str, ...]:
    overall = content.overall
    lines = [f"{overall.win_rate.successes} of {overall.win_rate.trials} judged conversations passed"]
    lines += [
        f"{mode.tag[:_MAX_TAG_LENGTH]}: {count_of(mode.count, 'conversation')}" for mode in content.top_failure_modes
    ]
    return tuple(lines)


def _checked(model: str, reply: SummaryReply, material: SummaryMaterial, spend: Spend) -> ReportSummaryResponse:
    findings, dropped = dict[str, list[FindingResponse]](), 0
    quotable = {key: each.quotable_texts for key, each in material.transcripts.items()}
    for kind in _KINDS:
        checked = check_findings([each.finding() for each in getattr(reply, kind)], quotable)
        findings[kind] = [
            FindingResponse(
                title=each.title,
                description=each.description,
                tags=list(each.tags),
                evidence=[EvidenceResponse(conversation_id=e.transcript_id, quote=e.quote) for e in each.evidence],
            )
            for each in checked.findings
        ]
        dropped += checked.dropped_quotes
    issue = revised_prompt_issue(material.system, reply.revised_prompt)
    return _response(
        model,
        spend,
        text=reply.summary,
        revised_prompt=UNAVAILABLE if issue else reply.revised_prompt,
        revised_prompt_issue=issue,
        rationale=UNAVAILABLE if issue else reply.rationale,
        diff="" if issue else prompt_diff(material.system or "", reply.revised_prompt),
        dropped_quotes=dropped,
        shown_conversation_ids=list(material.transcripts),
        **findings,
    )


def _without(model: str, error: str, spend: Spend = Spend()) -> ReportSummaryResponse:  # noqa: B008 - immutable
    return _response(model, spend, error=error)


def _response(model: str, spend: Spend, **fields: object) -> ReportSummaryResponse:
    defaults: dict[str, object] = {
        "text": UNAVAILABLE,
        "revised_prompt": UNAVAILABLE,
        "revised_prompt_issue": None,
        "rationale": UNAVAILABLE,
        "diff": "",
        "dropped_quotes": 0,
        "shown_conversation_ids": [],
        "error": None,
        **{kind: [] for kind in _KINDS},
    }
    known = {"model": model, "calls": spend.calls, "cost_usd": spend.cost_usd if spend.calls else None}
    return ReportSummaryResponse.model_validate({**defaults, **known, **fields})
