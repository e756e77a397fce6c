"""Writes Inspect logs (`.eval`): a zip of a header, the samples and their summaries; one log per model of a run.

The layout is that of inspect_ai.log._recorders.eval, format version 2. Inspect reads the summaries to list a log, the
header to show its results, and a sample when it is opened.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile

from cupel.columns import RunColumn, columns_of
from cupel.exports.records import Record
from cupel.json_types import Json
from cupel_core.domain.conversations.tool_results import ArgumentsError, arguments_of
from cupel_core.domain.conversations.tools import ToolCall

VERSION = 2
_STATUS = {"COMPLETED": "success", "CANCELLED": "cancelled", "FAILED": "error"}
_STOP_REASONS = {"stop": "stop", "end_turn": "stop", "length": "max_tokens", "max_tokens": "max_tokens"}
_STOP_REASONS |= {"content_filter": "content_filter"}
_RESERVED_NAMES = (_SUCCESS, _DECISION) = ("success", "decision")
"""Scorers have these names; metrics with these names are not exported."""
_MAX_SUMMARY_CHARACTERS = 1_000
"""Limits a text in a summary; the sample contains all of it."""


_GENERATE_CONFIG = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "maxOutputTokens": "max_tokens",
    "stop": "stop_seqs",
    "seed": "seed",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
    "reasoningEffort": "reasoning_effort",
}


def file_name(run: Json, column: RunColumn, number: int) -> str:
    """Return a name like that of Inspect's own logs: time, task, id. It is the same for each export of a run and
    column."""
    time = re.sub(r"[:.]", "-", run["createdAt"].replace("Z", "-00-00"))
    return f"{time}_{re.sub(r'[^A-Za-z0-9]+', '-', column.name)}_{_log_id(run, number)}.eval"


def _log_id(run: Json, number: int) -> str:
    return f"{re.sub(r'[^A-Za-z0-9]', '', run['id'])}x{number}"


@dataclass
class _ScoreTotals:
    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        self.squares += value * value

    def metrics(self, mean_name: str) -> Json:
        mean = self.total / self.count
        spread = max(0.0, self.squares / self.count - mean * mean)
        error = math.sqrt(spread / (self.count - 1)) if self.count > 1 else 0.0
        values = {mean_name: mean, "stderr": error}
        return {name: {"name": name, "value": value, "params": {}} for name, value in values.items()}


@dataclass
class _LogTotals:
    samples: int = 0
    failed: int = 0
    last: str | None = None
    usage: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    scores: defaultdict[str, _ScoreTotals] = field(default_factory=lambda: defaultdict(_ScoreTotals))

    def add(self, sample: Json, values: Mapping[str, float]) -> None:
        self.samples += 1
        self.failed += "error" in sample
        self.last = sample.get("completed_at") or self.last
        for usage in sample["model_usage"].values():
            for name, count in usage.items():
                self.usage[name] += count
        for name, value in values.items():
            self.scores[name].add(value)


def write(records: Iterator[Record], run: Json, name: str, number: int, path: Path) -> None:
    totals, model = _LogTotals(), columns_of(run)[number].model
    start = {"version": VERSION, "eval": _eval(run, name, number), "plan": {"name": "cupel", "steps": [], "config": {}}}
    with ZipFile(path, "w", ZIP_DEFLATED) as log, TemporaryFile("w+b") as summaries:
        log.writestr("_journal/start.json", _json(start))
        summaries.write(b"[")
        for record in records:
            sample = _sample(record, model)
            log.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", _json(sample))
            summaries.write(b",\n" if totals.samples else b"\n")
            summaries.write(_json(_summary(sample)))
            totals.add(sample, _score_values(record))
        summaries.write(b"\n]")
        for entry in ("_journal/summaries/1.json", "summaries.json"):
            _copy_entry(summaries, log, entry)
        log.writestr("header.json", _json({**start, **_outcome(run, model, totals)}))


def _copy_entry(summaries: IO[bytes], log: ZipFile, entry: str) -> None:
    summaries.seek(0)
    with log.open(entry, "w") as target:
        copyfileobj(summaries, target)


def _eval(run: Json, name: str, number: int) -> Json:
    config, column = run["config"], columns_of(run)[number]
    sampled = {"sample_percentage": config["samplePercentage"], "sample_seed": config["sampleSeed"]}
    return {
        "eval_id": _log_id(run, number),
        "run_id": run["id"],
        "created": run["createdAt"],
        "task": name,
        "task_id": run["definitionId"],
        "task_version": run["definitionVersion"],
        "task_attribs": {},
        "task_args": {} if column.prompt is None else {"prompt": column.prompt},
        "dataset": {"name": run["definitionId"], "shuffled": False},
        "model": column.model,
        "model_generate_config": _generate_config(run, column),
        "model_args": {},
        "config": {"epochs": config["repeats"], "log_samples": True},
        "packages": {},
        "metadata": {"cupel": {**sampled, "target": column.target}},
    }


def _generate_config(run: Json, column: RunColumn) -> Json:
    own = next(target["params"] for target in run["config"]["targets"] if target["id"] == column.target)
    params = {**run["config"]["params"], **own}
    named = {name: params.get(ours) for ours, name in _GENERATE_CONFIG.items()}
    return {name: value for name, value in named.items() if value is not None}


def _outcome(run: Json, model: str, totals: _LogTotals) -> Json:
    status = _STATUS.get(run["status"], "started")
    results = {
        "total_samples": totals.samples,
        "completed_samples": totals.samples - totals.failed,
        "scores": [_score(name, scores) for name, scores in totals.scores.items()],
    }
    stats = {
        "started_at": run.get("startedAt") or run["createdAt"],
        "completed_at": run.get("completedAt") or totals.last or "",
        "model_usage": {model: dict(totals.usage)} if totals.usage else {},
    }
    failure = run.get("failure") or {}
    message = f"{failure.get('where')}: {failure.get('why')}"
    return {
        "status": status,
        "results": results,
        "stats": stats,
        **({"error": _error(message)} if status == "error" else {}),
    }


def _score(name: str, totals: _ScoreTotals) -> Json:
    return {
        "name": name,
        "scorer": name,
        "params": {},
        "metrics": totals.metrics("accuracy" if name == _SUCCESS else "mean"),
    }


def _score_values(record: Record) -> dict[str, float]:
    metrics = {
        name: value for name, value in (record.scoring.get("metrics") or {}).items() if name not in _RESERVED_NAMES
    }
    success = {} if record.success is None else {_SUCCESS: float(record.success)}
    code = record.outcome.get("decisionCode")
    return {**success, **({_DECISION: float(code)} if code and code.isdigit() else {}), **metrics}


def _sample(record: Record, model: str) -> Json:
    outcome, targets = record.outcome, record.expected_answers
    error = {"error": _error(f"{record.error['code']}: {record.error['message']}")} if record.error else {}
    seconds = (outcome.get("durationMs") or 0) / 1000
    details = {"name": record.scenario.get("name"), "dimensions": record.scenario.get("dimensions")}
    details |= {name: outcome.get(name) for name in ("omittedParameters", "labels")}
    return {
        "id": record.sample_id,
        "epoch": record.epoch,
        "input": _input(record),
        "target": targets[0] if len(targets) == 1 else targets or "",
        "messages": [_message(message, model) for message in record.messages],
        "output": _output(record, model, seconds),
        "scores": _scores(record),
        "metadata": {**(record.scenario.get("metadata") or {}), **{k: v for k, v in details.items() if v}},
        "store": {},
        "events": [],
        "model_usage": {model: _usage(outcome["usage"])} if "usage" in outcome else {},
        "completed_at": outcome.get("createdAt") or (record.error or {}).get("createdAt"),
        "total_time": seconds,
        "uuid": outcome.get("id") or f"{outcome['scenarioId']}.{outcome['index']}",
        "attachments": {},
        **error,
    }


def _input(record: Record) -> str | list[Json]:
    messages = record.input_messages
    return str(messages[0]["content"]) if len(messages) == 1 else [_message(each, record.model) for each in messages]


def _message(message: Json, model: str) -> Json:
    exported: Json = {"role": message["role"], "content": message["content"]}
    if message["role"] == "tool":
        failed = {"error": {"type": "unknown", "message": message["content"]}} if message.get("isError") else {}
        return {**exported, "tool_call_id": message["toolCallId"], **failed}
    if message["role"] != "assistant":
        return exported
    calls = [_tool_call(call) for call in message.get("toolCalls") or ()]
    return {**exported, "source": "generate", "model": model, **({"tool_calls": calls} if calls else {})}


def _tool_call(call: Json) -> Json:
    exported = {"id": call["id"], "function": call["name"], "type": "function"}
    try:
        return {**exported, "arguments": arguments_of(ToolCall(call["id"], call["name"], call["arguments"]))}
    except ArgumentsError as error:
        return {**exported, "arguments": {}, "parse_error": str(error)}


def _output(record: Record, model: str, seconds: float) -> Json:
    if record.error:
        return {"model": model, "choices": []}
    stop = _STOP_REASONS.get(record.outcome.get("finishReason") or "stop", "unknown")
    choice = {"message": _message({"role": "assistant", "content": record.answer}, model), "stop_reason": stop}
    usage = _usage(record.outcome["usage"])
    version = record.outcome.get("modelVersion") or model
    return {"model": version, "choices": [choice], "completion": record.answer, "usage": usage, "time": seconds}


def _usage(usage: Json) -> Json:
    input_tokens, output_tokens = usage["inputTokens"], usage["outputTokens"]
    return {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }


def _scores(record: Record) -> Json:
    scores: Json = {name: {"value": value} for name, value in (record.scoring.get("metrics") or {}).items()}
    if record.success is not None:
        names = ("tags", "results", "leftOutChecks")
        details = {"score": record.score, **{name: record.scoring.get(name) for name in names}}
        scores[_SUCCESS] = {
            "value": "C" if record.success else "I",
            "answer": record.answer,
            "explanation": record.reason or "",
            "metadata": {name: value for name, value in details.items() if value},
        }
    code = record.outcome.get("decisionCode")
    if code is not None:
        value = int(code) if code.isdigit() else code
        scores[_DECISION] = {"value": value, "explanation": record.outcome.get("decisionText") or ""}
    return scores


def _summary(sample: Json) -> Json:
    scores = {name: {"value": score["value"]} for name, score in sample["scores"].items()}
    copied = ("id", "epoch", "target", "model_usage", "completed_at", "total_time", "uuid")
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    return {
        **{name: sample[name] for name in copied},
        "input": _truncated(sample["input"]),
        "scores": scores,
        "completed": True,
        "message_count": len(sample["messages"]),
        **error,
    }


def _truncated(text: str | list[Json]) -> str | list[Json]:
    if isinstance(text, str):
        return text[:_MAX_SUMMARY_CHARACTERS]
    return [{**message, "content": message["content"][:_MAX_SUMMARY_CHARACTERS]} for message in text]


def _error(message: str) -> Json:
    return {"message": message, "traceback": "", "traceback_ansi": ""}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
