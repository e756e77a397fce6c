"""The documentation matches the code, where the two can be compared."""

import json
import re
import tomllib
from pathlib import Path

import typer.main
from typer.core import TyperGroup

from cupel.cli import app as command
from cupel_core import VERSION
from cupel_core.store.settings import Settings
from tests.conftest import ROOT
from tests.in_one_test import in_one_test
from tests.unit.api.client import Client

README = ROOT / "README.md"
ARCHITECTURE = ROOT / "docs/architecture.md"
DECISIONS = ROOT / "docs/decisions.md"
GENERATED = {ROOT / "docs/reference/api.md", ROOT / "docs/reference/command.md"}
"""Written by `make docs`, which checks the links to them."""
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


_ONLY_A_LINK = re.compile(r"(?:[-*] )?(?:\[[^]]*\]\([^)]*\)|<?https?://\S+>?)[.:,]?")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def rows(path: Path, header: str) -> list[list[str]]:
    """The cells of the table with this header line."""
    match = re.search(rf"^{re.escape(header)}\n\|[-| ]+\|\n((?:\|.*\n)+)", path.read_text(), re.MULTILINE)
    assert match, f"{name_of(path)} has no table with the header {header}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in match[1].splitlines()]


def prose(path: Path) -> list[str]:
    """The lines of a document outside of code blocks and tables, without lines that consist of a link."""
    lines: list[str] = []
    in_code = False
    for line in path.read_text().splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.startswith("|") and not _ONLY_A_LINK.fullmatch(line.strip()):
            lines.append(line)
    return lines


def places_of_changes() -> dict[str, str]:
    """Where to make which change: the rows of the table of architecture.md."""
    return dict(rows(ARCHITECTURE, "| to change | go to |"))


def defines(sources: str, name: str) -> bool:
    """Whether a line defines this function, class, constant, type or key."""
    keyword = r"(?:async def|def|class|type|export function|export const|export interface)"
    return re.search(rf"^\s*(?:{keyword} {name}\b|{name}(?:: .+)? = |{name}:$)", sources, re.MULTILINE) is not None


@in_one_test("path", DOCUMENTS, ids=name_of)
def test_every_relative_link_has_a_target(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text())
    targets = {path.parent / link for link in links} - GENERATED
    assert [target for target in targets if not target.exists()] == []


@in_one_test("path", DOCUMENTS, ids=name_of)
def test_prose_has_at_most_120_characters_per_line(path: Path) -> None:
    assert [line for line in prose(path) if len(line) > 120] == []


def test_the_readme_has_at_most_150_lines() -> None:
    assert len(README.read_text().splitlines()) <= 150


def test_the_first_page_and_the_navigation_link_every_document() -> None:
    pages = {path.name for path in ROOT.glob("docs/*.md")}
    linked = set(re.findall(r"\]\(([^)#]+)", (ROOT / "docs/index.md").read_text()))
    listed = set(re.findall(r'"([\w/-]+\.md)"', (ROOT / "zensical.toml").read_text()))
    assert pages - {"index.md"} - linked == set()
    assert pages - listed == set()


def test_the_latest_release_in_the_changelog_is_the_project_version() -> None:
    newest = re.search(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert newest
    assert newest[1] == project["version"] == VERSION


def test_a_decision_has_a_subject_and_a_date_and_at_most_8_lines() -> None:
    introduction, *subjects = re.split(r"^## ", DECISIONS.read_text(), flags=re.MULTILINE)
    assert "###" not in introduction
    decisions = []
    for subject in subjects:
        heading, *entries = re.split(r"^### ", subject, flags=re.MULTILINE)
        assert len(heading.strip().splitlines()) == 1, heading
        assert entries, heading
        decisions += entries
    assert 50 <= len(decisions) <= 75
    for decision in decisions:
        title, *lines = filter(None, decision.splitlines())
        assert re.search(r"\(\d{4}-\d\d-\d\d\)$", title), title
        assert len(lines) <= 8, title
        parts = re.findall(r"^- (\w+):", decision, re.MULTILINE)
        assert parts == ["Chosen", "Considered", "Why"], title


@in_one_test("change", places_of_changes())
def test_what_a_change_concerns_is_where_the_table_says(change: str) -> None:
    words = re.findall(r"`([^`]+)`", places_of_changes()[change])
    paths = [ROOT / word for word in words if "/" in word or "." in word]
    assert paths
    assert [name_of(path) for path in paths if not path.exists()] == []
    sources = "\n".join(path.read_text() for path in paths if path.is_file())
    assert [word for word in words if "/" not in word and "." not in word and not defines(sources, word)] == []


def test_the_architecture_has_at_most_250_lines() -> None:
    assert len(ARCHITECTURE.read_text().splitlines()) <= 250


def documented_commands() -> list[str]:
    """Every `cupel` command line in the documents, up to the first argument that is not a word."""
    text = "\n".join(path.read_text() for path in DOCUMENTS)
    return sorted({match.strip() for match in re.findall(r"(?:^|`)cupel ((?:[a-z][a-z-]* ?)+)", text, re.MULTILINE)})


def test_documented_commands_exist() -> None:
    whole = typer.main.get_command(command)
    assert documented_commands()
    assert [f"cupel {call}" for call in documented_commands() if not _exists(whole, call.split())] == []


def _exists(current: object, words: list[str]) -> bool:
    """Whether the words are commands, one within the other, up to an argument."""
    if not words or not isinstance(current, TyperGroup):
        return True
    return words[0] in current.commands and _exists(current.commands[words[0]], words[1:])


def test_documented_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    documented = {
        target for path in DOCUMENTS for target in re.findall(r"(?:^|`)(?:\w+=\S+ )*make ([a-z]+)", path.read_text())
    }
    assert documented - targets == set()


def test_the_api_accepts_the_requests_of_the_readme(cloud: Settings) -> None:
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
