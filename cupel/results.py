"""What a run found, model by model, computed from its transcripts and errored probes."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from cupel.json_types import Json
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.statistics import Decision, DecisionStatistics, Interval, decision_statistics, wilson_interval

if TYPE_CHECKING:
    from cupel.client import Client


@dataclass(frozen=True)
class Reason:
    """Why probes failed: a code, how many, and the message of the first of them."""

    code: str
    count: int
    example: str


@dataclass
class Tally:
    """What is gathered while the transcripts and errors of one model pass by."""

    decisions: list[Decision] = field(default_factory=list)
    durations_ms: list[int] = field(default_factory=list)
    successes: int = 0
    judged: int = 0
    unscored: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add_transcript(self, transcript: Json) -> None:
        if transcript.get("decisionCode") is not None:
            self.decisions.append(Decision(transcript["scenarioId"], transcript["decisionCode"]))
        result = transcript.get("result")
        if result is not None:
            self.judged += 1
            self.successes += bool(result["success"])
        self.unscored += is_unscored(transcript)
        self.durations_ms.append(transcript["durationMs"])
        self.tokens += transcript["tokenCount"]
        self.cost_usd += transcript["costUsd"] or 0.0
        self.unpriced += transcript["costUsd"] is None

    def add_error(self, error: Json) -> None:
        self.errors[error["code"]] += 1
        self.examples.setdefault(error["code"], error["message"])


def is_unscored(transcript: Json) -> bool:
    """Whether something that counts could not be computed, and nobody has said the result instead."""
    results = (transcript.get("scoring") or {}).get("results") or ()
    return transcript.get("result") is None and any(each["passed"] is None and each["weight"] > 0 for each in results)


@dataclass(frozen=True)
class Correctness:
    """Answers that were right among those a definition could tell; a 95 % score interval."""

    successes: int
    judged: int
    interval: Interval | None


@dataclass(frozen=True)
class ModelResults:
    """`cost_usd` is None when the price of the model is not known, `correct` when the definition judges nothing."""

    model: str
    probes: int
    completed: int
    failed: int
    decisions: DecisionStatistics
    correct: Correctness | None
    unscored: int
    """Completed ones about which nothing can be said, because something that counts could not be computed."""
    tokens: int
    median_duration_ms: float | None
    cost_usd: float | None
    reasons: tuple[Reason, ...]

    @property
    def simulated(self) -> bool:
        return self.model.startswith("sim/")


def collect(client: "Client", run: Json, on_read: Callable[[int], None] = lambda _: None) -> list[ModelResults]:
    """Reads every transcript and errored probe of the run; `on_read` is told how many have been read so far."""

    def transcripts() -> Iterator[Json]:
        for count, transcript in enumerate(client.transcripts(run["id"]), start=1):
            yield transcript
            on_read(count)

    failed = client.probes(run["id"], status=ProbeStatus.ERROR) if run["progress"]["failed"] else iter(())
    return tabulate(run["config"]["models"], run["progress"]["total"], transcripts(), failed)


def tabulate(
    models: Sequence[str], total: int, transcripts: Iterable[Json], errored: Iterable[Json]
) -> list[ModelResults]:
    """Transcripts and errored probes as the API tells them; of `total` probes each model has the same number."""
    tallies = {model: Tally() for model in models}
    for transcript in transcripts:
        tallies[transcript["modelId"]].add_transcript(transcript)
    for probe in errored:
        tallies[probe["modelId"]].add_error(probe["error"])
    return [_results(model, total // len(models), tally) for model, tally in tallies.items()]


def _results(model: str, probes: int, tally: Tally) -> ModelResults:
    return ModelResults(
        model=model,
        probes=probes,
        completed=len(tally.durations_ms),
        failed=tally.errors.total(),
        decisions=decision_statistics(tally.decisions),
        correct=_correctness(tally),
        unscored=tally.unscored,
        tokens=tally.tokens,
        median_duration_ms=median(tally.durations_ms) if tally.durations_ms else None,
        cost_usd=None if tally.unpriced else tally.cost_usd,
        reasons=tuple(Reason(code, count, tally.examples[code]) for code, count in tally.errors.most_common()),
    )


def _correctness(tally: Tally) -> Correctness | None:
    if not tally.judged:
        return None
    return Correctness(tally.successes, tally.judged, wilson_interval(tally.successes, tally.judged))


def to_json(results: Iterable[ModelResults]) -> list[Json]:
    return [_model_json(model) for model in results]


def _model_json(model: ModelResults) -> Json:
    decisions, correct = model.decisions, model.correct
    return {
        "model": model.model,
        "simulated": model.simulated,
        "probes": model.probes,
        "completed": model.completed,
        "failed": model.failed,
        "decision": {
            "distribution": decisions.distribution,
            "mean": decisions.mean,
            "sd": decisions.sd,
            "standardError": decisions.standard_error,
        },
        "correct": correct
        and {"successes": correct.successes, "judged": correct.judged, "interval95": correct.interval},
        "unscored": model.unscored,
        "tokens": model.tokens,
        "medianDurationMs": model.median_duration_ms,
        "costUsd": model.cost_usd,
        "errors": [asdict(reason) for reason in model.reasons],
    }
