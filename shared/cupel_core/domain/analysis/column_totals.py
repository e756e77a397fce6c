"""Sums the outcomes of one column in ways that its cells do not have.

All sums are of integers (fractions in billionths), so they do not depend on the order or the division of outcomes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.counted_outcomes import CountedCost, CountedOutcome
from cupel_core.domain.analysis.histograms import Histogram
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.spend import ModelCalls
from cupel_core.domain.runs.role_costs import RoleCost, role_costs
from cupel_core.domain.scoring.unscored import UnscoredCause

_NANO = 10**9
MAX_NAMES = 1_000
"""A column counts at most this many metrics, tags or model versions, so that a count file stays small."""
MAX_CAUSES = 10
"""A column shows at most this many causes of unscored answers; `unscored` also counts the others."""
HISTOGRAMS = ("durations_ms", "turns", "input_tokens", "output_tokens", "tokens", "turn_durations_ms")
"""Each counts conversations, except the last, which counts single answers."""
COST_KINDS = ("target", "judge", "persona", "summary", "operation")


class CheckCount(NamedTuple):
    passed: int = 0
    failed: int = 0
    errors: int = 0

    def plus(self, other: "CheckCount") -> "CheckCount":
        return CheckCount(*(mine + its for mine, its in zip(self, other, strict=True)))

    @classmethod
    def of(cls, passed: bool | None) -> "CheckCount":
        return cls(errors=1) if passed is None else cls(int(passed), int(not passed))


@dataclass
class Total:
    nano: int = 0
    count: int = 0

    def add(self, value: float) -> None:
        self.nano += round(value * _NANO)
        self.count += 1

    def merge(self, other: "Total") -> None:
        self.nano += other.nano
        self.count += other.count

    @property
    def value(self) -> float:
        return self.nano / _NANO

    @property
    def mean(self) -> float | None:
        return self.value / self.count if self.count else None


@dataclass
class CostTotal:
    calls: int = 0
    nano_usd: int = 0
    """Only calls whose price is known are summed, in billionths of a dollar."""
    unpriced: int = 0
    """Each of these outcomes has a call whose price is unknown."""
    input_tokens: int = 0
    output_tokens: int = 0
    models: dict[str, ModelCalls] = field(default_factory=dict)
    """Usage by model is recorded where it is known, for at most MAX_NAMES models."""
    uncertain_nano_usd: int = 0

    def add(self, cost: CountedCost) -> None:
        self.calls += cost.calls
        self.nano_usd += round((cost.usd or 0.0) * _NANO)
        self.unpriced += cost.usd is None
        self.uncertain_nano_usd += round(cost.uncertain_usd * _NANO)
        self.input_tokens += cost.input_tokens
        self.output_tokens += cost.output_tokens
        self._add_uses(cost.models)

    def merge(self, other: "CostTotal") -> None:
        self.calls += other.calls
        self.nano_usd += other.nano_usd
        self.unpriced += other.unpriced
        self.uncertain_nano_usd += other.uncertain_nano_usd
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self._add_uses(other.models)

    def _add_uses(self, models: Mapping[str, ModelCalls]) -> None:
        for model, use in models.items():
            if model in self.models or len(self.models) < MAX_NAMES:
                self.models[model] = self.models.get(model, ModelCalls()).plus(use)

    def to_json(self) -> list[Any]:
        models = {model: list(use) for model, use in sorted(self.models.items())}
        numbers = [self.calls, self.nano_usd, self.unpriced, self.input_tokens, self.output_tokens]
        if self.uncertain_nano_usd:
            return [*numbers, models, self.uncertain_nano_usd]
        return [*numbers, models] if models else numbers

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> "CostTotal":
        """Read what `to_json` wrote, which omits models and uncertain costs if there are none."""
        total = cls(*data[:5])
        total.models = {model: ModelCalls(*use) for model, use in (data[5] if len(data) > 5 else {}).items()}
        total.uncertain_nano_usd = data[6] if len(data) > 6 else 0
        return total

    @property
    def usd(self) -> float | None:
        """Return None if a price is unknown."""
        return None if self.unpriced else self.nano_usd / _NANO


class ErrorCount(NamedTuple):
    probes: int
    first_index: int

    def plus(self, other: "ErrorCount | None") -> "ErrorCount":
        if other is None:
            return self
        return ErrorCount(self.probes + other.probes, min(self.first_index, other.first_index))


class CauseCount(NamedTuple):
    """Counts the unscored answers with one cause; each answer counts for one cause."""

    cause: UnscoredCause
    probes: int
    first_index: int


@dataclass
class ColumnTotals:
    histograms: dict[str, Histogram] = field(default_factory=lambda: {name: Histogram() for name in HISTOGRAMS})
    costs: dict[str, CostTotal] = field(default_factory=lambda: {kind: CostTotal() for kind in COST_KINDS})
    errors: dict[str, ErrorCount] = field(default_factory=dict)
    unscored: int = 0
    causes: dict[UnscoredCause, ErrorCount] = field(default_factory=dict)
    """Unscored answers are counted by cause for at most MAX_NAMES causes, so the counts may add up to fewer."""
    score: Total = field(default_factory=Total)
    metrics: dict[str, Total] = field(default_factory=dict)
    tags: Counter[str] = field(default_factory=Counter)
    model_versions: Counter[str] = field(default_factory=Counter)
    checks: dict[str, CheckCount] = field(default_factory=dict)
    """Assertions are counted by name, at most MAX_NAMES of them."""
    cut: int = 0
    """The token limit cut the last answer of these completed probes."""
    omitted: Counter[str] = field(default_factory=Counter)
    """Completed probes are counted by each parameter that was left out of the requests to the target."""
    surplus: dict[str, Total] = field(default_factory=dict)
    """For each metric, this is the sum of score x weight less the sum of scores in `metrics`, over weights other than
    1."""
    partly_checked: int = 0
    """Number of completed probes whose scenario lacks checks that its import left out."""
    left_out: Counter[str] = field(default_factory=Counter)
    """The checks that imports left out are counted by type, for at most MAX_NAMES types."""

    def add(self, outcome: CountedOutcome) -> None:
        for cost in outcome.costs:
            self.costs[cost.kind].add(cost)
        if outcome.is_completed:
            self._add_completed(outcome)
        else:
            self._add_errors(outcome.error_code or "", ErrorCount(1, outcome.probe_index))

    def _add_completed(self, outcome: CountedOutcome) -> None:
        histograms = self.histograms
        histograms["durations_ms"].add(outcome.duration_ms)
        histograms["turns"].add(outcome.turns)
        histograms["input_tokens"].add(outcome.input_tokens)
        histograms["output_tokens"].add(outcome.output_tokens)
        histograms["tokens"].add(outcome.input_tokens + outcome.output_tokens)
        for duration_ms in outcome.turn_durations_ms:
            histograms["turn_durations_ms"].add(duration_ms)
        self._add_unscored(outcome)
        if outcome.success is not None and outcome.score is not None:
            self.score.add(outcome.score)
        for name, value in outcome.metrics.items():
            self._add_metric(name, Total(round(value * _NANO), 1))
            if (weight := outcome.metric_weights.get(name, 1)) != 1:
                self._add_surplus(name, Total(round(value * (weight - 1) * _NANO), 1))
        if outcome.tags:
            _count(self.tags, Counter(outcome.tags))
        for name, passed in outcome.checks.items():
            self._add_check(name, CheckCount.of(passed))
        if outcome.model_version is not None:
            _count(self.model_versions, {outcome.model_version: 1})
        self.cut += outcome.is_cut
        if outcome.left_out:
            self.partly_checked += 1
            _count(self.left_out, outcome.left_out)
        if outcome.omitted_parameters:
            _count(self.omitted, Counter(outcome.omitted_parameters))

    def merge(self, other: "ColumnTotals") -> None:
        for name in HISTOGRAMS:
            self.histograms[name].merge(other.histograms[name])
        for kind in COST_KINDS:
            self.costs[kind].merge(other.costs[kind])
        for code, error in other.errors.items():
            self._add_errors(code, error)
        self.unscored += other.unscored
        for cause, counted_cause in other.causes.items():
            self._add_cause(cause, counted_cause)
        self.cut += other.cut
        self.partly_checked += other.partly_checked
        _count(self.left_out, other.left_out)
        _count(self.omitted, other.omitted)
        self.score.merge(other.score)
        for name, total in other.metrics.items():
            self._add_metric(name, total)
        for name, total in other.surplus.items():
            self._add_surplus(name, total)
        _count(self.tags, other.tags)
        _count(self.model_versions, other.model_versions)
        for name, counted in other.checks.items():
            self._add_check(name, counted)

    def _add_check(self, name: str, counted: CheckCount) -> None:
        if name in self.checks or len(self.checks) < MAX_NAMES:
            self.checks[name] = self.checks.get(name, CheckCount()).plus(counted)

    def _add_errors(self, code: str, error: ErrorCount) -> None:
        self.errors[code] = error.plus(self.errors.get(code))

    def _add_unscored(self, outcome: CountedOutcome) -> None:
        if outcome.cause is not None:
            self.unscored += 1
            self._add_cause(outcome.cause, ErrorCount(1, outcome.probe_index))

    def _add_cause(self, cause: UnscoredCause, counted: ErrorCount) -> None:
        if cause in self.causes or len(self.causes) < MAX_NAMES:
            self.causes[cause] = counted.plus(self.causes.get(cause))

    @property
    def unscored_causes(self) -> list[CauseCount]:
        """Return the causes of unscored answers, with the most frequent one first."""
        counted = [CauseCount(cause, *found) for cause, found in self.causes.items()]
        return sorted(counted, key=lambda each: (-each.probes, each.cause.sort_key))

    def _add_metric(self, name: str, total: Total) -> None:
        if name in self.metrics or len(self.metrics) < MAX_NAMES:
            self.metrics.setdefault(name, Total()).merge(total)

    def _add_surplus(self, name: str, total: Total) -> None:
        if name in self.metrics:
            self.surplus.setdefault(name, Total()).merge(total)

    @property
    def metric_sums(self) -> dict[str, float]:
        none = Total()
        return {name: each.value + self.surplus.get(name, none).value for name, each in sorted(self.metrics.items())}

    @property
    def calls(self) -> int:
        return sum(cost.calls for cost in self.costs.values())

    @property
    def cost_usd(self) -> float | None:
        """Return the cost of all calls; None if there were none, or if a price is unknown."""
        if not self.calls or any(cost.unpriced for cost in self.costs.values()):
            return None
        return sum(cost.nano_usd for cost in self.costs.values()) / _NANO

    @property
    def role_costs(self) -> tuple[RoleCost, ...]:
        return role_costs({kind: (cost.calls, cost.usd) for kind, cost in self.costs.items()})

    @property
    def uncertain_usd(self) -> float:
        return sum(cost.uncertain_nano_usd for cost in self.costs.values()) / _NANO

    @property
    def tokens(self) -> int:
        return self.histograms["input_tokens"].total + self.histograms["output_tokens"].total

    def to_json(self) -> dict[str, Any]:
        return {
            "histograms": {name: histogram.to_json() for name, histogram in self.histograms.items()},
            "costs": {kind: cost.to_json() for kind, cost in self.costs.items()},
            "errors": {code: list(self.errors[code]) for code in sorted(self.errors)},
            "unscored": self.unscored,
            "score": [self.score.nano, self.score.count],
            "metrics": _totals_json(self.metrics),
            "tags": dict(sorted(self.tags.items())),
            "modelVersions": dict(sorted(self.model_versions.items())),
            **({"checks": {name: list(each) for name, each in sorted(self.checks.items())}} if self.checks else {}),
            **({"cut": self.cut} if self.cut else {}),
            **({"causes": self._causes_json()} if self.causes else {}),
            **({"leftOut": [self.partly_checked, dict(sorted(self.left_out.items()))]} if self.left_out else {}),
            **({"omitted": dict(sorted(self.omitted.items()))} if self.omitted else {}),
            **({"surplus": _totals_json(self.surplus)} if self.surplus else {}),
        }

    def _causes_json(self) -> list[Any]:
        ordered = sorted(self.causes.items(), key=lambda each: each[0].sort_key)
        return [[encode(cause), *counted] for cause, counted in ordered]

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ColumnTotals":
        return cls(
            {name: Histogram.from_json(data["histograms"][name]) for name in HISTOGRAMS},
            {kind: CostTotal.from_json(data["costs"][kind]) for kind in COST_KINDS},
            {code: ErrorCount(*error) for code, error in data["errors"].items()},
            data["unscored"],
            {decode(UnscoredCause, cause): ErrorCount(*counted) for cause, *counted in data.get("causes", ())},
            Total(*data["score"]),
            {name: Total(*total) for name, total in data["metrics"].items()},
            Counter(data["tags"]),
            Counter(data["modelVersions"]),
            {name: CheckCount(*counted) for name, counted in data.get("checks", {}).items()},
            data.get("cut", 0),
            Counter(data.get("omitted", {})),
            {name: Total(*total) for name, total in data.get("surplus", {}).items()},
            *_left_out(data.get("leftOut")),
        )


def _left_out(data: Sequence[Any] | None) -> tuple[int, Counter[str]]:
    return (data[0], Counter(data[1])) if data else (0, Counter())


def _totals_json(totals: Mapping[str, Total]) -> dict[str, list[int]]:
    return {name: [each.nano, each.count] for name, each in sorted(totals.items())}


def _count(counter: Counter[str], added: Mapping[str, int]) -> None:
    for name, number in added.items():
        if name in counter or len(counter) < MAX_NAMES:
            counter[name] += number
