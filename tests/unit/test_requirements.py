"""The table of requirements names existing tests."""

import re
from pathlib import Path

import pytest

from tests.in_one_test import in_one_test

ROOT = Path(__file__).parents[2]
REQUIREMENTS = {"S": 83, "T": 90}
ROWS = [
    (line[2], [cell.strip() for cell in line.strip("|").split(" | ")])
    for line in (ROOT / "docs" / "requirements.md").read_text().splitlines()
    if re.match(r"\| [A-Z]\d", line)
]
TESTS = [(row[0], test) for _, row in ROWS for test in re.findall(r"`([a-z0-9_/]+\.py(?:::\w+)?)`", row[-1])]


def numbers(cell: str) -> range:
    first, _, last = cell.lstrip("ST").partition("–")
    return range(int(first), int(last or first) + 1)


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_each_requirement_is_in_one_row(name: str) -> None:
    found = [number for table, row in ROWS if table == name for number in numbers(row[0])]
    assert found == list(range(1, REQUIREMENTS[name] + 1))


@in_one_test("row", [row for _, row in ROWS], ids=[row[0] for _, row in ROWS])
def test_a_requirement_has_a_test(row: list[str]) -> None:
    assert "::" in row[-1] or ".py`" in row[-1]


@in_one_test(("number", "test"), TESTS)
def test_the_named_test_exists(number: str, test: str) -> None:
    file, _, name = test.partition("::")
    path = ROOT / "tests" / file
    assert path.is_file(), number
    assert not name or re.search(rf"^(async )?def {name}\(", path.read_text(), re.MULTILINE), number
