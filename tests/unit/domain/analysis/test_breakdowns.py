"""Figures by group of cases."""

from array import array
from collections.abc import Mapping, Sequence

import pytest

from cupel_core.domain.analysis.breakdowns import (
    MAX_GROUPS,
    Breakdown,
    CaseProperties,
    NotGroupable,
    break_down,
    groupable_fields,
)
from cupel_core.domain.analysis.counts import COUNTS_PER_CELL, Cell, Counts, RunCounts, scenario_cases
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import plain_targets


def case(persona: str | None = None, scores: Mapping[str, float] | None = None, **metadata: object) -> CaseProperties:
    return CaseProperties(scores or {}, metadata, persona)


def grouped(
    cases: Sequence[CaseProperties], by: str | None, positions: Sequence[int] | None = None, targets: int = 1
) -> Breakdown:
    """Each case was judged twice; case n passed n % 3 times."""
    names = [f"sim/{number}" for number in range(targets)]
    plan = Plan(plain_targets(*names), (len(cases),), repeats=2)
    cells = [Cell(judged=2, passed=number % 3, undecided=2) for number in range(len(cases))] * targets
    counts = Counts.empty(range(len(cells)))
    counts.cells = array("H", [count for cell in cells for count in cell])
    assert len(counts.cells) == COUNTS_PER_CELL * len(cells)
    by_scenario = scenario_cases(range(len(cases)) if positions is None else positions)
    return break_down("run_1", plan, cases, by, lambda: RunCounts(plan, by_scenario, counts))


def passes(found: Breakdown) -> list[tuple[str | None, int, int, int]]:
    """Value, scenarios, passed and judged of the first column."""
    return [
        (group.value, group.scenarios, group.columns[0].pass_rate.successes, group.columns[0].pass_rate.trials)
        for group in found.groups
    ]


def test_cases_with_one_value_are_a_group_and_those_without_come_last() -> None:
    cases = [case(language="fr"), case(language="de"), case(language=" de "), case()]
    assert passes(grouped(cases, "language")) == [("de", 2, 3, 4), ("fr", 1, 0, 2), (None, 1, 0, 2)]


def test_personas_of_one_scenario_are_groups_of_their_own() -> None:
    cases = [case("Ada"), case("Bob"), case("Ada"), case("Bob")]
    assert passes(grouped(cases, "persona", positions=(0, 0, 1, 1))) == [("Ada", 2, 2, 4), ("Bob", 2, 1, 4)]


def test_five_personas_have_intervals_for_others_like_them() -> None:
    cases = [case(f"persona {number % 5}") for number in range(35)]
    found = grouped(cases, "persona", positions=[number // 5 for number in range(35)], targets=2)
    assert [figures.decision for figures in found.crossed] == [None, None]
    for figures in found.crossed:
        assert figures.pass_rate is not None
        assert 0 <= figures.pass_rate.low < 0.5 < figures.pass_rate.high <= 1


def test_five_personas_of_four_scenarios_have_none() -> None:
    cases = [case(f"persona {number % 5}") for number in range(20)]
    assert grouped(cases, "persona", positions=[number // 5 for number in range(20)]).crossed == ()


def test_four_personas_and_other_groups_have_none() -> None:
    cases = [case(f"persona {number % 4}", language=str(number % 6)) for number in range(36)]
    positions = [number // 4 for number in range(36)]
    assert grouped(cases, "persona", positions).crossed == ()
    assert grouped(cases, "language", positions).crossed == ()


def test_what_several_cases_of_a_scenario_have_in_common_is_one_unit() -> None:
    cases = [case("Ada", topic="x"), case("Bob", topic="x"), case("Ada", topic="x"), case("Bob", topic="x")]
    [group] = grouped(cases, "topic", positions=(0, 0, 1, 1)).groups
    assert (group.scenarios, group.columns[0].pass_rate.scenarios, group.columns[0].pass_rate.trials) == (2, 2, 8)


def test_every_target_has_its_figures() -> None:
    [group, _] = grouped([case(topic="x"), case(topic="y")], "topic", targets=3).groups
    assert len(group.columns) == 3


def test_a_case_with_several_values_is_in_each_of_their_groups_once() -> None:
    cases = [case(tags=["a", "b", "a"]), case(tags=["b"]), case(tags=[])]
    assert passes(grouped(cases, "tags")) == [("a", 1, 0, 2), ("b", 2, 1, 4), (None, 1, 2, 2)]


@pytest.mark.parametrize(
    ("values", "ordered"),
    [
        ([10, 9, 2.5], ["2.5", "9", "10"]),
        (["10", "9", "x"], ["9", "10", "x"]),
        ([True, False], ["false", "true"]),
        (["nan", "inf", "-1"], ["-1", "inf", "nan"]),
        ([0, ""], ["0", None]),
        ([1234567, 1234568, 1234567.0], ["1234567", "1234568"]),
        ([0.1234567, 0.1234568], ["0.1234567", "0.1234568"]),
        ([["a", ["b"], {"c": 1}, 2], []], ["2", "a", None]),
        ([1, {"a": 1}, "x" * 300, None], ["1", None]),
        (["9" * 400, "1"], ["1", None]),
    ],
)
def test_values_are_ordered_as_what_they_are(values: Sequence[object], ordered: Sequence[str | None]) -> None:
    assert [group.value for group in grouped([case(level=value) for value in values], "level").groups] == ordered


def test_a_dimension_and_a_column_of_a_table_are_found_by_name() -> None:
    cases = [case(scores={"stakes": 1.0}, vars={"lang": "en"}), case(scores={"stakes": 5.0}, vars={"lang": "de"})]
    assert [group.value for group in grouped(cases, "stakes").groups] == ["1", "5"]
    assert [group.value for group in grouped(cases, "lang").groups] == ["de", "en"]


def test_a_field_of_metadata_precedes_a_variable_of_its_name() -> None:
    cases = [case(lang="en", vars={"lang": "x"}), case(lang="de", vars={"lang": "x"})]
    assert [group.value for group in grouped(cases, "lang").groups] == ["de", "en"]


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("persona", "the run has no personas; the run can be grouped by lang"),
        ("language", "no scenario has a value named language to group by; the run can be grouped by lang"),
        ("vars", "no scenario has a value named vars"),
        ("question", f"question has more than {MAX_GROUPS} values; the run can be grouped by lang"),
    ],
)
def test_what_does_not_group_the_cases_is_refused(by: str, message: str) -> None:
    cases = [case(lang="de" if number % 2 else "en", vars={"question": f"why {number}?"}) for number in range(60)]
    with pytest.raises(NotGroupable, match=message.replace("?", r"\?")):
        grouped(cases, by)


def test_nothing_is_counted_for_a_name_that_is_refused() -> None:
    def count() -> RunCounts:
        raise AssertionError("it counted")

    with pytest.raises(NotGroupable):
        break_down("run_1", Plan(plain_targets("sim/0"), (1,)), [case()], "language", count)


def test_without_a_name_only_the_fields_are_returned() -> None:
    found = grouped([case("Ada"), case("Ada"), case("Bob"), case("Bob")], None)
    assert (found.groups, found.fields) == ([], [("persona", 2)])


def test_fields_that_divide_the_cases_are_offered_and_no_others() -> None:
    cases = [
        case(
            "Ada" if number % 2 else "Bob",
            {"stakes": float(number % 3)},
            always="the same",
            text=f"number {number}",
            author=f"one of {number // 2}",
            vars={"topic": f"topic {number % 4}", "nested": {"a": number}, "each": f"{number % 9}"},
        )
        for number in range(10)
    ]
    assert groupable_fields(cases) == [("persona", 2), ("author", 5), ("stakes", 3), ("topic", 4)]


def test_a_field_with_very_many_values_does_not_keep_them() -> None:
    cases = [case(text=f"text {number}", kind=number % 2) for number in range(2_000)]
    assert groupable_fields(cases) == [("kind", 2)]
