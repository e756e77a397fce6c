"""Configurations of a field trial (issue 45), evaluated by promptfoo and, imported into a definition file, by Cupel.

A server in this process answers in place of a model: with JSON of a schema, or with a call of a function.
"""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from shutil import copytree
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

import cupel
from cupel.cli import app
from cupel.in_process.evaluation import Evaluation
from cupel.session import Session
from tests.interop import tools
from tests.interop.model_server import serve

type Json = dict[str, Any]

CASES = Path(__file__).parent / "cases"
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'}}
MESSAGES = {
    "capital": {"content": '{"answer": "Paris", "n": 1}'},
    "weather": {"content": None, "tool_calls": [CALL]},
}
DIFFERENCES = {
    "transforms": {
        1: "Cupel takes <think> out of every answer before it is checked",
        17: "a function on one line is called by Cupel, and returned by promptfoo",
    }
}


class CheckedTest(NamedTuple):
    passed: bool | None
    score: float


def _fixed(message: Json, _: str) -> Json:
    return message


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serve({model: partial(_fixed, message) for model, message in MESSAGES.items()}) as port:
        yield port


@pytest.fixture
def case(port: int, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration of a case, with the port of the server."""
    folder = tmp_path / "case"
    copytree(CASES / request.param, folder)
    config = folder / "promptfooconfig.yaml"
    config.write_text(config.read_text().replace("PORT", str(port)))
    monkeypatch.setenv("PATH", f"{tools.BINARIES}:/usr/bin:/bin")
    return config


def by_promptfoo(config: Path) -> Json:
    output = config.parent / "results.json"
    options = ["--no-cache", "--no-table", "--no-write"]
    tools.promptfoo(config.parent, "eval", "-c", config.name, "-o", str(output), *options, folder=config.parent)
    results: Json = json.loads(output.read_text())["results"]
    return results


def by_cupel(config: Path, port: int) -> Evaluation:
    file = config.parent / "definition.yaml"
    arguments = ["import", "promptfoo", str(config), "--output", str(file), "--json"]
    imported = CliRunner().invoke(app, arguments, obj=Session())
    assert imported.exit_code == 0, imported.stderr
    [definition] = json.loads(imported.stdout)["definitions"]
    targets = definition.get("targets") or definition["models"]
    names = {str(target["model"]).partition("/")[0] for target in targets if isinstance(target, dict)}
    providers = {name: {"base_url": f"http://127.0.0.1:{port}/v1", "api_key": "x"} for name in names}
    return cupel.evaluate(file, targets, providers=providers, allow_code=True, progress=False)


@pytest.mark.parametrize(
    "case",
    ["structured_output", "tool_calls", "transforms", "schemas", "schema_kinds", "expressions"],
    indirect=True,
)
def test_both_tools_agree_about_the_cases(case: Path, port: int, request: pytest.FixtureRequest) -> None:
    rows = sorted(by_promptfoo(case)["results"], key=lambda row: row["testIdx"])
    expected = [CheckedTest(row["success"], round(row["score"], 9)) for row in rows]
    scorings = [result.scoring for result in by_cupel(case, port).results]
    found = [CheckedTest(each.success, round(each.score or 0, 9)) if each else None for each in scorings]
    assert len(found) == len(expected)
    different = {number for number, pair in enumerate(zip(expected, found, strict=True)) if pair[0] != pair[1]}
    name = request.node.callspec.params["case"]
    assert different == set(DIFFERENCES.get(name, {}))
    assert {each.passed for each in expected} >= {True}


@pytest.mark.parametrize("case", ["derived_metrics"], indirect=True)
def test_both_tools_agree_about_derived_metrics(case: Path, port: int) -> None:
    expected = by_promptfoo(case)["prompts"][0]["metrics"]["namedScores"]
    [found] = by_cupel(case, port).metrics.values()
    derived = {name: expected[name] for name in ("avg", "big", "chain", "with space", "pw", "fn", "unary", "prec")}
    assert {name: found[name] for name in derived} == pytest.approx(derived)
    assert not {"ratio", "missing"} & set(found), "a division by zero and an unknown metric have no value"
