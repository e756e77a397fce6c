"""Trials that a run asked for at its start: they begin when its report is completed, without a further request."""

from datetime import datetime

from cupel_core.contract.reports import ReportContentResponse
from cupel_core.domain.reports.trials import TrialRequest
from cupel_core.errors import ClientError
from cupel_core.messages import RunRef
from cupel_core.reports import requests, trials
from cupel_core.runs.open_runs import TooManyRuns
from cupel_core.runs.start import SYSTEM
from cupel_core.store import reports, runs


def start_if_wanted(ref: RunRef, report_id: str, now: datetime) -> None:
    """Start the trial of a completed report, or note why it cannot start. Repeating it starts no second one.

    Both prompts together may cost what the run has cost; a trial that is expected to cost more is not started, because
    nobody is there to confirm it. A run has one such trial, whichever of its reports it is of.
    """
    run = runs.find(ref)
    if run is None or not run.trial or any(record.trial for record in reports.list_all(ref)):
        return
    view = requests.get(ref.workspace, ref.run_id, report_id, now)
    if view.content is None:
        return
    cost = ReportContentResponse.model_validate_json(view.content).cost.priced_usd
    allows_unpriced = run.budget is not None and run.budget.allows_unpriced
    request = TrialRequest(max_budget_usd=cost or None, allow_unpriced=allows_unpriced)
    try:
        trials.start(ref.workspace, ref.run_id, report_id, request, now, run.started_by or SYSTEM)
    except (ClientError, TooManyRuns) as refusal:
        reports.refuse_trial(view.record, refusal.detail)
