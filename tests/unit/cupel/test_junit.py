"""JUnit XML: the test case of a transcript, and whether other programs can read it."""

from typing import Any

import pytest
from defusedxml import ElementTree
from hypothesis import given
from hypothesis import strategies as st
from junitparser import JUnitXml

from cupel import junit_xml
from cupel.junit_xml import MAX_CHARACTERS, JunitCase, JunitSuite
from tests.unit.cupel.fake_api import REAL, SIMULATED, Cupel, FakeApi, a_run, a_transcript, an_error

type Json = dict[str, Any]


def scoring(*results: Json, success: bool | None = None, tags: tuple[str, ...] = ()) -> Json:
    return {"success": success, "score": None, "reason": "because", "results": list(results), "tags": list(tags)}


def result(passed: bool | None, weight: float = 1.0) -> Json:
    return {"type": "contains", "passed": passed, "weight": weight}


def read(text: str) -> list[Any]:
    return list(JUnitXml.fromstring(text.encode()))


def test_other_programs_read_the_counts_of_suites_and_of_the_document() -> None:
    cases = [
        JunitCase("one", 1.5),
        JunitCase("two", 0.5, "failure", "GOAL_MISS", "no"),
        JunitCase("three", 0, "error", "timeout", "no answer"),
        JunitCase("four", 0, "skipped", "unjudged", "nothing was judged"),
    ]
    text = junit_xml.to_xml("run", [JunitSuite("a/x", cases), JunitSuite("b/y", cases[:1])])
    whole = JUnitXml.fromstring(text.encode())
    assert (whole.tests, whole.failures, whole.errors, whole.skipped, whole.time) == (5, 1, 1, 1, 3.5)
    assert [(suite.name, suite.tests, suite.time) for suite in whole] == [("a/x", 4, 2.0), ("b/y", 1, 1.5)]
    cases_read = [(case.classname, case.name, [type(each).__name__ for each in case.result]) for case in read(text)[0]]
    assert cases_read == [
        ("a/x", "one", []),
        ("a/x", "two", ["Failure"]),
        ("a/x", "three", ["Error"]),
        ("a/x", "four", ["Skipped"]),
    ]


@pytest.mark.parametrize(
    ("changes", "outcome", "failure_type"),
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
def test_a_transcript_is_a_test(changes: Json, outcome: str | None, failure_type: str) -> None:
    case = junit_xml.transcript_case("x", a_transcript(0, SIMULATED, "3", **changes))
    assert (case.outcome, case.failure_type) == (outcome, failure_type)


def test_an_infrastructure_failure_is_an_error_not_a_failure() -> None:
    assert junit_xml.probe_case("x", an_error(1, REAL)) == JunitCase("x", 0, "error", "timeout", "no answer in 60 s")


def test_a_cancelled_probe_is_skipped() -> None:
    case = junit_xml.probe_case("x", {"status": "CANCELLED", "error": None})
    assert (case.outcome, case.reason) == ("skipped", "was not run: CANCELLED")


@pytest.mark.parametrize(
    ("persona", "repeats", "name"), [(None, 1, "x"), ("Ada", 1, "x (Ada)"), (None, 3, "x #2"), ("Ada", 3, "x (Ada) #2")]
)
def test_a_test_is_named_by_scenario_persona_and_repeat(persona: str | None, repeats: int, name: str) -> None:
    assert junit_xml.case_name("x", persona, 1, repeats) == name


@given(st.text())
def test_any_text_of_a_model_is_well_formed(text: str) -> None:
    case = JunitCase(text, 0, "failure", text, text, [{"role": "assistant", "content": text}])
    ElementTree.fromstring(junit_xml.to_xml(text, [JunitSuite(text, [case])]))


def test_characters_that_xml_cannot_represent_are_escaped() -> None:
    case = JunitCase("x", messages=[{"role": "user", "content": "\x1b[31m<b>\x00\x9b\u202e"}])
    (suite,) = read(junit_xml.to_xml("run", [JunitSuite("s", [case])]))
    assert next(iter(suite)).system_out == "[user]\n\\x1b[31m<b>\\x00\\x9b\\x202e"


def test_a_long_conversation_is_truncated() -> None:
    case = JunitCase("x", messages=[{"role": "user", "content": "y" * (MAX_CHARACTERS + 100)}])
    text = junit_xml.to_xml("run", [JunitSuite("s", [case])])
    assert len(text) < MAX_CHARACTERS + 1_000
    assert "more characters" in text


def a_judged(index: int, model: str, *, success: bool, **changes: Any) -> Json:
    result = {"success": success, "score": float(success), "reason": "as asked" if success else "said nothing of it"}
    return a_transcript(index, model, None, result=result, **changes)


def test_a_run_is_written_by_its_id(api: FakeApi, cupel: Cupel) -> None:
    api.runs = [a_run(config=a_run()["config"] | {"repeats": 3})]
    api.transcripts = [
        *(
            a_judged(n, SIMULATED, success=n != 1, scenarioName="Booking", personaName="Ada", repeat=n)
            for n in range(3)
        ),
        *(a_judged(n + 3, REAL, success=True, scenarioId="scn_2", scenarioName=None, repeat=n) for n in range(2)),
    ]
    api.errors = [an_error(5, REAL) | {"scenarioName": None, "repeat": 2}]
    answer = cupel("junit", "run_1")
    assert answer.exit_code == 0
    simulated, real = read(answer.stdout)
    assert [case.name for case in simulated] == ["Booking (Ada) #1", "Booking (Ada) #2", "Booking (Ada) #3"]
    assert [case.name for case in real] == ["scn_2 #1", "scn_2 #2", "scn_2 #3"]
    assert (simulated.failures, real.errors) == (1, 1)
    assert [request.url.path for request in api.requests if "runs" not in request.url.path] == []
