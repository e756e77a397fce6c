"""`evaluation.calibration`: the same figures as on a stack, from labels in this process."""

from pathlib import Path
from typing import Any

import pytest

import cupel
from cupel.errors import UsageError
from cupel.in_process import Evaluation
from cupel.render_calibration import calibration_lines

NUMBERS = 24


def even(messages: list[dict[str, str]]) -> str:
    return "even" if int(messages[-1]["content"]) % 2 == 0 else "odd"


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    """Twenty-four answers, of which the check passes the twelve that say even."""
    scenarios = [{"name": f"Number {number}", "prompt": str(number)} for number in range(NUMBERS)]
    content = {"assertions": [{"type": "contains", "value": "even", "metric": "parity"}]}
    return cupel.evaluate({"content": content, "scenarios": scenarios}, even)


def labels(*wrong: int) -> list[dict[str, Any]]:
    """What people say: the same as the check, but for these numbers."""
    passes = {number: (number % 2 == 0) is (number not in wrong) for number in range(NUMBERS)}
    return [{"scenario": f"Number {number}", "label": "pass" if passes[number] else "fail"} for number in passes]


def test_the_figures_are_those_of_a_stack(evaluation: Evaluation) -> None:
    found = evaluation.calibration(labels(0, 2, 4))
    assert (found["runId"], found["criterion"], found["calibrationRun"]) == (evaluation.id, "result", None)
    (column,) = found["columns"]
    assert column["agreement"]["counts"] == {
        "bothPassed": 9,
        "onlyJudgePassed": 3,
        "onlyLabelPassed": 0,
        "bothFailed": 12,
    }
    assert (column["corrected"]["method"], column["corrected"]["rate"]) == ("ALL_LABELLED", 9 / 24)
    assert len(found["fingerprint"]) == 32
    assert "  both pass 9, only the judge passes 3, only people pass 0, both fail 12" in list(calibration_lines(found))


def test_labels_are_read_from_a_file(evaluation: Evaluation, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    rows = "".join(f"{evaluation.id}-{number},pass,{name}\n" for number in (0, 1) for name in ("ana", "ben"))
    file.write_text(f"probe,label,labeller\n{rows}")
    for labels in (file, str(file)):
        found = evaluation.calibration(labels, "parity")
        assert found["columns"][0]["agreement"]["labels"] == 2
        assert found["people"]["ceiling"]["share"] == 1


def test_visible_verdicts_and_other_criteria_do_not_count(evaluation: Evaluation) -> None:
    given = [
        {"scenario": "Number 0", "label": "pass", "verdict_visible": True},
        {"scenario": "Number 1", "label": "pass", "criterion": "parity", "repeat": 0},
    ]
    found = evaluation.calibration(given)
    assert (found["unblind"], found["columns"]) == (1, [])


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"scenario": "Number 99", "label": "pass"}, "row 1: names 0 transcripts"),
        ({"probe": "run_other-0", "label": "pass"}, "row 1: names 0 transcripts"),
        ({"scenario": "Number 0", "label": "good"}, "must be one of pass, fail, skip"),
        ({"scenario": "Number 0", "label": "pass", "repeat": "first"}, "repeat must be a number from 0"),
        ({"scenario": "Number 0"}, "must be label and probe, or label and scenario"),
    ],
)
def test_a_wrong_label_is_named(evaluation: Evaluation, row: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        evaluation.calibration([row])


def test_a_label_that_fits_several_answers_is_refused() -> None:
    evaluation = cupel.evaluate({"scenarios": [{"name": "One", "prompt": "1"}], "content": {}}, even, repeats=2)
    with pytest.raises(UsageError, match="criterion: result was not checked"):
        evaluation.calibration([{"scenario": "One", "label": "pass"}])
    assertions = {"assertions": [{"type": "contains", "value": "odd"}]}
    evaluation = cupel.evaluate({"scenarios": [{"name": "One", "prompt": "1"}], "content": assertions}, even, repeats=2)
    with pytest.raises(UsageError, match="names 2 transcripts of the evaluation instead of one"):
        evaluation.calibration([{"scenario": "One", "label": "pass"}])
    found = evaluation.calibration([{"scenario": "One", "label": "pass", "repeat": 1}])
    assert found["columns"][0]["agreement"]["labels"] == 1
