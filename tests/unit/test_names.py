"""Names: one word for one concept, the field's terms (docs/glossary.md), and none of the words that were retired."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.in_one_test import in_one_test

ROOT = Path(__file__).parents[2]
CORE = ROOT / "shared/cupel_core"
PRODUCT = (CORE, ROOT / "functions", ROOT / "cupel")
GLOSSARY = ROOT / "docs/glossary.md"

WIRE_SHAPES = {"Block", "Content", "Message", "Part", "Tokens", "ToolCall"}
"""Classes of several provider modules, each of which mirrors a part of its provider's own protocol."""

RETIRED_FUNCTION_NAMES = {"tell", "told", "listed", "found", "hold", "keep", "given", "wanted"}
RETIRED_WORDS = {"bench", "contest", "dialogue", "epoch", "kept", "panel", "seat", "standing", "told"}
"""Never part of a public class name, singular or plural."""


class Definition(NamedTuple):
    name: str
    path: Path


@cache
def modules() -> dict[Path, ast.Module]:
    paths = (path for folder in PRODUCT for path in sorted(folder.rglob("*.py")))
    return {path.relative_to(ROOT): ast.parse(path.read_text()) for path in paths}


def classes() -> Iterator[Definition]:
    for path, module in modules().items():
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                yield Definition(node.name, path)
            elif isinstance(node, ast.TypeAlias):
                yield Definition(node.name.id, path)


def functions() -> Iterator[Definition]:
    for path, module in modules().items():
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield Definition(node.name, path)


def words(class_name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", class_name)]


def capabilities() -> set[str]:
    return {path.parent.relative_to(CORE).as_posix() for path in CORE.rglob("*/*.py")}


class Term(NamedTuple):
    term: str
    meaning: str
    places: list[str]


def glossary() -> list[Term]:
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.+?) \| (.*?) \|$", GLOSSARY.read_text(), re.MULTILINE)
    return [Term(term, meaning, re.findall(r"`([^`]+)`", places)) for term, meaning, places in rows]


def test_a_class_name_means_one_thing() -> None:
    modules_of = defaultdict(set)
    for name, path in classes():
        modules_of[name.lstrip("_")].add(path)
    repeated = {name: sorted(map(str, paths)) for name, paths in modules_of.items() if len(paths) > 1}
    assert {name: paths for name, paths in repeated.items() if not is_wire_shape(name, paths)} == {}


def is_wire_shape(name: str, paths: list[str]) -> bool:
    """Whether all but at most one of these classes mirror a provider's protocol."""
    others = [path for path in paths if not path.startswith("shared/cupel_core/providers/")]
    return name in WIRE_SHAPES and len(others) <= 1


def test_no_function_has_a_retired_name() -> None:
    assert [each for each in functions() if each.name.strip("_") in RETIRED_FUNCTION_NAMES] == []


def test_no_class_name_has_a_retired_word() -> None:
    retired = RETIRED_WORDS | {f"{word}s" for word in RETIRED_WORDS}
    assert [each for each in classes() if retired & set(words(each.name))] == []


def test_limits_are_called_max() -> None:
    constants = (
        f"{path}: {target.id}"
        for path, module in modules().items()
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    )
    assert [each for each in constants if re.search(r": _?MOST_", each)] == []


def test_the_glossary_has_one_line_per_term() -> None:
    terms = [each.term for each in glossary()]
    assert 20 <= len(terms) <= 40
    assert len(terms) == len(set(terms))


def test_every_capability_folder_is_in_the_glossary() -> None:
    places = {place for term in glossary() for place in term.places}
    packages = {name for name in capabilities() if "/" not in name} - {"base"}  # small modules without a concept
    assert packages <= {place.partition("/")[0] for place in places}


@in_one_test("term", glossary() if GLOSSARY.exists() else [], ids=lambda term: term.term)
def test_what_the_glossary_names_exists(term: Term) -> None:
    known = {each.name for each in classes()} | {f"{name}/" for name in capabilities()}
    assert term.places
    assert [place for place in term.places if place not in known] == []
