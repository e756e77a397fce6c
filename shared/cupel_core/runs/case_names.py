"""The names of a run's cases, for the rows of tables: from the scenario pages of its snapshot."""

from collections.abc import Iterator

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Invalid, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Entry
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.case_view import CaseView
from cupel_core.domain.runs.run import Run
from cupel_core.store import runs, scenarios, snapshots
from cupel_core.store.scenarios import ScenarioSummary

MAX_CASES = 1_000
"""Of a request."""


@dataclass(frozen=True)
class CaseNames:
    run: Run
    first: int

    @property
    def revision(self) -> str:
        """Identifies the names without reading them: a snapshot never changes, an expansion adds another one."""
        return f"{self.first}-{self.run.plan.cases}-{self.run.snapshot_key.rpartition('/')[2]}"

    def read(self) -> Iterator[Entry[tuple[int, CaseView]]]:
        """Up to MAX_CASES from `first` on, by index; without names if the run's snapshot is gone."""
        cases = range(self.first, min(self.first + MAX_CASES, self.run.plan.cases))
        for index, case in zip(cases, self._views(cases), strict=True):
            yield Entry(str(index), (index, case))
        if cases.stop < self.run.plan.cases:
            yield Entry(str(cases.stop), None)

    def _views(self, cases: range) -> Iterator[CaseView]:
        try:
            snapshot = snapshots.get(self.run.snapshot_key)
        except NotFound:
            yield from (CaseView() for _ in cases)
            return
        positions = {snapshot.scenario_positions[index] for index in cases}
        summaries = dict(scenarios.read_summaries(snapshot.manifest, sorted(positions)))
        for index in cases:
            yield _view(summaries[snapshot.scenario_positions[index]], snapshot.persona(index))


def _view(scenario: ScenarioSummary, persona: Persona | None) -> CaseView:
    return CaseView(
        scenario.id,
        scenario.name,
        dimensions=scenario.scores,
        persona_id=persona.id if persona else None,
        persona_name=persona.name if persona else None,
    )


def find_case_names(workspace: str, run_id: str, first: int) -> CaseNames:
    """Raises NotFound for an unknown run, and Invalid beyond its last case."""
    run = runs.get(RunRef(workspace, run_id))
    if first >= run.plan.cases:
        raise Invalid.field("first", f"must be less than {run.plan.cases:,}, the number of cases of the run")
    return CaseNames(run, first)
