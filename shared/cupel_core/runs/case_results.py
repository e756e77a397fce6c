"""The cases of a run as rows of tables: their names and their results.

Names are read from the scenario pages of the run's snapshot, and results from digests, only for the rows of one page.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, repeat

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Invalid, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Entry, decode_index, encode_cursor
from cupel_core.domain.definitions.scenarios import Manifest
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.case_results import CaseResults, cell_indexes, cell_results
from cupel_core.domain.runs.case_texts import CaseTexts
from cupel_core.domain.runs.case_view import CaseView
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Run
from cupel_core.runs.probe_ranges import check_column
from cupel_core.store import outcomes, runs, scenarios, selections, snapshots
from cupel_core.store.scenarios import ScenarioSummary
from cupel_core.store.selections import RUN_SCORING

MAX_PROBES = 2_000
"""A page covers at most this many probes, in up to as many leaves, so with many columns and repeats it has fewer
rows."""
MAX_CASES = 1_000


def list_cases(
    workspace: str, run_id: str, *, model: str | None, prompt_id: str | None, limit: int, cursor: str | None
) -> Iterator[Entry[CaseResults]]:
    run = runs.get(RunRef(workspace, run_id))
    ref, plan = RunRef(run.workspace, run.id), run.plan
    check_column(plan, model, prompt_id)
    columns = plan.columns_of(model, prompt_id)
    first, count = decode_index(cursor), max(1, min(limit, MAX_PROBES // (len(columns) * plan.repeats)))
    cases = range(first, min(first + count, plan.cases))
    cells = {(case, column): cell_indexes(plan, case, column) for case in cases for column in columns}
    found = {each.probe_index: each for each in outcomes.list_digests(ref, sorted(chain(*cells.values())))}
    winners = _winners(ref, plan, cases)
    for case in cases:
        row = (cell_results(plan.columns[each], cells[case, each], found, winners) for each in columns)
        yield Entry(encode_cursor(str(case)), CaseResults(case, snapshots.get_case(run.snapshot_key, case), tuple(row)))
    if cases.stop < plan.cases:
        yield Entry(encode_cursor(str(cases.stop)), None)


def _winners(ref: RunRef, plan: Plan, cases: Iterable[int]) -> set[int]:
    if len(plan.columns) == 1:
        return set()
    compared = [index for case in cases for index in cell_indexes(plan, case, 0)]
    parts = ([index for index in compared if index in segment] for segment in plan.column_ranges(0))
    ranges = (range(part[0], part[-1] + 1) for part in parts if part)
    stored = chain.from_iterable(selections.list_range(ref, RUN_SCORING, indexes) for indexes in ranges)
    return {selection.winner for selection in stored if selection.winner is not None}


@dataclass(frozen=True)
class CaseRange:
    run: Run
    cases: range

    @property
    def revision(self) -> str:
        """Return a tag for the cases without reading them. A snapshot never changes; an expansion adds another one."""
        snapshot = self.run.snapshot_key.rpartition("/")[2]
        return f"{self.cases.start}-{self.cases.stop}-{self.run.plan.cases}-{snapshot}"

    def list_names(self) -> Iterator[Entry[tuple[int, CaseView]]]:
        return self._entries(scenarios.read_summaries, _view, CaseView())

    def list_texts(self) -> Iterator[Entry[tuple[int, CaseTexts]]]:
        return self._entries(scenarios.read_texts, lambda texts, _: texts, CaseTexts())

    def _entries[T, V](
        self,
        read: Callable[[Manifest, Iterable[int]], Iterator[tuple[int, T]]],
        view: Callable[[T, Persona | None], V],
        missing: V,
    ) -> Iterator[Entry[tuple[int, V]]]:
        """Yield the cases by index, or `missing` for each if the run's snapshot is gone."""
        views: Iterable[V] = repeat(missing)
        with suppress(NotFound):
            snapshot = snapshots.get(self.run.snapshot_key)
            positions = [snapshot.scenario_positions[index] for index in self.cases]
            found = dict(read(snapshot.manifest, sorted(set(positions))))
            views = [
                view(found[position], snapshot.persona(index))
                for index, position in zip(self.cases, positions, strict=True)
            ]
        for index, each in zip(self.cases, views, strict=False):
            yield Entry(str(index), (index, each))
        if self.cases.stop < self.run.plan.cases:
            yield Entry(str(self.cases.stop), None)


def _view(scenario: ScenarioSummary, persona: Persona | None) -> CaseView:
    return CaseView(
        scenario.id,
        scenario.name,
        dimensions=scenario.scores,
        persona_id=persona.id if persona else None,
        persona_name=persona.name if persona else None,
    )


def find_cases(workspace: str, run_id: str, first: int, limit: int = MAX_CASES) -> CaseRange:
    """Return up to `limit` cases from `first` on."""
    run = runs.get(RunRef(workspace, run_id))
    if first >= run.plan.cases:
        raise Invalid.field("first", f"must be less than {run.plan.cases:,}, the number of cases of the run")
    return CaseRange(run, range(first, min(first + limit, run.plan.cases)))
