from datetime import datetime

from cupel_core.analysis.reports import requests, trials
from cupel_core.base.errors import ClientError, ConfirmationRequired
from cupel_core.base.messages import RunRef
from cupel_core.contract.report_content import ReportContentResponse
from cupel_core.domain.budgets.confirmation import sufficient_usd
from cupel_core.domain.reports.trials import ARMS, TrialRequest
from cupel_core.runs.open_runs import TooManyRuns
from cupel_core.store import reports, runs


def start_if_wanted(ref: RunRef, report_id: str, now: datetime) -> None:
    """Start the trial of a completed report, or note why it cannot start. Repeating this starts no second trial.

    Both prompts together may cost as much as the run, and one further call each. A trial that is expected to cost more
    is not started, because nobody is there to confirm it. The last calls reserve as much as a small scale run has cost,
    and use little of it, so that amount is added to the budget. A run has one such trial, whichever of its reports
    requested it.
    """
    run = runs.find(ref)
    if run is None or not run.trial or any(record.trial for record in reports.list_all(ref)):
        return
    view = requests.get(ref.workspace, ref.run_id, report_id, now)
    if view.content is None:
        return
    cost = ReportContentResponse.model_validate_json(view.content).cost.priced_usd
    allows_unpriced = run.budget is not None and run.budget.allows_unpriced
    request = TrialRequest(max_budget_usd=cost or None, adds_last_calls=True, allow_unpriced=allows_unpriced)
    try:
        trials.start(ref.workspace, ref.run_id, report_id, request, now, run.started_by)
    except ConfirmationRequired as refusal:
        size = trials.plan(ref.workspace, ref.run_id, report_id, request, now).size
        enough = sufficient_usd(refusal.estimate.usd, ARMS * refusal.estimate.reserved_usd)
        remedy = (
            f"a request with scenarios {size.scenarios}, repeats {size.repeats} and maxBudgetUsd {enough} would fit"
        )
        reports.refuse_trial(view.record, f"{refusal.reason}; {remedy}")
    except (ClientError, TooManyRuns) as refusal:
        reports.refuse_trial(view.record, refusal.detail)
