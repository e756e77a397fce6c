"""What promptfoo answers on a configuration, and what Cupel answers on it imported; and back."""

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

NOT_BY_ECHO = {"finish-reason"}
"""promptfoo's echo gives no reason for its end."""


class Told(NamedTuple):
    """What both say of one case."""

    answer: str
    passed: bool
    score: float
    metrics: dict[str, float]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    """promptfoo's own results, in the order of its tests."""
    home = tmp_path_factory.mktemp("promptfoo")
    output = home / "results.json"
    tools.promptfoo(home, "eval", "-c", SUITE.name, "-o", str(output), "--no-cache", "--no-table", folder=SUITE.parent)
    results = json.loads(output.read_text())["results"]["results"]
    return sorted(results, key=lambda result: result["testIdx"])


def told_by_promptfoo(result: Json) -> Told:
    named = {name: round(score, 9) for name, score in result["namedScores"].items()}
    return Told(result["response"]["output"], result["success"], round(result["score"], 9), named)


def told_by_cupel(transcript: Json) -> Told:
    scoring = transcript["scoring"]
    named = {name: round(score, 9) for name, score in scoring["metrics"].items()}
    answer = transcript["content"]["messages"][-1]["content"]
    return Told(answer, scoring["success"], round(scoring["score"], 9), named)


def kinds(assertions: list[Json]) -> set[str]:
    return {kind for each in assertions for kind in ({each["type"]} | kinds(each.get("assert") or []))}


def test_both_answer_and_judge_every_case_alike(cupel: Cupel, theirs: list[Json]) -> None:
    ours: dict[str, list[Told]] = defaultdict(list)
    for transcript in cupel.client.transcripts(cupel.run_id):
        ours[transcript["scenarioId"]].append(told_by_cupel(transcript))
    scenarios = list(cupel.client.scenarios(cupel.definition_id))
    assert len(scenarios) == len(theirs)
    differences = [
        (scenario["metadata"]["promptfoo"]["where"], told_by_promptfoo(result), ours[scenario["id"]])
        for scenario, result in zip(scenarios, theirs, strict=True)
        if ours[scenario["id"]] != [told_by_promptfoo(result)] * 2
    ]
    assert differences == []


def test_the_configuration_has_every_deterministic_type_and_its_outcomes(cupel: Cupel, theirs: list[Json]) -> None:
    scenarios = list(cupel.client.scenarios(cupel.definition_id))
    found = kinds([assertion for scenario in scenarios for assertion in scenario["assertions"]])
    assert {kind.removeprefix(NOT) for kind in found} >= set(CHECKS) - NOT_BY_ECHO
    outcomes = defaultdict(set)
    for result in theirs:
        for part in result["gradingResult"]["componentResults"]:
            outcomes[(part.get("assertion") or {}).get("type", "").removeprefix(NOT)].add(part["pass"])
    assert {kind for kind in set(CHECKS) - NOT_BY_ECHO if outcomes[kind] != {True, False}} == {"latency"}


def test_nothing_of_it_is_left(cupel: Cupel) -> None:
    assert cupel.report["left"] == []


def shown(home: Path, eval_id: str) -> Json:
    """What promptfoo has of an evaluation."""
    output = home / "exported.json"
    tools.promptfoo(home, "export", "eval", eval_id, "-o", str(output))
    return json.loads(output.read_text())


def test_promptfoo_imports_a_run(cupel: Cupel, tmp_path: Path) -> None:
    output = tmp_path / "run.json"
    cupel("export", cupel.run_id, "--format", "promptfoo", "--output", str(output))
    tools.promptfoo(tmp_path, "import", str(output))
    kept = shown(tmp_path, cupel.run_id)["results"]
    transcripts = list(cupel.client.transcripts(cupel.run_id))
    assert len(kept["results"]) == len(transcripts)
    assert sum(result["success"] for result in kept["results"]) == sum(t["result"]["success"] for t in transcripts)
    assert {result["response"]["output"] for result in kept["results"]} == {
        told_by_cupel(t).answer for t in transcripts
    }
    assert kept["prompts"][0]["metrics"]["testPassCount"] == sum(t["result"]["success"] for t in transcripts)


def test_promptfoo_imports_output_items_of_openai_evals(cupel: Cupel, tmp_path: Path) -> None:
    output = tmp_path / "items.jsonl"
    cupel("export", cupel.run_id, "--format", "openai-evals", "--output", str(output))
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    told = tools.promptfoo(tmp_path, "import", str(output))
    assert "successfully imported" in told
    [eval_id] = [word for word in told.split() if cupel.run_id in word or word.startswith("eval-")]
    kept = shown(tmp_path, eval_id)["results"]["results"]
    assert [result["success"] for result in kept] == [row["passes"]["cupel"] for row in rows]
