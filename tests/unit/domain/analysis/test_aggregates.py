"""Whatever runs are grouped by, every probe is counted in one row."""

from collections import Counter
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.aggregates import AggregateSpec, Aggregation, GroupBy
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.estimates import group_estimate
from cupel_core.domain.analysis.matrix import CellMatrix, ScenarioRow
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.targets import plain_targets

DIMENSIONS = ("stakes", "mood")
COLUMNS = [Column(target, prompt) for target in plain_targets("sim/a", "sim/b") for prompt in ("p", "q")]
SCORES = st.tuples(*[st.sampled_from([None, 1.0, 2.0])] * len(DIMENSIONS))
CELLS = st.builds(Cell, *[st.integers(0, 3)] * 6, errored=st.integers(0, 3), judged=st.just(0), passed=st.just(0))


@st.composite
def matrices(draw: st.DrawFn) -> CellMatrix:
    ids = sorted(draw(st.sets(st.integers(0, 5), min_size=1)))
    rows = [ScenarioRow(f"scn_{number}", "", draw(SCORES)) for number in ids]
    columns = [[draw(CELLS) for _ in rows] for _ in COLUMNS]
    return CellMatrix(rows, DIMENSIONS, columns, None, Metric.DECISION)


SPECS = st.builds(
    AggregateSpec,
    run_ids=st.just(()),
    group_by=st.sets(st.sampled_from(GroupBy)).map(tuple),
    dimensions=st.sampled_from([(), ("mood",), ("mood", "stakes"), ("other",)]),
    levels=st.sampled_from([{}, {"stakes": 1.0}]),
)


@given(SPECS, st.lists(matrices(), min_size=1, max_size=3))
def test_each_probe_that_counts_is_in_one_row(spec: AggregateSpec, runs: list[CellMatrix]) -> None:
    aggregation = Aggregation(spec)
    for number, matrix in enumerate(runs):
        aggregation.add(f"run_{number}", enumerate(COLUMNS), matrix)
    rows = aggregation.rows()
    assert len({row.key for row in rows}) == len(rows)
    counted = [
        cell
        for matrix in runs
        for column in matrix.columns
        for row, cell in zip(matrix.scenarios, column, strict=True)
        if not spec.levels or row.scores[0] == 1
    ]
    assert sum(row.estimate.probes for row in rows) == sum(cell.completed + cell.errored for cell in counted)
    assert sum(row.estimate.decision.answers for row in rows) == sum(cell.decided for cell in counted)


@given(matrices())
def test_a_row_of_one_column_has_the_estimates_of_an_analysis(matrix: CellMatrix) -> None:
    aggregation = Aggregation(AggregateSpec((), tuple(GroupBy)))
    aggregation.add("run_1", enumerate(COLUMNS), matrix)
    expected = [group_estimate(Counter(cells)) for cells in matrix.columns]
    assert [row.estimate for row in aggregation.rows()] == expected


@given(st.lists(matrices(), min_size=1, max_size=3))
def test_rows_are_ordered_by_run_then_level_with_those_without_a_score_last(runs: list[CellMatrix]) -> None:
    aggregation = Aggregation(AggregateSpec((), (GroupBy.RUN,), ("mood",)))
    for number, matrix in zip(count(9, -1), runs, strict=False):
        aggregation.add(f"run_{number}", enumerate(COLUMNS), matrix)
    keys = [(-int(str(row.key.run_id)[4:]), row.key.levels[0] or 9) for row in aggregation.rows()]
    assert keys == sorted(keys)
