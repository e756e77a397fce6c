"""docs/assertions.md describes exactly the existing assertion types."""

import json
import re

from cupel_core.domain.scoring.assertion_rules import ASSERTION_KINDS, assertion_issues
from tests.conftest import ROOT
from tests.in_one_test import in_one_test

DOCUMENT = (ROOT / "docs/assertions.md").read_text()
TABLE = DOCUMENT.partition("| type | value |")[2].partition("\n\n")[0]
ROWS = {
    cells[0].strip("` "): [cell.strip() for cell in cells]
    for line in TABLE.splitlines()[2:]
    if (cells := line.strip("|").split("|"))
}


def test_the_table_has_every_type_and_no_other() -> None:
    assert list(ROWS) == list(ASSERTION_KINDS)


@in_one_test("kind", ASSERTION_KINDS)
def test_the_table_states_the_default_thresholds(kind: str) -> None:
    threshold = ASSERTION_KINDS[kind].threshold
    expected = "required" if ASSERTION_KINDS[kind].needs_threshold else "" if threshold is None else f"{threshold:g}"
    assert ROWS[kind][3] == expected


def test_the_example_is_accepted() -> None:
    example = re.search(r"```json\n(\[.*?\])\n```", DOCUMENT, re.DOTALL)
    assert example
    assert assertion_issues(json.loads(example[1])) == ()
