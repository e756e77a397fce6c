"""Terminal output for deep analyses."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from cupel.counts import count_of
from cupel.json_types import Json
from cupel.markup import escape
from cupel.render_analysis import STALE, labeled
from cupel.tables import table
from cupel_core.domain.analysis.insight_texts import format_p
from cupel_core.domain.analysis.narratives import UNAVAILABLE
from cupel_core.domain.text.figures import format_decimal, format_difference, format_percent, format_usd

_MAX_COORDINATES = 10
_MAX_SCENARIOS = 3
_MIN_CORRELATION = 0.3
_LEVEL = 0.05


def deep_analysis_lines(analysis: Json, names: Sequence[str]) -> Iterator[str]:
    """What a deep analysis says, one line each, with a label in front. `names` are those of the columns."""
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
    """What a model wrote; the findings of rules say the same as the lines below."""
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
    """A row per target: what a step of each dimension changes, all others being equal; None without effects."""
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
    """With the stars of its adjusted p: below 0.05, 0.01 and 0.001."""
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
            yield labeled("", f"its scenarios go with {', '.join(related)}")


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
        yield labeled("divides", f"{each['dimension']} moves the targets differently ({p})")


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
