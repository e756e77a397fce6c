"""JSON lines as OpenAI's evals tell their output items: the item, the sample that was drawn for it, its grades."""

import json
from collections.abc import Iterator
from typing import IO

from cupel.exports.records import Record
from cupel.json_types import Json

GRADER = "cupel"


def write(records: Iterator[Record], run: Json, file: IO[str]) -> None:
    """An item's index is its place in the run."""
    for record in records:
        file.write(json.dumps(_row(record, run), ensure_ascii=False) + "\n")


def _row(record: Record, run: Json) -> Json:
    place = record.outcome.get("probeIndex", record.outcome.get("index"))
    judged = record.success is not None
    return {
        "run_id": run["id"],
        "data_source_idx": place,
        "item": _item(record),
        "sample": _sample(record),
        "grades": {GRADER: record.score, **_metrics(record)} if judged else _metrics(record),
        "passes": {GRADER: record.success} if judged else {},
    }


def _metrics(record: Record) -> Json:
    return dict(record.scoring.get("metrics") or {})


def _item(record: Record) -> Json:
    """As it was imported, if it was: `input` and `ideal`."""
    scenario, targets = record.scenario, record.targets
    ideal = {"ideal": targets[0] if len(targets) == 1 else targets} if targets else {}
    metadata = {
        name: value for name, value in (scenario.get("metadata") or {}).items() if name not in ("ideal", "input")
    }
    return {**metadata, "input": record.asked, **ideal, "scenario_id": scenario["id"], "epoch": record.epoch}


def _sample(record: Record) -> Json:
    sample: Json = {"model": record.outcome.get("modelVersion") or record.model, "input": record.asked}
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
