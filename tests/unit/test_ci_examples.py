"""The examples for pipelines (docs/examples/ci): they are valid, docs/ci.md shows them, and their commands work."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from tests.conftest import ROOT

EXAMPLES = ROOT / "docs/examples/ci"
ACTION = EXAMPLES / "cupel-gate/action.yml"
WORKFLOW = EXAMPLES / "github-workflow.yml"
GITLAB = EXAMPLES / "gitlab-ci.yml"
SCHEMAS = {ACTION: "github-actions", WORKFLOW: "github-workflows", GITLAB: "gitlab-ci"}
DEFINITION = """\
name: Greeting
content: {assertions: [{type: contains, value: Hello}]}
scenarios: [{name: greeting, prompt: "Hello!"}, {name: farewell, prompt: "Goodbye!"}]
"""


class _WithoutBooleans(yaml.SafeLoader):
    """Reads `on:` as GitHub does, as a string."""


_WithoutBooleans.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if first not in "oOyYnN" or not tag.endswith(":bool")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.load(path.read_text(), _WithoutBooleans)  # noqa: S506 - a safe loader
    return content


def schema(name: str) -> dict[str, Any]:
    """A schema of schemastore.org. The package's command itself needs a later click than SAM allows."""
    spec = find_spec("check_jsonschema")
    assert spec
    assert spec.origin
    content: dict[str, Any] = json.loads(
        (Path(spec.origin).parent / "builtin_schemas/vendor" / f"{name}.json").read_text()
    )
    return content


def action_script() -> str:
    script: str = read(ACTION)["runs"]["steps"][2]["run"]
    return script


def gitlab_script() -> str:
    script: str = read(GITLAB)[".cupel-gate"]["script"][1]
    return script


def run_gate(shell: str, script: str, folder: Path, fail_under: str) -> subprocess.CompletedProcess[str]:
    (folder / "evals.yaml").write_text(DEFINITION)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "FILE": "evals.yaml",
        "MODELS": "sim/echo",
        "JUDGE_MODEL": "",
        "REPEATS": "1",
        "FAIL_UNDER": fail_under,
        "ALLOW_ERRORS": "0",
        "REPORT": "report.xml",
    }
    return subprocess.run(
        [shell, "-e", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_an_example_follows_its_schema(path: Path) -> None:
    assert [error.message for error in Draft7Validator(schema(SCHEMAS[path])).iter_errors(read(path))] == []


@pytest.mark.parametrize(
    ("path", "broken"),
    [(ACTION, {"runs": {}}), (WORKFLOW, {"jobs": {"booking": {}}}), (GITLAB, {"booking": {"extend": ".cupel-gate"}})],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_the_schema_refuses_a_broken_example(path: Path, broken: dict[str, Any]) -> None:
    assert list(Draft7Validator(schema(SCHEMAS[path])).iter_errors(read(path) | broken))


def test_the_workflow_gives_the_action_inputs_that_it_has_and_all_that_it_requires() -> None:
    given = read(WORKFLOW)["jobs"]["booking"]["steps"][2]["with"]
    inputs = read(ACTION)["inputs"]
    assert set(given) <= set(inputs)
    assert {name for name, each in inputs.items() if each.get("required")} <= set(given)


def test_the_action_passes_every_variable_that_its_command_reads() -> None:
    step = read(ACTION)["runs"]["steps"][2]
    assert set(re.findall(r"\$\{?([A-Z_]+)", step["run"])) - {"CUPEL_API_URL"} == set(step["env"])


def test_a_passed_gate_succeeds(tmp_path: Path) -> None:
    finished = run_gate("bash", action_script(), tmp_path, "0.5")
    assert finished.returncode == 0, finished.stderr
    assert (tmp_path / "report.xml").is_file()


def test_a_failed_gate_fails_and_writes_the_report(tmp_path: Path) -> None:
    finished = run_gate("sh", gitlab_script(), tmp_path, "0.9")
    assert finished.returncode == 1
    assert "is below 0.9" in finished.stderr
    assert (tmp_path / "report.xml").is_file()


def test_the_page_shows_the_workflow_as_it_is() -> None:
    assert f"```yaml\n{WORKFLOW.read_text()}```\n" in (ROOT / "docs/ci.md").read_text()
