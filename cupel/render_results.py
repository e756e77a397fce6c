from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from rich.table import Table

from cupel.counts import count_of
from cupel.json_types import Json
from cupel.markup import escape
from cupel.render import format_duration
from cupel.results import ModelResults
from cupel.tables import fits, table
from cupel.terminal import NO_VALUE, shorten
from cupel.unscored_answers import ErrorReason, UnscoredReason
from cupel_core.domain.analysis.cautions import CautionCode
from cupel_core.domain.conversations.model_request import RequestParameter
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.runs.role_costs import ROLES
from cupel_core.domain.scoring.left_out_checks import left_out_message
from cupel_core.domain.scoring.rescores import RESCORABLE
from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.domain.statistics import DECISION_CODES, MIN_SCENARIOS, OTHER, Interval
from cupel_core.domain.text.figures import format_decimal, format_percent, format_usd, with_interval

_BARS = "▁▂▃▄▅▆▇█"
_OMISSION = "{} was left out (refused by the model, or unknown to its provider)"
_OMISSIONS: dict[str, str] = {
    RequestParameter.JSON_SCHEMA: "{} was left out (refused by the model), and the prompt asked for JSON instead,",
    RequestParameter.SYSTEM_ROLE: "{} was left out (refused by the model), and is part of the first message,",
    RequestParameter.PERSONA_HEADERS: "{} were left out (made for other connectors)",
}


class ResultColumn(NamedTuple):
    heading: str
    cell: Callable[[ModelResults], str]
    right: bool = True


def results_tables(results: Sequence[ModelResults], width: int | None) -> list[Table]:
    """Return one table with a row per model, or two if it exceeds the width. None is a pipe, where any table fits."""
    decided, judged = _has_decisions(results), any(model.pass_rate for model in results)
    labelled = any(model.judge_accuracy for model in results)
    rates = [*([_PASS_RATE] * judged), *([_CORRECTED_RATE] * labelled)]
    decisions = [*(_DECISIONS * decided), *rates, *(_DISTRIBUTION * decided)]
    usage = [*_USAGE, *cost_columns(results)]
    single = _results_table(results, [*_OUTCOMES, *decisions, *usage])
    if fits(single, width):
        return [single]
    return [_results_table(results, [*_OUTCOMES, *usage]), _results_table(results, decisions)]


def cost_columns(results: Sequence[ModelResults]) -> Iterator[ResultColumn]:
    called = {cost.role for model in results for cost in model.costs} | {ModelRole.TARGET}
    if called == {ModelRole.TARGET}:
        return iter([ResultColumn("cost", partial(_cost_of, role=ModelRole.TARGET))])
    names = ((role, name) for role, name in ROLES.items() if role in called)
    return (ResultColumn(f"{name} cost", partial(_cost_of, role=role)) for role, name in names)


def _cost_of(model: ModelResults, role: ModelRole) -> str:
    found = next((cost.cost_usd for cost in model.costs if cost.role is role), 0.0 if model.costs else None)
    return format_usd(found)


def _results_table(results: Sequence[ModelResults], columns: Sequence[ResultColumn]) -> Table:
    headings = [column.heading for column in columns]
    rows = table("target", *headings, right=[column.heading for column in columns if column.right])
    for model in results:
        rows.add_row(escape(model.name), *(column.cell(model) for column in columns))
    return rows


def results_legend(results: Sequence[ModelResults]) -> list[str]:
    lines = list(_decision_legend(results))
    if any(model.pass_rate for model in results):
        lines.append(
            "pass rate: mean over scenarios of the share that passed, with the interval for scenarios like these"
        )
    lines += _rate_notes(results)
    lines += _judge_notes(results)
    for model in results:
        if model.unscored:
            lines.append(
                f"{model.name}: {model.unscored:,} could not be scored and count neither as passed nor as failed"
            )
            lines += [f"{model.name}: {unscored_line(each)}" for each in model.unscored_reasons]
        if model.partly_checked:
            missing = left_out_message(model.partly_checked, model.completed, model.left_out_checks)
            lines.append(f"caution: {model.name}: {missing}")
        if model.cut_answers:
            verb = "was" if model.cut_answers == 1 else "were"
            lines.append(f"{model.name}: {count_of(model.cut_answers, 'answer')} {verb} cut by the token limit")
        lines += [
            f"{model.name}: {_OMISSIONS.get(name, _OMISSION).format(name)} in {count:,} of "
            f"{count_of(model.completed, 'answer')}"
            for name, count in model.omitted_parameters
        ]
        if model.uncertain_usd:
            lines.append(
                f"{model.name}: calls without an answer may have cost {format_usd(model.uncertain_usd)} in addition"
            )
        lines += [f"{model.name}: {errored_line(reason)}" for reason in model.reasons]
    simulated = [model.name for model in results if model.simulated]
    if simulated:
        lines.append(f"simulated, no real model was called: {', '.join(simulated)}")
    return lines


def cautions_of_legend(results: Sequence[ModelResults]) -> frozenset[str]:
    """Return the codes of an analysis' cautions that the legend of these results already contains."""
    codes: set[CautionCode] = set()
    if _fewest_scenarios(results) < MIN_SCENARIOS:
        codes |= {CautionCode.ONE_SCENARIO, CautionCode.FEW_SCENARIOS}
    if any(model.partly_checked for model in results):
        codes.add(CautionCode.LEFT_OUT_CHECKS)
    return frozenset(codes)


def _fewest_scenarios(results: Sequence[ModelResults]) -> int:
    """Return the smallest number of scenarios behind a pass rate; MIN_SCENARIOS without a pass rate."""
    return min((model.pass_rate.scenarios for model in results if model.pass_rate), default=MIN_SCENARIOS)


def _rate_notes(results: Sequence[ModelResults]) -> Iterator[str]:
    rates = [(model.name, model.pass_rate) for model in results if model.pass_rate]
    fewest = _fewest_scenarios(results)
    if fewest < MIN_SCENARIOS:
        yield (
            f"caution: {count_of(fewest, 'scenario')}: the interval of a pass rate holds for exactly these, "
            "and says nothing about other scenarios"
        )
    for name, rate in rates:
        if rate.bounds is not None:
            low, high = map(format_percent, rate.bounds)
            bounds = f"{low} if all errored conversations had failed, and {high} if they had passed"
            yield f"{name}: the pass rate is {bounds}"


def _judge_notes(results: Sequence[ModelResults]) -> Iterator[str]:
    labelled = [(model.name, model.judge_accuracy) for model in results if model.judge_accuracy]
    if labelled:
        yield "corrected: the pass rate without the judge's errors, as far as people's labels show them"
    elif any(model.is_judged and model.pass_rate for model in results):
        yield "uncalibrated judge: no labels of people say how often it is wrong"
    for name, accuracy in labelled:
        kappa = "no κ" if accuracy.kappa is None else f"κ {format_decimal(accuracy.kappa)}"
        why = f"; not corrected: {accuracy.corrected['message']}" if accuracy.corrected["message"] else ""
        yield f"{name}: judge: {kappa} from {count_of(accuracy.labels, 'label')}{why}"


def errored_line(reason: ErrorReason) -> str:
    repeated = "" if reason.retry_helps else " (a retry ends with the same error)"
    return f"{reason.count:,} errored with {reason.code}: {shorten(reason.example, 100)}{repeated}"


def unscored_line(reason: UnscoredReason) -> str:
    example = f": {shorten(reason.example, 200)}" if reason.example else ""
    return f"{reason.count:,} not scored, {reason.name}{example}"


def repair_of_run(run: Json, models: Iterable[ModelResults]) -> str | None:
    """Return `rescore_hint` for a run that is over, or else None, because no other run can be rescored."""
    if run["status"] not in RESCORABLE:
        return None
    return rescore_hint(run["id"], (reason for model in models for reason in model.unscored_reasons))


def rescore_hint(run_id: str, reasons: Iterable[UnscoredReason]) -> str | None:
    """Return the command that scores answers whose judge gave no verdict; None if there are no such answers.

    It does not call the targets. A judge whose reply is unusable, or that declines, is better replaced; a failed call
    can be repeated.
    """
    of_judges = [reason for reason in reasons if reason.is_judges]
    if not of_judges:
        return None
    repeated = all(reason.code in (UnscoredCode.JUDGE_FAILED, UnscoredCode.BUDGET) for reason in of_judges)
    other = "[--judge-model PROVIDER/NAME]" if repeated else "--judge-model PROVIDER/NAME"
    return f"cupel rescore {run_id} {other} --watch"


def _has_decisions(results: Sequence[ModelResults]) -> bool:
    return any(model.decisions.decided for model in results)


def _decision_legend(results: Sequence[ModelResults]) -> Iterator[str]:
    if not _has_decisions(results):
        if ruled := sum(model.decisions.ruled for model in results):
            yield f"warning: no decision could be read from {count_of(ruled, 'answer')}; check the decision's rule"
        return
    yield "mean, s.d.: of decisions 1-5; ±: half of the 95% interval of the mean, clustered by scenario"
    for model in results:
        if model.decisions.ruled and not model.decisions.decided:
            yield f"{model.name}: no decision could be read from its {count_of(model.decisions.ruled, 'answer')}"


def bar_chart(counts: Sequence[int]) -> str:
    largest = max(counts, default=0)
    return " ".join(_BARS[(count * len(_BARS) - 1) // largest] if count else "·" for count in counts)


def _with_half(value: float | None, interval: Interval | None) -> str:
    half = None if interval is None else (interval.high - interval.low) / 2
    return format_decimal(value) if half is None else f"{format_decimal(value)} ± {format_decimal(half)}"


def _errored(model: ModelResults) -> str:
    return f"[red]{model.errored:,}[/red]" if model.errored else "0"


def _pass_rate(model: ModelResults) -> str:
    if model.pass_rate is None:
        return NO_VALUE
    rate = model.pass_rate
    return with_interval(rate.share, rate.interval, format_percent)


def _corrected_rate(model: ModelResults) -> str:
    if model.judge_accuracy is None:
        return NO_VALUE
    corrected = model.judge_accuracy.corrected
    return with_interval(corrected["rate"], corrected["interval95"], format_percent)


def _bars(model: ModelResults) -> str:
    return bar_chart([model.decisions.count(code) for code in DECISION_CODES])


_OUTCOMES = (
    ResultColumn("conversations", lambda model: f"{model.probes:,}"),
    ResultColumn("completed", lambda model: f"{model.completed:,}"),
    ResultColumn("errored", _errored),
)
_DECISIONS = (
    ResultColumn("mean ± 95%", lambda model: _with_half(model.decisions.mean, model.decisions.interval)),
    ResultColumn("s.d.", lambda model: format_decimal(model.decisions.sd)),
)
_PASS_RATE = ResultColumn("pass rate (95%)", _pass_rate)
_CORRECTED_RATE = ResultColumn("corrected (95%)", _corrected_rate)
_DISTRIBUTION = (
    ResultColumn("1 2 3 4 5", _bars, right=False),
    ResultColumn(OTHER, lambda model: f"{model.decisions.count(OTHER):,}"),
)
_USAGE = (
    ResultColumn("tokens", lambda model: f"{model.tokens:,}"),
    ResultColumn("median time", lambda model: format_duration(model.median_duration_ms)),
)
