"""Terminal output for runs of a sample of the scenarios: what they say about all of them."""

from collections.abc import Iterator, Sequence

from cupel.json_types import Json
from cupel.results import ModelResults
from cupel_core.domain.analysis.extrapolation import RunSample, extrapolation_text
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.statistics import Interval

_FIELDS = {Metric.DECISION: "decision", Metric.PASS_RATE: "passRate"}


def sample_lines(sample: Json, results: Sequence[ModelResults], expand: str | None) -> Iterator[str]:
    """Nothing for a run that is no sample. `expand` is the command that adds the other scenarios, if there is one."""
    read = _read(sample)
    if read.note is None:
        return
    expansion = read.expansion and (f"{read.expansion.removesuffix('.')}: {expand}" if expand else read.expansion)
    yield f"{read.note} {expansion or ''}".rstrip()
    metric = Metric.DECISION if any(each.decisions.decided for each in results) else Metric.PASS_RATE
    named = [(each.name, interval) for each in results if (interval := _interval(each, metric))]
    if named:
        yield extrapolation_text(read, metric, named)


def _read(sample: Json) -> RunSample:
    scenarios, total, seed = sample["scenarios"], sample["total"], sample["seed"]
    return RunSample(scenarios, total, seed, sample["probesToAdd"], sample["isDrawn"])


def _interval(results: ModelResults, metric: Metric) -> Interval | None:
    """None while probes are missing, and for few scenarios."""
    extrapolated = (results.extrapolated or {}).get(_FIELDS[metric]) or {}
    bounds = extrapolated.get("interval95")
    return Interval(*bounds) if bounds else None
