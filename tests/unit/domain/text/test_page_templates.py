"""Placeholders that the page finds in a template, by the rule that runs follow: its own tests read the same cases."""

import json
from typing import Any

import pytest

from cupel_core.domain.text.templates import placeholder_names
from tests.conftest import ROOT

CASES: list[dict[str, Any]] = json.loads((ROOT / "web" / "src" / "lib" / "template_cases.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["template"]))
def test_a_template_has_placeholders(case: dict[str, Any]) -> None:
    assert placeholder_names(case["template"]) == case["names"]
