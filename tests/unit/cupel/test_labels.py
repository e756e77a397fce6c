"""`cupel labels` and `cupel judges`, against the real API function."""

import csv
import json
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from cupel_core.domain.runs.run import Run
from cupel_core.store.settings import Settings
from tests.unit.api.labelled import judged, started
from tests.unit.api.test_calibrations import coded
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel


@pytest.fixture
def run(cloud: Settings) -> Run:
    """Forty scenarios, once each; the judge fails every fourth, and cannot decide one."""
    return started(scenarios=40, repeats=1)


@pytest.fixture
def command(cloud: Settings) -> Cupel:
    return command_of(connect_to_api_function())


def labels_file(folder: Path, run: Run, wrong: int) -> Path:
    """Labels of all transcripts: people disagree with the first passes of the judge."""
    rows = ["probe,label,labeller,note"]
    for index in range(40):
        passed = bool(judged(index).success)
        if passed and wrong > 0:
            wrong, passed = wrong - 1, False
        rows.append(f"{run.id}-{index},{'pass' if passed else 'fail'},ana,")
    file = folder / "labels.csv"
    file.write_text("\n".join(rows))
    return file


def test_labels_are_imported_and_the_judge_is_shown(command: Cupel, run: Run, tmp_path: Path) -> None:
    file = labels_file(tmp_path, run, wrong=4)
    assert command("labels", "import", run.id, str(file)).output.strip() == "40 created, 0 changed, 0 unchanged"
    assert command("labels", "import", run.id, str(file)).output.strip() == "0 created, 0 changed, 40 unchanged"
    shown = command("judges", "show", run.id).output
    assert "both pass 25, only the judge passes 4, only people pass 0, both fail 10" in shown
    assert "pass rate by the judge: 74.4%" in shown
    assert "corrected pass rate: 62.5%" in shown
    assert "1 undecided by the judge" in shown
    assert "were not drawn at random" in shown
    assert f"{run.id}-1: the judge says pass, people say fail" in shown


def test_labels_are_planned(command: Cupel, run: Run, tmp_path: Path) -> None:
    planned = command("judges", "show", run.id, "--half-width", "0.16").output
    assert "labels needed in all for ± 16.0%:" in planned
    assert "sim/steady: 4" in planned
    command("labels", "import", run.id, str(labels_file(tmp_path, run, wrong=4)))
    planned = command("judges", "show", run.id, "--half-width", "0.01").output
    assert "no number is enough; labels of all transcripts would leave ± 1" in planned


def test_codes_are_shown(command: Cupel, cloud: Settings, tmp_path: Path) -> None:
    run, file = coded(40), tmp_path / "codes.csv"
    rows = [f"{run.id}-{index},{3 + index % 2}" for index in range(30)]
    file.write_text("\n".join(["probe,label", *rows]))
    command("labels", "import", run.id, str(file), "--criterion", "decision")
    shown = command("judges", "show", run.id, "--criterion", "decision").output
    assert "same code: 50.0% (" in shown
    assert "mean by the judge: 4.00" in shown
    assert "corrected mean: 3.50 (3.3" in shown
    assert f"{run.id}-0: the judge says 4, people say 3" in shown
    few = coded(20)
    assert "no transcript has a blind label" in command("judges", "show", few.id, "--criterion", "decision").output


def test_errors_of_another_run_are_used(command: Cupel, run: Run, tmp_path: Path) -> None:
    other = started(scenarios=40, repeats=1)
    for each in (run, other):
        command("labels", "import", each.id, str(labels_file(tmp_path, each, wrong=4)))
    shown = command("judges", "show", run.id, "--from", other.id).output
    assert f"corrected with the errors of the same judge in {other.id}" in shown
    assert "corrected pass rate: 6" in shown
    refused = command("judges", "show", run.id, "--from", run.id)
    assert (refused.exit_code, "must be another run" in refused.output) == (2, True)


def test_a_label_set_is_drawn_and_listed(command: Cupel, run: Run) -> None:
    assert "result" in command("labels", "sample", run.id, "--count", "10", "--seed", "3").output
    assert command("labels", "sets", run.id).output.count("lbs_") == 1
    assert "no transcript has a blind label" in command("judges", "show", run.id).output


def opened_path(printed: str) -> str:
    (path,) = parse_qs(urlsplit(printed.split()[-1]).fragment)["to"]
    return path


def test_a_label_set_is_opened_in_the_page(command: Cupel, run: Run) -> None:
    first, second = (
        json.loads(command("labels", "sample", run.id, "--count", "5", "--json").output)["id"] for _ in range(2)
    )
    assert opened_path(command("labels", "open", run.id, "--print").output) == f"/runs/{run.id}?label={second}"
    assert opened_path(command("labels", "open", run.id, first, "--print").output) == f"/runs/{run.id}?label={first}"


def test_a_run_without_label_sets_is_not_opened(command: Cupel, run: Run) -> None:
    refused = command("labels", "open", run.id, "--print")
    assert refused.exit_code == 1
    assert f"cupel labels sample {run.id}" in " ".join(refused.output.split())


def test_a_label_is_set_listed_and_removed(command: Cupel, run: Run) -> None:
    command("labels", "set", f"{run.id}-3", "fail", "--labeller", "ana", "--note", "wrong limit")
    assert "wrong limit" in command("labels", "list", run.id).output
    command("labels", "remove", f"{run.id}-3", "--labeller", "ana")
    assert "wrong limit" not in command("labels", "list", run.id).output
    commented = command("labels", "set", f"{run.id}-3", "--labeller", "ben", "--note", "too long")
    assert commented.output.strip() == f"{run.id}-3: comment by ben"
    (listed,) = json.loads(command("labels", "list", run.id, "--json").output)
    assert (listed["value"], listed["note"]) == (None, "too long")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("probe,label\n", "has no row below its header"),
        ("probe,verdict\nx,pass\n", "found probe, verdict"),
        ("scenario,label,repeat\none,pass,first\n", "row 1 (line 2): repeat must be a number from 0: found first"),
        ("scenario,label,verdict_visible\none,pass,maybe\n", "verdict_visible must be true or false: found maybe"),
        ("scenario,label\nCase 1,good\n", "row 1 (line 2) label: "),
        ("scenario,label\nCase 1,pass\n\nNone,pass\n", "row 2 (line 4) scenario: must be the id or the name of a"),
        ("scenario,label\nCase 1,pass,more\n", "row 1 (line 2) has 3 cells, but the header has 2"),
    ],
)
def test_a_wrong_file_is_refused_with_its_row(command: Cupel, run: Run, tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(text)
    refused = command("labels", "import", run.id, str(file))
    assert refused.exit_code == 2
    assert words in " ".join(refused.output.split())
    assert command("labels", "list", run.id, "--json").output.strip() == "[]"


def test_a_missing_file_is_named(command: Cupel, run: Run, tmp_path: Path) -> None:
    refused = command("labels", "import", run.id, str(tmp_path / "none.csv"))
    assert (refused.exit_code, "No such file" in " ".join(refused.output.split())) == (2, True)


def test_a_file_of_a_spreadsheet_is_read(command: Cupel, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_bytes("scenario;label;labeller\r\nCase 1;pass;Zoë\r\n".encode("utf-16"))
    assert command("labels", "import", run.id, str(file)).output.strip() == "1 created, 0 changed, 0 unchanged"
    assert "Zoë" in command("labels", "list", run.id).output


def test_exports_carry_the_labels(command: Cupel, run: Run, tmp_path: Path) -> None:
    command("labels", "set", f"{run.id}-3", "fail", "--labeller", "ana", "--note", "wrong limit")
    command("labels", "set", f"{run.id}-3", "pass", "--labeller", "ben")
    command("labels", "set", f"{run.id}-3", "--labeller", "cleo", "--note", "too long")
    command("labels", "set", f"{run.id}-39", "skip", "--labeller", "ana", "--criterion", "llm-rubric")
    lines = map(json.loads, command("export", run.id, "--format", "jsonl").stdout.splitlines())
    labelled = {each["probeIndex"]: each["labels"] for each in lines if "labels" in each}
    assert {index: len(labels) for index, labels in labelled.items()} == {3: 3, 39: 1}
    assert {(each["labeller"], each["value"], each["note"]) for each in labelled[3]} == {
        ("ana", "fail", "wrong limit"),
        ("ben", "pass", None),
        ("cleo", None, "too long"),
    }
    rows = {
        row["probeIndex"]: row["labels"]
        for row in csv.DictReader(command("export", run.id, "--format", "csv").stdout.splitlines())
    }
    assert [index for index, labels in rows.items() if labels] == ["3", "39"]
    assert json.loads(rows["39"])[0]["criterion"] == "llm-rubric"
    logs = tmp_path / "logs"
    command("export", run.id, "--format", "promptfoo", "--output", str(tmp_path / "results.json"))
    results = json.loads((tmp_path / "results.json").read_text())["results"]["results"]
    assert [len(each["metadata"]["labels"]) for each in results] == [3 * (n == 3) + (n == 39) for n in range(40)]
    command("export", run.id, "--format", "inspect", "--output", str(logs))
    assert "wrong limit" in "".join(zipfile_text(each) for each in logs.glob("*.eval"))


def zipfile_text(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist())
