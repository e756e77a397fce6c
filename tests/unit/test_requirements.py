"""The tables of what was required name tests that there are."""

import re
from pathlib import Path

import pytest

from tests.in_one_test import in_one_test

ROOT = Path(__file__).parents[2]
REQUIREMENTS = {"scale-requirements": 83, "turn-requirements": 90}
ROWS = [
    (name, [cell.strip() for cell in line.strip("|").split(" | ")])
    for name in REQUIREMENTS
    for line in (ROOT / "docs" / f"{name}.md").read_text().splitlines()
    if re.match(r"\| \d", line)
]
TESTS = [
    (f"{name} {row[0].strip('| ')}", test)
    for name, row in ROWS
    for test in re.findall(r"`([a-z0-9_/]+\.py(?:::\w+)?)`", row[-1])
]


def numbers(cell: str) -> range:
    first, _, last = cell.strip("| ").partition("–")
    return range(int(first), int(last or first) + 1)


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_each_requirement_is_in_one_row(name: str) -> None:
    found = [number for table, row in ROWS if table == name for number in numbers(row[0])]
    assert found == list(range(1, REQUIREMENTS[name] + 1))


@in_one_test("row", [row for _, row in ROWS], ids=[f"{name} {row[0]}" for name, row in ROWS])
def test_a_requirement_has_a_test_or_is_not_built(row: list[str]) -> None:
    assert "::" in row[-1] or ".py`" in row[-1] or row[-1].startswith("Not built: ")


@in_one_test(("number", "test"), TESTS)
def test_the_named_test_exists(number: str, test: str) -> None:
    file, _, name = test.partition("::")
    path = ROOT / "tests" / file
    assert path.is_file(), number
    assert not name or re.search(rf"^(async )?def {name}\(", path.read_text(), re.MULTILINE), number
