"""Writes exports as text: JSON Lines, also in OpenAI's format of output items, and tables in CSV.

A spreadsheet executes a cell that begins like a formula, and models, scenarios and judges write the texts of this
table. So such a cell begins with an apostrophe, as OWASP recommends. It has no control characters, which some readers
refuse and which would control a terminal. JSON Lines contain every text unchanged.
"""

import csv
from collections.abc import Iterator
from decimal import Decimal
from typing import IO

from cupel.exports.records import Record, costs_of, may_decide, probe_index, status_of, total_spend
from cupel.json_types import Json
from cupel.printable import printable, printable_json
from cupel.render import last_message
from cupel.unscored_answers import left_out_checks
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.scoring.left_out_checks import describe_checks

_COLUMNS = (
    "probeIndex",
    "status",
    "scenarioName",
    "personaName",
    "repeat",
    "variables",
    "dimensions",
    "metadata",
    "scenarioId",
    "personaId",
    "targetId",
    "promptId",
    "modelId",
    "modelVersion",
    "decisionCode",
    "decisionText",
    "rescoreId",
    "passed",
    "score",
    "reason",
    "tags",
    "labels",
    "leftOutChecks",
    "omittedParameters",
    "turnCount",
    "inputTokens",
    "outputTokens",
    "durationMs",
    "costUsd",
    "judgeCostUsd",
    "simulatedUserCostUsd",
    "operationsCostUsd",
    "totalCostUsd",
    "createdAt",
    "question",
    "answer",
    "errorCode",
    "errorMessage",
)
"""`variables`, `dimensions`, `metadata` and `labels` are JSON, `question` is the user's last message, `costUsd` is the
target's cost, and `totalCostUsd` that of all calls. Costs are empty without calls or if a price is unknown."""
_COST_COLUMNS = {
    ModelRole.TARGET: "costUsd",
    ModelRole.JUDGE: "judgeCostUsd",
    ModelRole.PERSONA: "simulatedUserCostUsd",
    ModelRole.OPERATION: "operationsCostUsd",
}
_OF_DECISIONS = ("decisionCode", "decisionText")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")
"""The last four are full-width forms, which spreadsheets in some languages treat alike."""
GRADER = "cupel"


def write_jsonl(outcomes: Iterator[Json], file: IO[str]) -> None:
    for outcome in outcomes:
        file.write(_line(outcome))


def write_csv(outcomes: Iterator[Json], run: Json, rescore_id: str | None, file: IO[str]) -> None:
    left_out = {*(() if may_decide(run) else _OF_DECISIONS), *(() if rescore_id else ("rescoreId",))}
    columns = [name for name in _COLUMNS if name not in left_out]
    rows = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    rows.writeheader()
    for outcome in outcomes:
        rows.writerow(_row(outcome))


def _line(outcome: Json) -> str:
    exported = {name: value for name, value in outcome.items() if name != "definitionSnapshot"}
    return printable_json({**exported, **_identity(outcome)}) + "\n"


def _identity(outcome: Json) -> Json:
    """Return the fields that transcripts and errored probes name differently."""
    return {"probeIndex": probe_index(outcome), "status": status_of(outcome)}


def _row(outcome: Json) -> Json:
    result, error = outcome.get("result") or {}, outcome.get("error") or {}
    row = {**outcome, **(outcome.get("usage") or {}), **result, **_identity(outcome), **_spend_of(outcome)}
    row["tags"] = " ".join((outcome.get("scoring") or {}).get("tags") or ())
    row["leftOutChecks"] = describe_checks(left_out_checks(outcome))
    row["omittedParameters"] = " ".join(outcome.get("omittedParameters") or ())
    row |= {"passed": result.get("success"), "question": last_message(outcome, "user")}
    row["answer"] = last_message(outcome, "assistant")
    row |= {"errorCode": error.get("code"), "errorMessage": error.get("message")}
    for name in ("variables", "dimensions", "metadata", "labels"):
        row[name] = printable_json(outcome[name]) if outcome.get(name) else None
    costs = {name: _usd(row[name]) for name in (*_COST_COLUMNS.values(), "totalCostUsd") if row.get(name) is not None}
    return {name: spreadsheet_cell(row.get(name)) for name in _COLUMNS} | costs


def _usd(amount: float) -> str:
    """Return billionths of a dollar at most, without an exponent and without the noise of a sum of floats."""
    digits = f"{round(Decimal(amount), 9):f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _spend_of(outcome: Json) -> Json:
    costs = costs_of(outcome)
    return {
        **{name: costs.get(role) for role, name in _COST_COLUMNS.items()},
        "totalCostUsd": total_spend(outcome).get("costUsd"),
        "createdAt": (outcome.get("error") or {}).get("createdAt") or outcome.get("createdAt"),
    }


def spreadsheet_cell(value: object) -> object:
    """Return the cell. Numbers stay numbers, negative ones too: only texts can be formulas."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def write_openai_evals(records: Iterator[Record], run: Json, file: IO[str]) -> None:
    """Write one line per record. The index of an item is the index of its probe."""
    for record in records:
        file.write(printable_json(_openai_row(record, run)) + "\n")


def _openai_row(record: Record, run: Json) -> Json:
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
