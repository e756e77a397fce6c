"""The scenarios of a run, as they were at its start."""

from cupel_core.base.paging import Entry, Page, decode_index, encode_cursor, fill_page
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.store import scenarios, snapshots


def list_selected_scenarios(run: Run, limit: int, cursor: str | None) -> Page[Scenario]:
    """Each once, in the order of the definition. None if the run's snapshot is gone."""
    snapshot = snapshots.find(run.snapshot_key)
    if snapshot is None:
        return Page(())
    positions = sorted(set(snapshot.scenario_positions))
    following = range(decode_index(cursor), len(positions))
    entries = (
        Entry(encode_cursor(str(each)), scenarios.get_scenario(snapshot.manifest, positions[each]))
        for each in following
    )
    return fill_page(entries, limit)


def find_scenario(run: Run, probe_index: int) -> Scenario | None:
    """That of a probe; None if the run's snapshot is gone."""
    snapshot = snapshots.find(run.snapshot_key)
    return snapshot.scenario(run.plan.probe(probe_index).case) if snapshot else None
