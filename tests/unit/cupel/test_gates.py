"""Gates: the pass rate of judged probes, and errors separately."""

import pytest

from cupel.columns import RunColumn
from cupel.gates import ErrorsAs, Gate, pass_rate
from cupel.json_types import Json
from cupel.results import ModelResults, tabulate
from tests.unit.cupel.fake_api import SIMULATED, a_transcript, an_error


def results(passed: int, failed: int = 0, errors: int = 0, unscored: int = 0) -> list[ModelResults]:
    successes = [True] * passed + [False] * failed
    judged = [{"success": each, "score": float(each), "reason": ""} for each in successes]
    broken = {"success": None, "results": [{"type": "cost", "passed": None, "weight": 1.0, "cause": {"code": "input"}}]}
    transcripts = [a_transcript(0, SIMULATED, None, result=each) for each in judged]
    transcripts += [a_transcript(0, SIMULATED, None, scoring=broken) for _ in range(unscored)]
    errored = [an_error(0, SIMULATED) for _ in range(errors)]
    return tabulate([RunColumn(SIMULATED, SIMULATED)], len(transcripts) + errors, transcripts, errored)


def partly_checked(passed: int, left_out: dict[str, int], *, corrected: bool = False) -> list[ModelResults]:
    scoring = {"success": True, "results": [], "leftOutChecks": left_out}
    judged = {"success": True, "score": 1.0, "reason": ""}
    transcripts = [
        a_transcript(0, SIMULATED, None, result=judged, scoring=scoring, corrected=corrected) for _ in range(passed)
    ]
    return tabulate([RunColumn(SIMULATED, SIMULATED)], passed, transcripts, [])


def test_a_gate_is_not_passed_by_checks_that_did_not_run() -> None:
    found = partly_checked(2, {"javascript": 1, "is-sql": 2})
    assert Gate(fail_under=1).violations(found) == (
        "2 of 2 conversations lack checks that their author wrote (is-sql 4, javascript 2); "
        "--allow-left-out-checks accepts that",
    )


@pytest.mark.parametrize(
    ("gate", "found"),
    [
        (Gate(fail_under=1, allow_left_out_checks=True), partly_checked(2, {"is-sql": 1})),
        (Gate(fail_under=1), partly_checked(2, {})),
        (Gate(fail_under=1), partly_checked(2, {"is-sql": 1}, corrected=True)),
        (Gate(), partly_checked(2, {"is-sql": 1})),
    ],
)
def test_a_gate_passes_if_all_checks_ran_or_that_is_accepted(gate: Gate, found: list[ModelResults]) -> None:
    assert gate.violations(found) == ()


@pytest.mark.parametrize(
    ("gate", "found", "violations"),
    [
        (Gate(), results(0, failed=9, errors=9), 0),
        (Gate(fail_under=0.9), results(9, failed=1), 0),
        (Gate(fail_under=0.9), results(8, failed=2), 1),
        (Gate(fail_under=0.9), results(9, failed=1, errors=1), 1),
        (Gate(fail_under=0.9), results(9, failed=1, unscored=1), 1),
        (Gate(fail_under=0.9, allow_errors=2), results(9, failed=1, errors=1, unscored=1), 0),
        (Gate(fail_under=0.9, allow_errors=1), results(8, failed=2, errors=2), 2),
        (Gate(allow_errors=0), results(0, failed=9), 0),
        (Gate(allow_errors=0), results(9, errors=1), 1),
        (Gate(fail_under=0), results(0), 1),
    ],
)
def test_a_gate_checks_its_conditions(gate: Gate, found: list[ModelResults], violations: int) -> None:
    assert len(gate.violations(found)) == violations


def test_errors_do_not_change_the_rate() -> None:
    assert pass_rate(results(3, failed=1, errors=100, unscored=100)) == 0.75


def test_a_gate_does_not_pass_if_nothing_was_judged() -> None:
    unchecked = [a_transcript(0, SIMULATED, None)]
    found = tabulate([RunColumn(SIMULATED, SIMULATED)], 1, unchecked, [])
    (violation,) = Gate(fail_under=0).violations(found)
    assert violation.startswith("nothing was judged: the definition has no assertions")


def test_a_gate_says_why_checks_could_not_be_computed() -> None:
    (nothing_judged, _) = Gate(fail_under=0.5).violations(results(0, unscored=3))
    assert nothing_judged == "3 of 3 answers could not be scored (input)"
    cause = {"code": "judge_failed", "model": "custom/j", "providerCode": "auth"}
    unjudged = {"results": [{"type": "g-eval", "passed": None, "weight": 1.0, "error": "HTTP 401", "cause": cause}]}
    transcripts = [a_transcript(0, SIMULATED, None, scoring=unjudged) for _ in range(2)]
    found = tabulate([RunColumn(SIMULATED, SIMULATED)], 2, transcripts, [])
    (nothing_judged, _) = Gate(fail_under=0.5).violations(found)
    assert nothing_judged == "2 of 2 answers could not be scored (judge_failed (auth) of custom/j: HTTP 401)"


def test_a_gate_says_that_nothing_completed() -> None:
    assert Gate(fail_under=0.5, allow_errors=9).violations(results(0, errors=2)) == (
        "nothing was judged: no conversation completed",
    )


def test_a_violation_names_both_numbers() -> None:
    (violation,) = Gate(fail_under=0.9).violations(results(2, failed=2))
    assert violation == "pass rate 50.0% of 4 judged conversations, 95% interval 15.0% to 85.0%, is below 0.9"


def of_scenarios(model: str, passed: int, failed: int) -> list[Json]:
    """One judged conversation of each scenario."""
    successes = [True] * passed + [False] * failed
    return [
        a_transcript(0, model, None, scenarioId=f"scn_{number}", result={"success": each, "score": None, "reason": ""})
        for number, each in enumerate(successes)
    ]


def test_a_good_target_does_not_hide_a_bad_one() -> None:
    columns = [RunColumn("sim/good", "sim/good"), RunColumn("sim/bad", "sim/bad")]
    transcripts = [*of_scenarios("sim/good", 10, 0), *of_scenarios("sim/bad", 5, 5)]
    found = tabulate(columns, 20, transcripts, [])
    assert pass_rate(found) == 0.75
    (violation,) = Gate(fail_under=0.7).violations(found)
    assert violation.startswith("sim/bad: pass rate 50.0% of 10 judged conversations")


@pytest.mark.parametrize(
    ("passed", "failed", "is_refused"), [(8, 2, False), (5, 5, True), (80, 20, True), (88, 12, False)]
)
def test_with_a_confidence_only_what_is_shown_to_be_lower_fails(passed: int, failed: int, is_refused: bool) -> None:
    """Of ten scenarios, eight passes do not show a rate below 0.9; of a hundred, eighty do, and 88 do not."""
    found = tabulate([RunColumn("sim/m", "sim/m")], passed + failed, of_scenarios("sim/m", passed, failed), [])
    assert bool(Gate(fail_under=0.9, confidence=0.95).violations(found)) is is_refused
    assert Gate(fail_under=0.9).violations(found)


@pytest.mark.parametrize(
    ("gate", "found", "violations"),
    [
        (Gate(fail_under=0.5, errors_as=ErrorsAs.FAIL), results(9, errors=9), 0),
        (Gate(fail_under=0.6, errors_as=ErrorsAs.FAIL), results(9, errors=9), 1),
        (Gate(fail_under=0.5, allow_errors=8, errors_as=ErrorsAs.FAIL), results(9, errors=9), 1),
        (Gate(fail_under=0.5, errors_as=ErrorsAs.FAIL), results(9, errors=1, unscored=1), 1),
        (Gate(fail_under=0.9, errors_as=ErrorsAs.FAIL), results(9, failed=1), 0),
        (Gate(fail_under=0.9, errors_as=ErrorsAs.FAIL, confidence=0.95), results(9, errors=9), 1),
    ],
)
def test_errors_may_count_as_failures(gate: Gate, found: list[ModelResults], violations: int) -> None:
    assert len(gate.violations(found)) == violations


def test_the_verdict_of_a_gate_has_the_rate_that_it_tests() -> None:
    found = results(6, errors=6)
    assert (Gate().pass_rate(found), Gate(errors_as=ErrorsAs.FAIL).pass_rate(found)) == (1.0, 0.5)


def test_a_rate_with_errors_as_failures_says_what_it_is_of() -> None:
    (violation,) = Gate(fail_under=0.9, errors_as=ErrorsAs.FAIL).violations(results(6, errors=6))
    assert violation.startswith("pass rate 50.0% of 12 judged or errored conversations, 95% interval ")


def test_errors_bound_the_rate() -> None:
    """Half of one scenario passed, and all of another errored."""
    rate = results(2, failed=2, errors=2)[0].pass_rate
    assert rate
    assert (rate.share, rate.bounds) == (0.5, (0.25, 0.75))
