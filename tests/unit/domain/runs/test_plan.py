import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.runs.plan import Plan, ProbePosition
from cupel_core.domain.runs.targets import plain_targets

plans = st.builds(
    Plan,
    targets=st.integers(1, 4).map(lambda count: tuple(f"sim/{number}" for number in range(count))),
    segments=st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple),
    repeats=st.integers(1, 3),
)


@given(plans)
def test_every_index_maps_to_one_probe_and_back(plan: Plan) -> None:
    probes = [plan.probe(index) for index in range(plan.total)]
    assert [plan.index(probe) for probe in probes] == list(range(plan.total))
    assert len(set(probes)) == plan.total


@given(plans, st.integers(1, 5))
def test_an_expansion_changes_no_index(plan: Plan, more: int) -> None:
    expanded = Plan(plan.targets, (*plan.segments, more), plan.repeats)
    assert [expanded.probe(index) for index in range(plan.total)] == [plan.probe(index) for index in range(plan.total)]
    assert expanded.total > plan.total


@given(plans)
def test_the_ranges_of_all_targets_are_all_indexes(plan: Plan) -> None:
    spans = [span for column in range(len(plan.columns)) for span in plan.column_ranges(column)]
    assert sorted(index for span in spans for index in span) == list(range(plan.total))


@given(plans)
def test_the_range_of_a_target_contains_only_its_probes(plan: Plan) -> None:
    for column in range(len(plan.columns)):
        assert {plan.probe(index).column for span in plan.column_ranges(column) for index in span} == {column}


@given(plans, st.data())
def test_the_indexes_of_a_case_are_its_probes_in_order(plan: Plan, data: st.DataObject) -> None:
    case = data.draw(st.integers(0, plan.cases - 1))
    expected = [index for index in range(plan.total) if plan.probe(index).case == case]
    assert sorted(plan.case_indexes(case)) == expected


def test_probes_of_one_target_are_adjacent() -> None:
    plan = Plan(plain_targets("a/x", "b/y"), (2,), repeats=2)
    assert plan.probe(0) == ProbePosition(0, 0, 0)
    assert plan.probe(3) == ProbePosition(1, 0, 1)
    assert plan.probe(4) == ProbePosition(0, 1, 0)


def test_an_index_beyond_the_plan_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        Plan(plain_targets("a/x"), (2,)).probe(2)
