"""Terminal output for analyses."""

from collections.abc import Callable, Iterator

from cupel.json_types import Json
from cupel_core.domain.text.figures import format_decimal, format_percent, format_points_apart

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
"""What the result table or the list of contested scenarios says already."""
BELOW_RESULTS = frozenset({"sample", "extrapolation"})
"""What stands below a result table."""


def analysis_lines(
    analysis: Json, contested: int = MAX_CONTESTED, without: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yield what an analysis says, a line each, with a label in front.

    `without` are kinds of findings and codes of cautions to leave out.
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
    """The scenarios that the targets answer most differently."""
    is_decision = figures["metric"] == "DECISION"
    for each in figures["contested"][:count]:
        if each["variance"] > 0:
            points = f"{format_decimal(each['range'])} points" if is_decision else format_points_apart(each["range"])
            yield labeled("contested", f"{each['scenarioName']}: the targets are {points} apart{_noise(each)}")


def _noise(contested: Json) -> str:
    """How much of the targets' variance in a scenario is noise."""
    noise = contested["noise"]
    if noise is None:
        return " (without repeats, it is unknown how much of it is noise)"
    share = min(1.0, noise / contested["variance"])
    return f" ({format_percent(share)} of their variance is noise of the repeats)"


def scenario_lines(
    scenarios: list[Json], columns: list[str], format_mean: Callable[[float | None], str]
) -> Iterator[str]:
    """A line per scenario with the mean of each target."""
    for scenario in scenarios:
        means = ", ".join(f"{columns[cell['column']]} {format_mean(cell_mean(cell))}" for cell in scenario["cells"])
        yield labeled("scenario", f"{scenario['scenarioName']}: {means}")


def cell_mean(cell: Json) -> float | None:
    """Its mean decision; its pass rate if nothing was decided."""
    if cell["meanDecision"] is not None or not cell["judged"]:
        mean: float | None = cell["meanDecision"]
        return mean
    return float(cell["passed"]) / float(cell["judged"])


def labeled(label: str, text: str) -> str:
    return f"{label:<10} {text}"
