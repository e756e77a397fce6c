"""A run's results per target and prompt, computed from its transcripts and errored probes."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from cupel.columns import RunColumn, column_of, columns_of
from cupel.json_types import Json
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.statistics import (
    Cluster,
    DecisionStatistics,
    Interval,
    Proportion,
    ScenarioDecision,
    decision_statistics,
)

if TYPE_CHECKING:
    from cupel.client import Client


@dataclass(frozen=True)
class ErrorReason:
    """Why probes errored: an error code, their count, and the message of the first."""

    code: str
    count: int
    example: str


@dataclass
class ModelTotals:
    """Running totals over the transcripts and errors of one column. `judged` and `successes` are by scenario."""

    decisions: list[ScenarioDecision] = field(default_factory=list)
    durations_ms: list[int] = field(default_factory=list)
    judged: Counter[str] = field(default_factory=Counter)
    successes: Counter[str] = field(default_factory=Counter)
    unscored: int = 0
    tokens: int = 0
    calls: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add_transcript(self, transcript: Json) -> None:
        if transcript.get("decisionCode") is not None:
            self.decisions.append(ScenarioDecision(transcript["scenarioId"], transcript["decisionCode"]))
        result = transcript.get("result")
        if result is not None:
            self.judged[transcript["scenarioId"]] += 1
            self.successes[transcript["scenarioId"]] += bool(result["success"])
        self.unscored += is_unscored(transcript)
        self.durations_ms.append(transcript["durationMs"])
        self.tokens += transcript["tokenCount"]
        self._add_spend(transcript["totalSpend"])

    def _add_spend(self, spend: Json) -> None:
        self.calls += spend["calls"]
        self.cost_usd += spend["costUsd"] or 0.0
        self.unpriced += spend["costUsd"] is None

    def add_error(self, error: Json) -> None:
        self._add_spend(error["totalSpend"])
        self.errors[error["code"]] += 1
        self.examples.setdefault(error["code"], error["message"])


def is_unscored(transcript: Json) -> bool:
    """Whether a weighted assertion could not be computed and no result was set by a correction."""
    results = (transcript.get("scoring") or {}).get("results") or ()
    return transcript.get("result") is None and any(each["passed"] is None and each["weight"] > 0 for each in results)


@dataclass(frozen=True)
class PassRate:
    """Passed ones among the judged probes, with the 95 % interval of `GET /runs/{id}/scores`: clustered by scenario.

    `interval` is None if only one scenario was judged.
    """

    passed: int
    judged: int
    interval: Interval | None


@dataclass(frozen=True)
class ModelResults:
    """`cost_usd` is that of all calls: target, judge, simulated user and summary, also of errored probes. It is None if
    no call was answered or the price of any is unknown. `pass_rate` is None if nothing was judged."""

    column: RunColumn
    probes: int
    completed: int
    errored: int
    decisions: DecisionStatistics
    pass_rate: PassRate | None
    unscored: int
    """Completed probes without a result, because a weighted assertion could not be computed."""
    tokens: int
    median_duration_ms: float | None
    cost_usd: float | None
    reasons: tuple[ErrorReason, ...]

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def simulated(self) -> bool:
        return self.column.model.startswith("sim/")


def collect(client: "Client", run: Json, on_read: Callable[[int], None] = lambda _: None) -> list[ModelResults]:
    """Read every transcript and errored probe of the run; `on_read` is called with the number read so far."""

    def transcripts() -> Iterator[Json]:
        for count, transcript in enumerate(client.list_transcripts(run["id"]), start=1):
            yield transcript
            on_read(count)

    errored = client.list_run_probes(run["id"], status=ProbeStatus.ERROR) if run["progress"]["failed"] else iter(())
    return tabulate(columns_of(run), run["progress"]["total"], transcripts(), errored)


def tabulate(
    columns: Sequence[RunColumn], total: int, transcripts: Iterable[Json], errored_probes: Iterable[Json]
) -> list[ModelResults]:
    """Results from transcripts and errored probes in the fields of the API. Columns have equal shares of `total`."""
    totals_by_column = {column: ModelTotals() for column in columns}
    for transcript in transcripts:
        totals_by_column[column_of(transcript)].add_transcript(transcript)
    for probe in errored_probes:
        totals_by_column[column_of(probe)].add_error(probe["error"])
    return [_results(column, total // len(columns), totals) for column, totals in totals_by_column.items()]


def _results(column: RunColumn, probes: int, totals: ModelTotals) -> ModelResults:
    return ModelResults(
        column=column,
        probes=probes,
        completed=len(totals.durations_ms),
        errored=totals.errors.total(),
        decisions=decision_statistics(totals.decisions),
        pass_rate=_pass_rate(totals),
        unscored=totals.unscored,
        tokens=totals.tokens,
        median_duration_ms=median(totals.durations_ms) if totals.durations_ms else None,
        cost_usd=None if totals.unpriced or not totals.calls else totals.cost_usd,
        reasons=tuple(ErrorReason(code, count, totals.examples[code]) for code, count in totals.errors.most_common()),
    )


def _pass_rate(totals: ModelTotals) -> PassRate | None:
    if not totals.judged:
        return None
    share = Proportion()
    for scenario_id, trials in totals.judged.items():
        share.add(Cluster(trials, totals.successes[scenario_id]))
    return PassRate(share.successes, share.trials, share.interval)


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
        },
        "passRate": rate and {"passed": rate.passed, "judged": rate.judged, "interval95": rate.interval},
        "unscored": model.unscored,
        "tokens": model.tokens,
        "medianDurationMs": model.median_duration_ms,
        "costUsd": model.cost_usd,
        "errors": [asdict(reason) for reason in model.reasons],
    }
