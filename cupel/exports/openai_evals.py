"""JSON Lines in the format of OpenAI evals' output items: the item, the sampled answer, and its grades."""

from collections.abc import Iterator
from typing import IO

from cupel.exports.records import Record
from cupel.json_types import Json
from cupel.printable import printable_json

GRADER = "cupel"


def write(records: Iterator[Record], run: Json, file: IO[str]) -> None:
    """Write one line per record. The index of an item is the index of its probe."""
    for record in records:
        file.write(printable_json(_row(record, run)) + "\n")


def _row(record: Record, run: Json) -> Json:
    position = record.outcome.get("probeIndex", record.outcome.get("index"))
    judged = record.success is not None
    return {
        "run_id": run["id"],
        "data_source_idx": position,
        "item": _item(record),
        "sample": _sample(record),
        "grades": {GRADER: record.score, **_metrics(record)} if judged else _metrics(record),
        "passes": {GRADER: record.success} if judged else {},
    }


def _metrics(record: Record) -> Json:
    return dict(record.scoring.get("metrics") or {})


def _item(record: Record) -> Json:
    """An item with `input` and `ideal`, as an import reads it."""
    scenario, targets = record.scenario, record.expected_answers
    ideal = {"ideal": targets[0] if len(targets) == 1 else targets} if targets else {}
    metadata = {
        name: value for name, value in (scenario.get("metadata") or {}).items() if name not in ("ideal", "input")
    }
    return {
        **metadata,
        "input": record.input_messages,
        **ideal,
        "scenario_id": scenario["id"],
        "epoch": record.epoch,
        **_column(record),
    }


def _column(record: Record) -> Json:
    """What `sample.model` does not say: the target's label and the prompt."""
    column = record.column
    own = {"target": column.target if column.target != column.model else None, "prompt": column.prompt}
    return {name: value for name, value in own.items() if value is not None}


def _sample(record: Record) -> Json:
    sample: Json = {"model": record.model, "input": record.input_messages}
    if record.error:
        return {**sample, "error": {"code": record.error["code"], "message": record.error["message"]}}
    usage = record.outcome["usage"]
    return {
        **sample,
        "outputs": [{"role": "assistant", "content": record.answer}],
        "finish_reason": record.outcome.get("finishReason") or "stop",
        "token_usage": {
            "prompt_tokens": usage["inputTokens"],
            "completion_tokens": usage["outputTokens"],
            "total_tokens": usage["inputTokens"] + usage["outputTokens"],
        },
    }
