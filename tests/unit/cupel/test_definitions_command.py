"""`cupel definitions` and `cupel scenarios`, against the real API function."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from cupel.client import Client
from cupel_core.store.settings import Settings
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel

FACTS = """
name: Facts
folder: quiz
tags: [demo]
content: {system: Be brief., maxTurns: 2}
scenarios:
  - {name: first, prompt: one}
  - {name: second, prompt: two, dimensions: {risk: 2}}
"""


@pytest.fixture
def client(cloud: Settings) -> Client:
    return connect_to_api_function()


@pytest.fixture
def cupel(client: Client) -> Cupel:
    return command_of(client)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "facts.yaml"
    path.write_text(FACTS)
    return path


@pytest.fixture
def definition_id(cupel: Cupel, file: Path) -> str:
    created = cupel("definitions", "create", str(file))
    assert created.exit_code == 0, created.output
    return str(created.stdout.strip())


def output_of(cupel: Cupel, *arguments: str) -> Any:
    result = cupel(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_definitions_are_filtered_by_folder_name_and_tag(cupel: Cupel, definition_id: str) -> None:
    for options in (["--folder", "quiz"], ["--name", "fac"], ["--tag", "demo"], []):
        assert [each["id"] for each in output_of(cupel, "definitions", "list", *options)] == [definition_id]
    for options in (["--folder", "other"], ["--name", "xyz"], ["--tag", "x"]):
        assert output_of(cupel, "definitions", "list", *options) == []
    row = cupel("definitions").stdout.splitlines()[1].split()
    assert row[:5] == [definition_id, "Facts", "quiz", "1", "demo"]


def test_a_shown_definition_is_a_file_that_makes_no_version(cupel: Cupel, definition_id: str, file: Path) -> None:
    text = cupel("definitions", "show", "Facts", "--scenarios").stdout
    assert text.startswith("# version 1, 2 scenarios\n")
    shown, original = yaml.safe_load(text), yaml.safe_load(FACTS)
    assert shown.pop("id") == definition_id
    assert shown == original
    file.write_text(text)
    assert "(unchanged)" in cupel("run", str(file), "--models", "sim/steady").stderr


def test_a_version_is_shown(cupel: Cupel, definition_id: str, file: Path) -> None:
    file.write_text("content: {system: Be polite.}\n")
    cupel("definitions", "update", definition_id, str(file))
    versions = [output_of(cupel, "definitions", "show", definition_id, *option) for option in ([], ["--version", "1"])]
    assert [each["content"]["system"] for each in versions] == ["Be polite.", "Be brief."]


def test_labels_are_updated_without_a_version(cupel: Cupel, definition_id: str) -> None:
    options = ["--name", "Quiz", "--folder", "", "--tag", "a", "--tag", "b", "--version-label", "v1"]
    updated = output_of(cupel, "definitions", "update", definition_id, *options)
    assert (updated["name"], updated["folder"], updated["version"], updated["versionLabel"]) == ("Quiz", None, 1, "v1")
    assert [tag for tag in updated["tags"] if not tag.startswith("sha:")] == ["a", "b"]
    assert len(updated["tags"]) == 3


def test_an_update_of_nothing_is_a_usage_error(cupel: Cupel, definition_id: str) -> None:
    assert cupel("definitions", "update", definition_id).exit_code == 2


def test_versions_are_compared(cupel: Cupel, definition_id: str, file: Path) -> None:
    file.write_text(FACTS.replace("Be brief., maxTurns: 2", "Be polite.").replace("prompt: two", "prompt: 'three'"))
    cupel("definitions", "update", definition_id, str(file))
    lines = cupel("definitions", "diff", definition_id).stdout.splitlines()
    assert [line for line in lines if line[0] in "+-"] == [
        "--- version 1 content",
        "+++ version 2 content",
        "-system: Be brief.",
        "-maxTurns: 2",
        "+system: Be polite.",
        "--- version 1 scenario 2",
        "+++ version 2 scenario 2",
        "-  prompt: two",
        "+  prompt: three",
    ]
    scenario_lines = cupel("scenarios", "diff", definition_id, "1", "2").stdout.splitlines()
    assert scenario_lines == lines[lines.index("--- version 1 scenario 2") :]
    document = output_of(cupel, "definitions", "diff", definition_id, "1", "2")
    assert document["content"]["maxTurns"] == {"before": 2, "after": None}
    assert [each["name"] for each in document["removedScenarios"]] == ["second"]


def test_equal_versions_do_not_differ(cupel: Cupel, definition_id: str) -> None:
    compared = cupel("definitions", "diff", definition_id, "1", "1")
    assert (compared.exit_code, compared.stdout) == (0, "")
    assert f"versions 1 and 1 of {definition_id} do not differ" in compared.stderr
    assert "has only one version" in cupel("definitions", "diff", definition_id).stderr


def test_a_definition_is_deleted_after_a_confirmation(client: Client, cupel: Cupel, definition_id: str) -> None:
    assert cupel("definitions", "delete", "Facts", stdin="n\n").exit_code == 1
    assert len(list(client.list_definitions())) == 1
    assert cupel("definitions", "delete", "Facts", "--yes").exit_code == 0
    assert list(client.list_definitions()) == []


def test_a_misspelled_name_is_answered_with_the_nearest(cupel: Cupel, definition_id: str) -> None:
    refused = cupel("definitions", "show", "Fcats")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "cupel: there is no definition named Fcats; did you mean Facts?\n",
    )


def test_a_name_of_several_definitions_is_refused(cupel: Cupel, definition_id: str, file: Path) -> None:
    cupel("definitions", "create", str(file))
    refused = cupel("definitions", "show", "Facts")
    assert (refused.exit_code, "2 definitions are named Facts" in refused.stderr) == (2, True)


def test_scenarios_are_listed_with_their_ids(cupel: Cupel, definition_id: str) -> None:
    listed = output_of(cupel, "scenarios", "list", definition_id, "--name", "SEC")
    assert [each["name"] for each in listed] == ["second"]
    assert listed[0]["id"] in cupel("scenarios", "list", definition_id).stdout


def test_a_scenario_is_shown_updated_and_deleted(client: Client, cupel: Cupel, definition_id: str, file: Path) -> None:
    scenario_id = [each["id"] for each in client.list_scenarios(definition_id)][1]
    shown = yaml.safe_load(cupel("scenarios", "show", definition_id, scenario_id).stdout)
    assert shown == {"name": "second", "prompt": "two", "dimensions": {"risk": 2}}
    file.write_text("prompt: three\n")
    assert output_of(cupel, "scenarios", "update", definition_id, scenario_id, str(file))["definitionVersion"] == 2
    assert cupel("scenarios", "delete", definition_id, scenario_id, "--yes").exit_code == 0
    assert [len(list(client.list_scenarios(definition_id, version=version))) for version in (1, 2, 3)] == [2, 2, 1]


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("a.yaml", "prompt: x", 1),
        ("a.yaml", "[{prompt: x}, {prompt: y}]", 2),
        ("a.json", '{"scenarios": [{"prompt": "x"}]}', 1),
        ("a.csv", "prompt\nx\ny\n", 2),
        ("a.jsonl", '{"prompt": "x"}\n', 1),
    ],
)
def test_scenarios_are_added_from_a_file(
    cupel: Cupel, definition_id: str, tmp_path: Path, name: str, text: str, count: int
) -> None:
    (tmp_path / name).write_text(text)
    created = output_of(cupel, "scenarios", "create", definition_id, str(tmp_path / name))
    assert (len(created["ids"]), created["definitionVersion"]) == (count, 2)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("name: x\npromt: y\n", "a.yaml:2: promt: is not a known field"),
        ("- prompt: x\n- promt: y\n", "a.yaml:2: 1.promt: is not a known field"),
        ("scenarios:\n- promt: y\n", "a.yaml:2: scenarios.0.promt: is not a known field"),
    ],
)
def test_a_refused_scenario_is_named_as_the_file_names_it(
    cupel: Cupel, definition_id: str, tmp_path: Path, text: str, error: str
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    refused = cupel("scenarios", "create", definition_id, str(tmp_path / "a.yaml"))
    assert refused.exit_code == 2
    assert error in refused.stderr
