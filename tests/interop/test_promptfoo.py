"""The same configuration evaluated by promptfoo and, imported, by Cupel; and Cupel's results imported by promptfoo."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cupel_core.domain.scoring.assertions import NOT
from cupel_core.scoring.score import CHECKS
from tests.interop import tools
from tests.interop.conftest import Cupel
from tests.interop.suites import SUITE

type Json = dict[str, Any]

OF_CALLS = {kind for kind in CHECKS if "-call" in kind or kind.startswith("trajectory:")}
"""Compared in test_tool_calls.py."""
OF_OTHER_TOOLS = {"string-check", "text-similarity", "choice", "match", "exact-match", "fuzzy-match", "json-match"}
"""Graders of OpenAI, and scorers of Inspect and of OpenAI's evals."""
NOT_BY_ECHO = {"finish-reason", "number-equals", *OF_OTHER_TOOLS, *OF_CALLS}
"""promptfoo's echo provider has no finish reason, calls nothing and is not traced; it cannot compare numbers."""


class CaseResult(NamedTuple):
    """The result of one case, as both tools report it."""

    answer: str
    passed: bool
    score: float
    metrics: dict[str, float]


@pytest.fixture(scope="module")
def promptfoo_results(tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    """promptfoo's own results, in the order of its tests."""
    home = tmp_path_factory.mktemp("promptfoo")
    output = home / "results.json"
    tools.promptfoo(home, "eval", "-c", SUITE.name, "-o", str(output), "--no-cache", "--no-table", folder=SUITE.parent)
    results = json.loads(output.read_text())["results"]["results"]
    return sorted(results, key=lambda result: result["testIdx"])


def promptfoo_result(result: Json) -> CaseResult:
    named = {name: round(score, 9) for name, score in result["namedScores"].items()}
    return CaseResult(result["response"]["output"], result["success"], round(result["score"], 9), named)


def cupel_result(transcript: Json) -> CaseResult:
    scoring = transcript["scoring"]
    named = {name: round(score, 9) for name, score in scoring["metrics"].items()}
    answer = transcript["content"]["messages"][-1]["content"]
    return CaseResult(answer, scoring["success"], round(scoring["score"], 9), named)


def kinds(assertions: list[Json]) -> set[str]:
    return {kind for assertion in assertions for kind in {assertion["type"]} | kinds(assertion.get("assert") or [])}


def test_both_tools_agree_on_every_case(cupel: Cupel, promptfoo_results: list[Json]) -> None:
    ours: dict[str, list[CaseResult]] = defaultdict(list)
    for transcript in cupel.client.list_transcripts(cupel.run_id):
        ours[transcript["scenarioId"]].append(cupel_result(transcript))
    scenarios = list(cupel.client.list_scenarios(cupel.definition_id))
    assert len(scenarios) == len(promptfoo_results)
    differences = [
        (scenario["metadata"]["promptfoo"]["where"], promptfoo_result(result), ours[scenario["id"]])
        for scenario, result in zip(scenarios, promptfoo_results, strict=True)
        if ours[scenario["id"]] != [promptfoo_result(result)] * 2
    ]
    assert differences == []


def test_the_configuration_covers_every_deterministic_type_with_both_outcomes(
    cupel: Cupel, promptfoo_results: list[Json]
) -> None:
    scenarios = list(cupel.client.list_scenarios(cupel.definition_id))
    used = kinds([assertion for scenario in scenarios for assertion in scenario["assertions"]])
    assert {kind.removeprefix(NOT) for kind in used} >= set(CHECKS) - NOT_BY_ECHO
    outcomes = defaultdict(set)
    for result in promptfoo_results:
        for part in result["gradingResult"]["componentResults"]:
            outcomes[(part.get("assertion") or {}).get("type", "").removeprefix(NOT)].add(part["pass"])
    assert {kind for kind in set(CHECKS) - NOT_BY_ECHO if outcomes[kind] != {True, False}} == {"latency"}


def test_nothing_is_skipped(cupel: Cupel) -> None:
    assert cupel.report["skipped"] == []


def export_from_promptfoo(home: Path, eval_id: str) -> Json:
    """An evaluation as promptfoo has stored it."""
    output = home / "exported.json"
    tools.promptfoo(home, "export", "eval", eval_id, "-o", str(output))
    return json.loads(output.read_text())


def test_promptfoo_imports_a_run(cupel: Cupel, tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    cupel("export", cupel.run_id, "--format", "promptfoo", "--output", str(output))
    tools.promptfoo(tmp_path, "import", str(output))
    stored = export_from_promptfoo(tmp_path, cupel.run_id)["results"]
    transcripts = list(cupel.client.list_transcripts(cupel.run_id))
    assert len(stored["results"]) == len(transcripts)
    assert sum(result["success"] for result in stored["results"]) == sum(t["result"]["success"] for t in transcripts)
    assert {result["response"]["output"] for result in stored["results"]} == {
        cupel_result(t).answer for t in transcripts
    }
    assert stored["prompts"][0]["metrics"]["testPassCount"] == sum(t["result"]["success"] for t in transcripts)


def test_promptfoo_imports_output_items_of_openai_evals(cupel: Cupel, tmp_path: Path) -> None:
    output = tmp_path / "items.jsonl"
    cupel("export", cupel.run_id, "--format", "openai-evals", "--output", str(output))
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    printed = tools.promptfoo(tmp_path, "import", str(output))
    assert "successfully imported" in printed
    [eval_id] = [word for word in printed.split() if cupel.run_id in word or word.startswith("eval-")]
    stored = export_from_promptfoo(tmp_path, eval_id)["results"]["results"]
    assert [result["success"] for result in stored] == [row["passes"]["cupel"] for row in rows]
