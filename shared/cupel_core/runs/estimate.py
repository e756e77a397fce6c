"""Estimates of what a run would cost: checks all that a start checks, and writes nothing."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from functools import cache, partial
from itertools import chain

from cupel_core.accounts import get_provider
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.estimates.expectations import RunTerms, SampledCase, run_assumptions
from cupel_core.domain.estimates.run_estimate import RunEstimate, estimate_run
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.sampling import evenly
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.turns.model_parameters import ParameterFields
from cupel_core.providers.account import Account
from cupel_core.providers.expected_calls import expected_calls
from cupel_core.runs.start import build_run
from cupel_core.store import snapshots
from cupel_core.store.snapshots import Snapshot

MAX_CASES = 200
"""That are read: the lengths of their texts stand for those of all others."""
MAX_PAGES = 5
"""Of scenarios that are read."""


def estimate(workspace: str, spec: RunSpec, now: datetime) -> RunEstimate:
    """Raises what a start would raise for this specification now."""
    run, snapshot = build_run(workspace, spec, now)
    return _estimate(run, snapshot)


def estimate_run_again(run: Run) -> RunEstimate:
    """The estimate of a run that has started, at the prices of today. NotFound if its scenarios were erased."""
    return _estimate(run, snapshots.get(run.snapshot_key))


def _estimate(run: Run, snapshot: Snapshot) -> RunEstimate:
    content = Content.from_json(snapshot.definition)
    terms = RunTerms(content, run.grader_config, run.max_turns, columns=len(run.plan.columns))
    return estimate_cases(run.workspace, terms, run.plan, run.params, _sampled_cases(snapshot))


def estimate_cases(
    workspace: str, terms: RunTerms, plan: Plan, params: ParameterFields, cases: Sequence[SampledCase]
) -> RunEstimate:
    """The estimate of a run from some of its cases."""
    calls = expected_calls(cache(partial(_account, workspace)))
    return estimate_run(run_assumptions(terms, plan, params, cases, calls))


def _sampled_cases(snapshot: Snapshot) -> list[SampledCase]:
    """Of few pages, because each is read whole."""
    by_page: dict[int, list[int]] = defaultdict(list)
    for case, position in enumerate(snapshot.scenario_positions):
        by_page[snapshot.manifest.page_number_at(position)].append(case)
    pages = evenly(list(by_page.values()), MAX_PAGES)
    cases = chain.from_iterable(evenly(page, MAX_CASES // len(pages)) for page in pages)
    return [SampledCase(snapshot.scenario(case), snapshot.persona(case) is not None) for case in cases]


def _account(workspace: str, provider: str) -> Account:
    """Without its key, which an estimate does not need."""
    view = get_provider(workspace, provider)
    return Account(provider, view.base_url, max_parallel_requests=view.max_parallel_requests, prices=view.prices)
