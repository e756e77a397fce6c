import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.column_totals import MAX_NAMES, ColumnTotals
from cupel_core.domain.analysis.counted_outcomes import CountedCost, CountedOutcome
from cupel_core.domain.analysis.counts import (
    BYTES_PER_CELL,
    Cell,
    Counts,
    InvalidCountFile,
    RunCounts,
    cell_number,
    cells_of,
    count,
    scenario_cases,
    total_counts,
)
from cupel_core.domain.runs.plan import Plan, ProbePosition
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode

plans = st.builds(
    Plan,
    targets=st.integers(1, 3).map(lambda number: plain_targets(*(f"sim/{each}" for each in range(number)))),
    segments=st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
    repeats=st.integers(1, 4),
    prompt_ids=st.sampled_from([(), ("short", "long")]),
)
PLAN = Plan(plain_targets("sim/a", "sim/b"), (3,), repeats=2)


def completed(index: int, code: str | None = "4", **more: object) -> CountedOutcome:
    return CountedOutcome(index, is_completed=True, code=code, **more)  # type: ignore[arg-type]


def errored(index: int, code: str = "timeout") -> CountedOutcome:
    return CountedOutcome(index, is_completed=False, error_code=code, costs=[CountedCost("target", 1, 0.5)])


def drawn(index: int) -> CountedOutcome:
    """An outcome that depends on nothing but its index."""
    source = random.Random(index)
    if source.random() < 0.1:
        return errored(index, source.choice(["timeout", "auth"]))
    return completed(
        index,
        source.choice(["1", "2", "3", "4", "5", "other", None]),
        success=source.choice([None, True, False]),
        score=source.random(),
        metrics={source.choice("pqr"): source.random()},
        tags=["goal_miss"] if source.random() < 0.5 else (),
        duration_ms=source.randrange(5_000),
        turns=1,
        input_tokens=source.randrange(100),
        model_version=source.choice(["v1", "v2"]),
        costs=[CountedCost("target", 1, source.random()), CountedCost("judge", 1, None, source.randrange(9), 1)],
    )


@given(plans)
def test_a_cell_has_the_repeats_of_one_column_and_case(plan: Plan) -> None:
    for index in range(plan.total):
        case, column, _ = plan.probe(index)
        assert cell_number(plan, column, case) == index // plan.repeats


@given(plans, st.data())
def test_counts_do_not_depend_on_slices_and_order(plan: Plan, data: st.DataObject) -> None:
    borders = data.draw(st.lists(st.integers(0, plan.total), max_size=4))
    outcomes = [drawn(index) for index in range(plan.total)]
    whole = count(plan, range(plan.total), outcomes).encode()
    slices = [range(*ends) for ends in pairwise(sorted({0, plan.total, *borders}))]
    parts = [count(plan, part, [outcomes[index] for index in reversed(part)]) for part in slices]
    data.draw(st.randoms()).shuffle(parts)
    assert total_counts(plan, parts).encode() == whole


@given(plans)
def test_a_file_is_read_as_it_was_written(plan: Plan) -> None:
    counts = count(plan, range(plan.total), map(drawn, range(plan.total)))
    assert Counts.decode(counts.encode()) == counts


def test_a_cell_counts_decisions_errors_and_results() -> None:
    outcomes = [
        completed(0, "2", success=True),
        completed(1, "banana", success=False),
        completed(2, None),
        errored(3),
    ]
    counts = count(PLAN, range(4), outcomes)
    assert counts.cell(0) == Cell(code_2=1, other=1, judged=2, passed=1)
    assert counts.cell(1) == Cell(errored=1, undecided=1)
    assert [counts.cell(number).completed for number in (0, 1)] == [2, 1]


def test_figures_of_a_cell() -> None:
    cell = Cell(1, 0, 2, 0, 3, other=1, judged=4, passed=1)
    assert (cell.decided, cell.completed, cell.code_sum, cell.code_squares) == (6, 7, 22, 94)
    assert (cell.mean_code, cell.pass_rate) == (pytest.approx(22 / 6), 0.25)
    assert (Cell().mean_code, Cell().pass_rate) == (None, None)


def test_a_cell_takes_twenty_bytes_and_counts_a_thousand_repeats() -> None:
    plan = Plan(plain_targets("sim/a"), (2,), repeats=1_000)
    counts = count(plan, range(plan.total), (completed(index, success=True) for index in range(plan.total)))
    assert counts.cell(1) == Cell(code_4=1_000, judged=1_000, passed=1_000)
    assert len(counts.cells.tobytes()) == 2 * BYTES_PER_CELL


def test_a_row_has_the_cells_of_a_scenario_with_all_its_personas() -> None:
    plan = Plan(plain_targets("sim/a", "sim/b"), (3,))
    totals = count(plan, range(6), [completed(0, "1"), completed(1, "5"), completed(2, "3"), completed(5, "2")])
    run = RunCounts(plan, scenario_cases([7, 7, 9]), totals)
    assert list(run.rows()) == [(Cell(code_1=1, code_5=1), Cell()), (Cell(code_3=1), Cell(code_2=1))]
    assert run.case_cell(0, 1) == Cell(code_5=1)
    assert [scenario.position for scenario in run.scenarios] == [7, 9]


def test_cells_of_slices_that_divide_a_cell_overlap() -> None:
    plan = Plan(plain_targets("sim/a"), (4,), repeats=3)
    assert (cells_of(plan, range(4)), cells_of(plan, range(4, 12))) == (range(2), range(1, 4))


def test_sums_of_a_column() -> None:
    outcomes = [
        completed(0, success=True, score=0.5, metrics={"f1": 0.25}, tags=["slow"], duration_ms=10, turns=2),
        completed(
            1,
            success=False,
            score=0.25,
            metrics={"f1": 0.75},
            cause=UnscoredCause(UnscoredCode.INPUT),
            costs=[CountedCost("judge", 1, 0.1)],
        ),
        errored(6),
    ]
    counts = count(PLAN, range(12), outcomes)
    column = counts.column(0)
    assert (column.score.mean, column.metrics["f1"].mean, dict(column.tags)) == (0.375, 0.5, {"slow": 1})
    assert (column.histograms["durations_ms"].count, column.histograms["turns"].total) == (2, 2)
    assert (column.unscored, column.cost_usd, column.calls) == (1, pytest.approx(0.1), 1)
    assert counts.column(1).errors == {"timeout": (1, 6)}


def test_the_cost_of_a_column_is_unknown_once_a_price_is() -> None:
    totals = ColumnTotals()
    totals.add(completed(0, costs=[CountedCost("target", 1, 0.5)]))
    assert totals.cost_usd == 0.5
    totals.add(completed(1, costs=[CountedCost("judge", 1, None)]))
    assert totals.cost_usd is None


def test_a_column_without_calls_has_no_cost() -> None:
    assert ColumnTotals().cost_usd is None


def test_names_of_metrics_and_tags_are_bounded() -> None:
    totals = ColumnTotals()
    for number in range(MAX_NAMES + 5):
        totals.add(completed(number, metrics={f"m{number}": 1.0}, tags=[f"t{number}"]))
    assert (len(totals.metrics), len(totals.tags)) == (MAX_NAMES, MAX_NAMES)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"CUPELCT2",
        b"CUPELCT2\xff\xff\xff\xff{}",
        b"OTHERCT1" + count(PLAN, range(12), []).encode()[8:],
        count(PLAN, range(12), []).encode()[:-1],
        count(PLAN, range(12), []).encode() + b"x",
        b"CUPELCT2\x02\x00\x00\x00{}",
    ],
)
def test_other_bytes_are_no_count_file(data: bytes) -> None:
    with pytest.raises(InvalidCountFile):
        Counts.decode(data)


def test_counts_of_other_cells_are_refused() -> None:
    with pytest.raises(ValueError, match="not within"):
        Counts.empty(range(3)).merge(Counts.empty(range(2, 5)))


def test_positions_and_cells_agree_after_an_expansion() -> None:
    plan = Plan(plain_targets("sim/a", "sim/b"), (2, 1))
    index = plan.index(ProbePosition(case=2, column=1, repeat=0))
    counts = count(plan, range(plan.total), [completed(index, "5")])
    assert RunCounts(plan, scenario_cases([0, 1, 4]), counts).case_cell(1, 2) == Cell(code_5=1)
