from collections.abc import Sequence

import typer

from cupel.commands.command_messages import name_commands
from cupel.commands.options import AsJson, InProcessOptions, Prices, command_name
from cupel.commands.request_options import with_settings
from cupel.commands.run import Definitions, InProcess, definition_of, refuse_settings_of_stacks
from cupel.commands.targets import require_targets, target_specs, warn_about_models, with_profile_id
from cupel.counts import count_of
from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.markup import escape
from cupel.price_texts import format_cost_interval, has_range
from cupel.render import format_duration, guarantee_lines
from cupel.session import Session
from cupel.tables import table
from cupel.terminal import NO_VALUE
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.text.figures import format_usd


@with_settings("CreateRun", without=("name", "tags", "metadata", "experimentId", "priority"))
def estimate(
    ctx: typer.Context,
    definitions: Definitions,
    in_process: InProcess = False,
    price: Prices = None,
    as_json: AsJson = False,
    *,
    settings: Json,
) -> None:
    """Estimate what a run would cost and how long it would take; nothing is started. Options are those of `run`."""
    session = ctx.ensure_object(Session)
    require_targets(settings)
    warn_about_models(session, settings)
    if in_process:
        refuse_settings_of_stacks(settings)
        print_estimate(session, _estimate_in_process(definitions, settings, price or ()), as_json=as_json)
        return
    if price:
        raise UsageError("--price: only with --in-process; `cupel providers set NAME --price` sets those of a stack")
    with session.connect() as client:
        specification = with_profile_id(client, settings)
        with definition_of(session, client, definitions, specification, starts=False) as resolved:
            estimated = client.estimate_run({**specification, **resolved})
        print_estimate(session, estimated, as_json=as_json)


def _estimate_in_process(definitions: Sequence[str], specification: Json, prices: Sequence[str]) -> Json:
    # The providers take longer to import than the rest of the command.
    from cupel.commands.in_process import evaluation_options, named_after_options
    from cupel.in_process.estimate import estimate_evaluation
    from cupel_core.contract.estimates import EstimateResponse
    from cupel_core.domain.budgets.confirmation import budget_fit
    from cupel_core.providers.prices import price_list_version

    with named_after_options():
        own = evaluation_options(specification, InProcessOptions(prices=prices))
        estimated, missing_access = estimate_evaluation(definitions, target_specs(specification), own)
    max_usd = specification.get("maxBudgetUsd")
    left = {} if max_usd is None else {BudgetScope.RUN: max_usd}
    fit = budget_fit(estimated.usd, left, None, estimated.reserved_usd)
    response = EstimateResponse.of(estimated, price_list_version(), fit, missing_access)
    return response.model_dump(mode="json", by_alias=True)


def print_estimate(session: Session, estimate: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(estimate)
        return
    numbers = ["conversations", "calls", "input tokens", "output tokens"]
    columns = table("model", *numbers, "cost", right=numbers)
    for target in estimate["targets"]:
        columns.add_row(escape(target["targetId"]), f"{target['probes']:,}", *_figures(target))
    for grader in estimate["graders"]:
        columns.add_row(f"{escape(grader['model'])} ({grader['role']})", "", *_figures(grader))
    session.out.print(columns)
    for line in (*_totals(estimate), *_missing_access(estimate)):
        session.out.print(line, markup=False, soft_wrap=True)


def _figures(calls: Json) -> list[str]:
    tokens = (f"{calls[name]['expected']:,.0f}" for name in ("calls", "inputTokens", "outputTokens"))
    return [*tokens, NO_VALUE if calls["usd"] is None else format_cost_interval(calls["usd"])]


def _totals(estimate: Json) -> list[str]:
    seconds, unpriced = estimate["seconds"], estimate["unpriced"]
    low, high = (format_duration(seconds[bound] * 1_000) for bound in ("low", "high"))
    duration = low if low == high else f"{low} to {high}"
    total = f"{count_of(estimate['jobCount'], 'conversation')}: {format_cost_interval(estimate['usd'])}, {duration}"
    missing = [f"without {', '.join(unpriced)}, whose price is unknown"] if unpriced else []
    bases = [_basis(estimate), *_file_bases(estimate["targets"]), f"prices of {estimate['priceList']}"]
    return [
        "",
        total,
        *_expansion_lines(estimate["expansion"]),
        *_trial_lines(estimate["trial"]),
        *missing,
        f"basis  {'; '.join(bases)}",
        *_bounds(estimate),
        *_budget_lines(estimate.get("budget"), estimate["confirmableUsd"]),
    ]


def _missing_access(estimate: Json) -> list[str]:
    return [f"to start it: {name_commands(each['message'], command_name())}" for each in estimate["missingAccess"]]


def _basis(estimate: Json) -> str:
    run_ids = estimate["historyRunIds"]
    if not run_ids:
        return "the texts, and usual lengths of answers and conversations"
    return f"scored conversations of {count_of(len(run_ids), 'earlier run')} like this one ({', '.join(run_ids)})"


def _bounds(estimate: Json) -> list[str]:
    parts = [estimate, estimate["expansion"], estimate["trial"], *estimate["targets"], *estimate["graders"]]
    if not any(part and part["usd"] and has_range(part["usd"]) for part in parts):
        return []
    if estimate["historyRunIds"]:
        return ["bounds  95% of runs like the past ones cost between the two amounts in brackets"]
    return ["bounds  the two amounts in brackets are a range without a probability: no earlier run is like this one"]


def _expansion_lines(expansion: Json | None) -> list[str]:
    if expansion is None:
        return []
    probes, cost = count_of(expansion["jobCount"], "conversation"), format_cost_interval(expansion["usd"])
    return [f"all other scenarios: {probes} more, {cost}"]


def _trial_lines(trial: Json | None) -> list[str]:
    if trial is None:
        return []
    line = f"trial of the revised prompt: {count_of(trial['jobCount'], 'conversation')} more, "
    line += f"{format_cost_interval(trial['usd'])}, besides the budget of the run"
    if trial["isWithinLimit"]:
        return [line]
    return [f"{line}; more than it may cost, so it is not expected to start"]


def _budget_lines(budget: Json | None, expected_usd: float) -> list[str]:
    if budget is None:
        return []
    left = [f"{format_usd(budget[field])} {words}" for field, words in _LEFT.items() if budget[field] is not None]
    if not left:
        return []
    exceeded, perhaps = budget["exceeds"], budget["mayExceed"]
    verdict = "the run fits"
    if exceeded is not None:
        verdict = f"the expected cost exceeds {_BUDGETS[exceeded]}"
        if expected_usd <= min(budget[field] for field in _LEFT if budget[field] is not None):
            verdict = f"before its end, less than a call may cost would be left of {_BUDGETS[exceeded]}"
    elif perhaps is not None:
        verdict = f"the run fits, unless it comes close to the upper bound, which exceeds {_BUDGETS[perhaps]}"
    return [f"budget {', '.join(left)}: {verdict}", *(f"       {line}" for line in guarantee_lines(budget))]


def _file_bases(targets: Sequence[Json]) -> list[str]:
    formulas = dict.fromkeys(_FORMULAS[target["fileBasis"]] for target in targets if target["fileBasis"])
    return [f"images and PDFs by {', '.join(formulas)}"] if formulas else []


_LEFT = {
    "maxBudgetUsd": "for the run",
    "dayLeftUsd": "left of the workspace's day",
    "monthLeftUsd": "left of its month",
}
_BUDGETS = {"run": "the run's budget", "day": "what is left of the day", "month": "what is left of the month"}
_FORMULAS = {
    "openai_tiles": "OpenAI's tiles",
    "openai_patches": "OpenAI's patches",
    "anthropic": "Anthropic's formula",
    "gemini_2": "Google's tiles",
    "gemini_3": "Google's default resolution",
    "assumed": "an assumed formula",
}
