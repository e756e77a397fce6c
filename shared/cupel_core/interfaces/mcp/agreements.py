"""Refuses calls of models that may cost money before the user has agreed to the cost.

A run that is not free needs a budget or the cost that the user has agreed to; so do probes that are added to a run
without a budget. Nothing proves that the user was asked, but a refusal asks the model to ask.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cupel_core.base.errors import AppError, ConfirmationRequired, Invalid
from cupel_core.base.messages import RunRef
from cupel_core.contract.operation import Call, Operation
from cupel_core.domain.budgets.confirmation import needs_confirmation
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.definitions.generations import GenerationMode
from cupel_core.domain.estimates.run_estimate import RunEstimate
from cupel_core.domain.runs.settings import RunSettings
from cupel_core.domain.runs.spec import EvalRunSpec, RequestedRun
from cupel_core.domain.text.figures import format_usd

type Values = Mapping[str, Any]


def check_agreement(operation: Operation, call: Call, values: Values) -> None:
    """Raise the refusal of a call that may cost money without a limit that the user knows."""
    if operation.id in _CHECKS:
        _CHECKS[operation.id](call, values)


def _check_run(call: Call, values: Values) -> None:
    _check_start(call, values["body"].spec())


def _check_rerun(call: Call, values: Values) -> None:
    _check_start(call, values["body"].spec(values["run_id"]))


def _check_eval_run(call: Call, values: Values) -> None:
    _check_start(call, EvalRunSpec.of(values["eval_id"], values["body"].settings()))


def _check_start(call: Call, requested: RequestedRun) -> None:
    from cupel_core.runs import start
    from cupel_core.runs.estimate_requests import estimate
    from cupel_core.runs.spec import spec_to_text
    from cupel_core.runs.start_requests import run_spec

    key, spec = call.idempotency_key, run_spec(call.workspace, requested)
    if key is None or start.find_started(call.workspace, key, spec_to_text(requested), call.now) is None:
        unpriced = replace(spec, allow_unpriced=True)
        _check_spec(spec, lambda: estimate(call.workspace, unpriced, call.now).estimate)


def _check_scale_run(call: Call, values: Values) -> None:
    from cupel_core.runs import start
    from cupel_core.runs.estimate_requests import estimate_scale_run

    body, key = values["body"], call.idempotency_key
    described, scale_run = f"createScaleRun\n{body.model_dump_json(exclude_unset=True)}", body.scale_run()
    if key is None or start.find_started(call.workspace, key, described, call.now) is None:
        unpriced = replace(scale_run, settings=replace(scale_run.settings, allow_unpriced=True))
        _check_spec(scale_run.settings, lambda: estimate_scale_run(call.workspace, unpriced, call.now).estimate)


def _check_spec(spec: RunSettings, expected: Callable[[], RunEstimate]) -> None:
    """Accept a budget, which limits the cost unless prices are unknown, and a start refuses these."""
    if spec.max_budget_usd is None and (refusal := _refusal(spec, expected())) is not None:
        raise refusal


def _refusal(spec: RunSettings, expected: RunEstimate) -> AppError | None:
    if expected.unpriced and not spec.allow_unpriced:
        names = ", ".join(expected.unpriced)
        return Invalid.field("allowUnpriced", f"must be true if the user agrees: the price of {names} is unknown")
    if needs_confirmation(expected.total_usd, 0, spec.confirmed_usd):
        usd = expected.total_usd
        cost = f"from {format_usd(usd.low)} to {format_usd(usd.high)}"
        reason = f"the run has no max_budget_usd and is expected to cost {format_usd(usd.expected)} ({cost})"
        return ConfirmationRequired(reason, expected)
    return None


def _check_retry(call: Call, values: Values) -> None:
    from cupel_core.runs import continuation

    chosen = values["body"].model_dump(exclude={"confirmed_usd"})
    found = continuation.estimate_retry(call.workspace, values["run_id"], call.now, **chosen)
    _check_addition("the retry", found, values["body"].confirmed_usd)


def _check_expansion(call: Call, values: Values) -> None:
    from cupel_core.runs import continuation

    percentage = values["body"].sample_percentage
    found = continuation.estimate_expansion(call.workspace, values["run_id"], percentage, call.now)
    _check_addition("the expansion", found, values["body"].confirmed_usd)


def _check_addition(what: str, found: Any, confirmed_usd: float | None) -> None:
    """Require the user's agreement to additional probes that are not free if the run has no budget, as for a start."""
    usd = found.estimate.usd
    if BudgetScope.RUN not in found.fit.left_usd and needs_confirmation(usd, 0, confirmed_usd):
        cost = f"{format_usd(usd.expected)} (from {format_usd(usd.low)} to {format_usd(usd.high)})"
        raise ConfirmationRequired(f"the run has no budget and {what} is expected to cost {cost}", found.estimate)


def _check_rescore(call: Call, values: Values) -> None:
    from cupel_core.runs.rescoring.models import RescoreModels
    from cupel_core.store import runs

    spec, run = values["body"].spec(), runs.get(RunRef(call.workspace, values["run_id"]))
    if spec.max_budget_usd is None and run.budget is None and (paid := RescoreModels(run, spec.config()).list_paid()):
        names = ", ".join(paid)
        raise Invalid.field("maxBudgetUsd", f"is required, as {names} may cost money: ask the user how much it may be")


def _check_generation(call: Call, values: Values) -> None:
    from cupel_core.budgets.price_checks import may_cost

    spec = values["body"].spec()
    if spec.mode is not GenerationMode.LLM or spec.model is None or spec.max_budget_usd is not None:
        return
    if may_cost(call.workspace, spec.model):
        raise Invalid.field("maxBudgetUsd", f"is required, as {spec.model} may cost money: ask the user how much")


def _check_trial(_: Call, values: Values) -> None:
    if values["body"].max_budget_usd is None and values["body"].confirmed_usd is None:
        raise Invalid.field("maxBudgetUsd", "is required, unless the user has agreed to a cost: ask the user how much")


def _check_schedule(_: Call, values: Values) -> None:
    body = values["body"]
    for name in ("run", "eval_run"):
        started = getattr(body, name, None)
        if started is not None and getattr(started, "max_budget_usd", None) is None:
            field = "evalRun" if name == "eval_run" else name
            raise Invalid.field(
                f"{field}.maxBudgetUsd", "is required, as each run may cost money: ask the user how much"
            )


def _check_queues(_: Call, values: Values) -> None:
    """Require a provider: without one, the API pauses the queues of all."""
    if values["body"].provider is None:
        raise Invalid.field("provider", "is required; the tool pause_queue pauses all queues with `all`")


_CHECKS: dict[str, Callable[[Call, Values], None]] = {
    "createRun": _check_run,
    "rerunRun": _check_rerun,
    "createEvalRun": _check_eval_run,
    "createPlaygroundRun": _check_run,
    "createScaleRun": _check_scale_run,
    "retryRun": _check_retry,
    "expandRun": _check_expansion,
    "createRescore": _check_rescore,
    "generateScenarios": _check_generation,
    "createTrial": _check_trial,
    "createSchedule": _check_schedule,
    "updateSchedule": _check_schedule,
    "pauseQueues": _check_queues,
}
