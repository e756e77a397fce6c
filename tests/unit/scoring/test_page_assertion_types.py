"""The types of assertions that the form of the page has are those of the API."""

import json
from typing import Any

from cupel_core.domain.scoring.assertion_rules import ASSERTION_KINDS, assertion_issues
from cupel_core.domain.scoring.assertions import NOT
from cupel_core.domain.scoring.grader_values import StringOperation, TextMetric
from tests.conftest import ROOT
from tests.in_one_test import in_one_test

TYPES: list[dict[str, Any]] = json.loads((ROOT / "web" / "src" / "lib" / "assertion_types.json").read_text())


def test_the_form_has_every_type() -> None:
    assert sorted(each["type"] for each in TYPES) == sorted(ASSERTION_KINDS)


@in_one_test("written", TYPES, ids=lambda written: written["type"])
def test_the_form_knows_the_rules_of_a_type(written: dict[str, Any]) -> None:
    kind = ASSERTION_KINDS[written["type"]]
    assert written.get("threshold") == kind.threshold
    assert written.get("needsThreshold", False) == kind.needs_threshold
    assert written.get("isFraction", False) == kind.is_fraction
    assert written.get("mayNotNegate", False) is not kind.may_negate
    assert (written.get("judge", False), written.get("embedder", False)) == (kind.needs_judge, kind.needs_embedder)
    assert (kind.value(None) is None) or "value" in written


EXAMPLES: list[dict[str, Any]] = json.loads((ROOT / "web" / "src" / "lib" / "assertion_examples.json").read_text())


@in_one_test("example", EXAMPLES, ids=lambda example: example["type"])
def test_what_the_form_writes_is_accepted(example: dict[str, Any]) -> None:
    assert assertion_issues([example], "assertions") == ()


def test_each_type_has_an_example() -> None:
    assert {each["type"].removeprefix(NOT) for each in EXAMPLES} == set(ASSERTION_KINDS)


def test_the_form_offers_every_measure_and_operation() -> None:
    written = (ROOT / "web" / "src" / "lib" / "assertion_fields.ts").read_text()
    assert [each for each in (*TextMetric, *StringOperation) if f'"{each}"' not in written] == []
