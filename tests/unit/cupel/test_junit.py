"""JUnit's XML: what a transcript is as a test, and whether others can read it."""

from typing import Any

import pytest
from defusedxml import ElementTree
from hypothesis import given
from hypothesis import strategies as st
from junitparser import JUnitXml

from cupel import junit
from cupel.junit import MOST_CHARACTERS, Case, Suite
from tests.unit.cupel.fake_api import REAL, SIMULATED, Cupel, FakeApi, a_run, a_transcript, an_error

type Json = dict[str, Any]


def scoring(*results: Json, success: bool | None = None, tags: tuple[str, ...] = ()) -> Json:
    return {"success": success, "score": None, "reason": "because", "results": list(results), "tags": list(tags)}


def result(passed: bool | None, weight: float = 1.0) -> Json:
    return {"type": "contains", "passed": passed, "weight": weight}


def read(text: str) -> list[Any]:
    return list(JUnitXml.fromstring(text.encode()))


def test_others_read_the_counts_of_suites_and_of_the_whole() -> None:
    cases = [
        Case("one", 1.5),
        Case("two", 0.5, "failure", "GOAL_MISS", "no"),
        Case("three", 0, "error", "timeout", "no answer"),
        Case("four", 0, "skipped", "unjudged", "nothing was judged"),
    ]
    text = junit.document("run", [Suite("a/x", cases), Suite("b/y", cases[:1])])
    whole = JUnitXml.fromstring(text.encode())
    assert (whole.tests, whole.failures, whole.errors, whole.skipped, whole.time) == (5, 1, 1, 1, 3.5)
    assert [(suite.name, suite.tests, suite.time) for suite in whole] == [("a/x", 4, 2.0), ("b/y", 1, 1.5)]
    told = [(case.classname, case.name, [type(each).__name__ for each in case.result]) for case in read(text)[0]]
    assert told == [
        ("a/x", "one", []),
        ("a/x", "two", ["Failure"]),
        ("a/x", "three", ["Error"]),
        ("a/x", "four", ["Skipped"]),
    ]


@pytest.mark.parametrize(
    ("changes", "verdict", "kind"),
    [
        ({"result": {"success": True, "score": 1.0, "reason": ""}}, None, ""),
        ({"result": {"success": False, "score": 0.0, "reason": "no"}}, "failure", "failed"),
        (
            {
                "result": {"success": False, "score": 0.0, "reason": "no"},
                "scoring": scoring(result(passed=False), success=False, tags=("TOXICITY", "GOAL_MISS")),
            },
            "failure",
            "TOXICITY, GOAL_MISS",
        ),
        ({"scoring": scoring(result(passed=None))}, "error", "unscored"),
        ({"scoring": scoring(result(passed=None, weight=0))}, "skipped", "unjudged"),
        ({}, "skipped", "unjudged"),
    ],
)
def test_a_transcript_is_a_test(changes: Json, verdict: str | None, kind: str) -> None:
    case = junit.case_of("x", a_transcript(0, SIMULATED, "3", **changes))
    assert (case.verdict, case.kind) == (verdict, kind)


def test_an_infrastructure_failure_is_an_error_and_no_failure() -> None:
    assert junit.case_of_probe("x", an_error(1, REAL)) == Case("x", 0, "error", "timeout", "no answer in 60 s")


def test_a_cancelled_probe_is_skipped() -> None:
    case = junit.case_of_probe("x", {"status": "CANCELLED", "error": None})
    assert (case.verdict, case.reason) == ("skipped", "was not run: CANCELLED")


@pytest.mark.parametrize(
    ("persona", "repeats", "name"), [(None, 1, "x"), ("Ada", 1, "x (Ada)"), (None, 3, "x #2"), ("Ada", 3, "x (Ada) #2")]
)
def test_a_test_is_named_by_scenario_persona_and_repeat(persona: str | None, repeats: int, name: str) -> None:
    assert junit.case_name("x", persona, 1, repeats) == name


@given(st.text())
def test_whatever_a_model_says_is_well_formed(text: str) -> None:
    case = Case(text, 0, "failure", text, text, [{"role": "assistant", "content": text}])
    ElementTree.fromstring(junit.document(text, [Suite(text, [case])]))


def test_what_xml_cannot_hold_is_written_as_an_escape() -> None:
    case = Case("x", messages=[{"role": "user", "content": "\x1b[31m<b>\x00"}])
    (suite,) = read(junit.document("run", [Suite("s", [case])]))
    assert next(iter(suite)).system_out == "[user]\n\\x1b[31m<b>\\x00"


def test_a_long_conversation_is_cut() -> None:
    case = Case("x", messages=[{"role": "user", "content": "y" * (MOST_CHARACTERS + 100)}])
    text = junit.document("run", [Suite("s", [case])])
    assert len(text) < MOST_CHARACTERS + 1_000
    assert "characters more" in text


def a_judged(index: int, model: str, *, success: bool, **changes: Any) -> Json:
    told = {"success": success, "score": float(success), "reason": "as asked" if success else "said nothing of it"}
    return a_transcript(index, model, None, result=told, **changes)


def test_a_run_is_written_by_its_id(api: FakeApi, cupel: Cupel) -> None:
    api.runs = [a_run(config=a_run()["config"] | {"repeats": 3})]
    api.transcripts = [
        *(a_judged(index, SIMULATED, success=index != 1, scenarioId="scn_1", personaId="per_1") for index in (0, 1, 2)),
        *(a_judged(index, REAL, success=True, scenarioId="scn_2") for index in (3, 4)),
    ]
    api.errors = [an_error(5, REAL)]
    api.scenarios["def_1"] = [{"id": "scn_1", "name": "Booking"}, {"id": "scn_2", "name": ""}]
    api.personas = [{"id": "per_1", "name": "Ada"}]
    answer = cupel("junit", "run_1")
    assert answer.exit_code == 0
    simulated, real = read(answer.stdout)
    assert [case.name for case in simulated] == ["Booking (Ada) #1", "Booking (Ada) #2", "Booking (Ada) #3"]
    assert [case.name for case in real] == ["scn_2 #1", "scn_2 #2", "scn_2 #3"]
    assert (simulated.failures, real.errors) == (1, 1)
