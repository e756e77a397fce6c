"""Exports of a run over several targets of one model and several prompts: every column can be told apart."""

import csv
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.store import executions, runs
from cupel_core.store.settings import Settings
from tests.started_runs import dispatch_and_probe
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel

DEFINITION = """
name: capitals
content:
  prompts:
    - {id: plain, template: "Capital of [country]?"}
    - {id: polite, label: Polite, template: "Please, the capital of [country]?"}
scenarios:
  - {name: France, metadata: {vars: {country: France}}, assertions: [{type: contains, value: France}]}
"""
TARGETS = json.dumps([
    {"model": "sim/echo", "label": "sober", "params": {"temperature": 0}},
    {"model": "sim/echo", "label": "bold", "params": {"temperature": 1.5}},
])  # fmt: skip
COLUMNS = [("sober", "plain"), ("sober", "polite"), ("bold", "plain"), ("bold", "polite")]


class Run:
    def __init__(self, cupel: Cupel, folder: Path) -> None:
        self.cupel, self.folder = cupel, folder
        file = folder / "capitals.yaml"
        file.write_text(DEFINITION)
        started = json.loads(self("run", str(file), "--targets", TARGETS, "--json"))
        self.id = started["run"]["id"]
        dispatch_and_probe(runs.get(RunRef("acme", self.id)))

    def __call__(self, *arguments: str) -> str:
        result = self.cupel(*arguments)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    def export(self, file_format: str) -> Path:
        output = self.folder / "out"
        self("export", self.id, "--format", file_format, "--output", str(output))
        return output


@pytest.fixture
def run(cloud: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(executions, "start_finish", lambda *_: None)
    return Run(command_of(connect_to_api_function()), tmp_path)


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_csv(run: Run) -> None:
    with run.export("csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["targetId"], row["promptId"]) for row in rows] == COLUMNS
    assert {row["modelId"] for row in rows} == {"sim/echo"}
    assert [(row["scenarioName"], row["repeat"]) for row in rows] == [("France", "0")] * 4
    assert [row["question"] for row in rows[:2]] == ["Capital of France?", "Please, the capital of France?"]


def test_jsonl(run: Run) -> None:
    assert [(line["targetId"], line["promptId"]) for line in lines(run.export("jsonl"))] == COLUMNS


def test_promptfoo(run: Run) -> None:
    results = json.loads(run.export("promptfoo").read_text())["results"]
    assert [(prompt["provider"], prompt["label"]) for prompt in results["prompts"]] == COLUMNS
    assert [(each["promptIdx"], each["testIdx"]) for each in results["results"]] == [(n, 0) for n in range(4)]


def test_openai_evals(run: Run) -> None:
    items = [line["item"] for line in lines(run.export("openai-evals"))]
    assert [(item["target"], item["prompt"]) for item in items] == COLUMNS


def test_inspect(run: Run) -> None:
    headers = []
    for path in run.export("inspect").iterdir():
        with zipfile.ZipFile(path) as log:
            headers.append(json.loads(log.read("header.json"))["eval"])
    found = {(header["metadata"]["cupel"]["target"], header["task_args"]["prompt"]) for header in headers}
    assert (len(headers), found) == (4, set(COLUMNS))
    assert {header["model_generate_config"]["temperature"] for header in headers} == {0, 1.5}
