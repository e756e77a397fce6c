"""Import, gates and exports of the command against a stack: promptfoo in, every format out."""

import csv
import json
import zipfile
from pathlib import Path
from xml.etree.ElementTree import parse

import pytest

from cupel.stack.address import LocalStack
from cupel.stack.paths import StackPaths
from tests.e2e.conftest import Cupel

SUITE = """
prompts: ["Say {{word}} loudly"]
providers: [echo]
defaultTest: {assert: [{type: contains, value: "{{word}}"}]}
tests:
  - vars: {word: [apple, pear]}
  - {vars: {word: plum}, assert: [{type: equals, value: plum}, {type: javascript, value: "output.length > 3"}]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("interchange")


@pytest.fixture(scope="module")
def run_id(stack: LocalStack, stack_paths: StackPaths, cupel: Cupel, folder: Path) -> str:
    """The run of the imported suite, of whose three cases two pass."""
    (folder / "promptfooconfig.yaml").write_text(SUITE)
    imported = cupel("import", "promptfoo", str(folder / "promptfooconfig.yaml"), "--json")
    assert imported.returncode == 0, imported.stderr
    printed = json.loads(imported.stdout)
    assert [note["what"] for note in printed["report"]["skipped"]] == ["javascript"]
    gate = ("--fail-under", "0.9", "--junit", str(folder / "junit.xml"))
    completed = cupel("run", printed["definitions"][0]["id"], "--models", "sim/echo", "--watch", "--json", *gate)
    assert completed.returncode == 1, completed.stderr
    assert "gate" in completed.stderr
    return str(json.loads(completed.stdout)["run"]["id"])


def test_a_gate_writes_a_junit_file(run_id: str, folder: Path) -> None:
    suites = parse(folder / "junit.xml").getroot()  # noqa: S314 - our own
    assert (suites.get("tests"), suites.get("failures"), suites.get("errors")) == ("3", "1", "0")


@pytest.mark.parametrize("file_format", ["jsonl", "openai-evals", "promptfoo"])
def test_a_run_is_exported(cupel: Cupel, run_id: str, folder: Path, file_format: str) -> None:
    output = folder / f"out.{file_format}"
    completed = cupel("export", run_id, "--format", file_format, "--output", str(output))
    assert completed.returncode == 0, completed.stderr
    if file_format == "promptfoo":
        results = json.loads(output.read_text())["results"]["results"]
        assert sorted(each["success"] for each in results) == [False, True, True]
    else:
        assert len([json.loads(line) for line in output.read_text().splitlines()]) == 3


def test_a_run_is_exported_as_a_table(cupel: Cupel, run_id: str, folder: Path) -> None:
    cupel("export", run_id, "--format", "csv", "--output", str(folder / "out.csv"))
    rows = list(csv.DictReader((folder / "out.csv").read_text().splitlines()))
    assert sorted(row["passed"] for row in rows) == ["False", "True", "True"]


def test_a_run_is_exported_as_a_log_of_inspect(cupel: Cupel, run_id: str, folder: Path) -> None:
    completed = cupel("export", run_id, "--format", "inspect", "--output", str(folder / "logs"))
    assert completed.returncode == 0, completed.stderr
    (log,) = (folder / "logs").glob("*.eval")
    with zipfile.ZipFile(log) as archive:
        assert json.loads(archive.read("header.json"))["status"] == "success"
        assert sum(name.startswith("samples/") for name in archive.namelist()) == 3
