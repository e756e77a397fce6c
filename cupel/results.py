"""Reads a run's results per target and prompt from the API, or computes them from transcripts and errored probes."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from typing import NamedTuple

from cupel.columns import RunColumn, column_of
from cupel.json_types import Json
from cupel.run_reads import RunReadingClient
from cupel.unscored_answers import (
    CauseFields,
    ErrorReason,
    UnscoredReason,
    cause_fields,
    first_uncomputed,
    is_unscored,
    left_out_checks,
    reason_json,
)
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.estimates import group_estimate
from cupel_core.domain.conversations.reply_ends import ReplyEnd, end_of
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.runs.role_costs import RoleCost, added_role_costs
from cupel_core.domain.statistics import DECISION_CODES, OTHER, Interval, share_interval

_COUNTED_AS: dict[str | None, str] = {None: "undecided", **{code: f"code_{code}" for code in DECISION_CODES}}


@dataclass
class ModelTotals:
    cells: dict[str, Cell] = field(default_factory=dict)
    durations_ms: list[int] = field(default_factory=list)
    unscored: int = 0
    cut_answers: int = 0
    partly_checked: int = 0
    left_out_checks: Counter[str] = field(default_factory=Counter)
    omitted_parameters: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    costs: tuple[RoleCost, ...] = ()
    uncertain_usd: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    causes: Counter[CauseFields] = field(default_factory=Counter)
    unscored_examples: dict[CauseFields, str] = field(default_factory=dict)

    def add_transcript(self, transcript: Json) -> None:
        code, result = transcript.get("decisionCode"), transcript.get("result")
        passed = {"judged": 1, "passed": int(bool(result["success"]))} if result is not None else {}
        self._count(transcript["scenarioId"], Cell(**{_COUNTED_AS.get(code, "other"): 1, **passed}))
        if is_unscored(transcript):
            self._add_unscored(transcript)
        self.durations_ms.append(transcript["durationMs"])
        self.cut_answers += end_of(transcript.get("finishReason")) is ReplyEnd.CUT
        left_out = left_out_checks(transcript)
        self.partly_checked += bool(left_out)
        self.left_out_checks.update(left_out)
        self.omitted_parameters.update(transcript["omittedParameters"])
        self.tokens += transcript["tokenCount"]
        self._add_spend(transcript)

    def _count(self, scenario_id: str, cell: Cell) -> None:
        known = self.cells.get(scenario_id)
        self.cells[scenario_id] = cell if known is None else known.plus(cell)

    def _add_unscored(self, transcript: Json) -> None:
        self.unscored += 1
        uncomputed = first_uncomputed(transcript)
        cause = cause_fields(uncomputed["cause"])
        self.causes[cause] += 1
        self.unscored_examples.setdefault(cause, uncomputed.get("error") or "")

    @property
    def unscored_reasons(self) -> tuple[UnscoredReason, ...]:
        ordered = sorted(self.causes.items(), key=lambda each: (-each[1], [part or "" for part in each[0]]))
        return tuple(UnscoredReason(*cause, count, self.unscored_examples[cause]) for cause, count in ordered)

    def _add_spend(self, outcome: Json) -> None:
        self.costs = added_role_costs((*self.costs, *_read_costs(outcome["costs"])))
        self.uncertain_usd += outcome["totalSpend"]["uncertainUsd"]

    def add_error(self, scenario_id: str, error: Json) -> None:
        self._count(scenario_id, Cell(errored=1))
        self._add_spend(error)
        self.errors[error["code"]] += 1
        self.examples.setdefault(error["code"], error["message"])


@dataclass(frozen=True)
class DecisionStatistics:
    """Holds figures over the codes 1-5; `other` is counted in the distribution only."""

    distribution: Mapping[str, int]
    mean: float | None
    """Each scenario counts once."""
    sd: float | None
    """The standard deviation of single answers."""
    standard_error: float | None
    interval: Interval | None
    """The 95 % interval of the mean."""

    @property
    def decided(self) -> int:
        return sum(map(self.count, DECISION_CODES))

    @property
    def ruled(self) -> int:
        return self.decided + self.count(OTHER)

    def count(self, code: str) -> int:
        return self.distribution.get(code, 0)


@dataclass(frozen=True)
class PassRate:
    """Holds the share of the judged probes that passed, and an estimate for scenarios like these."""

    passed: int
    judged: int
    scenarios: int
    share: float
    interval: Interval | None
    effective_trials: float
    """The number of independent trials with the same precision for scenarios like these."""
    bounds: Interval | None = None
    """The share if all errored probes had failed, and if all had passed; None without errors."""
    errors_fail: "PassRate | None" = None

    def upper_bound(self, confidence: float) -> float:
        """Return the upper bound of the rate of scenarios like these; with fewer than five scenarios, of exactly
        these."""
        return share_interval(self.share, self.effective_trials, self.scenarios, 2 * confidence - 1).high


@dataclass(frozen=True)
class AccuracyFigures:
    """Holds what people's labels say of the judge, and the pass rate that they correct, in the API's fields."""

    labels: int
    kappa: float | None
    corrected: Json


@dataclass(frozen=True)
class ModelResults:
    column: RunColumn
    probes: int
    completed: int
    errored: int
    decisions: DecisionStatistics
    pass_rate: PassRate | None
    unscored: int
    """Counts completed probes without a result, because a weighted assertion could not be computed."""
    tokens: int
    median_duration_ms: float | None
    costs: tuple[RoleCost, ...]
    """The cost of each role whose models were called, also for errored probes."""
    reasons: tuple[ErrorReason, ...]
    cut_answers: int = 0
    """Counts completed probes whose last answer was cut by a limit of tokens."""
    omitted_parameters: tuple[tuple[str, int], ...] = ()
    """The parameters left out of its requests, each with its number of completed probes, in descending order."""
    uncertain_usd: float = 0.0
    """Calls without an answer may have cost this much in addition."""
    unscored_reasons: tuple[UnscoredReason, ...] = ()
    partly_checked: int = 0
    left_out_checks: Mapping[str, int] = field(default_factory=dict)
    extrapolated: Json | None = None
    """The extrapolation to all scenarios, in the API's fields; None unless the run is a sample."""
    judge_accuracy: AccuracyFigures | None = None
    """None unless people have labelled transcripts of it."""

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def cost_usd(self) -> float | None:
        known = [cost.cost_usd for cost in self.costs]
        return sum(usd for usd in known if usd is not None) if known and None not in known else None

    @property
    def is_judged(self) -> bool:
        return any(cost.role is ModelRole.JUDGE and cost.calls for cost in self.costs)

    @property
    def simulated(self) -> bool:
        return self.column.model.startswith("sim/")


class CollectedResults(NamedTuple):
    models: list[ModelResults]
    sample: Json


def collect(client: RunReadingClient, run: Json, on_read: Callable[[Json], None] = lambda _: None) -> CollectedResults:
    """Return the result table of a run so far without reading transcripts. Each request counts a part of a large
    run."""
    while True:
        table = client.get_run_results(run["id"])
        if table["isComplete"]:
            return CollectedResults(list(map(_read_row, table["columns"])), table["sample"])
        on_read(table)


def _read_row(row: Json) -> ModelResults:
    estimate, operations = row["estimate"], row["operations"]
    duration = operations["durationMs"]
    return ModelResults(
        column=column_of(row),
        probes=row["probes"],
        completed=estimate["completed"],
        errored=estimate["errored"],
        decisions=_read_decisions(estimate),
        pass_rate=_read_rate(estimate),
        unscored=row["unscored"],
        tokens=row["tokens"],
        median_duration_ms=duration and duration["p50"],
        costs=tuple(_read_costs(operations["costs"])),
        reasons=tuple(ErrorReason(each["code"], each["count"], each["example"] or "") for each in row["errors"]),
        cut_answers=row["cutAnswers"],
        omitted_parameters=tuple((each["name"], each["answers"]) for each in row["omittedParameters"]),
        uncertain_usd=operations["uncertainUsd"],
        unscored_reasons=tuple(map(UnscoredReason.read, row["unscoredReasons"])),
        partly_checked=row["partlyChecked"],
        left_out_checks=row["leftOutChecks"],
        extrapolated=row["extrapolated"],
        judge_accuracy=_read_accuracy(row),
    )


def _read_accuracy(row: Json) -> AccuracyFigures | None:
    found = row["judgeAccuracy"]
    return found and AccuracyFigures(found["labels"], found["kappa"], row["correctedPassRate"])


def _read_decisions(estimate: Json) -> DecisionStatistics:
    decision = estimate["decision"]
    return DecisionStatistics(
        {each["code"]: each["estimate"]["successes"] for each in estimate["distribution"]},
        decision["mean"],
        decision["sd"],
        decision["standardError"],
        _interval(decision),
    )


def _read_rate(estimate: Json) -> PassRate | None:
    rate, bounds = _share(estimate["passRate"]), estimate["passRateBounds"]
    if not rate.judged or bounds is None:
        return rate if rate.judged else None
    errors_fail = _share(bounds["errorsAsFailures"])
    return replace(rate, bounds=Interval(errors_fail.share, bounds["errorsAsPasses"]["share"]), errors_fail=errors_fail)


def _share(rate: Json) -> PassRate:
    return PassRate(
        passed=rate["successes"],
        judged=rate["trials"],
        scenarios=rate["scenarios"],
        share=rate["share"],
        interval=_interval(rate),
        effective_trials=rate["effectiveTrials"],
    )


def _read_costs(costs: Iterable[Json]) -> Iterator[RoleCost]:
    return (RoleCost(ModelRole(cost["role"]), cost["calls"], cost["costUsd"]) for cost in costs)


def _interval(estimate: Json) -> Interval | None:
    return Interval(*estimate["interval95"]) if estimate["interval95"] else None


def tabulate(
    columns: Sequence[RunColumn], total: int, transcripts: Iterable[Json], errored_probes: Iterable[Json]
) -> list[ModelResults]:
    """Compute results from transcripts and errored probes in the API's fields. Columns have equal shares of `total`."""
    totals_by_column = {column: ModelTotals() for column in columns}
    for transcript in transcripts:
        totals_by_column[column_of(transcript)].add_transcript(transcript)
    for probe in errored_probes:
        totals_by_column[column_of(probe)].add_error(probe["scenarioId"], probe["error"])
    return [_results(column, total // len(columns), totals) for column, totals in totals_by_column.items()]


def _results(column: RunColumn, probes: int, totals: ModelTotals) -> ModelResults:
    from cupel_core.contract.analyzed_columns import GroupEstimateResponse

    counted = group_estimate(Counter(totals.cells.values()))
    estimate = GroupEstimateResponse.model_validate(counted).model_dump(mode="json", by_alias=True)
    return ModelResults(
        column=column,
        probes=probes,
        completed=len(totals.durations_ms),
        errored=totals.errors.total(),
        decisions=_read_decisions(estimate),
        pass_rate=_read_rate(estimate),
        unscored=totals.unscored,
        tokens=totals.tokens,
        median_duration_ms=median(totals.durations_ms) if totals.durations_ms else None,
        costs=totals.costs,
        reasons=tuple(ErrorReason(code, count, totals.examples[code]) for code, count in totals.errors.most_common()),
        cut_answers=totals.cut_answers,
        omitted_parameters=tuple(sorted(totals.omitted_parameters.items(), key=lambda each: (-each[1], each[0]))),
        uncertain_usd=totals.uncertain_usd,
        unscored_reasons=totals.unscored_reasons,
        partly_checked=totals.partly_checked,
        left_out_checks=dict(totals.left_out_checks.most_common()),
    )


def to_json(results: Iterable[ModelResults]) -> list[Json]:
    return [_model_json(model) for model in results]


def _model_json(model: ModelResults) -> Json:
    decisions, rate = model.decisions, model.pass_rate
    return {
        "model": model.column.model,
        "target": model.column.target,
        "prompt": model.column.prompt,
        "simulated": model.simulated,
        "probes": model.probes,
        "completed": model.completed,
        "errored": model.errored,
        "decision": {
            "distribution": decisions.distribution,
            "mean": decisions.mean,
            "sd": decisions.sd,
            "standardError": decisions.standard_error,
            "interval95": decisions.interval,
        }
        if decisions.ruled
        else None,
        "passRate": rate
        and {
            "passed": rate.passed,
            "judged": rate.judged,
            "share": rate.share,
            "interval95": rate.interval,
            "bounds": rate.bounds,
        },
        "unscored": model.unscored,
        "cutAnswers": model.cut_answers,
        "partlyChecked": model.partly_checked,
        "leftOutChecks": dict(model.left_out_checks),
        "omittedParameters": [{"name": name, "answers": count} for name, count in model.omitted_parameters],
        "tokens": model.tokens,
        "medianDurationMs": model.median_duration_ms,
        "costUsd": model.cost_usd,
        "costs": [{"role": role, "calls": calls, "costUsd": usd} for role, calls, usd in model.costs],
        "uncertainUsd": model.uncertain_usd,
        "errors": [asdict(reason) for reason in model.reasons],
        "unscoredReasons": list(map(reason_json, model.unscored_reasons)),
        "extrapolated": model.extrapolated,
        "judgeAccuracy": model.judge_accuracy
        and {"labels": model.judge_accuracy.labels, "kappa": model.judge_accuracy.kappa},
        "correctedPassRate": model.judge_accuracy and model.judge_accuracy.corrected,
    }
