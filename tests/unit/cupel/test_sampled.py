"""What readers of a sampled run are told, on a stack and in process."""

import json
from pathlib import Path
from typing import Any

import pytest

import cupel
from cupel.columns import RunColumn
from cupel.commands.show import sample_lines
from cupel.results import ModelResults, tabulate
from tests.unit.cupel.fake_api import SIMULATED, Cupel, FakeApi, a_transcript

NOTE = "Based on 20% of the scenarios (12 of 60, seed 1)."
SAMPLE = {"scenarios": 12, "total": 60, "seed": 1, "isDrawn": True, "probesToAdd": 96, "note": NOTE}
TWO_TARGETS = [
    {"decision": {"interval95": [2.5, 3.25]}, "passRate": None},
    {"decision": {"interval95": None}, "passRate": {"interval95": [0.5, 0.75]}},
]


def results(*extrapolated: dict[str, Any], decision: str | None = "3") -> list[ModelResults]:
    columns = [RunColumn(f"sim/{number}", f"sim/{number}", None) for number in range(len(extrapolated))]
    transcripts = [a_transcript(0, "sim/0", decision)]
    rows = tabulate(columns, len(columns), transcripts, [])
    return [ModelResults(**{**vars(row), "extrapolated": each}) for row, each in zip(rows, extrapolated, strict=True)]


def test_a_sampled_run_is_extrapolated_where_there_is_an_interval() -> None:
    assert list(sample_lines(SAMPLE, results(*TWO_TARGETS), "cupel expand run_1 --sample 100")) == [
        f"{NOTE} An expansion to all scenarios adds 96 conversations: cupel expand run_1 --sample 100",
        "The mean over all 60 scenarios, with 95% confidence: sim/0 2.50 to 3.25.",
    ]


def test_without_decisions_pass_rates_are_extrapolated() -> None:
    *_, text = sample_lines(SAMPLE, results(*TWO_TARGETS, decision=None), None)
    assert text == "The pass rate over all 60 scenarios, with 95% confidence: sim/1 50.0% to 75.0%."


@pytest.mark.parametrize("sample", [{**SAMPLE, "isDrawn": False}, {**SAMPLE, "scenarios": 60}])
def test_nothing_is_said_of_a_run_that_is_no_sample(sample: dict[str, Any]) -> None:
    assert list(sample_lines(sample, results(*TWO_TARGETS), None)) == []


def test_show_prints_the_note_below_the_table(api: FakeApi, cupel: Cupel) -> None:
    api.transcripts, api.sample = [a_transcript(0, SIMULATED, "4")], SAMPLE
    assert f"{NOTE} An expansion to all scenarios adds 96 conversations: " in cupel("show", "run_1").stdout
    assert json.loads(cupel("show", "run_1", "--json").stdout)["sample"] == SAMPLE


def test_a_watched_run_says_it_once(api: FakeApi, cupel: Cupel) -> None:
    api.transcripts, api.sample = [a_transcript(0, SIMULATED, "4")], SAMPLE
    figures = {"insights": [{"kind": "sample", "text": NOTE}], "cautions": [], "contested": [], "columns": []}
    found = {"failure": None, "isStale": False, "staleReason": None, "figures": {"metric": "DECISION", **figures}}
    api.documents["runs/run_1/analysis"] = found
    assert cupel("watch", "run_1").stdout.count(NOTE) == 1


def definition(path: Path, scenarios: int) -> str:
    asked = [{"name": f"case {number}", "prompt": f"{number % 3}"} for number in range(scenarios)]
    content = {"assertions": [{"type": "contains", "value": "1"}]}
    path.write_text(json.dumps({"name": "q", "content": content, "scenarios": asked}))
    return str(path)


def test_in_process_a_sample_says_so_too(tmp_path: Path) -> None:
    found = cupel.evaluate(
        definition(tmp_path / "q.json", 40), "sim/echo", sample_percentage=25, seed=1, repeats=2, progress=False
    )
    figures = found.analysis()
    assert (figures["sample"]["scenarios"], figures["sample"]["probesToAdd"]) == (10, 60)
    assert found.to_json()["sample"] == figures["sample"]
    extrapolated = found.models[0].extrapolated
    assert extrapolated == figures["columns"][0]["extrapolated"]
    assert extrapolated["passRate"]["standardError"] < figures["columns"][0]["estimate"]["passRate"]["standardError"]


def test_in_process_the_command_prints_it(api: FakeApi, cupel: Cupel, tmp_path: Path) -> None:
    path = definition(tmp_path / "q.json", 40)
    printed = cupel("run", path, "--models", "sim/echo", "--in-process", "--sample", "25", "--seed", "1").stdout
    assert (
        "Based on 25% of the scenarios (10 of 40, seed 1). An expansion to all scenarios adds 30 conversations."
        in printed
    )
    assert "The pass rate over all 40 scenarios, with 95% confidence: sim/echo " in printed
