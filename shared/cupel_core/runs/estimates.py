from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from functools import cache, partial

from cupel_core.accounts.keys import get_provider, with_prices
from cupel_core.domain.conversations.model_parameters import ParameterFields
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import ScenarioPage
from cupel_core.domain.estimates.expectations import ExpectedCalls, RunTerms, SampledCase, run_assumptions
from cupel_core.domain.estimates.history import with_history
from cupel_core.domain.estimates.requested_trials import with_trial
from cupel_core.domain.estimates.run_estimate import RunEstimate, estimate_run
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.resources.providers import Prices
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.sampling import from_few_groups
from cupel_core.providers.account import Account
from cupel_core.providers.expected_calls import expected_calls
from cupel_core.runs.history import ComparableRuns, column_histories
from cupel_core.store.snapshots import Snapshot

MAX_CASES = 200
"""Up to this many cases are read. The lengths of their texts stand for those of all others."""
MAX_PAGES = 5
_FINISHING_ROLES = (ModelRole.SUMMARY, ModelRole.JUDGE, ModelRole.REPORT)


def estimate_of(run: Run, snapshot: Snapshot) -> RunEstimate:
    """Estimate a run, from conversations of similar earlier runs if there are any."""
    positions = frozenset(snapshot.scenario_positions)
    comparable = ComparableRuns.of(run, positions, run.created_at)
    estimate = from_history(_estimate(run, snapshot, finishing_only=False), comparable, snapshot.prices)
    scenarios = len(positions)
    if run.trial:
        estimate = with_trial(estimate, scenarios, _answers(run.plan, scenarios))
    if run.sample_percentage == 100:
        return estimate
    return estimate.with_expansion(scenarios, snapshot.manifest.total)


def _answers(plan: Plan, scenarios: int) -> float:
    return plan.cases / scenarios * len(plan.columns)


def estimate_probes(run: Run, snapshot: Snapshot, probes: Sequence[int], now: datetime) -> RunEstimate:
    """Estimate this many probes of each column, with the cases of the snapshot, at the run's own prices. Conversations
    of the run itself count as earlier ones."""
    estimate = _estimate(run, snapshot, finishing_only=False, probes=probes)
    comparable = ComparableRuns.of(run, frozenset(snapshot.scenario_positions), now, probes)
    return from_history(estimate, comparable, snapshot.prices)


def from_history(estimate: RunEstimate, comparable: ComparableRuns, own_prices: Prices | None = None) -> RunEstimate:
    """Refine an estimate. It is unchanged if a price is unknown, or if no earlier run is like this one."""
    if estimate.unpriced:
        return estimate
    price = _expected_calls(comparable.workspace, own_prices).price
    return with_history(estimate, column_histories(comparable, price))


def finishing_usd(run: Run, snapshot: Snapshot) -> float:
    """Return the maximum cost of the summaries, selections and report of a run, and the reserve of the last call.
    Models of unknown price are left out. The report is counted twice, because its summary may be repaired."""
    estimate = _estimate(run, snapshot, finishing_only=True)
    finishing = [each.calls for each in estimate.graders if each.role in _FINISHING_ROLES]
    costs = sum(calls.usd.high for calls in finishing if calls.usd) + estimate.report_usd
    return costs + max((calls.reserved_usd for calls in finishing), default=0.0)


def _estimate(
    run: Run, snapshot: Snapshot, *, finishing_only: bool, probes: Sequence[int] | None = None
) -> RunEstimate:
    terms = RunTerms(
        Content.from_json(snapshot.definition),
        run.grader_config,
        run.max_turns,
        columns=len(run.plan.columns),
        profile=RunProfile.of_snapshot(snapshot.profile),
        pace=run.pace,
        has_report=run.report,
        finishing_only=finishing_only,
    )
    cases = _sampled_cases(snapshot)
    return estimate_cases(run.workspace, terms, run.plan, run.params, cases, snapshot.prices, probes)


def estimate_cases(
    workspace: str,
    terms: RunTerms,
    plan: Plan,
    params: ParameterFields,
    cases: Sequence[SampledCase],
    own_prices: Prices | None = None,
    probes: Sequence[int] | None = None,
) -> RunEstimate:
    """Estimate a run from some of its cases, at the present prices unless it has its own. `probes` are the numbers of
    probes per column, by default all."""
    calls = _expected_calls(workspace, own_prices)
    return estimate_run(run_assumptions(terms, plan, params, cases, calls, probes))


def _expected_calls(workspace: str, own_prices: Prices | None) -> ExpectedCalls:
    return expected_calls(cache(partial(_account, workspace, own_prices)))


def _sampled_cases(snapshot: Snapshot) -> list[SampledCase]:
    """Return cases of few pages, because each page is read whole."""
    by_page: dict[int, list[int]] = defaultdict(list)
    for case, position in enumerate(snapshot.scenario_positions):
        by_page[snapshot.manifest.page_number_at(position)].append(case)
    sizes = _text_sizes([snapshot.manifest.pages[number] for number in by_page], list(map(len, by_page.values())))
    cases = from_few_groups(list(by_page.values()), sizes, MAX_PAGES, MAX_CASES)
    return [SampledCase(snapshot.scenario(case), snapshot.persona(case) is not None) for case in cases]


def _text_sizes(pages: Sequence[ScenarioPage], cases: Sequence[int]) -> list[float]:
    return [page.mean_size * count for page, count in zip(pages, cases, strict=True)]


def _account(workspace: str, own_prices: Prices | None, provider: str) -> Account:
    """Return the account without its key, which an estimate does not need."""
    view = get_provider(workspace, provider)
    account = Account(provider, view.base_url, max_parallel_requests=view.max_parallel_requests, prices=view.prices)
    return with_prices(account, own_prices)
