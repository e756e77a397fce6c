from collections.abc import Callable, Iterator, Sequence

from rich.table import Table

from cupel.counts import count_of
from cupel.json_types import Json
from cupel.markup import escape
from cupel.render import column_title
from cupel.tables import table
from cupel.terminal import NO_VALUE
from cupel_core.domain.analysis.breakdowns import PERSONA
from cupel_core.domain.analysis.crossed import MIN_PERSONAS
from cupel_core.domain.analysis.insight_texts import format_p
from cupel_core.domain.analysis.narratives import UNAVAILABLE
from cupel_core.domain.text.figures import (
    format_decimal,
    format_difference,
    format_interval,
    format_percent,
    format_points_apart,
    format_usd,
    with_interval,
)

MAX_CONTESTED = 3
_LABELS = {
    "sample": "sample",
    "extrapolation": "sample",
    "agreement": "agreement",
    "outlier": "outlier",
    "dimension": "dimension",
    "noEffect": "dimension",
    "trend": "trend",
    "other": "answers",
    "errors": "errors",
}
_IN_TABLE = frozenset({"extremes", "contested"})
"""The result table and the list of contested scenarios already contain these."""
BELOW_RESULTS = frozenset({"sample", "extrapolation"})
"""Kinds of insights that are printed below a result table."""
_MAX_COORDINATES = 10
_MAX_SCENARIOS = 3
_MIN_CORRELATION = 0.3
_LEVEL = 0.05


def analysis_lines(
    analysis: Json, contested: int = MAX_CONTESTED, without: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yield the findings of an analysis, one line each, with a label in front.

    `without` has the kinds of findings and the codes of cautions to leave out.
    """
    if analysis["failure"] is not None:
        yield labeled("analysis", f"failed in {analysis['failure']['where']}: {analysis['failure']['why']}")
    if analysis["isStale"]:
        yield labeled("stale", STALE.get(analysis["staleReason"], str(analysis["staleReason"])))
    figures = analysis["figures"]
    if figures is None:
        return
    for insight in figures["insights"]:
        if insight["kind"] not in _IN_TABLE | without:
            yield labeled(_LABELS.get(insight["kind"], insight["kind"]), insight["text"])
    yield from contested_lines(figures, contested)
    for caution in figures["cautions"]:
        if caution["code"] not in without:
            yield labeled("caution", caution["text"])


STALE = {
    "inputs": "outcomes have changed since this analysis; cupel analyze computes it again",
    "algorithm": "another build of Cupel computed this analysis; cupel analyze computes it again",
    "requested": "this analysis is being computed again; cupel analyze waits for it",
}


def contested_lines(figures: Json, count: int) -> Iterator[str]:
    is_decision = figures["metric"] == "DECISION"
    for each in figures["contested"][:count]:
        if each["variance"] > 0:
            points = f"{format_decimal(each['range'])} points" if is_decision else format_points_apart(each["range"])
            yield labeled("contested", f"{each['scenarioName']}: the targets are {points} apart{_noise(each)}")


def _noise(contested: Json) -> str:
    noise = contested["noise"]
    if noise is None:
        return " (without repeats, it is unknown how much of it is noise)"
    share = min(1.0, noise / contested["variance"])
    return f" ({format_percent(share)} of their variance is noise of the repeats)"


def scenario_lines(
    scenarios: list[Json], columns: list[str], format_mean: Callable[[float | None], str]
) -> Iterator[str]:
    for scenario in scenarios:
        means = ", ".join(f"{columns[cell['column']]} {format_mean(cell_mean(cell))}" for cell in scenario["cells"])
        yield labeled("scenario", f"{scenario['scenarioName']}: {means}")


def cell_mean(cell: Json) -> float | None:
    if cell["meanDecision"] is not None or not cell["judged"]:
        mean: float | None = cell["meanDecision"]
        return mean
    return float(cell["passed"]) / float(cell["judged"])


def labeled(label: str, text: str) -> str:
    return f"{label:<10} {text}"


def breakdown_table(by: str, groups: Sequence[Json]) -> Table:
    estimates = [column["estimate"] for group in groups for column in group["columns"]]
    has_verdicts = any(each["passRate"]["trials"] for each in estimates)
    has_decisions = any(each["distribution"] for each in estimates)
    figures = ["scenarios", "conversations", "errored"]
    figures += ["judged", "pass rate (95%)"] * has_verdicts + ["mean decision (95%)"] * has_decisions
    rows = table(by, "target", *figures, right=figures, texts=[by])
    for group in groups:
        for column in group["columns"]:
            rows.add_row(
                NO_VALUE if group["value"] is None else escape(group["value"]),
                escape(column_title(column)),
                f"{group['scenarios']:,}",
                *_cells(column["estimate"], has_verdicts=has_verdicts, has_decisions=has_decisions),
            )
    return rows


def _persona_lines(breakdown: Json) -> Iterator[str]:
    if breakdown["by"] != PERSONA:
        return
    yield (
        "all intervals are for exactly these personas; for scenarios and personas like these:"
        if breakdown["forPersonas"]
        else f"all intervals are for exactly these personas; for others, at least {MIN_PERSONAS} are needed"
    )
    for column in breakdown["forPersonas"]:
        rate = format_interval(column["passRateInterval95"], format_percent)
        decision = format_interval(column["decisionInterval95"], format_decimal)
        figures = [f"pass rate {rate}"] * bool(rate) + [f"mean decision {decision}"] * bool(decision)
        none = "no interval, because too few have results, or all are equal"
        yield f"  {column_title(column)}: {', '.join(figures) or none}"


def _cells(estimate: Json, *, has_verdicts: bool, has_decisions: bool) -> Iterator[str]:
    passes, decision = estimate["passRate"], estimate["decision"]
    yield f"{estimate['completed'] + estimate['errored']:,}"
    yield f"{estimate['errored']:,}"
    if has_verdicts:
        yield f"{passes['trials']:,}"
        yield with_interval(passes["share"], passes["interval95"], format_percent)
    if has_decisions:
        yield with_interval(decision["mean"], decision["interval95"], format_decimal)


def breakdown_legend(breakdown: Json) -> list[str]:
    by, groups = breakdown["by"], breakdown["groups"]
    lines = ["95%: confidence interval for scenarios like these; for exactly these in groups of fewer than five"]
    lines += _persona_lines(breakdown)
    if any(group["value"] is None for group in groups):
        lines.append(f"{NO_VALUE}: conversations without a value of {by}")
    others = [f"--by {field['name']} ({field['values']:,})" for field in breakdown["fields"] if field["name"] != by]
    return [*lines, f"also: {', '.join(others)}"] if others else lines


def deep_analysis_lines(analysis: Json, names: Sequence[str]) -> Iterator[str]:
    if analysis["failure"] is not None:
        yield labeled("analysis", f"failed in {analysis['failure']['where']}: {analysis['failure']['why']}")
    if analysis["isStale"]:
        yield labeled("stale", STALE[analysis["staleReason"]])
    figures = analysis["figures"]
    if figures is None:
        return
    yield labeled("in short", figures["narrative"]["headline"])
    yield from _narrative(figures["narrative"])
    yield from _components(figures["components"], names)
    yield from _outliers(figures, names)
    yield from _equality(figures["effects"])
    yield from _interactions(figures["interactions"], names)
    yield from _variance(figures["variance"])
    for each in figures["unavailable"]:
        yield labeled("missing", f"{_PARTS[each['part']]}: {each['reason']}")
    for caution in figures["cautions"]:
        about = ", ".join(names[column] for column in caution["columns"])
        yield labeled("caution", f"{caution['text']}: {about}" if about else caution["text"])
    for step in figures["narrative"]["nextSteps"]:
        yield labeled("next", step)


_PARTS = {
    "components": "components",
    "outlierTargets": "outlier targets",
    "outlierScenarios": "outlier scenarios",
    "design": "correlations of dimensions",
    "effects": "effects of dimensions",
    "interactions": "interactions of dimensions",
    "variance": "shares of variance",
}


def _narrative(narrative: Json) -> Iterator[str]:
    if narrative["model"] is None:
        return
    if narrative["error"] is not None:
        yield labeled("caution", f"{narrative['model']} wrote no narrative: {narrative['error']}")
    else:
        for finding in narrative["findings"]:
            if finding["text"] != UNAVAILABLE:
                yield labeled("finding", finding["text"])
    cost = narrative["costUsd"]
    charged = "" if cost is None else f", {format_usd(cost)}"
    yield labeled("written by", f"{narrative['model']} ({count_of(narrative['calls'], 'call')}{charged})")


def slopes_table(figures: Json, names: Sequence[str]) -> Table | None:
    """Return a row per target with the effect of a step of each dimension, other things equal, or None without
    effects."""
    effects = figures["effects"]
    if effects is None:
        return None
    dimensions = [escape(name) for name in effects["dimensions"]]
    columns = table("change per step", *dimensions, "R²", right=[*dimensions, "R²"])
    columns.caption, columns.caption_justify = "* adjusted p below 0.05, ** 0.01, *** 0.001", "left"
    for regression in effects["regressions"]:
        r_squared = regression["rSquared"]
        columns.add_row(
            escape(names[regression["column"]]),
            *(_slope(slope) for slope in regression["slopes"]),
            format_decimal(r_squared),
        )
    return columns


def _slope(slope: Json) -> str:
    """Add the stars of its adjusted p: below 0.05, 0.01 and 0.001."""
    p = slope["adjustedP"]
    stars = "" if p is None else "*" * sum(p < level for level in (0.05, 0.01, 0.001))
    return f"{format_difference(slope['perStep'])}{stars}"


def _components(found: Json | None, names: Sequence[str]) -> Iterator[str]:
    if found is None:
        return
    if not found["aboveChance"]:
        yield labeled("component", "the targets do not differ in any direction more than chance explains")
    for number, each in enumerate(found["components"][: found["aboveChance"]], start=1):
        placed = sorted(zip(each["coordinates"], found["columns"], strict=True))
        shown = placed if len(placed) <= _MAX_COORDINATES else [*placed[:5], *placed[-5:]]
        places = ", ".join(f"{names[column]} {format_difference(value)}" for value, column in shown)
        yield labeled(
            "component",
            f"{number} explains {format_percent(each['explainedShare'])} of the differences between targets: {places}",
        )
        related = [
            f"{dimension['dimension']} (r {format_difference(dimension['correlation'])})"
            for dimension in each["dimensions"]
            if abs(dimension["correlation"] or 0.0) >= _MIN_CORRELATION
        ]
        if related:
            yield labeled("", f"its scenarios correlate with {', '.join(related)}")


def _outliers(figures: Json, names: Sequence[str]) -> Iterator[str]:
    for each in (figures["outlierTargets"] or {"targets": ()})["targets"]:
        if each["isOutlier"]:
            yield labeled(
                "outlier", f"{names[each['column']]} answers unlike the others ({', '.join(each['indicators'])})"
            )
    for each in (figures["outlierScenarios"] or {"scenarios": ()})["scenarios"][:_MAX_SCENARIOS]:
        means = ", ".join(format_decimal(value) for value in each["means"][:_MAX_COORDINATES])
        yield labeled("unusual", f"{each['scenarioName']}: {means} (score {format_decimal(each['score'])})")


def _equality(effects: Json | None) -> Iterator[str]:
    dividing = [
        each
        for each in (effects or {"equality": ()})["equality"]
        if each["adjustedP"] is not None and each["adjustedP"] < _LEVEL
    ]
    for each in dividing:
        p = format_p(each["adjustedP"])
        yield labeled(
            "divides", f"{each['dimension']} changes the answers of some targets more than those of others ({p})"
        )


def _interactions(found: Json | None, names: Sequence[str]) -> Iterator[str]:
    for each in (found or {"largest": ()})["largest"]:
        if each["adjustedP"] is not None and each["adjustedP"] < _LEVEL:
            yield labeled(
                "interacts",
                f"{each['first']} × {each['second']} for {names[each['column']]}: "
                f"{format_difference(each['coefficient'])} "
                f"({format_p(each['adjustedP'])}, explains {format_percent(each['rSquaredGain'])} more)",
            )


def _variance(found: Json | None) -> Iterator[str]:
    if found is None:
        return
    repeats = "" if found["repeat"] is None else f", {format_percent(found['repeat'])} between repeats"
    yield labeled(
        "variance",
        f"{format_percent(found['target'])} between targets, {format_percent(found['scenario'])} between scenarios, "
        f"{format_percent(found['targetByScenario'])} targets reacting differently to scenarios{repeats}",
    )
