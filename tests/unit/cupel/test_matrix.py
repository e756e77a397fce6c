"""`cupel show RUN --matrix`, `cupel run --in-process --matrix` and `Evaluation.matrix()`."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

import cupel
from cupel.render_matrix import ResultMatrix, matrix_table, write_matrix_csv
from cupel.tables import layout
from tests.unit.cupel.fake_api import REAL, SIMULATED, Cupel, FakeApi, column_fields

type Json = dict[str, Any]


def a_cell(model: str = SIMULATED, **changes: Any) -> Json:
    """One repeat that passed."""
    counts = {"missing": 0, "completed": 1, "errors": {}, "judged": 1, "passed": 1, "meanScore": 1.0}
    return {**column_fields(model), **counts, "decisions": {}, "best": 0, **changes}


def a_row(index: int, *cells: Json, **changes: Any) -> Json:
    named = {"scenarioName": f"case {index}", "personaId": None, "personaName": None}
    return {"index": index, "scenarioId": f"scn_{index}", **named, "cells": list(cells), **changes}


def text(cell: Json) -> str:
    table, _ = matrix_table(ResultMatrix(["x"], [a_row(0, cell)]), None)
    return str([*layout(table, None)][1]).removeprefix("case 0    ").strip()


REPEATED = {"completed": 3, "judged": 3, "passed": 2, "meanScore": 2 / 3}
UNJUDGED = {"judged": 0, "passed": 0, "meanScore": None}
CELLS: list[tuple[Json, str]] = [
    ({}, "pass"),
    ({"passed": 0, "meanScore": 0.0}, "FAIL"),
    ({"meanScore": 0.85}, "pass 0.85"),
    ({"passed": 0, "meanScore": None}, "FAIL"),
    (REPEATED, "FAIL 2/3"),
    ({**REPEATED, "passed": 3, "meanScore": 0.9}, "pass 3/3 0.90"),
    ({**REPEATED, "completed": 4, "judged": 3}, "FAIL 2/3, 1 not judged"),
    ({**REPEATED, "errors": {"timeout": 2}, "missing": 1}, "FAIL 2/3, 2 errors timeout, 1 missing"),
    ({**REPEATED, "best": 1}, "FAIL 2/3, best 1/3"),
    ({"best": 1}, "pass, best"),
    (UNJUDGED, "not judged"),
    ({**UNJUDGED, "completed": 0, "errors": {"auth": 1}}, "error auth"),
    ({**UNJUDGED, "completed": 0, "missing": 1}, "–"),
    ({**UNJUDGED, "decisions": {"4": 1}}, "4"),
    ({"decisions": {"4": 1}}, "pass, 4"),
    ({**REPEATED, "decisions": {"4": 2, "other": 1}}, "FAIL 2/3, 4 ×2 other ×1"),
]


@pytest.mark.parametrize(("changes", "expected"), CELLS, ids=[expected for _, expected in CELLS])
def test_a_cell_says_what_became_of_its_repeats(changes: Json, expected: str) -> None:
    assert text(a_cell(**changes)) == expected


def test_a_decision_that_could_not_be_read_is_shown_if_there_is_a_rule() -> None:
    assert text(a_cell(**UNJUDGED, decisions={"other": 1})) == "other"


@pytest.fixture
def matrix() -> ResultMatrix:
    """Three columns whose names have 105 characters together."""
    names = [f"openai/gpt-5-mini-2025-08-07 · {prompt}" for prompt in ("plain", "polite", "expert")]
    failing = a_cell(passed=0, meanScore=0.25)
    rows = [a_row(0, a_cell(), failing, a_cell(best=1)), a_row(1, a_cell(), a_cell(), failing, personaName="Ada")]
    return ResultMatrix(names, rows)


def printed(matrix: ResultMatrix, width: int | None) -> tuple[list[str], list[str]]:
    table, legend = matrix_table(matrix, width)
    return [str(line) for line in layout(table, width) if not hasattr(line, "columns")], legend


def test_in_a_pipe_every_name_is_complete(matrix: ResultMatrix) -> None:
    lines, legend = printed(matrix, None)
    assert all(name in lines[0] for name in matrix.columns)
    assert lines[1].split() == ["case", "0", "pass", "FAIL", "0.25", "pass,", "best"]
    assert lines[2].startswith("case 1 (Ada)  pass")
    assert len(legend) == 1


@pytest.mark.parametrize("width", [60, 120])
def test_on_a_terminal_names_that_do_not_fit_are_numbers(matrix: ResultMatrix, width: int) -> None:
    table, legend = matrix_table(matrix, width)
    is_wide = width == 120 and sum(map(cell_len, matrix.columns)) < width - 20
    assert [str(column.header) for column in table.columns][1:] == ([*matrix.columns] if is_wide else ["1", "2", "3"])
    assert is_wide or legend[:3] == [f"{number}: {name}" for number, name in enumerate(matrix.columns, 1)]


@pytest.mark.parametrize("width", [60, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    rows = [a_row(number, *[a_cell(passed=0, meanScore=0.25)] * 30) for number in range(2)]
    names = [f"model-{number}" for number in range(30)]
    lines, _ = printed(ResultMatrix(names, rows), width)
    assert max(map(cell_len, lines)) <= width
    assert lines[0] == "scenario case 0"
    assert "30 FAIL 0.25" in "\n".join(lines)


def test_in_csv_a_name_is_no_formula(matrix: ResultMatrix) -> None:
    row = a_row(0, *matrix.rows[0]["cells"], scenarioName="=1+1")
    file = io.StringIO()
    write_matrix_csv(matrix._replace(rows=[row]), file)
    assert [*csv.reader(file.getvalue().splitlines())] == [
        ["scenario", "scenarioId", "personaId", *matrix.columns],
        ["'=1+1", "scn_0", "", "pass", "FAIL 0.25", "pass, best"],
    ]


@pytest.fixture
def compared(api: FakeApi) -> FakeApi:
    """Two targets and five scenarios."""
    cells = [a_cell(SIMULATED), a_cell(REAL, passed=0, meanScore=0.0)]
    api.lists["runs/run_1/cases"] = [a_row(number, *cells) for number in range(5)]
    return api


def test_the_matrix_has_a_column_per_target(compared: FakeApi, cupel: Cupel) -> None:
    heading, first, *_ = cupel("show", "run_1", "--matrix").stdout.splitlines()
    assert heading.split() == ["scenario", SIMULATED, REAL]
    assert first.split() == ["case", "0", "pass", "FAIL"]


def test_the_matrix_reads_no_transcripts_and_no_more_rows_than_it_shows(compared: FakeApi, cupel: Cupel) -> None:
    compared.runs = [{**compared.runs[0], "progress": {"total": 10, "completed": 10, "failed": 0}}]
    answer = cupel("show", "run_1", "--matrix", "--limit", "3")
    assert "case 2" in answer.stdout
    assert "case 3" not in answer.stdout
    assert answer.stderr == "3 of 5; --limit shows more\n"
    assert [request.url.path for request in compared.requests] == ["/v1/runs/run_1", *["/v1/runs/run_1/cases"] * 2]


def test_the_matrix_as_csv_and_json(compared: FakeApi, cupel: Cupel) -> None:
    table = [*csv.DictReader(cupel("show", "run_1", "--matrix", "--format", "csv").stdout.splitlines())]
    assert [row[REAL] for row in table] == ["FAIL"] * 5
    assert len(json.loads(cupel("show", "run_1", "--matrix", "--json").stdout)["cases"]) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--limit", "3"], "--limit: only with --matrix"),
        (["--format", "csv"], "--format: only with --matrix"),
        (["--matrix", "--format", "csv", "--json"], "--json: is a format of its own"),
    ],
)
def test_options_without_effect_are_refused(cupel: Cupel, options: list[str], message: str) -> None:
    answer = cupel("show", "run_1", *options)
    assert (answer.exit_code, message in answer.stderr) == (2, True)


@pytest.fixture
def echoes(tmp_path: Path) -> Path:
    """Two prompts, of which sim/echo passes one in the second scenario."""
    assertions = [{"type": "contains", "value": "gold"}]
    prompts = [{"id": "plain"}, {"id": "rich", "template": "gold [message]"}]
    scenarios = [{"name": word, "prompt": word} for word in ("golden", "silver")]
    document = {"name": "Echoes", "content": {"prompts": prompts, "assertions": assertions}, "scenarios": scenarios}
    path = tmp_path / "echoes.json"
    path.write_text(json.dumps(document))
    return path


def test_an_evaluation_in_process_has_the_same_rows(echoes: Path) -> None:
    rows = cupel.evaluate(echoes, "sim/echo", repeats=2, progress=False).matrix()
    assert [row["scenarioName"] for row in rows] == ["golden", "silver"]
    assert [[(cell["promptId"], cell["passed"]) for cell in row["cells"]] for row in rows] == [
        [("plain", 2), ("rich", 2)],
        [("plain", 0), ("rich", 2)],
    ]


def test_the_best_answer_of_an_evaluation_is_marked(echoes: Path) -> None:
    document = json.loads(echoes.read_text())
    document["content"]["assertions"] = [{"type": "select-best", "value": "the longest"}]
    rows = cupel.evaluate(document, "sim/echo", judge_model="sim/steady", seed=1, progress=False).matrix()
    assert [sum(cell["best"] for cell in row["cells"]) for row in rows] == [1, 1]


def test_the_command_in_process_prints_the_matrix(cupel: Cupel, echoes: Path) -> None:
    arguments = ["run", str(echoes), "--models", "sim/echo", "--in-process", "--matrix"]
    lines = cupel(*arguments).stdout.splitlines()
    assert "scenario  sim/echo · plain  sim/echo · rich" in lines
    assert "silver    FAIL              pass" in lines
    assert len(json.loads(cupel(*arguments, "--json").stdout)["cases"]) == 2


def test_on_a_stack_a_run_is_started_without_the_matrix(cupel: Cupel) -> None:
    answer = cupel("run", "def_1", "--models", SIMULATED, "--matrix")
    assert (answer.exit_code, answer.stderr) == (
        2,
        "cupel: --matrix: only with --in-process; use `cupel show RUN --matrix` later\n",
    )
