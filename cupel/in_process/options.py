"""What an evaluation may be told beside its definition and its targets."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypedDict

from cupel.errors import WrongUse
from cupel.in_process.accounts import Access
from cupel.in_process.probes import Probe
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.runs.transcripts import ProbeError, Transcript
from cupel_core.domain.scoring.grader_config import Evaluation as Configuration

type OnStatus = Callable[[Probe, ProbeStatus], Awaitable[None] | None]
type OnStart = Callable[[Probe], Awaitable[None] | None]
type OnComplete = Callable[[Probe, Transcript], Awaitable[None] | None]
type OnError = Callable[[Probe, ProbeError], Awaitable[None] | None]

CALL_TIMEOUT_SECONDS = 60.0
MAX_CONCURRENCY = 10
_RANGES = {
    "sample_percentage": (1, 100),
    "seed": (0, 2**53 - 1),
    "repeats": (1, 100),
    "temperature": (0, 2),
    "max_turns": (1, 100),
    "max_concurrency": (1, 1_000),
    "call_timeout_seconds": (0.001, 86_400),
}


class Options(TypedDict, total=False):
    """All may be left out."""

    scenarios: Sequence[str | Mapping[str, Any]] | None
    """These alone: names of the definition's, or scenarios as a file has them."""
    personas: Sequence[str | Mapping[str, Any]] | None
    """In every scenario, instead of its own: names of the definition's, or personas as a file has them."""
    judge_model: str | None
    persona_model: str | None
    """Plays the user; the judge does when left out."""
    embedding_model: str | None
    evaluator_url: str | None
    evaluator_headers: Mapping[str, str] | None
    sample_percentage: int
    seed: int | None
    """Of the sample and of simulated models; drawn when left out."""
    repeats: int
    temperature: float | None
    max_turns: int | None
    max_concurrency: int
    """Conversations at a time."""
    call_timeout_seconds: float
    providers: Mapping[str, Access] | None
    """`{"openai": {"api_key": …, "base_url": …}}`; the environment's where something is left out."""
    on_status: OnStatus | None
    on_start: OnStart | None
    on_complete: OnComplete | None
    on_error: OnError | None


def check(options: Options) -> None:
    """WrongUse for what is out of its range."""
    for name, (low, high) in _RANGES.items():
        value = options.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise WrongUse(f"{name}: must be a number from {low} to {high}")


def configuration(options: Options) -> Configuration:
    return Configuration(
        options.get("judge_model"),
        options.get("persona_model"),
        options.get("embedding_model"),
        options.get("evaluator_url"),
    )
