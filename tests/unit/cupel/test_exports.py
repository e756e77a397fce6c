"""Exports in the formats of other tools, from a fake API."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cupel.exports.records import Record
from tests.unit.cupel.fake_api import REAL, SIMULATED, Cupel, FakeApi, a_transcript, an_error

type Json = dict[str, Any]

RESULT = {"success": False, "score": 0.5, "reason": "contains: no"}
SCORING = {
    "success": False,
    "score": 0.5,
    "reason": "contains: no",
    "results": [
        {"type": "contains", "passed": False, "score": 0, "reason": "no", "weight": 1, "metric": "m", "error": None},
        {"type": "is-json", "passed": True, "score": 1, "reason": "yes", "weight": 1, "metric": None, "error": None},
    ],
    "tags": ["GOAL_MISS"],
    "metrics": {"m": 0.0},
}


@pytest.fixture
def finished(api: FakeApi) -> FakeApi:
    api.definitions = [{"id": "def_1", "name": "Questions", "tags": []}]
    api.scenarios = {"def_1": []}
    api.transcripts = [
        a_transcript(0, SIMULATED, "3", result=RESULT, scoring=SCORING),
        a_transcript(3, SIMULATED, "5", result={"success": True, "score": None, "reason": None}),
        a_transcript(1, REAL, None, costUsd=None),
    ]
    api.errors = [an_error(5, REAL)]
    return api


def exported(cupel: Cupel, tmp_path: Path, file_format: str) -> Path:
    output = tmp_path / "out"
    result = cupel("export", "run_1", "--format", file_format, "--output", str(output))
    assert result.exit_code == 0, result.stderr
    assert "3 transcripts" in result.stderr
    return output


def entries(log: Path) -> Json:
    with zipfile.ZipFile(log) as found:
        return {name: json.loads(found.read(name)) for name in found.namelist()}


@pytest.fixture
def logs(finished: FakeApi, cupel: Cupel, tmp_path: Path) -> list[Json]:
    return [entries(path) for path in sorted(exported(cupel, tmp_path, "inspect").iterdir())]


def test_each_model_has_a_log_of_its_own(logs: list[Json]) -> None:
    assert {log["header.json"]["eval"]["model"] for log in logs} == {SIMULATED, REAL}


def of_model(logs: list[Json], model: str) -> Json:
    return next(log for log in logs if log["header.json"]["eval"]["model"] == model)


def test_repeats_are_epochs_of_one_sample(logs: list[Json]) -> None:
    log = of_model(logs, SIMULATED)
    assert [name for name in log if name.startswith("samples/")] == [
        "samples/scn_0_epoch_1.json",
        "samples/scn_0_epoch_2.json",
    ]


def test_success_decision_and_metrics_are_scores(logs: list[Json]) -> None:
    scores = of_model(logs, SIMULATED)["samples/scn_0_epoch_1.json"]["scores"]
    assert {name: score["value"] for name, score in scores.items()} == {"success": "I", "decision": 3, "m": 0.0}


def test_the_header_has_means(logs: list[Json]) -> None:
    results = of_model(logs, SIMULATED)["header.json"]["results"]
    means = {score["name"]: next(iter(score["metrics"].values()))["value"] for score in results["scores"]}
    assert means == {"success": 0.5, "decision": 4.0, "m": 0.0}


def test_an_infrastructure_failure_is_an_error_and_has_no_score(logs: list[Json]) -> None:
    log = of_model(logs, REAL)
    failed = log["samples/scn_2_epoch_1.json"]
    assert failed["error"]["message"] == "timeout: no answer in 60 s"
    assert failed["scores"] == {}
    assert log["header.json"]["results"]["completed_samples"] == 1


def test_a_log_contains_summaries_of_its_samples(logs: list[Json]) -> None:
    log = of_model(logs, REAL)
    assert [summary["id"] for summary in log["summaries.json"]] == ["scn_1", "scn_2"]
    assert log["_journal/summaries/1.json"] == log["summaries.json"]


def test_logs_need_a_folder(cupel: Cupel) -> None:
    assert cupel("export", "run_1", "--format", "inspect").exit_code == 2


@pytest.fixture
def results(finished: FakeApi, cupel: Cupel, tmp_path: Path) -> Json:
    found: Json = json.loads(exported(cupel, tmp_path, "promptfoo").read_text())
    return found


def test_promptfoo_has_a_column_per_model_and_a_row_per_case(results: Json) -> None:
    cells = [(result["promptIdx"], result["testIdx"]) for result in results["results"]["results"]]
    assert cells == [(0, 0), (0, 1), (1, 2), (1, 3)]
    assert [prompt["provider"] for prompt in results["results"]["prompts"]] == [SIMULATED, REAL]


def test_failures_errors_and_unjudged_results_are_distinguished(results: Json) -> None:
    outcomes = [(result["success"], result["failureReason"]) for result in results["results"]["results"]]
    assert outcomes == [(False, 1), (True, 0), (True, 0), (False, 2)]
    assert results["results"]["stats"]["errors"] == 1


def test_assertions_are_components(results: Json) -> None:
    graded = results["results"]["results"][0]["gradingResult"]
    assert [(part["assertion"]["type"], part["pass"]) for part in graded["componentResults"]] == [
        ("contains", False),
        ("is-json", True),
    ]
    assert results["results"]["prompts"][0]["metrics"]["assertPassCount"] == 1


def test_an_unscored_result_is_an_error(finished: FakeApi, cupel: Cupel, tmp_path: Path) -> None:
    broken = {**SCORING, "success": None, "score": None, "reason": "could not be computed", "metrics": {}}
    finished.transcripts = [a_transcript(n, SIMULATED, None, result=None, scoring=broken) for n in range(3)]
    [first, *_] = json.loads(exported(cupel, tmp_path, "promptfoo").read_text())["results"]["results"]
    assert (first["failureReason"], first["error"]) == (2, "could not be computed")


@pytest.fixture
def items(finished: FakeApi, cupel: Cupel, tmp_path: Path) -> list[Json]:
    return [json.loads(line) for line in exported(cupel, tmp_path, "openai-evals").read_text().splitlines()]


def test_an_item_has_its_sample_and_grades(items: list[Json]) -> None:
    assert items[0]["item"]["input"] == [{"role": "user", "content": "?"}]
    assert items[0]["sample"]["outputs"] == [{"role": "assistant", "content": "Rating: 3"}]
    assert (items[0]["grades"], items[0]["passes"]) == ({"cupel": 0.5, "m": 0.0}, {"cupel": False})


def test_an_item_names_the_model_and_not_its_version(items: list[Json]) -> None:
    assert {item["sample"]["model"] for item in items} == {SIMULATED, REAL}


def test_a_failed_probe_is_an_item_with_an_error(items: list[Json]) -> None:
    assert items[-1]["sample"]["error"] == {"code": "timeout", "message": "no answer in 60 s"}
    assert (items[-1]["grades"], items[-1]["passes"]) == ({}, {})


def test_an_export_can_be_imported(items: list[Json]) -> None:
    from cupel_core.domain.definitions.datasets import DatasetFormat
    from cupel_core.interop.imports.datasets import read_dataset

    suite = read_dataset("\n".join(map(json.dumps, items)), DatasetFormat.OPENAI_EVALS, "Again")
    assert [scenario.messages[0].content for scenario in suite.drafts[0].scenarios] == ["?", "?"]
    assert [note.why for note in suite.report.changed] == [
        "it is another answer to a sample above, which is imported once"
    ]


def test_calls_of_tools_and_their_results_have_inspects_form(finished: FakeApi, cupel: Cupel, tmp_path: Path) -> None:
    calls = [
        {"id": "call_1", "name": "find", "arguments": '{"a": 1}'},
        {"id": "call_2", "name": "find", "arguments": "x"},
    ]
    finished.transcripts[0]["content"]["messages"] = [
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": "", "toolCalls": calls},
        {"role": "tool", "content": "found", "toolCallId": "call_1"},
        {"role": "tool", "content": "The arguments are not valid JSON.", "toolCallId": "call_2", "isError": True},
        {"role": "assistant", "content": "Found."},
    ]
    logs = [entries(path) for path in sorted(exported(cupel, tmp_path, "inspect").iterdir())]
    messages = of_model(logs, SIMULATED)["samples/scn_0_epoch_1.json"]["messages"]
    error = "The arguments are not valid JSON."
    assert messages[1]["tool_calls"] == [
        {"id": "call_1", "function": "find", "type": "function", "arguments": {"a": 1}},
        {"id": "call_2", "function": "find", "type": "function", "arguments": {}, "parse_error": error},
    ]
    assert messages[2] == {"role": "tool", "content": "found", "tool_call_id": "call_1"}
    assert messages[3]["error"] == {"type": "unknown", "message": error}


@pytest.fixture
def partly(finished: FakeApi) -> FakeApi:
    """The first conversation lacks one check of its author, the last one every check."""
    left_out = {"leftOutChecks": {"is-sql": 1}}
    finished.transcripts[0]["scoring"] = {**SCORING, **left_out}
    finished.transcripts[2]["scoring"] = {"success": None, "results": [], "reason": "left out", **left_out}
    return finished


def test_left_out_checks_are_in_tables_and_results(partly: FakeApi, cupel: Cupel, tmp_path: Path) -> None:
    rows = exported(cupel, tmp_path, "csv").read_text().splitlines()
    assert [row.count("is-sql 1") for row in rows[1:4]].count(1) == 2


def test_a_conversation_of_which_every_check_was_left_out_does_not_pass_in_promptfoo(
    partly: FakeApi, cupel: Cupel, tmp_path: Path
) -> None:
    results = json.loads(exported(cupel, tmp_path, "promptfoo").read_text())["results"]["results"]
    assert [each["success"] for each in results if each.get("error") == "left out"] == [False]
    assert [each["metadata"]["leftOutChecks"] for each in results].count({"is-sql": 1}) == 2


@pytest.mark.parametrize(("target", "exported"), [(0, ["0"]), (False, ["false"]), (["a", 1], ["a", "1"]), (None, [])])
def test_zero_and_false_are_expected_answers(target: object, exported: list[str]) -> None:
    assert Record({}, {"metadata": {"target": target}}, 1).expected_answers == exported
