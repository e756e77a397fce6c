"""Fingerprints of judges: equal for the same judge and rubric, different as soon as one ingredient changes."""

from dataclasses import replace
from typing import Any

import pytest

from cupel_core.domain.calibration.fingerprints import (
    FingerprintPart,
    RubricFingerprint,
    ScenarioRubric,
    rubric_fingerprint,
)
from cupel_core.domain.conversations.conversation import Criteria, FailureCriteriaMode
from cupel_core.domain.definitions.definitions import Content, DecisionMethod
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_config import GraderConfig

POLITE = Assertion("llm-rubric", value="is polite", threshold=0.5, metric="tone")
SHORT = Assertion("llm-rubric", value="is short")
GRADERS = GraderConfig("openai/judge", embedding_model="openai/embed", judge_max_output_tokens=500)
CONTENT = Content(assertions=(POLITE,), decision=DecisionMethod(rubric="5 if it helps"))
SCENARIO = Scenario("sce_1", "Refund", (), criteria=Criteria("names the limit"), assertions=(SHORT,))


def fingerprint(criterion: str = "result", **changed: Any) -> RubricFingerprint:
    given: dict[str, Any] = {
        "graders": GRADERS,
        "content": CONTENT,
        "scenarios": [ScenarioRubric.of(SCENARIO)],
        "instructions": ["Exact limits only."],
    }
    return rubric_fingerprint(criterion, **(given | changed))


def rubrics(**changed: Any) -> dict[str, Any]:
    return {"scenarios": [ScenarioRubric.of(replace(SCENARIO, **changed))]}


def asserting(assertion: Assertion) -> dict[str, Any]:
    return {"content": replace(CONTENT, assertions=(assertion,))}


CHANGES: dict[str, tuple[FingerprintPart, dict[str, Any]]] = {
    "judge model": (FingerprintPart.GRADERS, {"graders": replace(GRADERS, judge_model="openai/other")}),
    "output limit": (FingerprintPart.GRADERS, {"graders": replace(GRADERS, judge_max_output_tokens=900)}),
    "embedding model": (FingerprintPart.GRADERS, {"graders": replace(GRADERS, embedding_model="openai/other")}),
    "evaluator": (FingerprintPart.GRADERS, {"graders": replace(GRADERS, evaluator_url="https://grades.example")}),
    "rubric": (FingerprintPart.CHECKS, asserting(replace(POLITE, value="is very polite"))),
    "threshold": (FingerprintPart.CHECKS, asserting(replace(POLITE, threshold=0.8))),
    "judge of a check": (FingerprintPart.CHECKS, asserting(replace(POLITE, provider="openai/other"))),
    "prompt of a check": (FingerprintPart.CHECKS, asserting(replace(POLITE, config={"rubricPrompt": "Grade."}))),
    "temperature of a check": (
        FingerprintPart.CHECKS,
        asserting(replace(POLITE, value={"messages": [], "params": {"temperature": 1}})),
    ),
    "weight": (FingerprintPart.CHECKS, asserting(replace(POLITE, weight=2.0))),
    "success criteria": (FingerprintPart.SCENARIOS, rubrics(criteria=Criteria("names the date"))),
    "failure criteria": (FingerprintPart.SCENARIOS, rubrics(criteria=Criteria("names the limit", "lies"))),
    "when failure counts": (
        FingerprintPart.SCENARIOS,
        rubrics(criteria=Criteria("names the limit", mode=FailureCriteriaMode.EVERY_TURN)),
    ),
    "check of a scenario": (FingerprintPart.SCENARIOS, rubrics(assertions=(replace(SHORT, value="is long"),))),
    "grading version": (FingerprintPart.GRADING, {"grading_version": 2}),
    "instructions": (FingerprintPart.INSTRUCTIONS, {"instructions": ["About right is enough."]}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_ingredient_changes_its_part(change: str) -> None:
    part, changed = CHANGES[change]
    assert fingerprint().differences(fingerprint(**changed)) == [part]
    assert fingerprint().digest != fingerprint(**changed).digest


def test_names_messages_and_the_number_of_scenarios_change_nothing() -> None:
    others = [replace(SCENARIO, id=f"sce_{number}", name=f"Case {number}") for number in range(3)]
    found = fingerprint(scenarios=map(ScenarioRubric.of, others), instructions=["Exact limits only.", None])
    assert found.digest == fingerprint().digest


def test_target_settings_and_persona_models_change_nothing() -> None:
    content = replace(CONTENT, system="Be kind.", params={"temperature": 1})
    graders = replace(GRADERS, persona_model="openai/other", summarizer_model="openai/other")
    assert fingerprint(content=content, graders=graders).digest == fingerprint().digest


def test_a_check_depends_on_checks_of_its_name_alone() -> None:
    other = replace(CONTENT, assertions=(POLITE, Assertion("contains", value="yes")))
    assert fingerprint("tone", content=other).digest == fingerprint("tone").digest
    assert fingerprint("tone", **rubrics(criteria=Criteria("names the date"))).digest == fingerprint("tone").digest
    assert fingerprint("llm-rubric #2", **rubrics(assertions=())).digest != fingerprint("llm-rubric #2").digest
    assert fingerprint("criteria", **rubrics(criteria=Criteria())).digest != fingerprint("criteria").digest


def test_decisions_depend_on_their_rule() -> None:
    other = replace(CONTENT, decision=DecisionMethod(rubric="5 if it refuses"))
    assert fingerprint("decision", content=other).differences(fingerprint("decision")) == [FingerprintPart.DECISION]
    assert fingerprint(content=other).digest == fingerprint().digest
