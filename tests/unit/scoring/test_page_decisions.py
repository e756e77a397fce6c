"""What the page tries before it is saved, by the rules that runs follow; its own tests read the same cases."""

import json
from typing import Any

import pytest

from cupel_core.domain.text.patterns import decision_pattern_error
from cupel_core.domain.text.templates import placeholder_names
from cupel_core.domain.turns.model_request import Message, MessageRole
from cupel_core.scoring.decision_search import read_decision
from tests.conftest import ROOT


def cases(name: str) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = json.loads((ROOT / "web" / "src" / "lib" / name).read_text())
    return read


@pytest.mark.parametrize("case", cases("decision_cases.json"), ids=lambda case: ascii(case["pattern"][:40]))
async def test_a_pattern_reads_a_decision(case: dict[str, Any]) -> None:
    assert decision_pattern_error(case["pattern"]) == case.get("error")
    if "error" not in case:
        found = await read_decision(case["pattern"], [Message(MessageRole.ASSISTANT, case["answer"])])
        assert (found and found[0]) == case["code"]


@pytest.mark.parametrize("case", cases("template_cases.json"), ids=lambda case: ascii(case["template"]))
def test_a_template_has_placeholders(case: dict[str, Any]) -> None:
    assert placeholder_names(case["template"]) == case["names"]
