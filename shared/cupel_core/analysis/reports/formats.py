from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from cupel_core.contract.analyzed_columns import QuantilesResponse, ShareEstimateResponse
from cupel_core.contract.report_content import (
    ReportBudgetResponse,
    ReportContentResponse,
    ReportConversationResponse,
    ReportCostResponse,
    ReportFiguresResponse,
    ReportRatioResponse,
    RoleCostResponse,
    UnpricedModelResponse,
)
from cupel_core.contract.reports import FindingResponse, ReportResponse, ReportSummaryResponse
from cupel_core.contract.trials import TrialResponse
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.scoring.unscored import DESCRIPTIONS
from cupel_core.domain.text.counts import count_of
from cupel_core.domain.text.figures import UNKNOWN as NONE
from cupel_core.domain.text.figures import format_decimal as decimal
from cupel_core.domain.text.figures import (
    format_difference,
    format_interval,
    format_p,
    format_points,
    format_ratio,
    format_ratio_interval,
    format_signed_percent,
    with_interval,
)
from cupel_core.domain.text.figures import format_percent as percent
from cupel_core.domain.text.figures import format_usd as usd


class ReportTable(NamedTuple):
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


ROLE_NAMES = {
    "target": "targets",
    "judge": "judges",
    "persona": "simulated users",
    "summary": "summaries",
    "operation": "operations",
}
FINDINGS = {
    "failure_modes": "What fails",
    "hallucinations": "Hallucinations",
    "goal_failures": "Missed goals",
    "inconsistencies": "Inconsistencies",
}


def summary_of(report: ReportResponse) -> ReportSummaryResponse | None:
    return report.texts.summary if report.texts else None


def findings_of(summary: ReportSummaryResponse) -> Iterator[tuple[str, FindingResponse]]:
    for field, heading in FINDINGS.items():
        for finding in getattr(summary, field):
            yield heading, finding


def summary_note(summary: ReportSummaryResponse) -> str:
    if summary.error:
        return f"{summary.model} gave no summary: {summary.error}."
    quotes = count_of(summary.dropped_quotes, "quotation")
    dropped = f"; dropped: {quotes} found in none of them" if summary.dropped_quotes else ""
    read = count_of(len(summary.shown_conversation_ids), "conversation")
    return f"Written by {summary.model}, which has read {read}{dropped}. Its quotations were checked."


def trial_lines(report: ReportResponse) -> list[str]:
    if report.trial is not None:
        return _trial_lines(report.trial)
    return [f"It did not start: {report.trial_refusal}"] if report.trial_refusal else []


def _trial_lines(trial: TrialResponse) -> list[str]:
    size, repeats = count_of(trial.scenarios, "scenario"), count_of(trial.repeats, "conversation")
    how = (
        f"Both prompts were run anew on {size}, with {repeats} of each per target and persona: "
        f"runs {trial.original_run_id} (original) and {trial.revised_run_id} (revised)."
    )
    if trial.result is None:
        return [trial.failure or f"The trial is {trial.status}.", how]
    tags = [f"{each.tag} {each.original} and {each.revised}" for each in trial.result.tags]
    listed = [f"Failed conversations with the original and the revised prompt: {', '.join(tags)}."] if tags else []
    return [trial.result.sentence, how, *listed, *trial.result.notes]


def title_of(content: ReportContentResponse) -> str:
    return content.run_name or content.definition_name


def share_text(share: ShareEstimateResponse) -> str:
    return with_interval(share.share, share.interval, percent)


def seconds(milliseconds: float | None) -> str:
    return NONE if milliseconds is None else f"{milliseconds / 1_000:,.2f} s"


def number(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f}"


def named_figures(content: ReportContentResponse) -> Iterator[tuple[str, ReportFiguresResponse]]:
    for column in content.columns:
        yield column.name, column.figures
    if len(content.columns) > 1:
        yield "all", content.overall


def outcome_table(content: ReportContentResponse) -> ReportTable:
    header = ("target", "completed", "errors", "judged", "passed", "unscored", "pass rate (95% interval)")
    rows = (
        (
            name,
            number(each.completed),
            number(each.errored),
            number(each.win_rate.trials),
            number(each.win_rate.successes),
            number(each.unscored),
            share_text(each.win_rate),
        )
        for name, each in named_figures(content)
    )
    return ReportTable(header, tuple(rows))


def judge_table(content: ReportContentResponse) -> ReportTable:
    header = ("target", "labels", "kappa", "pass rate by the judge", "corrected pass rate (95% interval)")
    rows = (
        (
            column.name,
            number(accuracy.labels),
            decimal(accuracy.kappa),
            share_text(column.figures.win_rate),
            corrected.message or with_interval(corrected.rate, corrected.interval, percent),
        )
        for column in content.columns
        if (accuracy := column.judge_accuracy) and (corrected := column.corrected_pass_rate)
    )
    return ReportTable(header, tuple(rows))


def unscored_table(content: ReportContentResponse) -> ReportTable:
    rows = (
        (DESCRIPTIONS[each.code], each.code, each.model or NONE, each.provider_code or NONE, number(each.probes))
        for each in content.unscored_reasons
    )
    return ReportTable(("reason", "code", "model", "error of its call", "conversations"), tuple(rows))


def operations_table(content: ReportContentResponse) -> ReportTable:
    header = ("target", "turns mean", "p95", "duration mean", "p50", "p95", "max", "turn mean", "p95", "max")
    rows = (
        (
            name,
            decimal(_mean(each.turns)),
            number(_p95(each.turns)),
            seconds(_mean(each.duration_ms)),
            seconds(each.duration_ms.p50 if each.duration_ms else None),
            seconds(_p95(each.duration_ms)),
            seconds(each.duration_ms.max if each.duration_ms else None),
            seconds(each.mean_turn_ms),
            seconds(_p95(each.turn_ms)),
            seconds(each.turn_ms.max if each.turn_ms else None),
        )
        for name, each in named_figures(content)
    )
    return ReportTable(header, tuple(rows))


def token_table(content: ReportContentResponse) -> ReportTable:
    header = ("target", "input mean", "p95", "sum", "output mean", "p95", "sum", "both mean", "p95", "sum")
    rows = (
        (
            name,
            number(_mean(each.input_tokens)),
            number(_p95(each.input_tokens)),
            number(each.total_input_tokens),
            number(_mean(each.output_tokens)),
            number(_p95(each.output_tokens)),
            number(each.total_output_tokens),
            number(_mean(each.tokens)),
            number(_p95(each.tokens)),
            number(each.total_input_tokens + each.total_output_tokens),
        )
        for name, each in named_figures(content)
    )
    return ReportTable(header, tuple(rows))


def role_table(content: ReportContentResponse) -> ReportTable:
    rows = (
        (ROLE_NAMES[each.role], number(each.calls), number(each.input_tokens), number(each.output_tokens))
        for each in content.overall.costs
        if each.role != "target" and each.calls
    )
    return ReportTable(("role", "calls", "tokens in", "tokens out"), tuple(rows))


def cost_table(content: ReportContentResponse) -> ReportTable:
    roles = [cost.role for cost in content.overall.costs if cost.calls]
    rows = ((name, *(_cost_text(each, role) for role in roles)) for name, each in named_figures(content))
    return ReportTable(("target", *(ROLE_NAMES[role] for role in roles)), tuple(rows) if roles else ())


def _cost_text(figures: ReportFiguresResponse, role: str) -> str:
    cost = next(each for each in figures.costs if each.role == role)
    return role_cost_text(cost) if cost.calls else NONE


def role_cost_text(cost: RoleCostResponse) -> str:
    if cost.usd is not None:
        return usd(cost.usd)
    return f"at least {usd(cost.priced_usd)}" if cost.priced_usd else NONE


def budget_sentence(budget: ReportBudgetResponse) -> str:
    uncertain = f", and perhaps {usd(budget.uncertain_usd)} for calls without an answer" if budget.uncertain_usd else ""
    return f"Of the budget of {usd(budget.max_budget_usd)}, {usd(budget.spent_usd)} was spent{uncertain}."


def cost_sentence(cost: ReportCostResponse) -> str:
    sentences = [_estimate_sentence(cost), _unpriced_sentence(cost.unpriced)]
    return " ".join(filter(None, [*sentences, budget_sentence(cost.budget) if cost.budget else ""]))


def _unpriced_sentence(unpriced: Sequence[UnpricedModelResponse]) -> str:
    named = (f"{each.model} ({', '.join(each.roles)}, {_unpriced_calls(each.calls)})" for each in unpriced)
    return f"Not in the cost, because their price is unknown: {'; '.join(named)}." if unpriced else ""


def _unpriced_calls(calls: int | None) -> str:
    return "an unknown number of calls" if calls is None else count_of(calls, "call")


def _estimate_sentence(cost: ReportCostResponse) -> str:
    spent = f"Spent {usd(cost.usd)}" if cost.usd is not None else _incomplete_text(cost)
    expected = cost.estimated_usd
    if expected is None:
        return f"{spent}; there is no estimate to compare it with."
    share = f", {format_signed_percent(cost.difference_share)}" if cost.difference_share is not None else ""
    difference = f" (difference {usd(cost.difference_usd)}{share})" if cost.difference_usd is not None else ""
    return (
        f"{spent}; an estimate says {usd(expected.expected)}, from {usd(expected.low)} to {usd(expected.high)}"
        f"{difference}, at prices of {cost.price_list}."
    )


def _incomplete_text(cost: ReportCostResponse) -> str:
    return f"Spent at least {usd(cost.priced_usd)}" if cost.priced_usd else "What was spent is unknown"


def breakdown_tables(content: ReportContentResponse) -> Iterator[tuple[str, ReportTable]]:
    for breakdown in content.breakdowns:
        rows = (
            (NONE if group.value is None else group.value, number(group.scenarios), *map(share_text, group.pass_rates))
            for group in breakdown.groups
        )
        header = (breakdown.by, "scenarios", *(column.name for column in content.columns))
        yield breakdown.by, ReportTable(header, tuple(rows))


def difference_table(content: ReportContentResponse) -> ReportTable:
    rows = (
        (
            f"{each.first} less {each.second}",
            number(each.scenarios),
            _difference(each.metric)(each.difference),
            format_interval(each.interval, _difference(each.metric)) or NONE,
            format_p(each.adjusted_p),
            _ratio(each.cost_ratio, each.scenarios),
            _ratio(each.time_ratio, each.scenarios),
        )
        for each in content.differences
    )
    header = ("targets", "scenarios", "difference", "95% interval", "adjusted p", "cost", "time of calls")
    return ReportTable(header, tuple(rows))


def _ratio(ratio: ReportRatioResponse, scenarios: int) -> str:
    """Return `+20.0% (+10.0% to +30.9%), adjusted p 0.003, n = 5`, as far as it is known.

    The number of scenarios is included only if the difference has another.
    """
    if ratio.ratio is None:
        return NONE
    bounds = format_ratio_interval(ratio.interval)
    parts = [f"{format_ratio(ratio.ratio)}{f' ({bounds})' if bounds else ''}"]
    if ratio.adjusted_p is not None:
        parts.append(f"adjusted p {format_p(ratio.adjusted_p)}")
    if ratio.scenarios != scenarios:
        parts.append(f"n = {number(ratio.scenarios)}")
    return ", ".join(parts)


def _difference(metric: Metric) -> Callable[[float | None], str]:
    return format_points if metric.is_rate else format_difference


def scenario_table(content: ReportContentResponse) -> ReportTable:
    rows = (
        (
            each.scenario_name,
            *(f"{cell.passed:,} of {cell.judged:,}" if cell.judged else NONE for cell in each.cells),
        )
        for each in content.failed_scenarios
    )
    return ReportTable(("passed of judged", *(column.name for column in content.columns)), tuple(rows))


def conversation_title(name: str | None, persona: str | None, fallback: str) -> str:
    return f"{name or fallback}{f' ({persona})' if persona else ''}"


def conversation_table(content: ReportContentResponse, limit: int) -> ReportTable:
    columns = {(each.target_id, each.prompt_id): each.name for each in content.columns}
    rows = (
        (
            conversation_title(each.scenario_name, each.persona_name, each.scenario_id),
            columns.get((each.target_id, each.prompt_id), each.target_id),
            ", ".join(name for name, passed in each.assertion_results.items() if passed is False),
            ", ".join(each.failure_tags),
            each.conversation_id,
        )
        for each in failed_conversations(content)[:limit]
    )
    return ReportTable(("scenario", "target", "failed", "failure tags", "conversation"), tuple(rows))


def failed_conversations(content: ReportContentResponse) -> list[ReportConversationResponse]:
    return [each for each in content.conversations if each.success is False]


def failure_table(content: ReportContentResponse) -> ReportTable:
    rows = (
        (mode.tag, number(mode.count), percent(mode.share), ", ".join(map(_short_id, mode.sample_conversation_ids)))
        for mode in content.top_failure_modes
    )
    return ReportTable(("failure mode", "conversations", "share of completed", "samples"), tuple(rows))


def _short_id(conversation_id: str) -> str:
    return f"…-{conversation_id.rpartition('-')[2]}"


def check_table(content: ReportContentResponse) -> ReportTable:
    rows = (
        (each.name, number(each.passed), number(each.failed), number(each.errors), _rate(each.pass_rate, each.interval))
        for each in content.judge_stats
    )
    return ReportTable(("assertion", "passed", "failed", "not computed", "pass rate (95% interval)"), tuple(rows))


def agreement_table(content: ReportContentResponse) -> ReportTable:
    rows = (
        (
            f"{each.first} and {each.second}",
            number(each.conversations),
            percent(each.agreement),
            decimal(each.kappa),
            format_interval(each.kappa_interval, decimal) or NONE,
            decimal(each.alpha),
            each.note or "",
        )
        for each in content.grader_agreement
    )
    header = ("graders", "conversations", "agreement", "kappa", "95% interval", "alpha", "note")
    return ReportTable(header, tuple(rows))


def _rate(share: float | None, interval: Sequence[float] | None) -> str:
    return with_interval(share, interval, percent)


def _mean(quantiles: QuantilesResponse | None) -> float | None:
    return quantiles.mean if quantiles else None


def _p95(quantiles: QuantilesResponse | None) -> float | None:
    return quantiles.p95 if quantiles else None
