"""A table of support questions becomes a judged comparison of two prompts and two models by three commands."""

import json
from pathlib import Path

import pytest

from tests.documented_blocks import blocks_of
from tests.e2e.conftest import Cupel
from tests.stacks import ROOT

DOCS = ROOT / "docs" / "interop.md"
MODELS = ("--models", "sim/steady,sim/bold", "--judge-model", "sim/steady")


@pytest.fixture(scope="module")
def run_id(cupel: Cupel, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The run of the documentation's definition file, beside a table with 200 rows."""
    folder = tmp_path_factory.mktemp("support")
    [block] = [each for each in blocks_of(DOCS) if each.title == "support.yaml"]
    (folder / "support.yaml").write_text(block.text)
    rows = (f'T-{number},"Question {number}, please?",Answer {number}.,topic {number % 3}\n' for number in range(200))
    (folder / "support.csv").write_text("".join(["id,question,answer,topic\n", *rows]))
    return run_of(cupel, folder / "support.yaml")


def run_of(cupel: Cupel, file: Path) -> str:
    completed = cupel("run", str(file), *MODELS, "--watch", "--json")
    assert completed.returncode == 0, completed.stderr
    printed = json.loads(completed.stdout)
    columns = [(each["prompt"], each["passRate"]["judged"]) for each in printed["results"]]
    assert sorted(columns) == [("plain", 200), ("plain", 200), ("strict", 200), ("strict", 200)]
    return str(printed["run"]["id"])


@pytest.mark.parametrize(
    "options", [("--model", "sim/bold", "--against", "sim/steady"), ("--prompt", "strict", "--against-prompt", "plain")]
)
def test_models_and_prompts_are_compared_scenario_by_scenario(
    cupel: Cupel, run_id: str, options: tuple[str, ...]
) -> None:
    completed = cupel("compare", run_id, *options, "--json")
    assert completed.returncode == 0, completed.stderr
    assert json.loads(completed.stdout)["figures"]["commonScenarios"] == 200
