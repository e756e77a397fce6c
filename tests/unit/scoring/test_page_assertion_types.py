"""The types of assertions that the form of the page has are those of the API."""

import json
from typing import Any

import pytest

from cupel_core.domain.scoring.assertion_rules import ASSERTION_KINDS
from tests.conftest import ROOT

TYPES: list[dict[str, Any]] = json.loads((ROOT / "web" / "src" / "lib" / "assertion_types.json").read_text())


def test_the_form_has_every_type() -> None:
    assert sorted(each["type"] for each in TYPES) == sorted(ASSERTION_KINDS)


@pytest.mark.parametrize("written", TYPES, ids=lambda written: written["type"])
def test_the_form_knows_the_rules_of_a_type(written: dict[str, Any]) -> None:
    kind = ASSERTION_KINDS[written["type"]]
    assert written.get("threshold") == kind.threshold
    assert written.get("needsThreshold", False) == kind.needs_threshold
    assert written.get("isFraction", False) == kind.is_fraction
    assert written.get("mayNotNegate", False) is not kind.may_negate
    assert (written.get("judge", False), written.get("embedder", False)) == (kind.needs_judge, kind.needs_embedder)
    assert (kind.value(None) is None) or "value" in written
