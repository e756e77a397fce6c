"""What the results of a run come to, for each scenario and model and for each model, computed as they pass by."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from cupel_core.domain.statistics import Cluster, Interval, Proportion, mean, pass_at_k, pass_hat_k


class Scored(NamedTuple):
    """One transcript's result. Those of one case, and the cases of one scenario, come one after the other."""

    probe_index: int
    case: int
    """A scenario with one of its personas, or with none."""
    model_id: str
    scenario_id: str
    success: bool | None
    """None when nothing was judged, or it could not be."""
    score: float | None = None
    metrics: Mapping[str, float] = {}
    tags: Sequence[str] = ()


@dataclass(frozen=True)
class ScenarioScores:
    """Of one scenario with one model. pass@k and pass^k are means over its cases that have at least k results."""

    scenario_id: str
    model_id: str
    judged: int
    successes: int
    unscored: int
    mean: float | None
    standard_error: float | None
    pass_at_k: float | None
    pass_hat_k: float | None
    first_index: int
    """Of the probes that it is computed from."""


@dataclass(frozen=True)
class ModelScores:
    """`mean` is the share of successes; its error is clustered by scenario, because repeats of one go together."""

    model_id: str
    judged: int
    successes: int
    unscored: int
    mean: float | None
    standard_error: float | None
    interval: Interval | None
    mean_score: float | None
    pass_at_k: float | None
    pass_hat_k: float | None
    metrics: Mapping[str, float]
    tags: Mapping[str, int]


def scenario_scores(results: Iterable[Scored], k: int) -> Iterator[ScenarioScores]:
    """In the order of the results."""
    for (model_id, scenario_id), group in groupby(results, key=lambda each: (each.model_id, each.scenario_id)):
        yield _scenario(model_id, scenario_id, list(group), k)


def _scenario(model_id: str, scenario_id: str, results: list[Scored], k: int) -> ScenarioScores:
    # Within one scenario each result is a trial of its own.
    trials = Proportion()
    for each in results:
        if each.success is not None:
            trials.add(Cluster(1, int(each.success)))
    cases = [_cluster(group) for _, group in groupby(results, key=lambda each: each.case)]
    return ScenarioScores(
        scenario_id=scenario_id,
        model_id=model_id,
        judged=trials.trials,
        successes=trials.successes,
        unscored=len(results) - trials.trials,
        mean=trials.mean,
        standard_error=trials.standard_error,
        pass_at_k=_mean_of(pass_at_k(*case, k) for case in cases),
        pass_hat_k=_mean_of(pass_hat_k(*case, k) for case in cases),
        first_index=results[0].probe_index,
    )


def _cluster(results: Iterable[Scored]) -> Cluster:
    judged = [each.success for each in results if each.success is not None]
    return Cluster(len(judged), sum(judged))


def _mean_of(values: Iterable[float | None]) -> float | None:
    return mean([value for value in values if value is not None])


@dataclass
class _Mean:
    total: float = 0.0
    count: int = 0

    def add(self, value: float | None) -> None:
        if value is not None:
            self.total += value
            self.count += 1

    @property
    def value(self) -> float | None:
        return self.total / self.count if self.count else None


@dataclass
class _Sums:
    """What is kept of a model while its results pass by: as much for a million as for one."""

    share: Proportion = field(default_factory=Proportion)
    unscored: int = 0
    score: _Mean = field(default_factory=_Mean)
    at_k: _Mean = field(default_factory=_Mean)
    hat_k: _Mean = field(default_factory=_Mean)
    metrics: dict[str, _Mean] = field(default_factory=dict)
    tags: Counter[str] = field(default_factory=Counter)

    def notice(self, result: Scored) -> Scored:
        self.tags.update(result.tags)
        for name, value in result.metrics.items():
            self.metrics.setdefault(name, _Mean()).add(value)
        if result.success is not None:
            self.score.add(result.score)
        return result

    def add(self, scenario: ScenarioScores) -> None:
        self.share.add(Cluster(scenario.judged, scenario.successes))
        self.unscored += scenario.unscored
        self.at_k.add(scenario.pass_at_k)
        self.hat_k.add(scenario.pass_hat_k)


def model_scores(model_id: str, results: Iterable[Scored], k: int) -> ModelScores:
    """Of one model's results. pass@k and pass^k are means over the scenarios that have them (Chen et al. 2021)."""
    sums = _Sums()
    for scenario in scenario_scores(map(sums.notice, results), k):
        sums.add(scenario)
    share = sums.share
    return ModelScores(
        model_id=model_id,
        judged=share.trials,
        successes=share.successes,
        unscored=sums.unscored,
        mean=share.mean,
        standard_error=share.standard_error,
        interval=share.interval,
        mean_score=sums.score.value,
        pass_at_k=sums.at_k.value,
        pass_hat_k=sums.hat_k.value,
        metrics={name: each.value for name, each in sorted(sums.metrics.items()) if each.value is not None},
        tags=dict(sums.tags.most_common()),
    )
