"""Invariants of a finished run, checked on its stored items."""

from collections.abc import Iterator

from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.jobs import JobKind, JobStatus
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisStatus
from cupel_core.domain.budgets.money import NANO_PER_USD, usd
from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.run import Run, RunEventType, RunStatus
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.store import analyses, barrier, budgets, comparisons, events, jobs, outcomes, snapshots


def violations(run: Run) -> list[str]:
    """Empty if the run is COMPLETED with one outcome per probe, and barrier and events agree."""
    violated = []
    ref, total = RunRef(run.workspace, run.id), run.plan.total
    if run.status is not RunStatus.COMPLETED:
        violated.append(f"the run is {run.status}")
    recorded = list(outcomes.list_outcomes(ref, range(total)))
    if [outcome.probe_index for outcome in recorded] != list(range(total)):
        violated.append(f"{len(recorded)} of {total} probes have an outcome")
    completed = {outcome.probe_index for outcome in recorded if isinstance(outcome, Transcript)}
    if len(completed) != total:
        violated.append(f"{total - len(completed)} probes are errored")
    if run.eval_id and not all(
        outcome.result and outcome.result.success for outcome in recorded if isinstance(outcome, Transcript)
    ):
        violated.append("a conversation does not have its judge's verdict")
    has_decisions = snapshots.get(run.snapshot_key).definition.get("decision") is not None
    if has_decisions and any(outcome.summary is None for outcome in recorded if isinstance(outcome, Transcript)):
        violated.append("a transcript has no summary")
    counted = {
        number * FANOUT + offset
        for parent in range(-(-total // FANOUT**2))
        for number, item in barrier.list_leaves(ref, Node(1, parent)).items()
        for offset in item.leaf.completed
    }
    if counted != completed:
        violated.append(f"the barrier counts {len(counted)}, {len(completed)} are stored")
    if (run.settled.completed, run.settled.failed) != (total, 0) if run.settled else True:
        violated.append(f"the run has settled with {run.settled}")
    violated += _analysis_violations(run)
    run_events = list(events.list_after(ref, 0))
    sequence = [event.seq for event in run_events]
    if sequence != list(range(1, run.event_seq + 1)):
        violated.append(f"the events are {sequence}, the last event of the run is {run.event_seq}")
    return violated


def _analysis_violations(run: Run) -> Iterator[str]:
    """A run has an analysis of all its outcomes, and figures of all that was asked for."""
    ref = RunRef(run.workspace, run.id)
    record = analyses.find_newest(ref, None)
    if record is None or record.status is not AnalysisStatus.COMPLETED:
        yield f"the analysis of the run is {record}"
    yield from _deep_violations(ref)
    for comparison_id in comparisons.list_ids_of_run(ref):
        comparison = comparisons.get(run.workspace, comparison_id)
        job = jobs.get(run.workspace, comparison.job_id)
        if not comparison.status is job.status is JobStatus.COMPLETED:
            yield f"the comparison is {comparison.status}, its job {job.status}"
        elif not comparisons.get_figures(run.workspace, comparison_id)["rows"]:
            yield "the comparison has no figures"
    finished = [event for event in events.list_after(ref, 0) if event.type is RunEventType.COMPARISON_FINISHED]
    if len(finished) < len(list(comparisons.list_ids_of_run(ref))):
        yield "a comparison has no event"


def _deep_violations(ref: RunRef) -> Iterator[str]:
    """Each deep analysis has figures, a job that is done and an event."""
    requested = jobs.list_jobs(ref.workspace, run_id=ref.run_id, status=None, limit=100, cursor=None).items
    of_kind = [job for job in requested if job.kind is JobKind.DEEP_ANALYSIS]
    listed = analyses.list_analyses(ref, 100, None).items
    deep = {record.id: record for record in listed if record.kind is AnalysisKind.DEEP}
    if sorted(job.result_id for job in of_kind) != sorted(deep):
        yield f"the analyses {sorted(deep)} are stored, of the jobs {of_kind}"
    announced = {
        event.data["analysisId"]
        for event in events.list_after(ref, 0)
        if event.type is RunEventType.ANALYSIS_FINISHED and event.data["kind"] == AnalysisKind.DEEP
    }
    if announced != set(deep):
        yield f"the analyses {sorted(deep)} are stored, and events are of {announced}"
    for job in of_kind:
        if job.status is not JobStatus.COMPLETED or deep[job.result_id].status is not AnalysisStatus.COMPLETED:
            yield f"the job is {job}"
        elif not analyses.read_document(deep[job.result_id]):
            yield "a deep analysis has no figures"


def budget_violations(run: Run, bill_usd: float) -> list[str]:
    """Empty if the account of the run's budget counts at least what the provider would bill, and at most the limit."""
    if run.budget is None:
        return []
    account = budgets.get(RunRef(run.workspace, run.id))
    counted = account.used + account.reserved
    violated = []
    if counted < round(bill_usd * NANO_PER_USD):
        violated.append(f"${bill_usd:.6f} are billed, but the budget counts ${usd(counted):.6f}")
    if counted > run.budget.limit:
        violated.append(f"the budget counts ${usd(counted):.6f} of ${run.budget.max_usd}")
    return violated
