"""Makes a pandas data frame, with types, of the outcomes of a run or of an evaluation: a row per probe."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from cupel.errors import UsageError
from cupel.exports.records import costs_of, status_of, total_spend
from cupel.json_types import Json
from cupel.message_texts import with_text
from cupel.render import last_message
from cupel_core.domain.conversations.roles import ModelRole


class _FrameColumn(NamedTuple):
    dtype: str
    value: Callable[[Json], object]


def _of(name: str) -> Callable[[Json], object]:
    return lambda outcome: outcome.get(name)


def _within(part: str, name: str) -> Callable[[Json], object]:
    return lambda outcome: (outcome.get(part) or {}).get(name)


def _cost(role: ModelRole) -> Callable[[Json], object]:
    return lambda outcome: costs_of(outcome).get(role)


def _last(role: str) -> Callable[[Json], object]:
    return lambda outcome: last_message(outcome, role) or None


def _total_cost(outcome: Json) -> float | None:
    spend = total_spend(outcome)
    return spend.get("costUsd") if spend.get("calls") else None


def _tokens(outcome: Json) -> int | None:
    usage = total_spend(outcome).get("usage") or {}
    total = sum(usage.get(name, 0) for name in ("inputTokens", "outputTokens"))
    return None if not total and usage.get("unreportedCalls") else total


def _messages(outcome: Json) -> list[Json] | None:
    content = outcome.get("content")
    return None if content is None else [with_text(message) for message in content["messages"]]


_COLUMNS: Mapping[str, _FrameColumn] = {
    "target": _FrameColumn("string", _of("targetId")),
    "prompt": _FrameColumn("string", _of("promptId")),
    "scenario": _FrameColumn("string", lambda outcome: outcome.get("scenarioName") or outcome.get("scenarioId")),
    "persona": _FrameColumn("string", _of("personaName")),
    "repeat": _FrameColumn("Int64", _of("repeat")),
    "status": _FrameColumn("string", lambda outcome: str(status_of(outcome))),
    "success": _FrameColumn("boolean", _within("result", "success")),
    "score": _FrameColumn("Float64", _within("result", "score")),
    "reason": _FrameColumn("string", _within("result", "reason")),
    "decision": _FrameColumn("string", _of("decisionCode")),
    "tags": _FrameColumn("object", _within("scoring", "tags")),
    "metrics": _FrameColumn("object", _within("scoring", "metrics")),
    "question": _FrameColumn("string", _last("user")),
    "answer": _FrameColumn("string", _last("assistant")),
    "messages": _FrameColumn("object", _messages),
    "turns": _FrameColumn("Int64", _of("turnCount")),
    "duration_ms": _FrameColumn("Int64", _of("durationMs")),
    "tokens": _FrameColumn("Int64", _tokens),
    "cost_usd": _FrameColumn("Float64", _cost(ModelRole.TARGET)),
    "judge_cost_usd": _FrameColumn("Float64", _cost(ModelRole.JUDGE)),
    "simulated_user_cost_usd": _FrameColumn("Float64", _cost(ModelRole.PERSONA)),
    "operations_cost_usd": _FrameColumn("Float64", _cost(ModelRole.OPERATION)),
    "total_cost_usd": _FrameColumn("Float64", _total_cost),
    "error_code": _FrameColumn("string", _within("error", "code")),
    "error_message": _FrameColumn("string", _within("error", "message")),
}


def data_frame(outcomes: Iterable[Json], *, has_decisions: bool) -> Any:
    """Return a pandas.DataFrame of transcripts and errored probes in the API's fields.

    It also has a column for each dimension, variable and field of metadata, such as `metadata.language`. Raises
    UsageError if pandas is not installed.
    """
    try:
        pandas = import_module("pandas")
    except ModuleNotFoundError:
        raise UsageError("a data frame needs pandas, which is not installed: pip install pandas") from None
    columns = {name: each for name, each in _COLUMNS.items() if has_decisions or name != "decision"}
    rows = [
        {name: column.value(outcome) for name, column in columns.items()} | dict(_properties(outcome))
        for outcome in outcomes
    ]
    names = [*columns, *(name for name in dict.fromkeys(name for row in rows for name in row) if name not in columns)]
    frame = pandas.DataFrame(rows, columns=names)
    return frame.astype({name: column.dtype for name, column in columns.items()})


def _properties(outcome: Json) -> Iterator[tuple[str, object]]:
    for prefix, field in (("dimension", "dimensions"), ("variable", "variables"), ("metadata", "metadata")):
        for name, value in (outcome.get(field) or {}).items():
            yield f"{prefix}.{name}", value
