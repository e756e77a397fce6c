from collections.abc import Iterator
from datetime import datetime
from enum import Enum, auto
from itertools import batched
from typing import NamedTuple

from cupel_core.accounts.keys import model_error
from cupel_core.analysis.judge_accuracy import accuracy_key
from cupel_core.analysis.reports import trial_results
from cupel_core.analysis.reports.scan import conversation, list_completed
from cupel_core.analysis.reports.targets import with_names
from cupel_core.analysis.reports.trial_results import TrialView
from cupel_core.analysis.tabulate import counted_inputs
from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.base.messages import JobRequest, RunRef
from cupel_core.base.paging import MAX_LIMIT, Entry, decode_index, encode_cursor
from cupel_core.budgets.price_checks import has_price, needs_prices, refuse_unpriced
from cupel_core.contract.report_content import ReportConversationResponse
from cupel_core.domain.analysis.jobs import Job, JobKind, JobStatus
from cupel_core.domain.reports.records import ReportInputs, ReportRecord
from cupel_core.domain.runs.run import TERMINAL, Run
from cupel_core.domain.scoring.rescores import RescoreStatus
from cupel_core.resources.evaluation_settings import workspace_grader_config
from cupel_core.scoring.grading.report_summary import PROMPT_VERSION
from cupel_core.store import queues, reports, rescores, runs
from cupel_core.store.settings import settings

MAX_RESCORES = 5
"""A report shows the run's agreement with at most this many of its newest completed rescores."""


class Default(Enum):
    CONFIGURED = auto()
    """The `summarizerModel` of the run is used, or else the workspace's, or else the run's judge, or else no model."""


class ReportView(NamedTuple):
    record: ReportRecord
    is_stale: bool
    content: bytes | None = None
    texts: bytes | None = None
    trial: TrialView | None = None


class RequestedReport(NamedTuple):
    view: ReportView
    is_queued: bool


def request(
    workspace: str,
    run_id: str,
    now: datetime,
    summarizer_model: str | Default | None = Default.CONFIGURED,
    *,
    allow_unpriced: bool = False,
) -> RequestedReport:
    """Queue the report of a run that has ended, unless there is one of the same outcomes and summarizer.

    Raises Conflict while the run goes on, and Invalid for a summarizer that cannot be called, or for one without a
    known price if a budget pays for it, unless that is allowed.
    """
    run = runs.get(RunRef(workspace, run_id))
    if run.status not in TERMINAL:
        raise Conflict(f"the run is {run.status}; a report can be made when it has ended")
    model = _configured_model(run) if isinstance(summarizer_model, Default) else summarizer_model
    if model is not None and model != run.grader_config.judge_model and (problem := model_error(workspace, model)):
        raise Invalid.field("summarizerModel", problem)
    if model is not None and not allow_unpriced and needs_prices(run) and not has_price(workspace, model):
        refuse_unpriced([model])
    return _create(run, model, now)


def _configured_model(run: Run) -> str | None:
    graders = run.grader_config
    return graders.with_defaults(workspace_grader_config(run.workspace)).summarizer_model or graders.judge_model


def _create(run: Run, model: str | None, now: datetime) -> RequestedReport:
    workspace, run_id = run.workspace, run.id
    record = ReportRecord(workspace, run_id, current_inputs(run, model).report_id, now, model)
    job = Job(workspace, record.job_id, JobKind.REPORT, record.result_id, (run_id,), now, now)
    is_new = reports.create(record, job)
    if is_new:
        queues.send(settings().analyze_queue_url, [JobRequest(workspace=workspace, job_id=job.id)], group=workspace)
    return RequestedReport(get(workspace, run_id, record.id, now), is_new)


def request_if_wanted(ref: RunRef, now: datetime) -> None:
    """Queue the report of a run that has just ended if it was started with `report`.

    The model that the start of the run has estimated summarizes it. That start has asked about unknown prices, and a
    model that cannot be called any more is an error of the summary.
    """
    run = runs.find(ref)
    if run is not None and run.report and run.status in TERMINAL:
        _create(run, run.grader_config.report_model, now)


def current_inputs(run: Run, summarizer_model: str | None) -> ReportInputs:
    ref = RunRef(run.workspace, run.id)
    completed = [each.id for each in rescores.list_all_of_run(ref) if each.status is RescoreStatus.COMPLETED]
    inputs = counted_inputs(run)
    return ReportInputs(
        run.id,
        inputs.revision,
        tuple(completed[-MAX_RESCORES:]),
        summarizer_model,
        PROMPT_VERSION,
        accuracy_key(inputs),
    )


def get(workspace: str, run_id: str, report_id: str, now: datetime) -> ReportView:
    ref = RunRef(workspace, run_id)
    run, record = runs.get(ref), reports.get(ref, report_id)
    return _view(run, record, now)


def get_newest(workspace: str, run_id: str, now: datetime) -> ReportView:
    ref = RunRef(workspace, run_id)
    run, found = runs.get(ref), reports.list_all(ref)
    completed = next((record for record in found if record.status is JobStatus.COMPLETED), None)
    if completed is None:
        raise NotFound(_why_there_is_none(run, found))
    return _view(run, completed, now)


def list_reports(workspace: str, run_id: str) -> list[ReportView]:
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    return [ReportView(record, _is_stale(run, record)) for record in reports.list_all(ref)]


def list_conversations(
    workspace: str, run_id: str, report_id: str, cursor: str | None
) -> Iterator[Entry[ReportConversationResponse]]:
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    reports.get(ref, report_id)
    completed = list_completed(ref, range(decode_index(cursor), run.plan.total))
    for block in batched(completed, MAX_LIMIT):
        named = with_names(run, [conversation(run, found) for found in block])
        for found, listed in zip(block, named, strict=True):
            yield Entry(encode_cursor(str(found.probe_index)), listed)


def _view(run: Run, record: ReportRecord, now: datetime) -> ReportView:
    is_stale = _is_stale(run, record)
    if record.status is not JobStatus.COMPLETED:
        return ReportView(record, is_stale)
    texts = reports.find_texts(record) if record.shows_texts(now) else None
    return ReportView(record, is_stale, reports.read_content(record), texts, trial_results.view(record, now))


def _is_stale(run: Run, record: ReportRecord) -> bool:
    return run.status not in TERMINAL or current_inputs(run, record.summarizer_model).report_id != record.id


def _why_there_is_none(run: Run, found: list[ReportRecord]) -> str:
    if run.status not in TERMINAL:
        return f"the run is {run.status}; a report can be made when it has ended"
    if any(not record.status.is_over for record in found):
        return "the report of this run is being made; try again"
    if found and found[0].failure is not None:
        return f"the report of this run failed: {found[0].failure.why}; POST /v1/runs/{run.id}/reports makes it again"
    return f"the run {run.id} has no report; POST /v1/runs/{run.id}/reports makes one"
