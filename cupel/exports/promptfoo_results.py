"""Writes promptfoo results, version 3, for `promptfoo import`. A target and prompt are a column, a scenario is a
row."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from cupel.columns import RunColumn, columns_of
from cupel.exports.records import Record
from cupel.json_types import Json

_NONE, _ASSERT, _ERROR = 0, 1, 2


@dataclass
class _ModelColumn:
    successes: int = 0
    failures: int = 0
    errors: int = 0
    asserts: Counter[bool] = field(default_factory=Counter)
    score: float = 0.0
    latency_ms: int = 0
    cost: float = 0.0
    tokens: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    named_counts: Counter[str] = field(default_factory=Counter)

    def add(self, result: Json) -> None:
        self.successes += result["success"]
        self.errors += result["failureReason"] == _ERROR
        self.failures += result["failureReason"] == _ASSERT
        self.score += result["score"]
        self.latency_ms += result["latencyMs"]
        self.cost += result["cost"]
        self.tokens.update(result["response"]["tokenUsage"])
        self.asserts.update(part["pass"] for part in result["gradingResult"]["componentResults"])
        self.named.update(result["namedScores"])
        self.named_counts.update(result["namedScores"].keys())

    def metrics(self) -> Json:
        return {
            "score": self.score,
            "testPassCount": self.successes,
            "testFailCount": self.failures,
            "testErrorCount": self.errors,
            "assertPassCount": self.asserts[True],
            "assertFailCount": self.asserts[False],
            "totalLatencyMs": self.latency_ms,
            "tokenUsage": dict(self.tokens),
            "namedScores": dict(self.named),
            "namedScoresCount": dict(self.named_counts),
            "cost": self.cost,
        }


@dataclass
class _ResultTable:
    run_columns: list[RunColumn]
    label: str
    rows: dict[tuple[str, int], int] = field(default_factory=dict)
    columns: dict[RunColumn, _ModelColumn] = field(default_factory=dict)

    def add(self, record: Record) -> Json:
        row = self.rows.setdefault((record.sample_id, record.epoch), len(self.rows))
        result = _result(record, record.column.prompt or self.label, self.run_columns.index(record.column), row)
        self.columns.setdefault(record.column, _ModelColumn()).add(result)
        return result

    def prompts(self) -> list[Json]:
        return [
            {
                "raw": column.prompt or self.label,
                "label": column.prompt or self.label,
                "provider": column.target,
                "metrics": self.columns.get(column, _ModelColumn()).metrics(),
            }
            for column in self.run_columns
        ]

    def stats(self) -> Json:
        columns = self.columns.values()
        tokens = sum((column.tokens for column in columns), Counter[str]())
        return {
            "successes": sum(column.successes for column in columns),
            "failures": sum(column.failures for column in columns),
            "errors": sum(column.errors for column in columns),
            "tokenUsage": dict(tokens),
        }


def write(records: Iterator[Record], run: Json, name: str, file: IO[str]) -> None:
    """Write the totals after the results, so that the results need not fit into memory."""
    table = _ResultTable(columns_of(run), name)
    head = {"evalId": run["id"], "config": _config(run, name), "shareableUrl": None, "metadata": _metadata(run)}
    file.write(f"{_json(head)[:-1]},\n")
    file.write(f'"results": {{"version": 3, "timestamp": {_json(run["createdAt"])}, "results": [\n')
    count = 0
    for count, record in enumerate(records, start=1):
        file.write(f"{',' if count > 1 else ''}{_json(table.add(record))}\n")
    file.write(f'], "prompts": {_json(table.prompts())}, "stats": {_json(table.stats())}}}}}\n')


def _config(run: Json, name: str) -> Json:
    columns = columns_of(run)
    providers = {column.target: _provider(column) for column in columns}
    prompts = list(dict.fromkeys(column.prompt or name for column in columns))
    return {"description": name, "prompts": prompts, "providers": list(providers.values()), "tests": []}


def _provider(column: RunColumn) -> Json:
    label = {} if column.target == column.model else {"label": column.target}
    return {"id": column.model, **label}


def _metadata(run: Json) -> Json:
    return {"evaluationCreatedAt": run["createdAt"], "author": "cupel", "cupel": {"definitionId": run["definitionId"]}}


def _result(record: Record, label: str, column: int, row: int) -> Json:
    outcome = record.outcome
    failure, error = _failure(record)
    passed = failure == _NONE
    score = record.score if record.score is not None else float(passed)
    named = dict(record.scoring.get("metrics") or {})
    return {
        "id": outcome.get("id") or f"{outcome['scenarioId']}.{outcome['index']}",
        "promptIdx": column,
        "testIdx": row,
        "promptId": label,
        "prompt": {"raw": _prompt_text(record), "label": label},
        "provider": {"label": "", **_provider(record.column)},
        "vars": _variables(record),
        "testCase": _test_case(record),
        "response": _response(record, error),
        "success": passed,
        "score": score,
        "failureReason": failure,
        **({"error": error} if error else {}),
        "namedScores": named,
        "latencyMs": outcome.get("durationMs") or 0,
        "cost": outcome.get("costUsd") or 0,
        "metadata": {
            "scenarioId": outcome["scenarioId"],
            "epoch": record.epoch,
            "tags": record.scoring.get("tags") or [],
            "leftOutChecks": record.scoring.get("leftOutChecks") or {},
            "omittedParameters": outcome.get("omittedParameters") or [],
            "labels": outcome.get("labels") or [],
        },
        "gradingResult": {
            "pass": passed,
            "score": score,
            "reason": record.reason or ("No assertions" if passed else error or "Failed"),
            "namedScores": named,
            "tokensUsed": _tokens(outcome.get("judgeSpend", {}).get("usage")),
            "componentResults": [_component(part) for part in record.scoring.get("results") or ()],
        },
    }


def _failure(record: Record) -> tuple[int, str | None]:
    if record.error:
        return _ERROR, f"{record.error['code']}: {record.error['message']}"
    if record.success is None and (record.scoring.get("results") or record.scoring.get("leftOutChecks")):
        return _ERROR, record.scoring.get("reason") or "could not be scored"
    return (_ASSERT if record.success is False else _NONE), None


def _response(record: Record, error: str | None) -> Json:
    tokens = _tokens(record.outcome.get("usage"))
    if record.error:
        return {"error": error, "tokenUsage": tokens}
    return {"output": record.answer, "tokenUsage": tokens, "cost": record.outcome.get("costUsd") or 0}


def _component(result: Json) -> Json:
    metric = {"metric": result["metric"]} if result.get("metric") else {}
    return {
        "pass": bool(result["passed"]),
        "score": result["score"] or 0,
        "reason": result.get("error") or result["reason"],
        "assertion": {"type": result["type"], "weight": result["weight"], **metric},
    }


def _variables(record: Record) -> Json:
    known = (record.scenario.get("metadata") or {}).get("vars")
    return known if isinstance(known, dict) else {"scenario": record.scenario.get("name") or record.scenario["id"]}


def _test_case(record: Record) -> Json:
    scenario = record.scenario
    return {
        "description": scenario.get("name") or scenario["id"],
        "vars": _variables(record),
        "assert": scenario.get("assertions") or [],
        "metadata": {"scenarioId": scenario["id"]},
    }


def _prompt_text(record: Record) -> str:
    messages = record.input_messages
    if len(messages) == 1:
        return str(messages[0]["content"])
    return json.dumps(messages, ensure_ascii=False, indent=2)


def _tokens(usage: Json | None) -> Json:
    prompt, completion = (usage or {}).get("inputTokens", 0), (usage or {}).get("outputTokens", 0)
    return {"prompt": prompt, "completion": completion, "total": prompt + completion, "cached": 0, "numRequests": 1}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
