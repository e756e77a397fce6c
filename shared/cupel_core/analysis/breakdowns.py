from cupel_core.analysis.tabulate import read_counts, read_inputs
from cupel_core.base.errors import Invalid
from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.breakdowns import Breakdown, CaseProperties, NotGroupable, break_down
from cupel_core.store import scenarios, snapshots
from cupel_core.store.snapshots import Snapshot

MAX_CELLS = 500_000
"""Limits the combinations of case, target and prompt: these take about 3 s of processor time."""


def get_breakdown(workspace: str, run_id: str, by: str | None, rescore_id: str | None) -> Breakdown:
    """Return the figures by group.

    Raises NotFound for an unknown run or rescore, and Invalid for a run that is too large or a field that its cases
    cannot be grouped by.
    """
    inputs = read_inputs(RunRef(workspace, run_id), rescore_id)
    run = inputs.run
    if (cells := run.plan.total // run.plan.repeats) > MAX_CELLS:
        what = f"{cells:,} combinations of case, target and prompt"
        raise Invalid(f"the run has {what}; its figures are grouped up to {MAX_CELLS:,}")
    cases = case_properties(snapshots.get(run.snapshot_key))
    try:
        return break_down(run.id, run.plan, cases, by, lambda: read_counts(inputs))
    except NotGroupable as error:
        raise Invalid.field("by", str(error)) from None


def case_properties(snapshot: Snapshot) -> list[CaseProperties]:
    positions = snapshot.scenario_positions
    found = dict(scenarios.read_properties(snapshot.manifest, set(positions)))
    names = [persona.name for persona in snapshot.personas]
    numbers = snapshot.case_personas or (None,) * len(positions)
    return [
        CaseProperties(*found[position], None if number is None else names[number])
        for position, number in zip(positions, numbers, strict=True)
    ]
