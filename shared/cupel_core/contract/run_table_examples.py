"""Examples of what tables of large runs are drawn from, for the OpenAPI document: three probes of a case."""

from typing import Any

RUN_TABLE_EXAMPLES: dict[str, Any] = {
    "CaseNameList.nextIndex": 1000,
    "ProbeColumns.case": [7, 7, 7],
    "ProbeColumns.checkNames": ["llm-rubric"],
    "ProbeColumns.column": [0, 0, 0],
    "ProbeColumns.completed": [True, True, False],
    "ProbeColumns.costUsd": [0.0042, 0.0039, 0.0],
    "ProbeColumns.decision": ["4", "2", None],
    "ProbeColumns.durationMs": [1840, 2015, None],
    "ProbeColumns.errorCode": [None, None, "timeout"],
    "ProbeColumns.failedChecks": [[], [0], []],
    "ProbeColumns.firstIndex": 21,
    "ProbeColumns.inputTokens": [412, 412, None],
    "ProbeColumns.isFinal": True,
    "ProbeColumns.outputTokens": [96, 120, None],
    "ProbeColumns.repeat": [0, 1, 2],
    "ProbeColumns.score": [0.9, 0.2, None],
    "ProbeColumns.success": [True, False, None],
    "ProbeColumns.tagNames": ["policy"],
    "ProbeColumns.tags": [[], [0], []],
    "ProbeColumns.turns": [1, 1, None],
    "ProbeExcerpt.answer": "You can return it within 30 days.",
    "ProbeExcerpt.contentAvailable": True,
    "ProbeMatches.indexes": [21, 22],
    "ProbeMatches.nextIndex": 1000,
}
