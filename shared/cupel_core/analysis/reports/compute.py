from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from time import monotonic

from cupel_core.analysis.reports.excerpts import quoted_indexes, read_excerpts, readable_indexes
from cupel_core.analysis.reports.measure import Measured, measure
from cupel_core.analysis.reports.requests import current_inputs
from cupel_core.analysis.reports.summarize import (
    NOTHING_TO_READ,
    TOO_LONG,
    WrittenSummary,
    summary_expires_at,
    write_summary,
)
from cupel_core.analysis.tabulate import counted_inputs
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.budgets.slice_graders import RESERVE_SECONDS
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.reports import ReportTextsResponse
from cupel_core.domain.analysis.jobs import Job, JobStatus
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.reports.records import ReportRecord, earliest
from cupel_core.domain.runs.run import TERMINAL, Run, RunEventType, RunFailure
from cupel_core.runs.estimate_requests import estimate_run_again
from cupel_core.store import reports, runs
from cupel_core.store.settings import settings

MAX_SUMMARY_WAIT_SECONDS = 120.0
"""A summary waits at most this long for a paused account, as after an outage; a new request makes the report again."""
STAGES = ("measuring", "reading samples", "summarizing", "storing")


def compute(job: Job, note_stage: Callable[[str], None], seconds_left: Callable[[], float]) -> None:
    """Compute the report and store it. Raises NotFound if the run was deleted, and Conflict if it goes on again.

    Repeating it stores the same figures, as long as the run has the same outcomes, and asks no summarizer again whose
    answer was stored.
    """
    workspace = job.workspace
    record = _record(workspace, job.result_id)
    if record.status is JobStatus.COMPLETED:  # The previous worker was interrupted after this.
        _announce(record)
        _start_trial(record)
        return
    run = runs.get(RunRef(workspace, record.run_id))
    inputs = current_inputs(run, record.summarizer_model)
    if run.status not in TERMINAL or inputs.report_id != record.id:
        raise Conflict("the run has changed since the report was requested; request another one")
    note_stage("measuring")
    measured = measure(counted_inputs(run), inputs.rescore_ids, _estimated(run))
    note_stage("reading samples")
    failed = [each.conversation_id for each in measured.content.conversations if each.success is False]
    read = read_excerpts(run, measured.content.top_failure_modes, failed, utc_now())
    note_stage("summarizing")
    summary = _summary(record, measured, seconds_left)
    note_stage("storing")
    texts = read.texts.model_copy(update={"summary": summary and summary.summary})
    reports.save_texts(record, _json(texts))
    reports.save_content(record, _json(measured.content))
    _erase_what_was_deleted(record, quoted_indexes(texts))
    expires = earliest((read.expires_at, summary.expires_at if summary else None))
    has_failed = summary is not None and summary.summary.error not in (None, TOO_LONG, NOTHING_TO_READ)
    _end(record.completed(expires, utc_now(), is_summary_missing=has_failed))
    _start_trial(record)


def _start_trial(record: ReportRecord) -> None:
    """Start the trial that the run requests, before the job is ended: a crash in between repeats it."""
    from cupel_core.analysis.reports.requested_trials import start_if_wanted  # This import loads what starts runs.

    with suppress(NotFound):
        start_if_wanted(RunRef(record.workspace, record.run_id), record.id, utc_now())


def _erase_what_was_deleted(record: ReportRecord, quoted: frozenset[int]) -> None:
    """Erase quotations of conversations that were deleted while the report was made: a summarizer may take minutes.

    A deletion removes the conversation before it erases texts of reports, so either it erases these, or this function
    sees it. Raises NotFound if the run was deleted.
    """
    ref = RunRef(record.workspace, record.run_id)
    if runs.find(ref) is None:
        reports.erase_texts(ref)
        reports.erase_content(record)
        raise NotFound(f"the run {ref.run_id} was deleted while its report was made")
    if not quoted <= readable_indexes(ref, quoted, utc_now()):
        reports.erase_texts(ref)


def _summary(record: ReportRecord, measured: Measured, seconds_left: Callable[[], float]) -> WrittenSummary | None:
    if record.summarizer_model is None:
        return None
    stored = reports.find_texts(record)
    found = ReportTextsResponse.model_validate_json(stored).summary if stored else None
    if found is not None and found.error is None:
        return WrittenSummary(found, summary_expires_at(measured.scan, found))
    return write_summary(record.summarizer_model, measured.content, measured.scan, _summary_seconds(seconds_left))


def _summary_seconds(seconds_left: Callable[[], float], clock: Callable[[], float] = monotonic) -> Callable[[], float]:
    """Return a function for the seconds left for a summary: no call of it starts after MAX_SUMMARY_WAIT_SECONDS."""
    latest_start = clock() + MAX_SUMMARY_WAIT_SECONDS
    call_seconds = settings().call_timeout_seconds + RESERVE_SECONDS
    return lambda: min(seconds_left(), latest_start - clock() + call_seconds)


def fail(job: Job, failure: RunFailure) -> None:
    run_id, _, report_id = job.result_id.partition("/")
    record = reports.find(RunRef(job.workspace, run_id), report_id)
    if record is not None:
        _end(record.failed(failure, utc_now()))


def _end(record: ReportRecord) -> None:
    if reports.end(record):
        _announce(record)


def _announce(record: ReportRecord) -> None:
    data: dict[str, object] = {"reportId": record.id, "status": record.status}
    with suppress(NotFound):
        runs.append_event(RunRef(record.workspace, record.run_id), RunEventType.REPORT_FINISHED, utc_now(), data)


def _record(workspace: str, result_id: str) -> ReportRecord:
    run_id, _, report_id = result_id.partition("/")
    return reports.get(RunRef(workspace, run_id), report_id)


def _estimated(run: Run) -> EstimateInterval | None:
    """Return what the run was expected to cost without its report.

    This is None if a price is unknown, or if something that the estimate reads was deleted.
    """
    try:
        estimate = estimate_run_again(replace(run, report=False))
    except (Invalid, NotFound):
        return None
    return None if estimate.unpriced else estimate.usd


def _json(document: ResponseModel) -> bytes:
    return document.model_dump_json().encode()
