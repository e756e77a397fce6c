"""What the documents say is what the code does, where that can be compared."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperGroup

from cupel.cli import app as command
from cupel_core.domain.access import Role
from cupel_core.domain.runs.run import MOVES
from cupel_core.domain.turns.model_request import ErrorCode
from cupel_core.settings import Settings
from tests.conftest import ROOT, template
from tests.unit.api.client import Client

README = ROOT / "README.md"
ARCHITECTURE = ROOT / "docs/architecture.md"
OPERATIONS = ROOT / "docs/operations.md"
DECISIONS = ROOT / "docs/decisions.md"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def rows(path: Path, header: str) -> list[list[str]]:
    """The cells of the table under this header line."""
    found = re.search(rf"^{re.escape(header)}\n\|[-| ]+\|\n((?:\|.*\n)+)", path.read_text(), re.MULTILINE)
    assert found, f"{name_of(path)} has no table with the header {header}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines()]


def quoted(cells: list[list[str]], column: int = 0) -> set[str]:
    """The words in backticks of a column."""
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell[column])}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_readme_leads_to_every_document() -> None:
    linked = set(re.findall(r"\]\(([^)]+)\)", README.read_text()))
    assert {name_of(path) for path in ROOT.glob("docs/*.md")} - linked == set()


def test_the_newest_version_of_the_changelog_is_that_of_the_project() -> None:
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert newest
    assert newest[1] == project["version"]


def test_a_decision_is_dated_and_has_at_most_15_lines() -> None:
    _, *decisions = re.split(r"^## ", DECISIONS.read_text(), flags=re.MULTILINE)
    assert decisions
    for decision in decisions:
        title, *lines = decision.strip().splitlines()
        assert re.search(r"\(\d{4}-\d\d-\d\d\)$", title), title
        assert len(lines) < 15, title
        assert "- Chosen:" in decision, title
        assert "- Undo:" in decision, title


def test_the_table_of_moves_is_that_of_the_code() -> None:
    told = {
        (frozenset(sources.split(", ")), target, by.partition(":")[0], event, epoch == "yes")
        for sources, target, by, event, epoch in rows(ARCHITECTURE, "| from | to | by | event | new epoch |")
    }
    moves = {
        (frozenset(map(str, move.sources)), str(move.target), str(action), str(move.event), move.new_epoch)
        for action, move in MOVES.items()
    }
    assert told == moves


def test_the_table_of_error_codes_is_that_of_the_code() -> None:
    told = {code: again == "yes" for code, _, again in rows(ARCHITECTURE, "| code | means | tried again |")}
    assert told == {str(code): code.retryable for code in ErrorCode}


def test_every_setting_is_told() -> None:
    assert quoted(rows(OPERATIONS, "| variable | from |")) == {name.upper() for name in Settings.model_fields}


def test_every_parameter_is_told_with_its_default() -> None:
    told = rows(OPERATIONS, "| parameter | default | what it is |")
    assert quoted(told) == set(template()["Parameters"])
    for names, default, _ in told:
        for name in re.findall(r"`([^`]+)`", names):
            assert str(template()["Parameters"][name]["Default"] or "none") == default, name


def test_every_role_is_told() -> None:
    [[*_, roles]] = [row for row in rows(OPERATIONS, "| claim | or, in Cognito | value |") if row[0] == "`cupel_role`"]
    assert set(re.findall(r"`(\w+)`", roles)) == set(Role)


def calls_of_the_command() -> list[str]:
    """Whatever the documents call `cupel` with, up to the first argument that is no name."""
    text = "\n".join(path.read_text() for path in DOCUMENTS if path.name != "CHANGELOG.md")
    return sorted({found.strip() for found in re.findall(r"(?:^|`)cupel ((?:[a-z]+ ?)+)", text, re.MULTILINE)})


@pytest.mark.parametrize("call", calls_of_the_command())
def test_a_command_of_the_documents_exists(call: str) -> None:
    known: object = typer.main.get_command(command)
    for word in call.split():
        if not isinstance(known, TyperGroup):
            return  # an argument
        assert word in known.commands, f"cupel {call}"
        known = known.commands[word]


def test_the_readme_names_every_command() -> None:
    known = typer.main.get_command(command)
    assert isinstance(known, TyperGroup)
    table = " ".join(row[0] for row in rows(README, "| command | does |"))
    assert {name for name in known.commands if not re.search(rf"\b{name}\b", table)} == set()


def test_the_targets_of_the_documents_are_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    told = {
        target for path in DOCUMENTS for target in re.findall(r"(?:^|`)(?:\w+=\S+ )*make ([a-z]+)", path.read_text())
    }
    assert told - targets == set()


def test_the_calls_of_the_readme_are_taken_by_the_api(cloud: Settings) -> None:
    client, definition_id = Client(None), "def_..."
    client.token = client.issue()
    calls = re.findall(r"^post (\S+) '(.*?)'$", README.read_text(), re.MULTILINE | re.DOTALL)
    assert [path.rpartition("/")[2] for path, _ in calls] == ["definitions", "generate", "runs"]
    for path, body in calls:
        answer = client.post(
            f"/v1/{path}".replace("def_...", definition_id), json=json.loads(body.replace("def_...", definition_id))
        )
        assert answer.status in (201, 202), answer.text
        definition_id = answer.json().get("id", definition_id) if path == "definitions" else definition_id
