"""The example of docs/assertions.md is accepted."""

import json
import re

from cupel_core.domain.scoring.assertion_rules import assertion_issues
from tests.conftest import ROOT

DOCUMENT = (ROOT / "docs/assertions.md").read_text()


def test_the_example_is_accepted() -> None:
    example = re.search(r"```json\n(\[.*?\])\n```", DOCUMENT, re.DOTALL)
    assert example
    assert assertion_issues(json.loads(example[1])) == ()
