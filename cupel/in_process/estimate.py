from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from cupel.in_process.accounts import AccountResolver
from cupel.in_process.definition import DefinitionSource
from cupel.in_process.options import EvaluationOptions
from cupel.in_process.plan import EvaluationPlan, plan_evaluation
from cupel.in_process.targets import Targets
from cupel_core.domain.estimates.expectations import RunTerms, SampledCase, run_assumptions
from cupel_core.domain.estimates.run_estimate import CallCapacity, RunEstimate, estimate_run
from cupel_core.domain.runs.sampling import evenly
from cupel_core.providers.account import Account
from cupel_core.providers.expected_calls import capacity_of, expected_calls

MAX_CASES = 200
"""The lengths of their texts represent those of all others."""


class EvaluationEstimate(NamedTuple):
    estimate: RunEstimate
    missing_access: Mapping[str, str]


def estimate_evaluation(
    definition: DefinitionSource, targets: Targets, options: EvaluationOptions
) -> EvaluationEstimate:
    """Estimate an evaluation.

    Raises UsageError if it could not run, except for missing keys and addresses of providers.
    """
    accounts = AccountResolver(options.get("providers") or {}, tolerates_missing_access=True)
    return EvaluationEstimate(
        estimate_plan(plan_evaluation(definition, targets, options, accounts)), accounts.missing_access
    )


def estimate_plan(plan: EvaluationPlan) -> RunEstimate:
    terms = RunTerms(
        plan.definition.content,
        plan.grader_config,
        plan.settings.max_turns,
        columns=len(plan.probe_plan.columns),
        has_functions=bool(plan.options.get("tools")),
        profile=plan.profile,
    )
    cases = [SampledCase(scenario, persona is not None) for scenario, persona in evenly(plan.cases, MAX_CASES)]
    accounts = {**plan.grader_accounts, **{each.account.provider: each.account for each in plan.targets}}
    calls = expected_calls(accounts.__getitem__)._replace(capacity_of=partial(_capacity, plan, accounts))
    return estimate_run(run_assumptions(terms, plan.probe_plan, plan.params, cases, calls))


def _capacity(plan: EvaluationPlan, accounts: dict[str, Account], provider: str) -> CallCapacity:
    capacity = capacity_of(accounts.__getitem__, provider)
    return CallCapacity(min(capacity.parallel, plan.max_concurrency), capacity.call_seconds)
